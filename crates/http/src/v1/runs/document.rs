//! A run as the native API represents it: above all, where the baton is.

use baton_core::run::{Baton, State};
use baton_core::workflow::Place;
use baton_engine::EngineError;
use baton_store::RunRow;
use baton_views::PassedGate;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::scope::RequestScope;
use crate::v1::enums::{BatonWord, StatusWord, WaitWord};

/// One story going through one workflow.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunDocument {
    pub number: u64,
    pub id: Uuid,
    /// The key of the story.
    pub story: String,
    pub workflow: String,
    /// The hash of the workflow's file as it was when the run began.
    pub workflow_hash: String,
    pub owner: String,
    pub status: StatusWord,
    pub baton: BatonWord,
    /// The agent or person that has to act.
    pub current_agent: Option<String>,
    pub current_place: Option<String>,
    /// The label of the handoff that the baton rests on; null if it is loose, or the run is over.
    pub current_handoff: Option<String>,
    /// What a parked baton waits for.
    pub parked_on: Option<WaitWord>,
    /// Whether `currentAgent` has to answer a question before the handoff can be accepted.
    pub is_asked: bool,
    /// Whether the current handoff has waited for too long.
    pub is_stale: bool,
    /// The title of the current work.
    pub phase: String,
    /// Labels of the open handoffs, oldest first.
    pub open_handoffs: Vec<String>,
    /// Steps at which an agent has worked.
    pub visited: Vec<String>,
    /// How many handoffs the run has had.
    pub n_handoffs: u32,
    /// How many events the run has; also its `ETag`.
    pub version: u64,
    /// The hash of the run's last event.
    pub head: String,
    pub started_at: Timestamp,
    pub moved_at: Timestamp,
}

/// A run with the gates that its work has passed.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunDetail {
    #[serde(flatten)]
    pub run: RunDocument,
    /// In the order in which they were passed, without those that the run has gone back before.
    /// Omitted if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passed_gates: Vec<PassedGateDocument>,
}

/// A gate that the work of a run has passed.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PassedGate)]
pub struct PassedGateDocument {
    /// The gate's name in the workflow.
    pub name: String,
    /// The step before the gate; null at the start.
    pub from_step: Option<String>,
    /// The step after the gate; null at the end.
    pub to_step: Option<String>,
    /// `answered` by a person, `checks` that all passed, `waived` by an operator or with the answer
    /// to another gate, or `carried`: passed before gates were recorded.
    #[schema(example = "answered")]
    pub how: String,
    /// Who sent the command that moved the work past the gate.
    pub by: String,
    pub at: Timestamp,
}

impl RunDetail {
    pub(in crate::v1) async fn of(app: &RequestScope, row: &RunRow) -> Result<Self, EngineError> {
        let gates = app.read().passed_gates(row).await?;
        let passed_gates = gates.into_iter().map(PassedGateDocument::from).collect();
        Ok(Self { run: RunDocument::of(app, row).await?, passed_gates })
    }
}

impl From<PassedGate> for PassedGateDocument {
    fn from(it: PassedGate) -> Self {
        Self {
            name: it.name,
            from_step: step(&it.gate.from),
            to_step: step(&it.gate.to),
            how: it.how.name().to_owned(),
            by: it.by.to_string(),
            at: it.at,
        }
    }
}

fn step(place: &Place) -> Option<String> {
    match place {
        Place::Step(step) => Some(step.to_string()),
        Place::Orchestrator | Place::Human | Place::Delegate(_) => None,
    }
}

impl RunDocument {
    pub(in crate::v1) async fn of(app: &RequestScope, row: &RunRow) -> Result<Self, EngineError> {
        let run = &row.run;
        let current = run.current();
        let workflow = app.read().workflow_of(row).await?;
        Ok(Self {
            number: row.number,
            id: run.id.0,
            story: run.story.to_string(),
            workflow: run.workflow.to_string(),
            workflow_hash: workflow.hash.to_string(),
            owner: run.owner.to_string(),
            status: run.status.into(),
            baton: run.baton().into(),
            current_agent: run.current_agent().map(ToString::to_string),
            current_place: run.current_place().map(ToString::to_string),
            current_handoff: current.map(|it| it.no.label()),
            parked_on: match run.baton() {
                Baton::Parked { on, .. } => Some((*on).into()),
                Baton::Offered { .. } | Baton::Held { .. } | Baton::Loose { .. } | Baton::Done => {
                    None
                }
            },
            is_asked: current.is_some_and(|it| it.state == State::Clarification),
            is_stale: current.is_some_and(|it| it.is_stale),
            phase: run.phase(&workflow).to_owned(),
            open_handoffs: run.handoffs.iter().map(|it| it.no.label()).collect(),
            visited: run.visited.iter().map(ToString::to_string).collect(),
            n_handoffs: run.n_handoffs,
            version: row.version.0,
            head: row.head.to_string(),
            started_at: run.started_at,
            moved_at: run.moved_at,
        })
    }
}
