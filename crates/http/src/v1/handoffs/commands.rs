//! Commands on one handoff.

use std::sync::Arc;

use axum::response::{IntoResponse as _, Response};
use baton_api::{
    Acceptance, Cancellation, CheckResult, Clarification, CommandAnswer, Completion, GivenBack,
    QuestionAnswer, ReceiverNames, Rejection, Why,
};
use baton_core::command::{
    Accept, Clarify, Command, Complete, Receivers, Record, Reject, Release, Reply,
};
use baton_core::names::{AgentId, CheckName, FreeText, Reason};
use baton_core::run::HandoffNo;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::document::refused;
use super::parts;
use crate::App;
use crate::body;
use crate::lookup::{by, handoff_ref, known_agent};
use crate::openapi::WriteProblems;
use crate::params::Named;
use crate::problem::ApiProblem;
use crate::scope::RequestScope;
use crate::v1::answer::ApiResponse;
use crate::v1::command_result::tell;
use crate::v1::documents::{self, AcceptQuery, CommandOrDocument};
use crate::v1::write::{
    CommandDone, HandoffCommandParams, HandoffPath, HandoffQuery, RunHeaders, WriteRequest,
};
use crate::values::{acknowledgement, lease, outcome, reason};

/// Every command on one handoff.
pub(in crate::v1) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(accept))
        .routes(routes!(reject))
        .routes(routes!(complete))
        .routes(routes!(cancel))
        .routes(routes!(time_out))
        .routes(routes!(clarify))
        .routes(routes!(answer))
        .routes(routes!(release))
        .routes(routes!(evidence))
        .routes(routes!(parts::heartbeat))
        .routes(routes!(parts::delegate))
        .routes(routes!(parts::give_back))
        .routes(routes!(parts::escalate))
}

/// Accepts a handoff.
///
/// The receiver holds the work from then on. `fence` of the response is its fencing token, to be
/// sent with later commands. A body that is not JSON is an `acknowledgment` document; only then may
/// the query contain more than `run` and `dryRun`.
#[utoipa::path(post, path = "/api/v1/handoffs/{handoff}/accept", operation_id = "acceptHandoff",
    tag = "handoffs",
    params(HandoffPath, AcceptQuery, RunHeaders),
    request_body(description = "How it is accepted; may be left out", content(
        (Option<Acceptance> = "application/json"),
        (String = "application/xml",
            example = "<acknowledgment><task>Find out why logins fail.</task></acknowledgment>"),
        (String = "application/yaml", example = "acknowledgment:\n  task: Find out why logins fail.\n"),
        (String = "text/markdown"))),
    responses(CommandDone, WriteProblems))]
pub(in crate::v1) async fn accept(
    app: RequestScope,
    name: Named,
    asked: CommandOrDocument<Acceptance, HandoffQuery>,
) -> Result<Response, ApiProblem> {
    let write = match asked {
        CommandOrDocument::Command(write) => *write,
        CommandOrDocument::Document(sent) => return documents::take_up(&app, *sent, &name.0).await,
    };
    let by = by(&app, write.asked.agent.as_deref())?;
    let acknowledgement = acknowledgement(write.asked.acknowledgement.as_deref())?;
    let lease = lease(write.asked.lease_seconds)?;
    let command = |handoff| Command::Accept(Accept { handoff, by, acknowledgement, lease });
    Ok(on_handoff(&app, &name, &write, command).await?.into_response())
}

/// Rejects a handoff.
///
/// Sends it back to its sender, with the reason: `returnHandoff` of the response. After too many
/// rounds a person is asked instead: then `gate` is set.
#[utoipa::path(post, path = "/api/v1/handoffs/{handoff}/reject", operation_id = "rejectHandoff",
    tag = "handoffs",
    params(HandoffCommandParams),
    request_body = Rejection,
    responses(CommandDone, WriteProblems))]
pub(in crate::v1) async fn reject(
    app: RequestScope,
    name: Named,
    write: WriteRequest<Rejection, HandoffQuery>,
) -> Result<ApiResponse<CommandAnswer>, ApiProblem> {
    let by = by(&app, write.asked.agent.as_deref())?;
    let (reason, fence) = (Reason::parse(&write.asked.reason)?, write.asked.fence);
    let command = |handoff| Command::Reject(Reject { handoff, by, reason, fence });
    on_handoff(&app, &name, &write, command).await
}

/// Completes a handoff and hands the work on.
///
/// The workflow chooses the next step by the outcome, or checks `toAgent`: an agent, or the list of all
/// receivers of a fan-out. `handoff` in the response is the next one, at a fan-out the first; where the
/// run ends, it is the one back to the orchestrator, completed already. A body that is not JSON is a
/// whole document, which says how the step ended.
#[utoipa::path(post, path = "/api/v1/handoffs/{handoff}/complete",
    operation_id = "completeHandoff", tag = "handoffs",
    params(HandoffCommandParams),
    request_body(content(
        (Completion = "application/json"),
        (String = "application/xml"),
        (String = "application/yaml"),
        (String = "text/markdown"))),
    responses(
        CommandDone,
        (status = 201, description = "The document was handed on", body = CommandAnswer),
        (status = 202, description = "A document that moves nothing is noted", body = CommandAnswer),
        WriteProblems))]
pub(in crate::v1) async fn complete(
    app: RequestScope,
    name: Named,
    asked: CommandOrDocument<Completion, HandoffQuery>,
) -> Result<Response, ApiProblem> {
    let write = match asked {
        CommandOrDocument::Command(write) => *write,
        CommandOrDocument::Document(sent) => return documents::end(&app, *sent, &name.0).await,
    };
    let asked = &write.asked;
    let by = by(&app, asked.agent.as_deref())?;
    let outcome = outcome(&asked.outcome)?;
    let package = body::package_or_document(asked.package.as_deref())?;
    let to = asked.to_agent.as_ref().map_or(&[][..], ReceiverNames::all).iter();
    let to: Vec<AgentId> = to.map(|it| known_agent(&app, it)).collect::<Result<_, _>>()?;
    let to = Receivers::of(to);
    let reason = reason(asked.reason.as_deref())?;
    let (fence, profile) = (asked.fence, asked.profile.0);
    let command = |handoff| {
        Command::Complete(Complete { handoff, by, outcome, package, to, reason, fence, profile })
    };
    Ok(on_handoff(&app, &name, &write, command).await?.into_response())
}

/// Cancels a handoff.
///
/// The baton is loose then: it lies at the sender's step if the handoff was pending, else at the
/// receiver's.
#[utoipa::path(post, path = "/api/v1/handoffs/{handoff}/cancel", operation_id = "cancelHandoff",
    tag = "handoffs",
    params(HandoffCommandParams),
    request_body = Option<Cancellation>,
    responses(CommandDone, WriteProblems))]
pub(in crate::v1) async fn cancel(
    app: RequestScope,
    name: Named,
    write: WriteRequest<Cancellation, HandoffQuery>,
) -> Result<ApiResponse<CommandAnswer>, ApiProblem> {
    let by = by(&app, write.asked.agent.as_deref())?;
    let reason = reason(write.asked.reason.as_deref())?;
    on_handoff(&app, &name, &write, |handoff| Command::Cancel { handoff, by, reason }).await
}

/// Times a handoff out.
///
/// For an operator who knows that nothing will come of it. The baton is loose then.
#[utoipa::path(post, path = "/api/v1/handoffs/{handoff}/timeout", operation_id = "timeOutHandoff",
    tag = "handoffs",
    params(HandoffCommandParams),
    request_body = Option<Why>,
    responses(CommandDone, WriteProblems))]
pub(in crate::v1) async fn time_out(
    app: RequestScope,
    name: Named,
    write: WriteRequest<Why, HandoffQuery>,
) -> Result<ApiResponse<CommandAnswer>, ApiProblem> {
    let reason = reason(write.asked.reason.as_deref())?;
    on_handoff(&app, &name, &write, |handoff| Command::TimeOut { handoff, reason }).await
}

/// Asks the sender a question before the work goes on.
///
/// The handoff waits until the question is answered. The question is a handoff of its own,
/// `question` of the response.
#[utoipa::path(post, path = "/api/v1/handoffs/{handoff}/clarify", operation_id = "clarifyHandoff",
    tag = "handoffs",
    params(HandoffCommandParams),
    request_body = Clarification,
    responses(CommandDone, WriteProblems))]
pub(in crate::v1) async fn clarify(
    app: RequestScope,
    name: Named,
    write: WriteRequest<Clarification, HandoffQuery>,
) -> Result<ApiResponse<CommandAnswer>, ApiProblem> {
    let by = by(&app, write.asked.agent.as_deref())?;
    let (question, fence) = (FreeText::parse(&write.asked.question)?, write.asked.fence);
    let command = |handoff| Command::Clarify(Clarify { handoff, by, question, fence });
    on_handoff(&app, &name, &write, command).await
}

/// Answers a question.
///
/// A question is named by its own id, or by that of the handoff that it is about. The handoff is
/// pending again then, with the answer beside its package.
#[utoipa::path(post, path = "/api/v1/handoffs/{handoff}/answer", operation_id = "answerQuestion",
    tag = "handoffs",
    params(HandoffCommandParams),
    request_body = QuestionAnswer,
    responses(CommandDone, WriteProblems))]
pub(in crate::v1) async fn answer(
    app: RequestScope,
    name: Named,
    write: WriteRequest<QuestionAnswer, HandoffQuery>,
) -> Result<ApiResponse<CommandAnswer>, ApiProblem> {
    let by = by(&app, write.asked.agent.as_deref())?;
    let (answer, fence) = (FreeText::parse(&write.asked.answer)?, write.asked.fence);
    let command = |handoff| Command::Reply(Reply { handoff, by, answer, fence });
    on_handoff(&app, &name, &write, command).await
}

/// Releases held work undone.
///
/// The handoff is pending again, for the receiver to accept. Its earlier fencing token is refused
/// from then on.
#[utoipa::path(post, path = "/api/v1/handoffs/{handoff}/release", operation_id = "releaseHandoff",
    tag = "handoffs",
    params(HandoffCommandParams),
    request_body = Option<GivenBack>,
    responses(CommandDone, WriteProblems))]
pub(in crate::v1) async fn release(
    app: RequestScope,
    name: Named,
    write: WriteRequest<GivenBack, HandoffQuery>,
) -> Result<ApiResponse<CommandAnswer>, ApiProblem> {
    let by = by(&app, write.asked.agent.as_deref())?;
    let (reason, fence) = (reason(write.asked.reason.as_deref())?, write.asked.fence);
    let command = |handoff| Command::Release(Release { handoff, by, reason, fence });
    on_handoff(&app, &name, &write, command).await
}

/// Records the result of a check.
///
/// An automatic gate opens once each of its checks has passed.
#[utoipa::path(post, path = "/api/v1/handoffs/{handoff}/evidence", operation_id = "recordEvidence",
    tag = "handoffs",
    params(HandoffCommandParams),
    request_body = CheckResult,
    responses(CommandDone, WriteProblems))]
pub(in crate::v1) async fn evidence(
    app: RequestScope,
    name: Named,
    write: WriteRequest<CheckResult, HandoffQuery>,
) -> Result<ApiResponse<CommandAnswer>, ApiProblem> {
    let check = CheckName::parse(&write.asked.check)?;
    let verdict = write.asked.verdict.0;
    let detail = write.asked.detail.as_deref().map(FreeText::parse).transpose()?;
    let command = |handoff| Command::Record(Record { handoff, check, verdict, detail });
    on_handoff(&app, &name, &write, command).await
}

/// Carries a command out on one handoff and returns its result.
pub(in crate::v1) async fn on_handoff<T>(
    app: &RequestScope,
    Named(name): &Named,
    write: &WriteRequest<T, HandoffQuery>,
    command: impl FnOnce(HandoffNo) -> Command,
) -> Result<ApiResponse<CommandAnswer>, ApiProblem> {
    let which = handoff_ref(app, name, write.query.run.as_deref()).await?;
    match write.caller.on_handoff(&which, command).await {
        Ok(outcome) => tell(app, &write.caller, &outcome).await,
        Err(error) => Err(refused(app, error).await),
    }
}
