//! How handing off fares, by agent, edge, workflow and week.

use baton_api::{
    AgentInsights, EdgeInsights, InsightCost, InsightFigures, InsightsDocument,
    RejectReasonDocument, RejectedBy, WeekInsights, WorkflowInsights,
};
use baton_core::names::WorkflowName;
use baton_views::{InsightGroup, InsightWindow, Insights, RejectReason};
use jiff::SignedDuration;
use serde::Deserialize;
use utoipa::IntoParams;

use super::answer::ApiResponse;
use crate::openapi::ReadProblems;
use crate::params::Params;
use crate::problem::ApiProblem;
use crate::scope::RequestScope;

const USUAL_DAYS: u32 = 28;
const MOST_DAYS: u32 = 366;

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct InsightsQuery {
    /// How many days back from now.
    #[param(minimum = 1, maximum = 366, default = 28)]
    days: Option<u32>,
    /// Only runs of this workflow.
    #[param(max_length = 64)]
    workflow: Option<String>,
}

/// Shows how handing off fares.
///
/// Latency, first-pass yield, rework, rejects, escalations and waiting for people, by agent, edge,
/// workflow and week, over the newest handoffs of some days; and why work was sent back.
#[utoipa::path(get, path = "/api/v1/insights", operation_id = "getInsights", tag = "metrics",
    params(InsightsQuery),
    responses((status = 200, description = "The figures", body = InsightsDocument), ReadProblems))]
pub(super) async fn get(
    app: RequestScope,
    Params(query): Params<InsightsQuery>,
) -> Result<ApiResponse<InsightsDocument>, ApiProblem> {
    let days = query.days.unwrap_or(USUAL_DAYS);
    if !(1..=MOST_DAYS).contains(&days) {
        let message = format!("`days` is a number from 1 to {MOST_DAYS}");
        return Err(ApiProblem::malformed("wrong_type", message));
    }
    let workflow = query.workflow.as_deref().map(WorkflowName::parse).transpose()?;
    let from = app.read().now() - SignedDuration::from_hours(24 * i64::from(days));
    let found = app.read().insights(&InsightWindow { from, workflow }).await?;
    Ok(ApiResponse::new(document(found)))
}

fn document(found: Insights) -> InsightsDocument {
    let agents = found.agents.iter();
    let edges = found.edges.iter();
    let workflows = found.workflows.iter();
    let weeks = found.weeks.iter();
    InsightsDocument {
        from: found.from,
        to: found.to,
        handoffs: found.n_handoffs,
        is_cut: found.is_cut,
        agents: agents
            .map(|(agent, it)| AgentInsights { agent: agent.to_string(), figures: figures(it) })
            .collect(),
        edges: edges
            .map(|(edge, it)| EdgeInsights {
                workflow: edge.workflow.to_string(),
                from: edge.from.clone(),
                to: edge.to.clone(),
                figures: figures(it),
            })
            .collect(),
        workflows: workflows
            .map(|(name, it)| WorkflowInsights { workflow: name.to_string(), figures: figures(it) })
            .collect(),
        weeks: weeks.map(|(week, it)| WeekInsights { week: *week, figures: figures(it) }).collect(),
        reject_reasons: found.reject_reasons.into_iter().map(reason_document).collect(),
    }
}

fn reason_document(it: RejectReason) -> RejectReasonDocument {
    RejectReasonDocument {
        workflow: it.edge.workflow.to_string(),
        from: it.edge.from,
        to: it.edge.to,
        reason: it.text,
        reason_truncated: it.is_cut,
        times: it.n_times,
        last_handoff: it.last_number,
        last_at: it.last_at,
    }
}

fn figures(it: &InsightGroup) -> InsightFigures {
    InsightFigures {
        handoffs: it.n_handoffs,
        open: it.n_open,
        completed: it.n_completed,
        timed_out: it.n_timed_out,
        accept_p50_ms: it.to_accept.p50_ms,
        accept_p95_ms: it.to_accept.p95_ms,
        complete_p50_ms: it.to_complete.p50_ms,
        complete_p95_ms: it.to_complete.p95_ms,
        first_pass_yield: it.first_pass_yield(),
        rework_rounds: it.n_rejected,
        rejected_by: RejectedBy {
            agent: it.rejected.by_agent,
            checks: it.rejected.by_checks,
            person: it.rejected.by_person,
        },
        escalations: it.n_escalations,
        waited_for_people_ms: it.waited_for_people_ms,
        with_warnings: it.n_with_warnings,
        completeness_score: it.mean_score(),
        cost: InsightCost {
            measured: it.n_measured,
            usd: it.used.micro_usd.map(|it| it as f64 / 1e6),
            input_tokens: it.used.input_tokens,
            output_tokens: it.used.output_tokens,
            work_ms: it.used.work_ms,
        },
    }
}
