//! A run as this API shows it: above all, where the baton is.

use baton_engine::EngineError;
use baton_store::RunRow;
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::App;
use crate::v1::words::{BatonWord, StatusWord};

/// One story going through one workflow.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::v1) struct Run {
    number: u64,
    id: Uuid,
    /// The key of the story.
    story: String,
    workflow: String,
    /// Of the workflow's file as it was when the run began.
    workflow_hash: String,
    owner: String,
    status: StatusWord,
    baton: BatonWord,
    /// Whom everybody waits for.
    current_agent: Option<String>,
    current_place: Option<String>,
    /// What people call the work that goes on.
    phase: String,
    /// Labels, oldest first.
    open_handoffs: Vec<String>,
    /// Steps that somebody has worked at.
    visited: Vec<String>,
    /// How many handoffs the run has had.
    n_handoffs: u32,
    /// How many events the run has seen: its `ETag`.
    version: u64,
    /// Of the last event.
    head: String,
    started_at: Timestamp,
    moved_at: Timestamp,
}

impl Run {
    pub(in crate::v1) async fn of(app: &App, row: &RunRow) -> Result<Self, EngineError> {
        let run = &row.run;
        let workflow = app.engine.workflow_of(row).await?;
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
