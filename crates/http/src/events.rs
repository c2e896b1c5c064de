//! Server-sent events: every event once and in order.
//!
//! `/api/events` serves the pipeline API's client, `/api/v1/events` is native; both can be limited
//! to one run. A subscriber that was disconnected sends the last id it received and resumes from
//! there.

mod batch;
mod id;
mod live;
mod message;
mod names;
mod snapshot;
mod stream;

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use baton_core::document::Node;
use baton_core::run::RunId;
use baton_engine::EngineError;
use baton_store::Position;
use bytes::Bytes;
use futures_util::stream::unfold;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use self::batch::{ResolvedEvent, frame};
use self::id::{BEGINNING, EventId};
pub(crate) use self::live::EventTail;
use self::message::Dialect;
use self::snapshot::{Snapshot, end_of_log, event_at};
use self::stream::{Stream, StreamSource};
use crate::App;
use crate::lookup::run_id;
use crate::openapi::ReadProblems;
use crate::problem::ApiProblem;
use crate::query::Query;
use crate::scope::RequestScope;

/// How long a disconnected subscriber waits before it reconnects.
const RETRY: &str = "retry: 1000\n";

pub(crate) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(pipeline)).routes(routes!(native))
}

/// Which run to subscribe to; all, if none is named.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "it only describes what `open` reads")]
struct EventsQuery {
    /// A run's id or number, or its story's key.
    run: Option<String>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "it only describes what `open` reads")]
struct LastEventId {
    /// The id of the last event that the client received; `0.0` for everything from the beginning.
    #[param(rename = "Last-Event-ID", required = false)]
    last: String,
}

/// Streams events in the pipeline API's form.
///
/// Server-sent events without a name, each `{type, data}`. After a disconnection, `Last-Event-ID`
/// resumes where the stream broke off.
#[utoipa::path(get, path = "/api/events", operation_id = "pipelineStreamEvents", tag = "pipeline",
    params(EventsQuery, LastEventId),
    responses(
        (status = 200, description = "A stream without an end; a comment every 15 s keeps it open",
            body = String, content_type = "text/event-stream"),
        ReadProblems))]
async fn pipeline(app: RequestScope, uri: Uri, headers: HeaderMap) -> Result<Response, ApiProblem> {
    open(app, Dialect::Pipeline, uri, headers).await
}

/// Streams events.
///
/// Server-sent events by name. The first is a `snapshot`; after a disconnection, `Last-Event-ID`
/// resumes where the stream broke off.
#[utoipa::path(get, path = "/api/v1/events", operation_id = "streamEvents", tag = "events",
    params(EventsQuery, LastEventId),
    responses(
        (status = 200, description = "A stream without an end; a comment every 15 s keeps it open",
            body = String, content_type = "text/event-stream"),
        ReadProblems))]
async fn native(app: RequestScope, uri: Uri, headers: HeaderMap) -> Result<Response, ApiProblem> {
    open(app, Dialect::Native, uri, headers).await
}

async fn open(
    app: RequestScope,
    face: Dialect,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, ApiProblem> {
    let query = Query::read(&uri, &["run"])?;
    let run = run_id(&app, query.get("run")).await?;
    let place = app.listeners.clone().try_acquire_owned().map_err(|_| no_place())?;
    // Subscribes before anything is read, so that no event is lost in between.
    let tidings = app.live.listen().ok_or(EngineError::Closing)?;
    let last = headers.get("last-event-id").filter(|it| !it.is_empty());
    let last = last.map(|it| it.to_str().unwrap_or_default());
    let (first, cursor) = match last {
        None => {
            let snapshot = app.live.snapshots.take(*app.read(), &app.live.names).await?;
            begin(face, "snapshot", &snapshot)
        }
        Some(BEGINNING) => (String::new(), Position::START),
        Some(id) => match missed(&app, face, run, EventId::parse(id)).await? {
            Some((missed, position)) => (missed, position),
            None => {
                let id = end_of_log(*app.read(), &app.live.names).await?;
                let data = Node::map([("cursor", Node::text(id.to_string()))]);
                begin(face, "reset", &Snapshot { id, data })
            }
        },
    };
    let first = (!first.is_empty()).then(|| Bytes::from(first));
    let source = StreamSource::Store;
    let stream =
        Stream { app, face, run, first, retry: Some(RETRY), cursor, tidings, source, place };
    let bytes = unfold(stream, async |mut stream| {
        let bytes = stream.next().await?;
        Some((Ok::<_, Infallible>(bytes), stream))
    });
    let headers = [(CONTENT_TYPE.as_str(), "text/event-stream"), ("x-accel-buffering", "no")];
    Ok((StatusCode::OK, headers, Body::from_stream(bytes)).into_response())
}

fn no_place() -> ApiProblem {
    let message = "as many clients listen to events as the server has places for; close some";
    ApiProblem::new(StatusCode::SERVICE_UNAVAILABLE, "busy", message).again_after(5)
}

/// The first message. It has an id, so that a subscriber cut off right after it loses nothing.
fn begin(face: Dialect, name: &str, snapshot: &Snapshot) -> (String, Position) {
    (frame(face, &snapshot.id, name, &snapshot.data), snapshot.id.position)
}

/// The remaining messages of the event received last, and its position. `None` if this server never
/// sent such an id, or sent it in another epoch.
async fn missed(
    app: &RequestScope,
    face: Dialect,
    run: Option<RunId>,
    id: Option<EventId>,
) -> Result<Option<(String, Position)>, EngineError> {
    let epoch = app.live.names.epoch(*app.read()).await?;
    let Some(id) = id.filter(|it| it.epoch == epoch) else { return Ok(None) };
    if id == EventId::end_of(epoch.clone(), Position::START, 0) {
        return Ok(Some((String::new(), Position::START)));
    }
    let Some(stored) = event_at(*app.read(), id.position).await? else { return Ok(None) };
    let known = ResolvedEvent::look_up(*app.read(), &app.live.names, &stored).await?;
    if id.part > EventId::end_of(epoch, id.position, known.n_parts()).part {
        return Ok(None);
    }
    let is_wanted = run.is_none_or(|it| it == stored.run);
    let left = if is_wanted { known.frames(face, id.part + 1) } else { String::new() };
    Ok(Some((left, id.position)))
}
