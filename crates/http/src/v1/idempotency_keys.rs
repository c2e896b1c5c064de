//! What an idempotency key was used for, for clients that find out by themselves which handoff they mean:
//! after a lost answer it is not in the same state any more.

use baton_api::{HandoffSummary, KeyedCommand};
use serde::Deserialize;
use utoipa::IntoParams;

use super::answer::ApiResponse;
use super::handoffs::document::rows;
use super::write::AsHeader;
use crate::lookup::not_found;
use crate::openapi::ReadProblems;
use crate::params::{Named, Params};
use crate::problem::ApiProblem;
use crate::scope::RequestScope;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct KeyQuery {
    /// The command that was sent with it.
    #[param(inline)]
    command: KeyedCommand,
}

/// Returns the handoff that a command with an idempotency key was about.
///
/// As it is now, for the caller who sent it; 404 if the caller has not used the key for that command.
#[utoipa::path(get, path = "/api/v1/idempotency-keys/{key}", operation_id = "getHandoffOfKey",
    tag = "handoffs",
    params(("key" = String, Path, description = "The key, as it was sent"), KeyQuery, AsHeader),
    responses(
        (status = 200, description = "The handoff", body = HandoffSummary),
        ReadProblems))]
pub(super) async fn get(
    app: RequestScope,
    Named(key): Named,
    Params(query): Params<KeyQuery>,
) -> Result<ApiResponse<HandoffSummary>, ApiProblem> {
    let route = format!("POST /api/v1/handoffs/{{handoff}}/{}", query.command.name());
    let found = app.read().handoff_of_key(&app.key_scope(&route), &key).await?;
    let shown = rows(&app, found.as_slice()).await?;
    match shown.into_iter().next() {
        Some(handoff) => Ok(ApiResponse::new(handoff)),
        None => {
            let message = format!("no `{}` was sent with this key", query.command.name());
            Err(not_found("no_such_handoff", message))
        }
    }
}
