//! How an agent is run: one file for each kind, behind one trait.

mod acp;
mod claude;
mod codex;
mod command;
mod gemini;
mod scripted;

use std::ffi::OsString;
use std::path::PathBuf;

use baton_core::agent::AgentInterface;
use baton_files::Dir;
use baton_wire::project_file::agent_program::{AgentPermissions, AgentProgram};
use baton_wire::project_file::runner::{ExecutorKind, ExecutorSettings, PromptDelivery};

use crate::conversation::ConversationBrief;
use crate::process::ProgramSpec;

use self::acp::AcpExecutor;
use self::claude::ClaudeExecutor;
use self::codex::CodexExecutor;
use self::command::CommandExecutor;
use self::gemini::GeminiExecutor;
use self::scripted::ScriptedExecutor;

/// What one attempt needs to be started.
pub(crate) struct AttemptBrief<'a> {
    /// The whole environment, but for what the executor itself adds.
    pub(crate) env: Vec<(String, String)>,
    pub(crate) folder: PathBuf,
    pub(crate) prompt: &'a str,
    /// The same prompt as a file.
    pub(crate) prompt_file: PathBuf,
    /// How the prompt says to hand on.
    pub(crate) interface: AgentInterface,
    /// The conversation to go on with, where the program can.
    pub(crate) session: Option<String>,
    /// What it may still cost, in millionths of a dollar.
    pub(crate) micro_usd_left: Option<u64>,
}

/// Turns a brief into a program to start.
pub(crate) trait Executor: Send + Sync {
    fn program(&self, brief: AttemptBrief<'_>) -> ProgramSpec;

    /// What the program prints.
    fn output(&self, _brief: &AttemptBrief<'_>) -> OutputForm {
        OutputForm::Words
    }

    /// False where the program's own sandbox keeps it from committing: Baton does that for it.
    fn can_commit(&self) -> bool {
        true
    }
}

/// What a program prints, and so how it is read.
pub(crate) enum OutputForm {
    /// The agent's words as they are.
    Words,
    /// A transcript in the program's own form.
    Transcript(AgentProgram),
    /// Its side of a conversation, whose other side is ours.
    AgentConversation(Box<ConversationBrief>),
}

/// What the executors of coding agents' programs share.
pub(crate) struct AgentProgramExecutor {
    /// The program, and arguments of the project's own. Never empty.
    words: Vec<OsString>,
    model: Option<String>,
    permissions: AgentPermissions,
}

impl AgentProgramExecutor {
    /// The program with these arguments; the prompt comes on its standard input.
    fn spec(&self, args: Vec<OsString>, brief: AttemptBrief<'_>) -> ProgramSpec {
        let mut words = self.words.iter().cloned();
        let program = words.next().unwrap_or_default();
        let args = words.chain(args).collect();
        let input = Some(brief.prompt.to_owned());
        ProgramSpec { program, args, folder: brief.folder, env: brief.env, input }
    }
}

/// The executor of these settings. Files of the project are its own, not the workspace's: an agent
/// could change those.
pub(crate) fn executor(
    settings: &ExecutorSettings,
    project: &Dir,
    program: &std::path::Path,
) -> Box<dyn Executor> {
    let words = |words: &[String]| own_files(project, words);
    match &settings.kind {
        ExecutorKind::Command(run) => {
            Box::new(CommandExecutor { words: words(run), prompt: settings.prompt })
        }
        ExecutorKind::Scripted(script) => {
            let script = words(std::slice::from_ref(script));
            Box::new(ScriptedExecutor { baton: program.to_owned(), script })
        }
        ExecutorKind::Program(settings) => {
            let shared = AgentProgramExecutor {
                words: words(&settings.run),
                model: settings.model.clone(),
                permissions: settings.permissions,
            };
            match settings.program {
                AgentProgram::Claude => Box::new(ClaudeExecutor(shared)),
                AgentProgram::Codex => Box::new(CodexExecutor(shared)),
                AgentProgram::Gemini => Box::new(GeminiExecutor(shared)),
            }
        }
        ExecutorKind::Acp(settings) => {
            Box::new(AcpExecutor { words: words(&settings.run), settings: settings.clone() })
        }
    }
}

/// The command that an executor starts, as the settings have it. Empty where Baton itself plays a script, which
/// it reads from the project.
pub(crate) fn command_words(kind: &ExecutorKind) -> &[String] {
    match kind {
        ExecutorKind::Command(words) => words,
        ExecutorKind::Program(program) => &program.run,
        ExecutorKind::Acp(agent) => &agent.run,
        ExecutorKind::Scripted(_) => &[],
    }
}

/// The words of a command, with the project's own files in the place of those of the workspace.
pub(crate) fn own_files(project: &Dir, words: &[String]) -> Vec<OsString> {
    let in_project = |word: &String| match crate::trust::project_file(project, word) {
        Some(path) => project.path().join(path).into_os_string(),
        None => word.into(),
    };
    words.iter().map(in_project).collect()
}

/// The input of a program that gets its prompt in this way, and the variable that names its file.
fn delivered(brief: &mut AttemptBrief<'_>, prompt: PromptDelivery) -> Option<String> {
    match prompt {
        PromptDelivery::Stdin => Some(brief.prompt.to_owned()),
        PromptDelivery::File => {
            let path = brief.prompt_file.to_string_lossy().into_owned();
            brief.env.push(("BATON_PROMPT_FILE".to_owned(), path));
            None
        }
    }
}
