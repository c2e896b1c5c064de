//! What a command that changed something says, and what a rehearsal says.

use baton_core::run::HandoffNo;
use baton_engine::{Caller, EngineError, Mode, Outcome};
use baton_store::RunRef;
use serde::Serialize;
use utoipa::ToSchema;

use super::answer::Answer;
use super::handoffs::document::Handoff;
use super::runs::document::Run;
use super::words::StateWord;
use crate::App;
use crate::problem::Problem;

#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[expect(clippy::large_enum_variant, reason = "one is made for each answer, and kept nowhere")]
pub(super) enum Told {
    Done(Done),
    Rehearsed(Rehearsed),
}

/// What happened.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Done {
    success: bool,
    /// The same command was carried out before, and nothing was done again.
    is_repeat: bool,
    /// As it is now.
    run: Run,
    /// The handoff that the command was about, or that it made.
    handoff: Option<Handoff>,
    /// The handoff that takes rejected work back.
    return_handoff: Option<Handoff>,
    /// The handoff that asks a person.
    gate: Option<Handoff>,
    /// The handoff that asks the sender.
    question: Option<Handoff>,
    /// What the holder holds it with, to be said whenever it might have been lost.
    fence: Option<u32>,
    /// Labels of what was cancelled.
    cancelled: Vec<String>,
    /// Labels of what a clean-up left alone.
    kept: Vec<String>,
    /// What the contract would like to see in the package.
    warnings: Vec<String>,
}

/// What would have happened. Nothing was changed.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DryRun)]
pub(super) struct Rehearsed {
    dry_run: bool,
    handoffs: Vec<Touched>,
    /// What the run would be at.
    version: u64,
    warnings: Vec<String>,
}

/// A handoff, and how it would stand.
#[derive(Serialize, ToSchema)]
struct Touched {
    #[schema(example = "HO-001")]
    label: String,
    state: StateWord,
}

/// Tells what happened, or what would have.
pub(super) async fn tell(
    app: &App,
    caller: &Caller,
    outcome: &Outcome,
) -> Result<Answer<Told>, Problem> {
    match caller.mode {
        Mode::DryRun => Ok(Answer::new(Told::Rehearsed(rehearsed(outcome)))),
        Mode::Commit => {
            let row = app.engine.run(&RunRef::Id(outcome.run)).await?;
            let version = row.version;
            let run = Run::of(app, &row).await?;
            Ok(Answer::new(Told::Done(done(app, outcome, run).await?)).at(version))
        }
    }
}

/// As [`tell`], for a command that makes a run.
pub(super) async fn tell_run(
    app: &App,
    caller: &Caller,
    outcome: &Outcome,
) -> Result<Answer<Told>, Problem> {
    let answer = tell(app, caller, outcome).await?;
    Ok(match caller.mode {
        Mode::DryRun => answer,
        Mode::Commit => answer.made(format!("/api/v1/runs/{}", outcome.run)),
    })
}

/// As [`tell`], for a command that makes a handoff.
pub(super) async fn tell_handoff(
    app: &App,
    caller: &Caller,
    outcome: &Outcome,
) -> Result<Answer<Told>, Problem> {
    let answer = tell(app, caller, outcome).await?;
    Ok(match (caller.mode, outcome.done.handoff) {
        (Mode::DryRun, _) | (Mode::Commit, None) => answer,
        (Mode::Commit, Some(no)) => {
            let row = app.engine.row_of(outcome, no).await?;
            answer.made(format!("/api/v1/handoffs/{}", row.id.0))
        }
    })
}

async fn done(app: &App, outcome: &Outcome, run: Run) -> Result<Done, EngineError> {
    let done = &outcome.done;
    Ok(Done {
        success: true,
        is_repeat: outcome.is_repeat,
        run,
        handoff: handoff(app, outcome, done.handoff).await?,
        return_handoff: handoff(app, outcome, done.returned).await?,
        gate: handoff(app, outcome, done.gate).await?,
        question: handoff(app, outcome, done.question).await?,
        fence: done.fence,
        cancelled: labels(&done.cancelled),
        kept: labels(&done.kept),
        warnings: warnings(outcome),
    })
}

fn rehearsed(outcome: &Outcome) -> Rehearsed {
    let touched = outcome
        .touched
        .iter()
        .map(|(no, state)| Touched { label: no.label(), state: (*state).into() });
    Rehearsed {
        dry_run: true,
        handoffs: touched.collect(),
        version: outcome.version.0,
        warnings: warnings(outcome),
    }
}

async fn handoff(
    app: &App,
    outcome: &Outcome,
    no: Option<HandoffNo>,
) -> Result<Option<Handoff>, EngineError> {
    match no {
        Some(no) => {
            let row = app.engine.row_of(outcome, no).await?;
            Ok(Some(Handoff::of(app, &row).await?))
        }
        None => Ok(None),
    }
}

fn labels(nos: &[HandoffNo]) -> Vec<String> {
    nos.iter().map(|it| it.label()).collect()
}

fn warnings(outcome: &Outcome) -> Vec<String> {
    outcome.done.warnings.iter().map(ToString::to_string).collect()
}
