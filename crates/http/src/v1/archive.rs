//! The archive: files written from the log.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::answer::ApiResponse;
use baton_engine::EngineError;
use baton_views::Archive;

use crate::openapi::ReadProblems;
use crate::params::Params;
use crate::problem::ApiProblem;
use crate::scope::RequestScope;

/// Where the archive is, and how far behind the log.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ArchiveDocument {
    /// The folder of `current.json`, in the project.
    pub state: String,
    /// The folder of the sessions, in the project.
    pub sessions: String,
    /// How many events have not been written to the files yet.
    pub behind: u64,
    /// Why the archive cannot be written.
    pub problem: Option<String>,
}

/// What a rebuild wrote.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Rebuilt {
    pub runs: u64,
    /// Runs that cannot be read, and so are not archived in full.
    pub unreadable: u64,
    /// Session folders that are named after no run of this database. They were left alone.
    pub unknown_sessions: u64,
    /// Sessions with events that this database does not have. They were moved aside, to folders
    /// whose names end in `.newer-` and a number, which `baton recover` reads.
    pub kept_sessions: u64,
}

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
#[utoipa::path(get, path = "/api/v1/archive", operation_id = "getArchive", tag = "server",
    responses((status = 200, body = ArchiveDocument), ReadProblems))]
pub(super) async fn get(app: RequestScope) -> Result<ApiResponse<ArchiveDocument>, ApiProblem> {
    let status = archive(&app)?.status().await?;
    Ok(ApiResponse::new(ArchiveDocument {
        state: status.places.state.display().to_string(),
        sessions: status.places.sessions.display().to_string(),
        behind: status.n_behind,
        problem: status.problem,
    }))
}

/// Writes every file of the archive again from the log; other files are left alone.
#[utoipa::path(post, path = "/api/v1/archive/rebuild", operation_id = "rebuildArchive",
    tag = "server",
    params(RebuildQuery),
    responses((status = 200, body = Rebuilt), ReadProblems))]
pub(super) async fn rebuild(
    app: RequestScope,
    Params(query): Params<RebuildQuery>,
) -> Result<ApiResponse<Rebuilt>, ApiProblem> {
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

fn archive(app: &RequestScope) -> Result<&Arc<Archive>, EngineError> {
    app.archive.as_ref().ok_or(EngineError::NoArchive)
}
