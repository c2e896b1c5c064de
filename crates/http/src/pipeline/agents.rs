//! `GET /api/agents`: the agents, and with `?name=` one agent's prompt.

use baton_api::pipeline::{PipelineAgent, PipelineAgents};
use baton_core::agent::Agent;
use baton_core::names::AgentId;
use serde::Deserialize;
use utoipa::IntoParams;

use super::{Typed, given};
use crate::lookup::not_found;
use crate::openapi::ReadProblems;
use crate::params::Params;
use crate::problem::ApiProblem;
use crate::scope::RequestScope;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct PipelineAgentQuery {
    /// The id of an agent
    name: Option<String>,
}

/// Lists the agents, or shows the prompt of one.
///
/// Without `name`, every agent of the project. With it, that agent and its prompt, as its file has it.
#[utoipa::path(get, path = "/api/agents", operation_id = "pipelineGetAgents", tag = "pipeline",
    params(PipelineAgentQuery),
    responses(
        (status = 200, description = "The agents, or the one that `name` names",
            body = PipelineAgents),
        ReadProblems))]
pub(super) async fn get(
    app: RequestScope,
    Params(query): Params<PipelineAgentQuery>,
) -> Result<Typed<PipelineAgents>, ApiProblem> {
    let catalog = app.read().fresh_catalog();
    let agents = catalog.agents();
    let Some(name) = given(&query.name) else {
        // Baton itself is the first agent of the pipeline; no file describes it.
        let orchestrator = agents.shown(&AgentId::orchestrator());
        let agents = std::iter::once(&orchestrator).chain(agents.iter());
        let agents = agents.map(|it| pipeline_agent(it, None)).collect();
        return Ok(Typed(PipelineAgents::All { agents }));
    };
    let id = AgentId::parse(name)?;
    let orchestrator = Some(agents.shown(&id)).filter(|_| id.is_orchestrator());
    let agent = agents.find(&id).or(orchestrator.as_ref()).ok_or_else(|| {
        let message = format!("there is no agent `{id}`; `/api/agents` lists them");
        not_found("unknown_agent", message)
    })?;
    Ok(Typed(PipelineAgents::One(pipeline_agent(agent, Some(agent.prompt.clone())))))
}

fn pipeline_agent(agent: &Agent, prompt: Option<String>) -> PipelineAgent {
    PipelineAgent {
        name: agent.id.to_string(),
        title: agent.name.clone(),
        description: agent.description.clone(),
        role: agent.description.clone(),
        capabilities: agent.capabilities.clone(),
        prompt,
    }
}
