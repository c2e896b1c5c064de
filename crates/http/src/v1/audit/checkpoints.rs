//! Signed checkpoints: list, sign; and the log that they cover.

use baton_api::{CheckpointDocument, LoggedEvent, Page};
use baton_store::{CheckpointRow, EventFilter, Position, StoredEvent};
use serde::Deserialize;
use utoipa::IntoParams;

use super::super::answer::{ApiResponse, PageQuery, after, cut, limit};
use crate::openapi::{ReadProblems, WriteProblems};
use crate::params::Params;
use crate::problem::ApiProblem;
use crate::scope::RequestScope;

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(in crate::v1) struct SignQuery {
    /// Refused if true: there is nothing to rehearse.
    #[serde(default)]
    dry_run: bool,
}

/// Lists the signed checkpoints.
///
/// Oldest first. One that is kept elsewhere proves that the log up to there was not changed since.
#[utoipa::path(get, path = "/api/v1/audit/checkpoints", operation_id = "listCheckpoints",
    tag = "audit", params(PageQuery),
    responses(
        (status = 200, description = "One page of checkpoints", body = Page<CheckpointDocument>),
        ReadProblems))]
pub(in crate::v1) async fn list(
    app: RequestScope,
    Params(query): Params<PageQuery>,
) -> Result<ApiResponse<Page<CheckpointDocument>>, ApiProblem> {
    let limit = limit(query.limit)?;
    let rows = app.read().checkpoints(after(query.after)?, limit + 1).await?;
    let number = |it: &CheckpointRow| it.number.to_string();
    Ok(ApiResponse::new(cut(rows, limit, number, |it| checkpoint_document(&it))))
}

/// Signs a checkpoint of the log as it is.
///
/// Where nothing has happened since the last one, that one is answered. The key is made on first
/// use, and never leaves the data folder.
#[utoipa::path(post, path = "/api/v1/audit/checkpoints", operation_id = "signCheckpoint",
    tag = "audit", params(SignQuery),
    responses(
        (status = 200, description = "The checkpoint", body = CheckpointDocument),
        WriteProblems))]
pub(in crate::v1) async fn sign(
    app: RequestScope,
    Params(query): Params<SignQuery>,
) -> Result<ApiResponse<CheckpointDocument>, ApiProblem> {
    if query.dry_run {
        let message = "a checkpoint cannot be rehearsed: leave `dryRun` out";
        return Err(ApiProblem::malformed("bad_query", message));
    }
    let row = app.caller().checkpoint().await?;
    Ok(ApiResponse::new(checkpoint_document(&row)))
}

/// Lists the events of all runs.
///
/// By position, each with all that its hash covers: with the public key and a checkpoint, the log
/// can be verified without the database.
#[utoipa::path(get, path = "/api/v1/audit/events", operation_id = "listLoggedEvents", tag = "audit",
    params(PageQuery),
    responses(
        (status = 200, description = "One page of the log", body = Page<LoggedEvent>),
        ReadProblems))]
pub(in crate::v1) async fn events(
    app: RequestScope,
    Params(query): Params<PageQuery>,
) -> Result<ApiResponse<Page<LoggedEvent>>, ApiProblem> {
    let limit = limit(query.limit)?;
    let after = Position(after(query.after)?);
    let filter = EventFilter { after, run: None, limit: limit + 1 };
    let rows = app.read().events(&filter).await?;
    let position = |it: &StoredEvent| it.position.0.to_string();
    Ok(ApiResponse::new(cut(rows, limit, position, logged_event)))
}

fn logged_event(it: StoredEvent) -> LoggedEvent {
    LoggedEvent {
        position: it.position.0,
        run_id: it.run.0,
        version: it.version.0,
        at: it.at,
        name: it.name,
        by: it.by.to_string(),
        hash: it.hash.to_string(),
        body: it.body,
    }
}

fn checkpoint_document(row: &CheckpointRow) -> CheckpointDocument {
    let checkpoint = row.signed.check().ok();
    let log = checkpoint.as_ref().map(|it| it.log);
    CheckpointDocument {
        number: row.number,
        text: row.signed.print(),
        at: checkpoint.as_ref().map(|it| it.at),
        position: log.map(|it| it.position),
        events: log.map(|it| it.n_events),
        runs: log.map(|it| it.n_runs),
        handoffs: log.map(|it| it.n_handoffs),
        root: log.map(|it| it.root.to_string()),
        key: checkpoint.map(|it| it.key.to_string()),
    }
}
