//! Blockers: what stops a run until it is resolved or waived.

use baton_api::{BlockerDocument, Page};
use baton_views::Blocking;
use serde::Deserialize;
use utoipa::IntoParams;

use super::answer::{ApiResponse, after, limit};
use crate::lookup::find_run;
use crate::openapi::ReadProblems;
use crate::params::Params;
use crate::problem::ApiProblem;
use crate::scope::RequestScope;

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct BlockerListQuery {
    /// A run: its id, its number or its story's key.
    #[param(min_length = 1, max_length = 200)]
    run: Option<String>,
    /// Only what comes after this cursor: `next` of the previous page.
    #[param(minimum = 0)]
    after: Option<i64>,
    /// The page size at most.
    #[param(minimum = 1, maximum = 500, default = 50)]
    limit: Option<u32>,
}

/// Lists blockers.
///
/// What keeps blocked steps from going on, of every run or of one. A page never splits a run, and
/// so may be longer than `limit`.
#[utoipa::path(get, path = "/api/v1/blockers", operation_id = "listBlockers", tag = "blockers",
    params(BlockerListQuery),
    responses(
        (status = 200, description = "One page of blockers",
            body = Page<BlockerDocument>),
        ReadProblems))]
pub(super) async fn list(
    app: RequestScope,
    Params(query): Params<BlockerListQuery>,
) -> Result<ApiResponse<Page<BlockerDocument>>, ApiProblem> {
    let limit = limit(query.limit)? as usize;
    let (found, next) = match query.run.as_deref() {
        Some(name) => {
            let row = find_run(&app, name).await?;
            (app.read().blockers_of(&row).await?, None)
        }
        None => app.read().blockers(after(query.after)?, limit).await?,
    };
    let items = found.into_iter().map(blocker).collect();
    Ok(ApiResponse::new(Page { items, next: next.map(|it| it.to_string()) }))
}

fn blocker(it: Blocking) -> BlockerDocument {
    BlockerDocument {
        run_id: it.run.0,
        run: it.run.0,
        run_number: it.run_number,
        story: it.story.to_string(),
        number: it.no,
        handoff: it.handoff.label(),
        by: it.by.to_string(),
        words: it.words,
        damaged: if it.is_damaged { vec!["words".to_owned()] } else { Vec::new() },
    }
}
