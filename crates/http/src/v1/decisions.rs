//! Decisions: what was decided in a run, by whom, when and why, as its packages state.

use baton_api::{DecisionDocument, Page};
use baton_views::Decided;

use super::agents::attribution;
use super::answer::{ApiResponse, PageQuery, after, cut, limit};
use crate::lookup::find_run;
use crate::openapi::ReadProblems;
use crate::params::{Named, Params};
use crate::problem::ApiProblem;
use crate::scope::RequestScope;

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
    Ok(ApiResponse::new(cut(numbered, limit, number, |(_, it)| decision(&app, it))))
}

fn decision(app: &RequestScope, it: Decided) -> DecisionDocument {
    let decided_by = attribution(app, &it.row.from.agent);
    let at = it.row.created_at;
    DecisionDocument {
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
