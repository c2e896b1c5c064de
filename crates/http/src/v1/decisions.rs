//! Decisions: what was decided in a run, by whom, when and why, as its packages state.

use baton_views::Decided;
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::agents::Attribution;
use super::answer::{ApiResponse, Page, PageQuery, after, limit};
use super::names::find_run;
use crate::openapi::ReadProblems;
use crate::params::{Named, Params};
use crate::problem::ApiProblem;
use crate::scope::RequestScope;

/// A decision, and who made it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Decision)]
pub(super) struct DecisionDocument {
    /// The sender's own id for it.
    id: Option<String>,
    decision: String,
    rationale: Option<String>,
    decided_by: Attribution,
    decided_at: Timestamp,
    /// As in `Decided by Analyst at 2026-01-02T03:04:05Z`.
    attribution: String,
    /// The label of the handoff whose package states it.
    handoff: String,
    handoff_id: Uuid,
}

/// Lists the decisions of a run, oldest first. `after` counts decisions.
#[utoipa::path(get, path = "/api/v1/runs/{run}/decisions", operation_id = "listDecisions",
    tag = "decisions",
    params(("run" = String, Path, description = "Its id, its number or its story's key"), PageQuery),
    responses((status = 200, body = Page<DecisionDocument>), ReadProblems))]
pub(super) async fn list(
    app: RequestScope,
    Named(name): Named,
    Params(query): Params<PageQuery>,
) -> Result<ApiResponse<Page<DecisionDocument>>, ApiProblem> {
    let limit = limit(query.limit)?;
    let run = find_run(&app, &name).await?;
    let decided = app.read().decisions(run.run.id).await?;
    let after = usize::try_from(after(query.after)?).unwrap_or(usize::MAX);
    let numbered: Vec<_> = (1..).zip(decided).skip(after).take(limit as usize + 1).collect();
    let number = |(number, _): &(u64, Decided)| number.to_string();
    Ok(ApiResponse::new(Page::cut(numbered, limit, number, |(_, it)| {
        DecisionDocument::of(&app, it)
    })))
}

impl DecisionDocument {
    fn of(app: &RequestScope, it: Decided) -> Self {
        let decided_by = Attribution::of(app, &it.row.from.agent);
        let at = it.row.created_at;
        Self {
            id: it.decision.id,
            decision: it.decision.decision,
            rationale: it.decision.rationale,
            attribution: format!("Decided by {} at {at:.0}", decided_by.agent_name),
            decided_by,
            decided_at: at,
            handoff: it.row.no.label(),
            handoff_id: it.row.id.0,
        }
    }
}
