//! The result of a command, and of a dry run.

use baton_api::{
    CommandAnswer, Committed, CommittedTag, DryRun, DryRunTag, HandoffDocument, Touched,
};
use baton_core::command::Command;
use baton_core::run::{HandoffNo, RunId};
use baton_engine::{CommandMode, CommandResult, EngineError};
use baton_store::{HandoffRow, RunRow};
use serde::Serialize;

use super::answer::ApiResponse;
use super::handoffs::document::{handoff_document, refused};
use super::runs::document::run_document;
use crate::problem::ApiProblem;
use crate::scope::{RequestCaller, RequestScope};

/// What a write created; for a dry run what would happen.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum WriteAnswer<T> {
    Done(T),
    Rehearsed(DryRun),
}

/// Builds the response: what happened, or for a dry run what would have.
pub(super) async fn tell(
    app: &RequestScope,
    caller: &RequestCaller,
    outcome: &CommandResult,
) -> Result<ApiResponse<CommandAnswer>, ApiProblem> {
    match caller.mode() {
        CommandMode::DryRun => Ok(ApiResponse::new(CommandAnswer::Rehearsed(rehearsed(outcome)))),
        CommandMode::Commit => {
            let row = app.read().run_after(outcome).await?;
            let version = row.version;
            let answer = CommandAnswer::Done(done(app, outcome, &row).await?);
            let answer = ApiResponse::new(answer).at(version);
            Ok(if is_parked_on_checks(outcome) { answer.taken() } else { answer })
        }
    }
}

/// Carries out a command on a run, and builds the response.
pub(super) async fn command_on_run(
    app: &RequestScope,
    caller: &RequestCaller,
    run: RunId,
    command: Command,
) -> Result<ApiResponse<CommandAnswer>, ApiProblem> {
    match caller.on_run(run, command).await {
        Ok(outcome) => tell(app, caller, &outcome).await,
        Err(error) => Err(refused(app, error).await),
    }
}

/// As [`command_on_run`], for a command that makes something: the response is what `made` reads in
/// the run after it, and where that is.
pub(super) async fn made_in_run<T>(
    app: &RequestScope,
    caller: &RequestCaller,
    run: RunId,
    command: Command,
    made: impl AsyncFnOnce(&RunRow) -> Result<(T, String), ApiProblem>,
) -> Result<ApiResponse<WriteAnswer<T>>, ApiProblem> {
    let outcome = match caller.on_run(run, command).await {
        Ok(outcome) => outcome,
        Err(error) => return Err(refused(app, error).await),
    };
    if caller.mode() == CommandMode::DryRun {
        return Ok(ApiResponse::new(WriteAnswer::Rehearsed(rehearsed(&outcome))));
    }
    let row = app.read().run_after(&outcome).await?;
    let (document, path) = made(&row).await?;
    let location = format!("/api/v1/runs/{run}/{path}");
    Ok(ApiResponse::new(WriteAnswer::Done(document)).at(row.version).made(location))
}

/// As [`tell`], for a command that creates a run.
pub(super) async fn tell_run(
    app: &RequestScope,
    caller: &RequestCaller,
    outcome: &CommandResult,
) -> Result<ApiResponse<CommandAnswer>, ApiProblem> {
    let answer = tell(app, caller, outcome).await?;
    Ok(match caller.mode() {
        CommandMode::DryRun => answer,
        CommandMode::Commit => answer.made(format!("/api/v1/runs/{}", outcome.run)),
    })
}

/// As [`tell`], for a command that creates a handoff.
pub(super) async fn tell_handoff(
    app: &RequestScope,
    caller: &RequestCaller,
    outcome: &CommandResult,
) -> Result<ApiResponse<CommandAnswer>, ApiProblem> {
    let answer = tell(app, caller, outcome).await?;
    Ok(match (caller.mode(), outcome.done.handoff) {
        (CommandMode::DryRun, _) | (CommandMode::Commit, None) => answer,
        (CommandMode::Commit, Some(no)) => {
            let row = app.read().row_of(outcome, no).await?;
            let made = answer.made(format!("/api/v1/handoffs/{}", row.id.0));
            if is_parked_on_checks(outcome) { made.taken() } else { made }
        }
    })
}

/// Whether the command handed work on that now waits for its checks: whether the receiver gets it is
/// not known yet. Nothing else that goes to the orchestrator stays open.
pub(crate) fn is_parked_on_checks(outcome: &CommandResult) -> bool {
    let is_new = |it: &&HandoffRow| it.created_at == outcome.at && it.state.is_open();
    outcome.rows.iter().filter(is_new).any(|it| it.to.agent.is_orchestrator())
}

async fn done(
    app: &RequestScope,
    outcome: &CommandResult,
    row: &RunRow,
) -> Result<Committed, EngineError> {
    let done = &outcome.done;
    let held = done.handoff.and_then(|it| row.run.handoff(it));
    Ok(Committed {
        result: CommittedTag::Committed,
        success: true,
        is_repeat: outcome.is_repeat,
        run: run_document(app, row).await?,
        handoff: handoff(app, outcome, done.handoff).await?,
        return_handoff: handoff(app, outcome, done.returned).await?,
        gate: handoff(app, outcome, done.gate).await?,
        question: handoff(app, outcome, done.question).await?,
        fence: done.fence,
        lease_seconds: held.and_then(|it| it.lease),
        cancelled: labels(&done.cancelled),
        kept: labels(&done.kept),
        warnings: warnings(outcome),
        adopted: outcome.adopted,
    })
}

pub(super) fn rehearsed(outcome: &CommandResult) -> DryRun {
    let touched =
        outcome.rows.iter().map(|it| Touched { label: it.no.label(), state: it.state.into() });
    DryRun {
        result: DryRunTag::DryRun,
        dry_run: true,
        handoffs: touched.collect(),
        version: outcome.version.0,
        warnings: warnings(outcome),
        adopted: outcome.adopted,
    }
}

async fn handoff(
    app: &RequestScope,
    outcome: &CommandResult,
    no: Option<HandoffNo>,
) -> Result<Option<HandoffDocument>, EngineError> {
    match no {
        Some(no) => {
            let row = app.read().row_of(outcome, no).await?;
            Ok(Some(handoff_document(app, &row).await?))
        }
        None => Ok(None),
    }
}

fn labels(nos: &[HandoffNo]) -> Vec<String> {
    nos.iter().map(|it| it.label()).collect()
}

fn warnings(outcome: &CommandResult) -> Vec<String> {
    outcome.done.warnings.iter().map(ToString::to_string).collect()
}
