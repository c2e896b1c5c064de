//! A part of held work: delegate it, return it, escalate to a person; and send heartbeats.

use axum::response::{IntoResponse as _, Response};
use baton_api::{
    CommandAnswer, Delegation, Escalation, Heartbeat, LeaseUntil, ProfileWord, Returned,
};
use baton_core::command::{Create, Token, Way};
use baton_core::names::AgentId;
use baton_core::outcome::Outcome;
use baton_engine::RunTarget;
use baton_store::{HandoffRow, RunRef};
use serde_json::value::RawValue;

use super::OneQuery;
use super::document::refused;
use crate::body;
use crate::lookup::{find_handoff, handoff_ref, known_agent};
use crate::openapi::WriteProblems;
use crate::params::{Named, Params};
use crate::problem::ApiProblem;
use crate::scope::RequestScope;
use crate::v1::answer::ApiResponse;
use crate::v1::command_result::tell_handoff;
use crate::v1::documents::{self, CommandOrDocument, DelegateQuery};
use crate::v1::write::{
    HandedOff, HandoffCommandParams, HandoffPath, HandoffQuery, RunHeaders, WriteRequest,
};
use crate::values::{outcome, reason};

/// Delegates a part of held work to a specialist.
///
/// The caller's own handoff is parked until the part is returned. A body that is not JSON is the
/// package itself; it names the specialist, or `to` in the query does.
#[utoipa::path(post, path = "/api/v1/handoffs/{handoff}/delegate", operation_id = "delegateWork",
    tag = "handoffs",
    params(HandoffPath, DelegateQuery, RunHeaders),
    request_body(content(
        (Delegation = "application/json"),
        (String = "application/xml"),
        (String = "application/yaml"),
        (String = "text/markdown"))),
    responses(HandedOff, WriteProblems))]
pub(in crate::v1) async fn delegate(
    app: RequestScope,
    name: Named,
    asked: CommandOrDocument<Delegation, HandoffQuery>,
) -> Result<Response, ApiProblem> {
    let write = match asked {
        CommandOrDocument::Command(write) => *write,
        CommandOrDocument::Document(sent) => {
            let row = find_handoff(&app, &name.0, sent.run()).await?;
            return documents::send_part(&app, *sent, &row, Way::Delegation, None).await;
        }
    };
    let row = held(&app, &name, &write).await?;
    let Delegation { to_agent, package, reason, fence, profile } = &write.asked;
    let part = PartRequest {
        to: known_agent(&app, to_agent)?,
        way: Way::Delegation,
        outcome: None,
        package: package.as_deref(),
        reason: reason.as_deref(),
        fence: *fence,
        profile: *profile,
    };
    Ok(send(&app, &write, &row, part).await?.into_response())
}

/// Returns a delegated part of the work.
///
/// It goes to the agent that waits for it, which accepts it and so holds its own work again. A body that
/// is not JSON is the package itself; its status says how the part ended.
#[utoipa::path(post, path = "/api/v1/handoffs/{handoff}/return", operation_id = "returnWork",
    tag = "handoffs",
    params(HandoffCommandParams),
    request_body(content(
        (Returned = "application/json"),
        (String = "application/xml"),
        (String = "application/yaml"),
        (String = "text/markdown"))),
    responses(HandedOff, WriteProblems))]
pub(in crate::v1) async fn give_back(
    app: RequestScope,
    name: Named,
    asked: CommandOrDocument<Returned, HandoffQuery>,
) -> Result<Response, ApiProblem> {
    let write = match asked {
        CommandOrDocument::Command(write) => *write,
        CommandOrDocument::Document(sent) => {
            let row = find_handoff(&app, &name.0, sent.run()).await?;
            let caller = waiting_for(&app, &row).await?;
            return documents::send_part(&app, *sent, &row, Way::Return, Some(caller)).await;
        }
    };
    let row = held(&app, &name, &write).await?;
    let caller = waiting_for(&app, &row).await?;
    let Returned { outcome: word, package, reason, fence, profile } = &write.asked;
    let part = PartRequest {
        to: caller,
        way: Way::Return,
        outcome: Some(outcome(word)?),
        package: package.as_deref(),
        reason: reason.as_deref(),
        fence: *fence,
        profile: *profile,
    };
    Ok(send(&app, &write, &row, part).await?.into_response())
}

/// Escalates to a person.
///
/// The caller's own handoff is parked until the person has answered. A body that is not JSON is the
/// package itself.
#[utoipa::path(post, path = "/api/v1/handoffs/{handoff}/escalate", operation_id = "escalateWork",
    tag = "handoffs",
    params(HandoffCommandParams),
    request_body(content(
        (Option<Escalation> = "application/json"),
        (String = "application/xml"),
        (String = "application/yaml"),
        (String = "text/markdown"))),
    responses(HandedOff, WriteProblems))]
pub(in crate::v1) async fn escalate(
    app: RequestScope,
    name: Named,
    asked: CommandOrDocument<Escalation, HandoffQuery>,
) -> Result<Response, ApiProblem> {
    let write = match asked {
        CommandOrDocument::Command(write) => *write,
        CommandOrDocument::Document(sent) => {
            let row = find_handoff(&app, &name.0, sent.run()).await?;
            let person = Some(AgentId::human());
            return documents::send_part(&app, *sent, &row, Way::Escalation, person).await;
        }
    };
    let row = held(&app, &name, &write).await?;
    let Escalation { package, reason, fence, profile } = &write.asked;
    let part = PartRequest {
        to: AgentId::human(),
        way: Way::Escalation,
        outcome: None,
        package: package.as_deref(),
        reason: reason.as_deref(),
        fence: *fence,
        profile: *profile,
    };
    Ok(send(&app, &write, &row, part).await?.into_response())
}

/// What the holder of a handoff hands to another agent or to a person.
struct PartRequest<'a> {
    to: AgentId,
    way: Way,
    outcome: Option<Outcome>,
    package: Option<&'a RawValue>,
    reason: Option<&'a str>,
    fence: Option<u32>,
    profile: ProfileWord,
}

/// The agent that waits for a part of its work. If none does, the rules refuse the command, whichever
/// agent is named here.
async fn waiting_for(app: &RequestScope, row: &HandoffRow) -> Result<AgentId, ApiProblem> {
    let run = app.read().run(&RunRef::Id(row.run)).await?;
    // If no agent waits for it, the rules refuse the command, whichever agent is named here.
    let open = run.run.handoff(row.no);
    let caller = open.and_then(|it| run.run.caller_of(it));
    Ok(caller.map_or(&row.from.agent, |it| &it.to.agent).clone())
}

async fn held<T>(
    app: &RequestScope,
    Named(name): &Named,
    write: &WriteRequest<T, HandoffQuery>,
) -> Result<HandoffRow, ApiProblem> {
    find_handoff(app, name, write.query.run.as_deref()).await
}

async fn send<T>(
    app: &RequestScope,
    write: &WriteRequest<T, HandoffQuery>,
    row: &HandoffRow,
    part: PartRequest<'_>,
) -> Result<ApiResponse<CommandAnswer>, ApiProblem> {
    let create = Create {
        from: row.to.agent.clone(),
        to: part.to,
        package: body::package_or_document(part.package)?,
        outcome: part.outcome,
        reason: reason(part.reason)?,
        supersedes: None,
        hands_on: None,
        way: Some(part.way),
        token: part.fence.map(|fence| Token { handoff: row.no, fence }),
        profile: part.profile.0,
    };
    let within = RunTarget::Run(RunRef::Id(row.run));
    match write.caller.create(within, create).await {
        Ok(outcome) => tell_handoff(app, &write.caller, &outcome).await,
        Err(error) => Err(refused(app, error).await),
    }
}

/// Renews the lease of a handoff's holder.
///
/// A holder with a lease loses the work if no heartbeat arrives in time. A heartbeat is no event
/// and changes no run.
#[utoipa::path(post, path = "/api/v1/handoffs/{handoff}/heartbeat", operation_id = "sendHeartbeat",
    tag = "handoffs",
    params(HandoffPath, OneQuery),
    request_body = Heartbeat,
    responses(
        (status = 200, description = "The lease, renewed",
            body = LeaseUntil),
        WriteProblems))]
pub(in crate::v1) async fn heartbeat(
    app: RequestScope,
    Named(name): Named,
    Params(query): Params<OneQuery>,
    body: axum::body::Body,
) -> Result<ApiResponse<LeaseUntil>, ApiProblem> {
    let (_, asked): (_, Heartbeat) = body::read_as(&app.door, body).await?;
    let which = handoff_ref(&app, &name, query.run.as_deref()).await?;
    match app.caller().heartbeat(&which, asked.fence).await {
        Ok(lease_until) => Ok(ApiResponse::new(LeaseUntil { lease_until })),
        Err(error) => Err(refused(&app, error).await),
    }
}
