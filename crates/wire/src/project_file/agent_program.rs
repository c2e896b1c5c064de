//! `kind = "claude"`, `"codex"` or `"gemini"`: coding agents that Baton knows how to start and to read.

use super::runner::command;
use crate::fields::Fields;
use crate::file_problem::Problems;

/// A coding agent's own program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentProgram {
    Claude,
    Codex,
    Gemini,
}

/// What the program may do without being asked. What is beyond that, it is refused: it has no terminal to ask at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AgentPermissions {
    /// Look at the workspace.
    Read,
    /// Change files in the workspace and commit.
    #[default]
    Edit,
    /// Everything that the user may do.
    All,
}

/// How a coding agent's program is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentProgramSettings {
    pub program: AgentProgram,
    /// The program, and arguments that stand before Baton's own.
    pub run: Vec<String>,
    pub model: Option<String>,
    pub permissions: AgentPermissions,
}

impl AgentProgram {
    pub const ALL: [Self; 3] = [Self::Claude, Self::Codex, Self::Gemini];

    /// Its name in a `baton.toml`, and of its program.
    pub fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
        }
    }
}

impl AgentPermissions {
    pub const ALL: [Self; 3] = [Self::Read, Self::Edit, Self::All];

    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Edit => "edit",
            Self::All => "all",
        }
    }
}

/// Reads what `[executors.NAME]` says of such a program.
pub(super) fn settings(
    program: AgentProgram,
    fields: &Fields<'_>,
    problems: &mut Problems,
) -> Option<AgentProgramSettings> {
    let run = match fields.get("run") {
        Some(field) => command(&field, problems)?,
        None => vec![program.name().to_owned()],
    };
    let choices = AgentPermissions::ALL.map(|it| (it.name(), it));
    let permissions = fields.get("permissions").and_then(|it| it.choice(&choices, problems));
    Some(AgentProgramSettings {
        program,
        run,
        model: fields.get("model").and_then(|it| it.line(problems)),
        permissions: permissions.unwrap_or_default(),
    })
}
