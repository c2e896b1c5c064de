//! `GET /api/agents`: the agents, and with `?name=` one agent's prompt.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{StatusCode, Uri};
use baton_api::pipeline::PipelineAgents;
use baton_core::agent::Agent;
use baton_core::document::Node;
use baton_core::names::AgentId;

use super::Json;
use crate::App;
use crate::openapi::ReadProblems;
use crate::problem::ApiProblem;
use crate::query::Query;

/// Lists the agents, or with `name` shows one agent's prompt.
#[utoipa::path(get, path = "/api/agents", operation_id = "pipelineGetAgents", tag = "pipeline",
    params(("name" = Option<String>, Query, description = "The id of an agent")),
    responses((status = 200, body = PipelineAgents), ReadProblems))]
pub(super) async fn get(State(app): State<Arc<App>>, uri: Uri) -> Result<Json, ApiProblem> {
    let query = Query::read(&uri, &["name"])?;
    let agents = app.engine.catalog().agents();
    let Some(name) = query.get("name") else {
        let agents = agents.iter().map(|it| Node::map(members(it))).collect();
        return Ok(Json(Node::map([("agents", Node::List(agents))])));
    };
    let id = AgentId::parse(name)?;
    let agent = agents.find(&id).ok_or_else(|| {
        let message = format!("there is no agent `{id}`; `/api/agents` lists them");
        ApiProblem::new(StatusCode::NOT_FOUND, "unknown_agent", message)
    })?;
    let prompt = ("prompt", Node::text(&agent.prompt));
    Ok(Json(Node::map(members(agent).into_iter().chain([prompt]))))
}

fn members(agent: &Agent) -> Vec<(&'static str, Node)> {
    let capabilities = agent.capabilities.iter().map(Node::text).collect();
    vec![
        ("name", Node::text(agent.id.as_str())),
        ("title", Node::text(&agent.name)),
        ("description", Node::text(&agent.description)),
        ("role", Node::text(&agent.description)),
        ("capabilities", Node::List(capabilities)),
    ]
}
