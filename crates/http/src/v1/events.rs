//! Events: the log of a run, page by page.

use baton_store::{EventFilter, Position, StoredEvent};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::answer::{ApiResponse, Page, PageQuery, after, limit};
use super::names::find_run;
use crate::openapi::ReadProblems;
use crate::params::{Named, Params};
use crate::problem::ApiProblem;
use crate::scope::RequestScope;

/// One event in the log.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = Event)]
pub struct EventDocument {
    /// Its position in the log of all runs.
    pub position: u64,
    /// Its position in the run, from 1.
    pub version: u64,
    pub at: Timestamp,
    #[schema(example = "handoff.created")]
    pub name: String,
    /// Who sent the command that caused it.
    pub by: String,
    /// The hash over this event and the hash of the previous one.
    pub hash: String,
    /// The event as it is stored. Texts are referred to by their hashes.
    #[schema(value_type = serde_json::Value)]
    pub body: Option<Box<RawValue>>,
}

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
    Ok(ApiResponse::new(Page::cut(events, limit, position, EventDocument::from)))
}

impl From<StoredEvent> for EventDocument {
    fn from(it: StoredEvent) -> Self {
        Self {
            position: it.position.0,
            version: it.version.0,
            at: it.at,
            name: it.name,
            by: it.by.to_string(),
            hash: it.hash.to_string(),
            body: RawValue::from_string(it.body).ok(),
        }
    }
}
