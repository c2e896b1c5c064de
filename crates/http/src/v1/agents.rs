//! Agents, in the form that the workflow API uses to attribute work to them.

use baton_core::agent::Agent;
use baton_core::names::AgentId;
use baton_core::run::{HandoffState, State as HandoffOpen};
use baton_core::workflow::{Place, Workflow};
use baton_engine::EngineError;
use baton_store::{HandoffFilter, Order, RunRef};
use serde::Serialize;
use utoipa::ToSchema;

use super::answer::ApiResponse;
use super::names::not_found;
use crate::openapi::ReadProblems;
use crate::params::Named;
use crate::problem::ApiProblem;
use crate::scope::RequestScope;

/// An agent as the author of work.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AgentAttributionDto)]
pub(super) struct Attribution {
    agent_id: String,
    pub(super) agent_name: String,
    agent_description: String,
    agent_avatar_url: Option<String>,
    capabilities: Vec<String>,
    /// The step that the agent has to do now; null if there is none.
    current_step_responsibility: Option<String>,
    color: Option<String>,
}

#[derive(Serialize, ToSchema)]
pub(super) struct AgentList {
    items: Vec<Attribution>,
}

/// An agent and its prompt.
#[derive(Serialize, ToSchema)]
#[schema(as = Agent)]
pub(super) struct WithPrompt {
    #[serde(flatten)]
    agent: Attribution,
    prompt: String,
}

impl Attribution {
    /// For an agent id that may no longer be in any file, or never was.
    pub(super) fn of(app: &RequestScope, id: &AgentId) -> Self {
        let known = app.engine.catalog().agents().find(id);
        known.map_or_else(|| Self::new(&stand_in(id)), Self::new)
    }

    /// Adds the step that the agent has to do.
    #[must_use]
    pub(super) fn at(self, step: Option<String>) -> Self {
        Self { current_step_responsibility: step, ..self }
    }

    fn new(agent: &Agent) -> Self {
        Self {
            agent_id: agent.id.to_string(),
            agent_name: agent.name.clone(),
            agent_description: agent.description.clone(),
            agent_avatar_url: agent.avatar.clone(),
            capabilities: agent.capabilities.clone(),
            current_step_responsibility: None,
            color: agent.color.clone(),
        }
    }
}

/// The two built-in agents have names; for any other unknown id there is only the id.
fn stand_in(id: &AgentId) -> Agent {
    let unknown = Agent::unknown(id.clone());
    let named = |name: &str, description: &str| Agent {
        name: name.to_owned(),
        description: description.to_owned(),
        ..unknown.clone()
    };
    if id.is_human() {
        return named("Human", "A person, who answers in the inbox");
    }
    if id.is_orchestrator() {
        return named("Orchestrator", "Baton itself, which hands stories in and takes them back");
    }
    unknown
}

/// Lists the agents.
#[utoipa::path(get, path = "/api/v1/agents", operation_id = "listAgents", tag = "agents",
    responses((status = 200, body = AgentList), ReadProblems))]
pub(super) async fn list(app: RequestScope) -> Result<ApiResponse<AgentList>, ApiProblem> {
    let mut items = Vec::new();
    for agent in app.engine.catalog().agents().iter() {
        let step = responsibility(&app, &agent.id).await?;
        items.push(Attribution::new(agent).at(step));
    }
    Ok(ApiResponse::new(AgentList { items }))
}

/// Shows an agent and its prompt.
#[utoipa::path(get, path = "/api/v1/agents/{agent}", operation_id = "getAgent", tag = "agents",
    params(("agent" = String, Path, description = "Its id")),
    responses((status = 200, body = WithPrompt), ReadProblems))]
pub(super) async fn get(
    app: RequestScope,
    Named(name): Named,
) -> Result<ApiResponse<WithPrompt>, ApiProblem> {
    let no_such = || {
        not_found(
            "unknown_agent",
            format!("there is no agent `{name}`; `/api/v1/agents` lists them"),
        )
    };
    let id = AgentId::parse(&name).map_err(|_| no_such())?;
    if !app.engine.catalog().knows(&id) {
        return Err(no_such());
    }
    let prompt = app.engine.catalog().agents().find(&id).map(|it| it.prompt.clone());
    let agent = Attribution::of(&app, &id).at(responsibility(&app, &id).await?);
    Ok(ApiResponse::new(WithPrompt { agent, prompt: prompt.unwrap_or_default() }))
}

/// The step that an agent has to do now: of the newest handoff that waits for it, in any run.
async fn responsibility(
    app: &RequestScope,
    agent: &AgentId,
) -> Result<Option<String>, EngineError> {
    let states = [HandoffOpen::Accepted, HandoffOpen::Pending].map(HandoffState::Open).to_vec();
    let filter = HandoffFilter {
        to: Some(agent.clone()),
        states,
        order: Order::NewestFirst,
        limit: 1,
        ..HandoffFilter::default()
    };
    let views = app.read();
    let newest = views.handoffs(&filter).await?.into_iter().next();
    let Some(handoff) = newest else { return Ok(None) };
    let run = app.read().run(&RunRef::Id(handoff.run)).await?;
    let workflow = app.read().workflow_of(&run).await?;
    Ok(step_title(&workflow, &handoff.to.place))
}

/// The title of a step, as people read it.
pub(super) fn step_title(workflow: &Workflow, place: &Place) -> Option<String> {
    match place {
        Place::Step(id) => {
            let title = workflow.step(id).map(|it| it.title.clone());
            Some(title.filter(|it| !it.is_empty()).unwrap_or_else(|| id.to_string()))
        }
        Place::Orchestrator | Place::Human | Place::Delegate(_) => None,
    }
}
