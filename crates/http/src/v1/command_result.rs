//! The result of a command, and of a dry run.

use baton_core::run::HandoffNo;
use baton_engine::{Caller, CommandMode, CommandResult, EngineError};
use baton_store::{RunRef, RunRow};
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

use super::answer::ApiResponse;
use super::enums::StateWord;
use super::flat::{part, whole};
use super::handoffs::document::HandoffDocument;
use super::runs::document::RunDocument;
use crate::problem::ApiProblem;
use crate::scope::RequestScope;

#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
#[expect(clippy::large_enum_variant, reason = "one is made for each answer, and kept nowhere")]
pub enum CommandAnswer {
    Done(Committed),
    Rehearsed(DryRun),
}

/// The result of a command that was committed.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Committed {
    pub success: bool,
    /// The same command was carried out before; nothing was done again.
    pub is_repeat: bool,
    /// The run after the command.
    pub run: RunDocument,
    /// The handoff that the command changed or created.
    pub handoff: Option<HandoffDocument>,
    /// The handoff that returns rejected work.
    pub return_handoff: Option<HandoffDocument>,
    /// The gate handoff that asks a person.
    pub gate: Option<HandoffDocument>,
    /// The handoff that asks the sender a question.
    pub question: Option<HandoffDocument>,
    /// The holder's fencing token, to be passed with later commands on the handoff.
    pub fence: Option<u32>,
    /// The lease: for how long the holder of `handoff` may be silent.
    pub lease_seconds: Option<u32>,
    /// Labels of the handoffs that were cancelled.
    pub cancelled: Vec<String>,
    /// Labels of the handoffs that a clean-up kept.
    pub kept: Vec<String>,
    /// What the contract recommends and the package lacks.
    pub warnings: Vec<String>,
}

/// What the command would do. Nothing was changed.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DryRun)]
pub struct DryRun {
    pub dry_run: bool,
    pub handoffs: Vec<Touched>,
    /// The version that the run would have.
    pub version: u64,
    pub warnings: Vec<String>,
}

/// A handoff, and the state that it would have.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Touched {
    #[schema(example = "HO-001")]
    pub label: String,
    pub state: StateWord,
}

impl<'de> Deserialize<'de> for CommandAnswer {
    /// A dry run is recognised by its own member, whatever else is in the document.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Marked {
            dry_run: Option<bool>,
        }
        let raw = whole(deserializer)?;
        let Marked { dry_run } = part(&raw)?;
        match dry_run {
            Some(true) => Ok(Self::Rehearsed(part(&raw)?)),
            Some(false) | None => Ok(Self::Done(part(&raw)?)),
        }
    }
}

/// Builds the response: what happened, or for a dry run what would have.
pub(super) async fn tell(
    app: &RequestScope,
    caller: &Caller,
    outcome: &CommandResult,
) -> Result<ApiResponse<CommandAnswer>, ApiProblem> {
    match caller.mode {
        CommandMode::DryRun => Ok(ApiResponse::new(CommandAnswer::Rehearsed(rehearsed(outcome)))),
        CommandMode::Commit => {
            let row = app.read().run(&RunRef::Id(outcome.run)).await?;
            let version = row.version;
            Ok(ApiResponse::new(CommandAnswer::Done(done(app, outcome, &row).await?)).at(version))
        }
    }
}

/// As [`tell`], for a command that creates a run.
pub(super) async fn tell_run(
    app: &RequestScope,
    caller: &Caller,
    outcome: &CommandResult,
) -> Result<ApiResponse<CommandAnswer>, ApiProblem> {
    let answer = tell(app, caller, outcome).await?;
    Ok(match caller.mode {
        CommandMode::DryRun => answer,
        CommandMode::Commit => answer.made(format!("/api/v1/runs/{}", outcome.run)),
    })
}

/// As [`tell`], for a command that creates a handoff.
pub(super) async fn tell_handoff(
    app: &RequestScope,
    caller: &Caller,
    outcome: &CommandResult,
) -> Result<ApiResponse<CommandAnswer>, ApiProblem> {
    let answer = tell(app, caller, outcome).await?;
    Ok(match (caller.mode, outcome.done.handoff) {
        (CommandMode::DryRun, _) | (CommandMode::Commit, None) => answer,
        (CommandMode::Commit, Some(no)) => {
            let row = app.engine.row_of(outcome, no).await?;
            answer.made(format!("/api/v1/handoffs/{}", row.id.0))
        }
    })
}

async fn done(
    app: &RequestScope,
    outcome: &CommandResult,
    row: &RunRow,
) -> Result<Committed, EngineError> {
    let done = &outcome.done;
    let held = done.handoff.and_then(|it| row.run.handoff(it));
    Ok(Committed {
        success: true,
        is_repeat: outcome.is_repeat,
        run: RunDocument::of(app, row).await?,
        handoff: handoff(app, outcome, done.handoff).await?,
        return_handoff: handoff(app, outcome, done.returned).await?,
        gate: handoff(app, outcome, done.gate).await?,
        question: handoff(app, outcome, done.question).await?,
        fence: done.fence,
        lease_seconds: held.and_then(|it| it.lease),
        cancelled: labels(&done.cancelled),
        kept: labels(&done.kept),
        warnings: warnings(outcome),
    })
}

fn rehearsed(outcome: &CommandResult) -> DryRun {
    let touched =
        outcome.rows.iter().map(|it| Touched { label: it.no.label(), state: it.state.into() });
    DryRun {
        dry_run: true,
        handoffs: touched.collect(),
        version: outcome.version.0,
        warnings: warnings(outcome),
    }
}

async fn handoff(
    app: &RequestScope,
    outcome: &CommandResult,
    no: Option<HandoffNo>,
) -> Result<Option<HandoffDocument>, EngineError> {
    match no {
        Some(no) => {
            let row = app.engine.row_of(outcome, no).await?;
            Ok(Some(HandoffDocument::of(app, &row).await?))
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
