//! `kind = "claude"`, `"codex"` or `"gemini"`: coding agents that Baton knows how to start and to read; and
//! `kind = "acp"`: any agent that speaks the Agent Client Protocol.

use baton_core::agent::AgentInterface;
use jiff::SignedDuration;

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

/// What the program may do on its own. What is beyond that, it is refused: it has no terminal to ask at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AgentPermissions {
    /// Look at the workspace.
    Read,
    /// Change files in the workspace and commit.
    #[default]
    Edit,
    /// Everything that the user may do.
    All,
    /// What a person allows, asked each time: for programs that can ask Baton.
    Ask,
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

/// How an agent that speaks the Agent Client Protocol is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcpSettings {
    /// The program and its arguments.
    pub run: Vec<String>,
    pub model: Option<String>,
    pub permissions: AgentPermissions,
    /// A person who has not answered a request for permission by then has denied it.
    pub ask_within: SignedDuration,
}

/// Agents that speak the Agent Client Protocol: the name of an executor that needs no `run`, and what is
/// started then.
pub const ACP_AGENTS: [(&str, &[&str]); 4] = [
    ("claude-agent-acp", &["claude-agent-acp"]),
    ("codex-acp", &["codex-acp"]),
    ("gemini-acp", &["gemini", "--acp"]),
    ("opencode-acp", &["opencode", "acp"]),
];

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
    pub const ALL: [Self; 4] = [Self::Read, Self::Edit, Self::All, Self::Ask];

    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Edit => "edit",
            Self::All => "all",
            Self::Ask => "ask",
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
    let mut permissions = permissions(fields, problems).unwrap_or_default();
    if permissions == AgentPermissions::Ask {
        if let Some(field) = fields.get("permissions") {
            let message =
                "this program cannot ask Baton: use the kind `acp`, or `read`, `edit` or `all`";
            field.problem("wrong_value", message, problems);
        }
        permissions = AgentPermissions::Read;
    }
    let model = fields.get("model").and_then(|it| it.line(problems));
    Some(AgentProgramSettings { program, run, model, permissions })
}

/// The commands with which a prompt says to hand on need what the program's permissions may forbid: then each
/// attempt would end without a handoff.
pub(super) fn check_interface(
    settings: &AgentProgramSettings,
    interface: AgentInterface,
    fields: &Fields<'_>,
    problems: &mut Problems,
) {
    let (why, can) = match (settings.program, settings.permissions) {
        (_, AgentPermissions::All) | (AgentProgram::Codex, AgentPermissions::Edit) => return,
        // Also with `--allowedTools`: it takes no command that has JSON or a variable in it.
        (AgentProgram::Claude, _) => ("refuses these commands", "`permissions = \"all\"`"),
        (AgentProgram::Gemini, _) => ("has no tool for commands", "`permissions = \"all\"`"),
        (AgentProgram::Codex, _) => ("has no network", "`permissions = \"edit\"` or `\"all\"`"),
    };
    match interface {
        AgentInterface::Block => {}
        AgentInterface::Curl | AgentInterface::Cli => {
            let Some(field) = fields.get("interface") else { return };
            let (program, permissions) = (settings.program.name(), settings.permissions.name());
            let message = format!(
                "`{program}` {why} with `permissions = \"{permissions}\"`: leave `interface` out, and it hands on by a \
                 block that it prints, or write {can}"
            );
            field.problem("not_both", message, problems);
        }
    }
}

/// Reads what `[executors.NAME]` says of an agent that speaks the Agent Client Protocol.
pub(super) fn acp_settings(
    name: &str,
    fields: &Fields<'_>,
    problems: &mut Problems,
) -> Option<AcpSettings> {
    let known = ACP_AGENTS.iter().find(|(it, _)| *it == name);
    let run = match (fields.get("run"), known) {
        (Some(field), _) => command(&field, problems)?,
        (None, Some((_, words))) => words.iter().map(|it| (*it).to_owned()).collect(),
        (None, None) => {
            fields.required("run", problems);
            return None;
        }
    };
    let ask_within = fields.get("ask_within").and_then(|it| it.duration(problems));
    Some(AcpSettings {
        run,
        model: fields.get("model").and_then(|it| it.line(problems)),
        permissions: permissions(fields, problems).unwrap_or(AgentPermissions::Ask),
        ask_within: ask_within.unwrap_or(SignedDuration::from_hours(1)),
    })
}

fn permissions(fields: &Fields<'_>, problems: &mut Problems) -> Option<AgentPermissions> {
    let choices = AgentPermissions::ALL.map(|it| (it.name(), it));
    fields.get("permissions").and_then(|it| it.choice(&choices, problems))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project_file::parse;
    use crate::project_file::runner::ExecutorKind;

    fn acp(text: &str) -> Result<AcpSettings, String> {
        let file = parse(text).map_err(|it| it[0].to_string())?;
        let kind = &file.runner.executors[0].kind;
        let ExecutorKind::Acp(settings) = kind else { panic!("{kind:?}") };
        Ok(settings.clone())
    }

    #[test]
    fn an_agent_of_the_protocol_asks_unless_the_project_says_otherwise() {
        let known = acp("[executors.gemini-acp]\nkind = \"acp\"\n").unwrap();
        assert_eq!(known.run, ["gemini", "--acp"]);
        assert_eq!(known.permissions, AgentPermissions::Ask);
        let text = "[executors.mine]\nkind = \"acp\"\nrun = [\"my-agent\"]\nmodel = \"m\"\n\
                    permissions = \"edit\"\nask_within = \"5m\"\n";
        let own = acp(text).unwrap();
        assert_eq!((own.permissions, own.model.as_deref()), (AgentPermissions::Edit, Some("m")));
        assert_eq!(own.ask_within, SignedDuration::from_mins(5));
        let error = acp("[executors.mine]\nkind = \"acp\"\n").unwrap_err();
        assert!(error.contains("run") && error.contains("missing"), "{error}");
    }

    #[test]
    fn a_program_without_a_way_to_ask_is_not_told_to() {
        let error = acp("[executors.c]\nkind = \"claude\"\npermissions = \"ask\"\n").unwrap_err();
        assert!(error.contains("use the kind `acp`"), "{error}");
    }

    #[track_caller]
    fn check_interface_of(executor: &str, expected: Option<&str>) {
        let text = format!("[executors.c]\n{executor}\n");
        let error = parse(&text).err().map(|it| it[0].to_string());
        match (&error, expected) {
            (Some(error), Some(words)) => assert!(error.contains(words), "{error}"),
            (None, None) => {}
            _ => panic!("{executor}: {error:?}"),
        }
    }

    #[test]
    fn an_interface_that_the_programs_permissions_forbid_is_refused_with_what_to_write() {
        let usual = "line 3, column 13: executors.c.interface: `claude` refuses these commands with `permissions = \
                     \"edit\"`: leave `interface` out";
        check_interface_of("kind = \"claude\"\ninterface = \"curl\"", Some(usual));
        let own = "kind = \"claude\"\nrun = [\"claude\", \"--allowedTools\", \"Bash(curl:*)\"]\ninterface = \"cli\"";
        check_interface_of(own, Some("write `permissions = \"all\"`"));
        check_interface_of("kind = \"claude\"\ninterface = \"cli\"\npermissions = \"all\"", None);
        check_interface_of("kind = \"claude\"\ninterface = \"block\"", None);
        check_interface_of("kind = \"gemini\"\ninterface = \"curl\"", Some("no tool for commands"));
        check_interface_of("kind = \"codex\"\ninterface = \"curl\"", None);
        let reads = "kind = \"codex\"\ninterface = \"cli\"\npermissions = \"read\"";
        check_interface_of(reads, Some("write `permissions = \"edit\"` or `\"all\"`"));
    }
}
