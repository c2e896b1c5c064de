//! The archive: files that follow the log, made again.

use std::sync::Arc;

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use super::answer::Answer;
use crate::App;
use crate::openapi::ReadProblems;
use crate::problem::Problem;

/// What was made again.
#[derive(Serialize, ToSchema)]
pub(super) struct Rebuilt {
    runs: u64,
    /// Runs that cannot be read, and so are not archived as they should be.
    unreadable: u64,
}

/// Makes every file of the archive again from the log; files of others are left alone.
#[utoipa::path(post, path = "/api/v1/archive/rebuild", operation_id = "rebuildArchive",
    tag = "server",
    responses((status = 200, body = Rebuilt), ReadProblems))]
pub(super) async fn rebuild(State(app): State<Arc<App>>) -> Result<Answer<Rebuilt>, Problem> {
    let archived = app.engine.rebuild_archive().await?;
    Ok(Answer::new(Rebuilt { runs: archived.n_runs, unreadable: archived.n_unreadable }))
}
