//! Events: the log of a run, page by page.

use baton_api::{EventDocument, Page};
use baton_core::content::ContentId;
use baton_engine::Texts;
use baton_store::{EventFilter, Position, StoredEvent};
use baton_wire::event;
use serde_json::value::RawValue;

use super::answer::{ApiResponse, PageQuery, after, cut, limit};
use super::write::RunPath;
use crate::lookup::find_run;
use crate::openapi::ReadProblems;
use crate::params::{Named, Params};
use crate::problem::ApiProblem;
use crate::scope::RequestScope;

/// How much of a text is shown beside its event: a page has up to 500 events.
const MOST_CHARS: usize = 1000;

/// Lists the events of a run.
///
/// Oldest first, each as it is stored, with the text that it refers to.
#[utoipa::path(get, path = "/api/v1/runs/{run}/events", operation_id = "listEvents", tag = "events",
    params(RunPath, PageQuery),
    responses(
        (status = 200, description = "One page of events",
            body = Page<EventDocument>),
        ReadProblems))]
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
    let words: Vec<Option<ContentId>> = events.iter().map(words_of).collect();
    let texts = app.read().texts(run.run.id, words.iter().copied().flatten()).await?;
    let events: Vec<_> = events.into_iter().zip(words).collect();
    let position = |(it, _): &(StoredEvent, _)| it.position.0.to_string();
    let show = |(event, words)| event_document(event, words, &texts);
    Ok(ApiResponse::new(cut(events, limit, position, show)))
}

/// The words that an event refers to. A newer Baton may have written it: then they are not known.
fn words_of(it: &StoredEvent) -> Option<ContentId> {
    event::decode(&it.body).ok()?.texts().words
}

fn event_document(it: StoredEvent, words: Option<ContentId>, texts: &Texts) -> EventDocument {
    let text = words.and_then(|it| texts.get(it).whole());
    let end = text.and_then(|it| it.char_indices().nth(MOST_CHARS)).map(|(end, _)| end);
    EventDocument {
        position: it.position.0,
        version: it.version.0,
        at: it.at,
        name: it.name,
        by: it.by.to_string(),
        hash: it.hash.to_string(),
        body: RawValue::from_string(it.body).ok(),
        text: text.map(|it| it[..end.unwrap_or(it.len())].to_owned()),
        is_text_cut: end.is_some(),
    }
}
