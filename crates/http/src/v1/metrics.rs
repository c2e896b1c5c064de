//! Metrics of handoffs, counted in the database.

use baton_api::{AgentMetrics, HandoffMetrics, StateCount, StateWord};
use baton_store::{AgentStatistics, HandoffFilter};
use serde::Deserialize;
use utoipa::IntoParams;

use super::answer::ApiResponse;
use crate::lookup::{run_id, story_key};
use crate::openapi::ReadProblems;
use crate::params::Params;
use crate::problem::ApiProblem;
use crate::scope::RequestScope;

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct MetricsQuery {
    /// Only this run: its id, its number or its story's key.
    #[param(min_length = 1, max_length = 200)]
    run: Option<String>,
    /// Only the runs of this story: its key.
    #[param(min_length = 1, max_length = 200)]
    story: Option<String>,
}

/// Counts handoffs by state and by agent.
///
/// Over all runs or some. Over all runs of a very large store, the counts may be some seconds old.
#[utoipa::path(get, path = "/api/v1/metrics", operation_id = "getMetrics", tag = "metrics",
    params(MetricsQuery),
    responses((status = 200, description = "The counts", body = HandoffMetrics), ReadProblems))]
pub(super) async fn get(
    app: RequestScope,
    Params(query): Params<MetricsQuery>,
) -> Result<ApiResponse<HandoffMetrics>, ApiProblem> {
    let run = run_id(&app, query.run.as_deref()).await?;
    let story = story_key(&app, query.story.as_deref()).await?;
    let filter = HandoffFilter { run, story, ..HandoffFilter::default() };
    let count = app.read().statistics(&filter);
    let found = if filter == HandoffFilter::default() {
        app.statistics.take(count).await
    } else {
        count.await
    };
    let found = found?;
    let count = |(state, count)| StateCount { state: StateWord::from(state), count };
    Ok(ApiResponse::new(HandoffMetrics {
        states: found.by_state.into_iter().map(count).collect(),
        agents: found.by_agent.into_iter().map(agent_metrics).collect(),
    }))
}

fn agent_metrics(it: AgentStatistics) -> AgentMetrics {
    AgentMetrics {
        agent: it.agent.to_string(),
        handoffs: it.n_handoffs,
        open: it.n_open,
        completed: it.n_completed,
        rejects: it.n_rejected,
        mean_ms_to_accept: it.mean_ms_to_accept,
        mean_ms_to_complete: it.mean_ms_to_complete,
    }
}
