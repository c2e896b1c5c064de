//! Decisions: what was decided in a run, by whom, when and why, in its packages and at its gates.

use baton_api::{DecisionDocument, Page};
use baton_views::{Cast, Decided};

use super::agents::attribution_at;
use super::answer::{ApiResponse, PageQuery, after, cut, limit};
use super::write::RunPath;
use crate::lookup::find_run;
use crate::openapi::ReadProblems;
use crate::params::{Named, Params};
use crate::problem::ApiProblem;
use crate::scope::RequestScope;

/// Lists the decisions of a run.
///
/// Oldest first: those of packages that count, and what people answered at gates. `after` counts
/// decisions.
#[utoipa::path(get, path = "/api/v1/runs/{run}/decisions", operation_id = "listDecisions",
    tag = "decisions",
    params(RunPath, PageQuery),
    responses(
        (status = 200, description = "One page of decisions",
            body = Page<DecisionDocument>),
        ReadProblems))]
pub(super) async fn list(
    app: RequestScope,
    Named(name): Named,
    Params(query): Params<PageQuery>,
) -> Result<ApiResponse<Page<DecisionDocument>>, ApiProblem> {
    let limit = limit(query.limit)?;
    let run = find_run(&app, &name).await?;
    let decided = app.read().decisions(run.run.id).await?;
    let cast = app.read().cast(&run.run).await?;
    let after = usize::try_from(after(query.after)?).unwrap_or(usize::MAX);
    let numbered: Vec<_> = (1..).zip(decided).skip(after).take(limit as usize + 1).collect();
    let number = |(number, _): &(u64, Decided)| number.to_string();
    Ok(ApiResponse::new(cut(numbered, limit, number, |(_, it)| decision(&cast, it))))
}

fn decision(cast: &Cast, it: Decided) -> DecisionDocument {
    let agent = cast.at(&it.by, it.row.no);
    let who = it.person.as_ref().map_or_else(|| agent.label(), ToString::to_string);
    DecisionDocument {
        id: it.decision.id,
        decision: it.decision.decision,
        rationale: it.decision.rationale,
        attribution: format!("Decided by {who} at {:.0}", it.at),
        decided_by: attribution_at(cast, &it.by, it.row.no),
        person: it.person.map(|it| it.to_string()),
        answer: it.answer.map(|it| it.name().to_owned()),
        decided_at: it.at,
        handoff: it.row.no.label(),
        handoff_id: it.row.id.0,
    }
}
