//! Claims: a runner takes the next work for its agents, and waits for it if there is none.

use std::collections::BTreeSet;

use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use baton_api::{Claim, ClaimRequest, CommandAnswer, LostAttempt};
use baton_core::agent::Agent;
use baton_core::command::{Command, LeaseTime, LoseLease};
use baton_core::decide::{BudgetedWork, remaining};
use baton_core::hash::Hash;
use baton_core::names::{AgentId, Reason};
use baton_engine::{Attempt, CommandMode, CommandResult};
use baton_store::RunRef;
use baton_wire::suggest::did_you_mean;
use serde::Deserialize;
use utoipa::IntoParams;

use super::answer::ApiResponse;
use super::handoffs::commands::on_handoff;
use super::handoffs::document::rows;
use super::long_poll::PollWait;
use super::runs::document::run_document;
use super::usage::budget_document;
use super::write::{
    CommandDone, HandoffCommandParams, HandoffQuery, HasMode, KeyHeader, WriteRequest,
};
use crate::lookup::known_agent;
use crate::openapi::WriteProblems;
use crate::params::Named;
use crate::problem::ApiProblem;
use crate::scope::RequestScope;
use crate::values::lease;

/// A claim cannot be rehearsed: what is free now may be taken a moment later.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(super) struct ClaimQuery {}

impl HasMode for ClaimQuery {
    fn mode(&self) -> CommandMode {
        CommandMode::Commit
    }
}

const MOST_AGENTS: usize = 200;
const MOST_CAPABILITIES: usize = 50;

/// Accepts the most urgent handoff or question of these agents under a lease, for a runner.
///
/// By the priority of its story, then by age. The answer has the token of the attempt, which the
/// runner gives to the agent that it starts. Needs the runner's credential.
#[utoipa::path(post, path = "/api/v1/claims", operation_id = "claimWork", tag = "runner",
    params(KeyHeader),
    request_body = ClaimRequest,
    responses(
        (status = 200, description = "Work that is held now, with the token of the attempt", body = Claim),
        (status = 204, description = "There is nothing to do, and nothing came while it waited"),
        WriteProblems))]
pub(super) async fn claim(
    app: RequestScope,
    write: WriteRequest<ClaimRequest, ClaimQuery>,
) -> Result<Response, ApiProblem> {
    write.caller.check_runner()?;
    let asked = &write.asked;
    let agents = claimed_agents(&app, asked)?;
    app.door.hear_claim(&agents);
    let lease = lease(asked.lease_seconds)?.unwrap_or(LeaseTime::USUAL);
    let wait = PollWait::of(asked.wait_seconds)?;
    let claimed = wait.until_found(&app, || write.caller.claim(&agents, lease)).await?;
    match claimed {
        Some(outcome) => Ok(answer(&app, &outcome, lease).await?.into_response()),
        None => Ok(StatusCode::NO_CONTENT.into_response()),
    }
}

/// Ends a claim without a result: the agent died, hung or handed nothing on.
///
/// The same work is offered again, as after a lost lease; after the last retry a person is asked. With
/// `retryAt` it waits until then, and the attempt does not count; with `ask` a person is asked at once. Needs the runner's credential.
#[utoipa::path(post, path = "/api/v1/handoffs/{handoff}/lost", operation_id = "loseClaim",
    tag = "runner",
    params(HandoffCommandParams),
    request_body = LostAttempt,
    responses(CommandDone, WriteProblems))]
pub(super) async fn lose(
    app: RequestScope,
    name: Named,
    write: WriteRequest<LostAttempt, HandoffQuery>,
) -> Result<ApiResponse<CommandAnswer>, ApiProblem> {
    write.caller.check_runner()?;
    let (fence, reason) = (write.asked.fence, Some(Reason::parse(&write.asked.reason)?));
    let output = write.asked.output.as_deref().map(|it| {
        let wrong =
            || ApiProblem::malformed("wrong_type", "`output` is a SHA-256 hash in hexadecimal");
        Hash::parse(it).ok_or_else(wrong)
    });
    let (output, retry_at) = (output.transpose()?, write.asked.retry_at);
    let asks = write.asked.ask;
    let command =
        |handoff| Command::LoseLease(LoseLease { handoff, fence, reason, output, retry_at, asks });
    on_handoff(&app, &name, &write, command).await
}

/// The agents that the request names; of these, or else of all, those with one of its capabilities.
fn claimed_agents(app: &RequestScope, asked: &ClaimRequest) -> Result<Vec<AgentId>, ApiProblem> {
    if asked.capabilities.is_empty() {
        return agents(app, &asked.agents);
    }
    if asked.capabilities.len() > MOST_CAPABILITIES {
        let message = format!("`capabilities` names at most {MOST_CAPABILITIES} capabilities");
        return Err(ApiProblem::malformed("wrong_type", message));
    }
    let catalog = app.read().fresh_catalog();
    let known: BTreeSet<&str> =
        catalog.agents().iter().flat_map(|it| &it.capabilities).map(String::as_str).collect();
    let known: Vec<&str> = known.into_iter().collect();
    if let Some(unknown) = asked.capabilities.iter().find(|it| !known.contains(&it.as_str())) {
        let hint = match known.is_empty() {
            true => "no agent file lists any".to_owned(),
            false => did_you_mean(unknown, &known),
        };
        let shown: String = unknown.chars().take(80).collect();
        let message = format!("no agent has the capability `{}`; {hint}", shown.escape_debug());
        return Err(ApiProblem::malformed("unknown_capability", message));
    }
    let named = match asked.agents.is_empty() {
        true => None,
        false => Some(agents(app, &asked.agents)?),
    };
    let has_one = |it: &&Agent| it.capabilities.iter().any(|it| asked.capabilities.contains(it));
    let able = catalog.agents().iter().filter(has_one).map(|it| it.id.clone());
    let able = able.filter(|it| !it.is_human() && !it.is_orchestrator());
    Ok(able.filter(|it| named.as_ref().is_none_or(|named| named.contains(it))).collect())
}

fn agents(app: &RequestScope, names: &[String]) -> Result<Vec<AgentId>, ApiProblem> {
    if names.is_empty() || names.len() > MOST_AGENTS {
        let message = format!(
            "`agents` names 1 to {MOST_AGENTS} agents; without it, `capabilities` says what they can do"
        );
        return Err(ApiProblem::malformed("missing_field", message));
    }
    let agents = names.iter().map(|it| known_agent(app, it));
    let agents = agents.collect::<Result<Vec<_>, _>>()?;
    match agents.iter().find(|it| it.is_human() || it.is_orchestrator()) {
        Some(agent) => {
            let message = format!("`{agent}` is not started by a runner; name other agents");
            Err(ApiProblem::malformed("unknown_agent", message))
        }
        None => Ok(agents),
    }
}

async fn answer(
    app: &RequestScope,
    outcome: &CommandResult,
    lease: LeaseTime,
) -> Result<ApiResponse<Claim>, ApiProblem> {
    let (Some(held), Some(fence)) = (outcome.done.handoff, outcome.done.fence) else {
        unreachable!("an accept answers with what is held")
    };
    let row = app.read().row_of(outcome, held).await?;
    let run = app.read().run(&RunRef::Id(outcome.run)).await?;
    let agent = row.to.agent.clone();
    let attempt = Attempt { agent: agent.clone(), handoff: row.id, fence };
    let Some(token) = app.door.attempt_token(&attempt) else {
        unreachable!("a runner has a credential, so there is a key")
    };
    let Some(handoff) = rows(app, std::slice::from_ref(&row)).await?.pop() else {
        unreachable!("one row is one document")
    };
    let (agent, lease_seconds) = (agent.to_string(), lease.seconds());
    let workflow = app.read().workflow_of(&run).await?;
    let catalog = app.read().catalog();
    let left =
        remaining(&run.run, &workflow, catalog.budgets(), BudgetedWork::of(&row.from, &row.to));
    let (run, budget) = (run_document(app, &run).await?, budget_document(left));
    Ok(ApiResponse::new(Claim { handoff, run, agent, fence, lease_seconds, token, budget }))
}
