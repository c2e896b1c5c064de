//! The output of a command that changed something.

use baton_api::{CommandAnswer, Committed, DryRun, HandoffDocument, HandoffSummary};

use crate::api::{Api, ApiReply, Ask};
use crate::failure::Failure;
use crate::show::{self, OutputFormat};

/// Executes a command, and prints what happened, or in a dry run what would have.
pub(crate) async fn tell(api: &Api, ask: &Ask) -> Result<(), Failure> {
    let reply = api.send(ask).await?;
    match api.format {
        OutputFormat::Json => show::answer_document(&reply.body),
        OutputFormat::Table => match reply.document()? {
            CommandAnswer::Done(done) => show_done(&done),
            CommandAnswer::Rehearsed(rehearsed) => show_rehearsed(&rehearsed),
        },
    }
    Ok(())
}

/// What a command does, for the first line of its output.
pub(crate) struct Deed {
    /// As in `approved handoff 2`.
    done: String,
    /// As in `approve handoff 2`.
    to_do: String,
}

impl Deed {
    pub(crate) fn new(done: &str, to_do: &str, object: &str) -> Self {
        Self { done: format!("{done} {object}"), to_do: format!("{to_do} {object}") }
    }

    /// With more to say of it once it is done.
    pub(crate) fn but(mut self, more: &str) -> Self {
        self.done = format!("{}: {more}", self.done);
        self
    }

    pub(crate) fn show_done(&self) {
        show::answer(&show::visible(&self.done));
    }

    pub(crate) fn show_rehearsed(&self) {
        show::answer(&format!("would {}", show::visible(&self.to_do)));
    }
}

/// As [`tell`], and says first what the command did or would do.
pub(crate) async fn tell_deed(api: &Api, ask: &Ask, deed: &Deed) -> Result<(), Failure> {
    let reply = api.send(ask).await?;
    show_deed(api, &reply, deed)
}

pub(crate) fn show_deed(api: &Api, reply: &ApiReply, deed: &Deed) -> Result<(), Failure> {
    match api.format {
        OutputFormat::Json => show::answer_document(&reply.body),
        OutputFormat::Table => match reply.document()? {
            CommandAnswer::Done(done) => {
                deed.show_done();
                show_done(&done);
            }
            CommandAnswer::Rehearsed(rehearsed) => {
                deed.show_rehearsed();
                show_rehearsed(&rehearsed);
            }
        },
    }
    Ok(())
}

fn show_done(done: &Committed) {
    for row in rows(done) {
        show::answer(&line(row));
    }
    if !done.cancelled.is_empty() {
        show::answer(&format!("cancelled: {}", done.cancelled.join(", ")));
    }
    if !done.kept.is_empty() {
        show::answer(&format!("kept: {}", done.kept.join(", ")));
    }
    if let (Some(fence), Some(_)) = (done.fence, done.lease_seconds) {
        show::answer(&format!("fence {fence}: say it with `--fence` in what you do with it"));
    }
    let run = &done.run;
    let baton = show::whereabouts(run);
    show::answer(&format!("run {} is {}; baton: {baton}", run.number, run.status.name()));
    show_warnings(&done.warnings);
    if done.adopted {
        let story = show::visible(&run.story);
        show::note(&format!("{} there was no story `{story}`: it was made", show::warn("new:")));
    }
    if done.is_repeat {
        show::note("this key had been used for the same command: nothing was done again");
    }
}

pub(crate) fn show_rehearsed(rehearsed: &DryRun) {
    for it in &rehearsed.handoffs {
        show::answer(&format!("{} would be {}", it.label, it.state.name()));
    }
    show_warnings(&rehearsed.warnings);
    if rehearsed.adopted {
        show::note("there is no such story: it would be made");
    }
    show::note("nothing was changed");
}

pub(super) fn show_warnings(warnings: &[String]) {
    for warning in warnings {
        show::note(&format!("{} {}", show::warn("warning:"), show::visible(warning)));
    }
}

/// Every handoff involved, once.
fn rows(done: &Committed) -> Vec<&HandoffSummary> {
    let mut rows: Vec<&HandoffSummary> = Vec::new();
    for HandoffDocument { row, .. } in
        [&done.handoff, &done.return_handoff, &done.gate, &done.question].into_iter().flatten()
    {
        if !rows.iter().any(|it| it.number == row.number) {
            rows.push(row);
        }
    }
    rows
}

fn line(row: &HandoffSummary) -> String {
    let HandoffSummary { number, label, from_agent, to_agent, state, .. } = row;
    format!("handoff {number} ({label}) {from_agent} → {to_agent}: {}", state.name())
}
