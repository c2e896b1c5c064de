//! The archive: files written from the log.

use std::sync::Arc;

use baton_api::{ArchiveDocument, Rebuilt};
use baton_engine::EngineError;
use baton_views::Archive;
use serde::Deserialize;
use utoipa::IntoParams;

use super::answer::ApiResponse;
use crate::App;
use crate::openapi::{ReadProblems, WriteProblems};
use crate::params::Params;
use crate::problem::ApiProblem;
use crate::scope::RequestScope;

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct RebuildQuery {
    /// Refused if true: a rebuild has no dry run.
    #[serde(default)]
    #[param(default = false)]
    dry_run: bool,
}

/// Shows how far behind the log the archive is.
///
/// The archive is the tree of files that follows the log. It is written after a command is
/// answered, and so may be behind.
#[utoipa::path(get, path = "/api/v1/archive", operation_id = "getArchive", tag = "server",
    responses(
        (status = 200, description = "The state of the archive",
            body = ArchiveDocument),
        ReadProblems))]
pub(super) async fn get(app: RequestScope) -> Result<ApiResponse<ArchiveDocument>, ApiProblem> {
    let status = archive(&app)?.status().await?;
    Ok(ApiResponse::new(ArchiveDocument {
        state: status.places.state.display().to_string(),
        sessions: status.places.sessions.display().to_string(),
        behind: status.n_behind,
        problem: status.problem,
    }))
}

/// Writes the archive again.
///
/// Every file of the archive is made again from the log; other files are left alone.
#[utoipa::path(post, path = "/api/v1/archive/rebuild", operation_id = "rebuildArchive",
    tag = "server",
    params(RebuildQuery),
    responses(
        (status = 200, description = "What was written",
            body = Rebuilt),
        WriteProblems))]
pub(super) async fn rebuild(
    app: RequestScope,
    Params(query): Params<RebuildQuery>,
) -> Result<ApiResponse<Rebuilt>, ApiProblem> {
    app.caller().check_no_attempt("rebuild")?;
    if query.dry_run {
        let message = "a rebuild cannot be rehearsed: leave `dryRun` out";
        return Err(ApiProblem::malformed("bad_query", message));
    }
    let archived = archive(&app)?.rebuild_to_the_end().await?;
    Ok(ApiResponse::new(Rebuilt {
        runs: archived.n_runs,
        unreadable: archived.n_unreadable,
        unknown_sessions: archived.n_unknown,
        kept_sessions: archived.n_kept,
    }))
}

fn archive(app: &App) -> Result<&Arc<Archive>, EngineError> {
    app.archive.as_ref().ok_or(EngineError::NoArchive)
}
