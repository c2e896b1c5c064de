//! What people type for a run or a handoff, and which one they mean.

use baton_core::names::StoryKey;
use baton_core::run::{HandoffId, HandoffNo, RunId};
use baton_engine::Engine;
use baton_store::{HandoffRef, RunRef, RunRow};
use uuid::Uuid;

use crate::args::Which;
use crate::failure::Failure;

/// A run by its number, its id, or the story it is for (the open run, else the newest).
pub(crate) async fn find_run(engine: &Engine, name: &str) -> Result<RunRow, Failure> {
    if let Ok(number) = name.parse::<u64>()
        && let Some(row) = engine.store().run(&RunRef::Number(number)).await?
    {
        return Ok(row);
    }
    if let Ok(id) = Uuid::parse_str(name) {
        return Ok(engine.run(&RunRef::Id(RunId(id))).await?);
    }
    let no_such =
        || Failure::NotFound(format!("there is no run `{name}`; `baton run list --all` has them"));
    let Ok(story) = StoryKey::parse(name) else { return Err(no_such()) };
    let row = engine.store().run(&RunRef::LatestOf(story)).await?;
    row.ok_or_else(no_such)
}

/// A handoff by its number, its id, or its label within a run.
pub(crate) async fn find_handoff(engine: &Engine, which: &Which) -> Result<HandoffRef, Failure> {
    let name = which.handoff.as_str();
    if let Ok(number) = name.parse() {
        return Ok(HandoffRef::Number(number));
    }
    if let Ok(id) = Uuid::parse_str(name) {
        return Ok(HandoffRef::Id(HandoffId(id)));
    }
    let (run, label) = match (name.rsplit_once('/'), &which.run) {
        (Some((run, label)), _) => (Some(run), label),
        (None, run) => (run.as_deref(), name),
    };
    match (HandoffNo::parse_label(label), run) {
        (Some(no), Some(run)) => {
            let run = find_run(engine, run).await?.run.id;
            Ok(HandoffRef::InRun(run, no))
        }
        (Some(_), None) => Err(Failure::Usage(format!(
            "`{name}` is a label within a run; say which with `--run RUN` or as `RUN/{name}`"
        ))),
        (None, _) => Err(Failure::NotFound(format!(
            "there is no handoff `{name}`; use its number, its id or a label such as `HO-001`"
        ))),
    }
}
