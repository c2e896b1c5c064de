//! What an attempt says on its run, and to the agent beside its prompt.

use baton_wire::project_file::runner::ExecutorSettings;

use super::AttemptRun;
use crate::workspace::{KeptChanges, WorkspaceRecord};

impl AttemptRun {
    /// Not waited for: the result is more urgent.
    pub(super) fn tell_usage(&self, settings: &ExecutorSettings) {
        let report = &self.record.report;
        let used = report.usage;
        if used.tokens() == 0 && used.micro_usd.is_none() && report.n_denied == 0 {
            return;
        }
        let denied = match report.n_denied {
            0 => String::new(),
            1 => "; 1 request for permission was denied".to_owned(),
            n => format!("; {n} requests for permission were denied"),
        };
        let text = format!("`{}` ({}) used {used}{denied}", self.record.agent, settings.name);
        let (context, run) = (self.context.clone(), self.record.run);
        tokio::spawn(async move {
            let _ = context.client.say(run, None, text).await;
        });
    }

    /// Recorded before the result is sent: what comes next may be more than the budget allows.
    pub(super) async fn record_usage(&self) {
        let record = &self.record;
        let Some(executor) = &record.executor else { return };
        let name = format!("usage-{executor}-{}", record.round);
        let sent = self.context.client.usage(&record.key, executor, &record.report.usage, &name);
        if let Err(error) = sent.await {
            let code = error.code().unwrap_or("unreachable").to_owned();
            tracing::warn!(
                handoff = record.number,
                code,
                "what an agent used could not be recorded"
            );
        }
    }

    /// Not waited for: the agent is at work already.
    pub(super) fn tell_start(&self, settings: &ExecutorSettings) {
        let record = &self.record;
        let text = format!(
            "{} is with `{}` {STARTED_BY}{}`, attempt {}). The prompt has the hash {}, the package in it {}",
            record.label,
            record.agent,
            settings.name,
            record.attempt,
            record.prompt_hash.as_deref().unwrap_or("none"),
            record.package_hash.as_deref().unwrap_or("none"),
        );
        let (context, run) = (self.context.clone(), record.run);
        tokio::spawn(async move {
            let _ = context.client.say(run, None, text).await;
        });
    }
}

const STARTED_BY: &str = "(executor `";
const GOES_ON: &str = " goes on with the same package and workspace";

pub(super) fn switch_sentence(why: &str, next: &str) -> String {
    format!("{why}; `{next}`{GOES_ON}")
}

/// What a runner says on a run that concerns the person who gave the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunnerNote<'a> {
    /// A program was started.
    Started { executor: &'a str },
    /// A program cannot do the work, and the next one goes on.
    Switched,
}

/// What this message of a runner says.
pub fn runner_note(text: &str) -> Option<RunnerNote<'_>> {
    if text.ends_with(GOES_ON) {
        return Some(RunnerNote::Switched);
    }
    let (_, rest) = text.split_once(STARTED_BY)?;
    rest.split_once('`').map(|(executor, _)| RunnerNote::Started { executor })
}

/// What an attempt has to know of the one before it.
pub(super) fn note(workspace: &WorkspaceRecord, session: Option<&str>) -> String {
    let resumed = match session {
        Some(_) => {
            "\n\n# You were interrupted\n\nYou have begun this work already, and were ended before you handed \
             on. What you have done is still in the folder: go on from there. Addresses and tokens above are \
             the new ones.\n"
        }
        None => "",
    };
    format!("{resumed}{}", note_of_changes(workspace))
}

fn note_of_changes(workspace: &WorkspaceRecord) -> String {
    let Some(KeptChanges { name, commit }) = &workspace.kept else { return String::new() };
    format!(
        "\n\n# An earlier attempt\n\nAn earlier attempt at this work ended before it was handed on. What it \
         left uncommitted is still in the folder, and is kept as commit {commit} under `{name}`.\n"
    )
}
