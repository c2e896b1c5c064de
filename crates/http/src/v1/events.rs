//! Events: the log of a run, page by page.

use baton_api::{EventDocument, Page};
use baton_store::{EventFilter, Position, StoredEvent};
use serde_json::value::RawValue;

use super::answer::{ApiResponse, PageQuery, after, cut, limit};
use crate::lookup::find_run;
use crate::openapi::ReadProblems;
use crate::params::{Named, Params};
use crate::problem::ApiProblem;
use crate::scope::RequestScope;

/// Lists the events of a run, oldest first.
#[utoipa::path(get, path = "/api/v1/runs/{run}/events", operation_id = "listEvents", tag = "events",
    params(("run" = String, Path, description = "Its id, its number or its story's key"), PageQuery),
    responses((status = 200, body = Page<EventDocument>), ReadProblems))]
pub(super) async fn list(
    app: RequestScope,
    Named(name): Named,
    Params(query): Params<PageQuery>,
) -> Result<ApiResponse<Page<EventDocument>>, ApiProblem> {
    let limit = limit(query.limit)?;
    let run = find_run(&app, &name).await?;
    let filter = EventFilter {
        after: Position(after(query.after)?),
        run: Some(run.run.id),
        limit: limit + 1,
    };
    let events = app.read().events(&filter).await?;
    let position = |it: &StoredEvent| it.position.0.to_string();
    Ok(ApiResponse::new(cut(events, limit, position, event_document)))
}

fn event_document(it: StoredEvent) -> EventDocument {
    EventDocument {
        position: it.position.0,
        version: it.version.0,
        at: it.at,
        name: it.name,
        by: it.by.to_string(),
        hash: it.hash.to_string(),
        body: RawValue::from_string(it.body).ok(),
    }
}
