//! Agents as they are shown: name, description, capabilities, avatar and what they have to do.

use baton_api::{AgentDocument, AgentProfile, Page};
use baton_core::names::AgentId;
use baton_core::run::HandoffState;
use baton_core::run::State as HandoffOpen;
use baton_engine::EngineError;
use baton_store::{HandoffFilter, Order, RunRef};
use baton_views::ShownAgent;
pub(crate) use baton_views::step_title;

use super::answer::ApiResponse;
use crate::lookup::not_found;
use crate::openapi::ReadProblems;
use crate::params::Named;
use crate::problem::ApiProblem;
use crate::scope::RequestScope;

/// An agent as it is today: its id may no longer be in any file, or never was.
fn profile(app: &RequestScope, id: &AgentId) -> AgentProfile {
    AgentProfile::from(&app.read().catalog().agents().shown(id))
}

/// An agent as it was shown at a moment.
pub(super) fn profile_of(it: ShownAgent) -> AgentProfile {
    let damaged = it.is_damaged.then(|| "agentName".to_owned());
    let profile = AgentProfile::from(&it.agent).at(it.step);
    AgentProfile { damaged: damaged.into_iter().collect(), ..profile }
}

/// Lists the agents.
///
/// The orchestrator, which is Baton itself, and every agent that has a file.
#[utoipa::path(get, path = "/api/v1/agents", operation_id = "listAgents", tag = "agents",
    responses(
        (status = 200, description = "One page of agents",
            body = Page<AgentProfile>),
        ReadProblems))]
pub(super) async fn list(app: RequestScope) -> Result<ApiResponse<Page<AgentProfile>>, ApiProblem> {
    let mut items = vec![profile(&app, &AgentId::orchestrator())];
    for agent in app.read().fresh_catalog().agents().iter() {
        let step = responsibility(&app, &agent.id).await?;
        items.push(AgentProfile::from(agent).at(step));
    }
    Ok(ApiResponse::new(Page { items, next: None }))
}

/// Shows an agent.
///
/// Its name, description and capabilities, and the prompt as its file has it, not filled in.
#[utoipa::path(get, path = "/api/v1/agents/{agent}", operation_id = "getAgent", tag = "agents",
    params(("agent" = String, Path, description = "Its id")),
    responses((status = 200, description = "The agent", body = AgentDocument), ReadProblems))]
pub(super) async fn get(
    app: RequestScope,
    Named(name): Named,
) -> Result<ApiResponse<AgentDocument>, ApiProblem> {
    let no_such = || {
        not_found(
            "unknown_agent",
            format!("there is no agent `{name}`; `/api/v1/agents` lists them"),
        )
    };
    let id = AgentId::parse(&name).map_err(|_| no_such())?;
    let catalog = app.read().fresh_catalog();
    if !catalog.knows(&id) {
        return Err(no_such());
    }
    let prompt = catalog.agents().find(&id).map(|it| it.prompt.clone());
    let agent = profile(&app, &id).at(responsibility(&app, &id).await?);
    Ok(ApiResponse::new(AgentDocument { agent, prompt: prompt.unwrap_or_default() }))
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
