//! How an agent is run: one file for each kind, behind one trait.

mod command;
mod scripted;

use std::ffi::OsString;
use std::path::PathBuf;

use baton_files::Dir;
use baton_wire::project_file::runner::{ExecutorKind, ExecutorSettings, PromptDelivery};

use crate::process::ProgramSpec;

pub(crate) use self::command::CommandExecutor;
pub(crate) use self::scripted::ScriptedExecutor;

/// What one attempt needs to be started.
pub(crate) struct AttemptBrief<'a> {
    /// The whole environment, but for what the executor itself adds.
    pub(crate) env: Vec<(String, String)>,
    pub(crate) folder: PathBuf,
    pub(crate) prompt: &'a str,
    /// The same prompt as a file.
    pub(crate) prompt_file: PathBuf,
}

/// Turns a brief into a program to start.
pub(crate) trait Executor: Send + Sync {
    fn program(&self, brief: AttemptBrief<'_>) -> ProgramSpec;
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
