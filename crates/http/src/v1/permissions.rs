//! Permissions: the program of a holder asks a person, through its runner, and waits.

use baton_api::{CommandAnswer, PermissionRequest, WithdrawnPermission};
use baton_core::command::{AskPermission, Command};
use baton_core::names::FreeText;

use super::answer::ApiResponse;
use super::handoffs::commands::on_handoff;
use super::write::{CommandDone, HandoffCommandParams, HandoffQuery, WriteRequest};
use crate::openapi::WriteProblems;
use crate::params::Named;
use crate::problem::ApiProblem;
use crate::scope::RequestScope;

/// Asks a person for permission, for the program of a handoff's holder.
///
/// The question is a gate in the inbox: `approve` allows it once, `continue` its kind for the rest of the
/// attempt, `reject` denies it. The baton does not move, and the program waits. Needs the runner's credential.
#[utoipa::path(post, path = "/api/v1/handoffs/{handoff}/permissions", operation_id = "askPermission",
    tag = "runner",
    params(HandoffCommandParams),
    request_body = PermissionRequest,
    responses(CommandDone, WriteProblems))]
pub(super) async fn ask(
    app: RequestScope,
    name: Named,
    write: WriteRequest<PermissionRequest, HandoffQuery>,
) -> Result<ApiResponse<CommandAnswer>, ApiProblem> {
    write.caller.check_runner()?;
    let (fence, question) = (write.asked.fence, FreeText::parse(&write.asked.question)?);
    let command = |handoff| Command::AskPermission(AskPermission { handoff, fence, question });
    on_handoff(&app, &name, &write, command).await
}

/// Withdraws a question for permission that no program waits for any more.
///
/// Needs the runner's credential.
#[utoipa::path(post, path = "/api/v1/handoffs/{handoff}/withdraw", operation_id = "withdrawPermission",
    tag = "runner",
    params(HandoffCommandParams),
    request_body = WithdrawnPermission,
    responses(CommandDone, WriteProblems))]
pub(super) async fn withdraw(
    app: RequestScope,
    name: Named,
    write: WriteRequest<WithdrawnPermission, HandoffQuery>,
) -> Result<ApiResponse<CommandAnswer>, ApiProblem> {
    write.caller.check_runner()?;
    on_handoff(&app, &name, &write, |gate| Command::WithdrawPermission { gate }).await
}
