//! One subscriber: first a replay of what it missed, from the store, then live events, from the
//! tail.
//!
//! The server keeps only its cursor. It is polled only when its socket can take more
//! (backpressure), so a subscriber that does not read falls behind the tail, and then reads the
//! store at its own pace.

use baton_core::run::RunId;
use baton_engine::EngineError;
use baton_store::{EventFilter, Position, StoredEvent};
use bytes::Bytes;
use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use super::batch::ResolvedEvent;
use super::live::Broadcast;
use super::message::Dialect;
use crate::scope::RequestScope;

/// Events read from the store at once.
const PAGE: u32 = 64;

/// Without a blank line: some clients take each of them for the end of an event.
const HEARTBEAT: Bytes = Bytes::from_static(b": still here\n");

pub(super) struct Stream {
    pub(super) app: RequestScope,
    pub(super) face: Dialect,
    pub(super) run: Option<RunId>,
    /// Sent before anything else.
    pub(super) first: Option<Bytes>,
    /// A line for the block of the first message: some clients take a block without data for an event.
    pub(super) retry: Option<&'static str>,
    /// Everything up to here has been sent.
    pub(super) cursor: Position,
    pub(super) tidings: broadcast::Receiver<Broadcast>,
    pub(super) source: StreamSource,
    /// A permit out of the limit on subscribers.
    #[expect(dead_code, reason = "it is given back when the stream ends")]
    pub(super) place: OwnedSemaphorePermit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StreamSource {
    Store,
    Tail,
}

impl Stream {
    /// The next bytes; `None` when the server closes.
    pub(super) async fn next(&mut self) -> Option<Bytes> {
        let bytes = self.next_block().await?;
        if bytes == HEARTBEAT {
            return Some(bytes);
        }
        Some(match self.retry.take() {
            Some(retry) => [retry.as_bytes(), &bytes].concat().into(),
            None => bytes,
        })
    }

    async fn next_block(&mut self) -> Option<Bytes> {
        if let Some(first) = self.first.take() {
            return Some(first);
        }
        loop {
            let frames = match self.source {
                StreamSource::Store if self.tidings.is_closed() => return None,
                StreamSource::Store => match self.replay().await {
                    Ok(frames) => frames,
                    Err(error) => {
                        // The client reconnects with its last id, and loses nothing.
                        let error: &(dyn std::error::Error + 'static) = &error;
                        tracing::error!(error, "a stream of events broke off");
                        return None;
                    }
                },
                StreamSource::Tail => match self.tidings.recv().await {
                    Ok(tidings) => self.hear(&tidings),
                    Err(RecvError::Lagged(_)) => self.fall_back(),
                    Err(RecvError::Closed) => return None,
                },
            };
            if !frames.is_empty() {
                return Some(frames);
            }
        }
    }

    fn hear(&mut self, tidings: &Broadcast) -> Bytes {
        let batch = match tidings {
            Broadcast::Events(batch) => batch,
            Broadcast::Heartbeat => return HEARTBEAT,
        };
        if batch.after > self.cursor {
            return self.fall_back();
        }
        if batch.upto <= self.cursor {
            return Bytes::new();
        }
        let frames = batch.frames_after(self.face, self.run, self.cursor);
        self.cursor = batch.upto;
        frames
    }

    fn fall_back(&mut self) -> Bytes {
        self.source = StreamSource::Store;
        Bytes::new()
    }

    async fn replay(&mut self) -> Result<Bytes, EngineError> {
        let reader = self.app.read();
        // Read before the page: events committed during the read come from the tail.
        let tip = reader.last_position().await?;
        let filter = EventFilter { after: self.cursor, run: self.run, limit: PAGE };
        let mut page = reader.events(&filter).await?;
        let is_full = page.len() >= PAGE as usize;
        // The events of one run may be there before the log of all runs is complete up to them: a
        // client could not resume from such an event yet.
        page.retain(|it| it.position <= tip);
        let frames = self.encode(&page).await?;
        self.cursor = page.last().map_or(self.cursor, |it| it.position);
        if !is_full || page.len() < PAGE as usize {
            self.cursor = self.cursor.max(tip);
            self.source = StreamSource::Tail;
        }
        Ok(frames)
    }

    async fn encode(&self, page: &[StoredEvent]) -> Result<Bytes, EngineError> {
        let reader = *self.app.read();
        let mut frames = String::new();
        for stored in page {
            let known = ResolvedEvent::look_up(reader, &self.app.live.names, stored).await?;
            frames += &known.frames(self.face, 0);
        }
        Ok(frames.into())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use axum::extract::FromRequestParts as _;
    use axum::http::Request;
    use baton_core::names::{StoryKey, WorkflowName};
    use baton_core::registry::Agents;
    use baton_engine::{Catalog, Engine, Entry, FixedClock, StartRun};
    use baton_store::RunRef;
    use baton_store_tests::{MemoryStore, SharedMemory};
    use baton_wire::{builtin, workflow_file};
    use jiff::Timestamp;

    use super::*;
    use crate::App;
    use crate::events::id::EventId;
    use crate::events::missed;

    async fn engine() -> Arc<Engine> {
        engine_on(MemoryStore::default()).await
    }

    async fn engine_on(store: MemoryStore) -> Arc<Engine> {
        let text = builtin::workflows()[0].1;
        let workflow = Arc::new(workflow_file::parse(text).unwrap());
        let default = WorkflowName::parse("story-pipeline").ok();
        let entry = Entry { workflow, text: text.to_owned() };
        let catalog = Catalog::new([entry], Agents::default(), default);
        let clock = Arc::new(FixedClock::at(Timestamp::UNIX_EPOCH));
        Arc::new(Engine::open(Arc::new(store), clock, catalog).await.unwrap())
    }

    async fn scope(engine: Arc<Engine>) -> RequestScope {
        let (mut parts, ()) = Request::new(()).into_parts();
        let app = Arc::new(App::local(engine.into()));
        RequestScope::from_request_parts(&mut parts, &app).await.unwrap()
    }

    fn stream(app: &RequestScope) -> Stream {
        Stream {
            app: app.clone(),
            face: Dialect::Native,
            run: None,
            first: None,
            retry: None,
            cursor: Position::START,
            tidings: app.live.listen().unwrap(),
            source: StreamSource::Store,
            place: app.listeners.clone().try_acquire_owned().unwrap(),
        }
    }

    async fn start(app: &RequestScope, story: &str) {
        let story = StoryKey::parse(story).unwrap();
        let start = StartRun::of(story);
        app.caller().start(start).await.unwrap();
    }

    async fn said(stream: &mut Stream) -> String {
        String::from_utf8(stream.next().await.unwrap().into()).unwrap()
    }

    #[tokio::test]
    async fn what_happens_before_the_tail_wakes_up_is_told() {
        let app = scope(engine().await).await;
        let mut stream = stream(&app);
        // It has read the store, and now waits for a tail that is not running yet.
        assert!(stream.replay().await.unwrap().is_empty());
        assert_eq!(stream.source, StreamSource::Tail);
        start(&app, "s-1").await;
        let live = app.live.clone();
        let tail = tokio::spawn(async move { live.run().await });
        let epoch = app.read().identity().await.unwrap().epoch;
        let first = format!("id: {epoch}-1.0\nevent: run_state\n");
        assert!(said(&mut stream).await.starts_with(&first));
        app.live.close();
        tail.await.unwrap();
        assert_eq!(stream.next().await, None);
        assert!(app.live.listen().is_none());
    }

    /// The events of one run can be read before the log is complete up to them. A client that is cut
    /// off after one would be answered that the server does not know it.
    #[tokio::test]
    async fn an_event_is_sent_once_a_client_could_resume_from_it() {
        let shared = SharedMemory::default();
        let app = scope(engine_on(shared.node()).await).await;
        let live = app.live.clone();
        let tail = tokio::spawn(async move { live.run().await });
        shared.hold_back();
        start(&app, "s-1").await;
        let run = app.read().run(&RunRef::Number(1)).await.unwrap().run.id;
        let mut stream = Stream { run: Some(run), ..stream(&app) };
        assert!(stream.replay().await.unwrap().is_empty());
        shared.let_go();
        let first = said(&mut stream).await;
        let id = first.lines().next().and_then(|it| it.strip_prefix("id: "));
        let resumed = missed(&app, Dialect::Native, Some(run), EventId::parse(id.unwrap())).await;
        assert!(resumed.unwrap().is_some(), "{first}");
        app.live.close();
        tail.await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn while_nothing_happens_the_connection_is_kept_alive() {
        let app = scope(engine().await).await;
        let mut stream = stream(&app);
        let live = app.live.clone();
        let tail = tokio::spawn(async move { live.run().await });
        for _ in 0..3 {
            assert_eq!(said(&mut stream).await, ": still here\n");
        }
        app.live.close();
        tail.await.unwrap();
    }

    /// Some clients take a block without data for an event without data.
    #[tokio::test(start_paused = true)]
    async fn the_retry_interval_stands_in_the_block_of_the_first_message() {
        let app = scope(engine().await).await;
        let mut stream = Stream { retry: Some("retry: 1000\n"), ..stream(&app) };
        let live = app.live.clone();
        let tail = tokio::spawn(async move { live.run().await });
        assert_eq!(said(&mut stream).await, ": still here\n");
        start(&app, "s-1").await;
        let blocks = said(&mut stream).await;
        let (first, rest) = blocks.split_once("\n\n").unwrap();
        assert!(first.starts_with("retry: 1000\nid: ") && first.contains("\ndata: {"), "{first}");
        assert!(!rest.contains("retry:"), "{rest}");
        app.live.close();
        tail.await.unwrap();
    }

    #[tokio::test]
    async fn a_stream_ends_when_the_engine_is_shut_down() {
        let engine = engine().await;
        let app = scope(engine.clone()).await;
        let mut stream = stream(&app);
        let live = app.live.clone();
        let tail = tokio::spawn(async move { live.run().await });
        start(&app, "s-1").await;
        said(&mut stream).await;
        engine.shutdown().await;
        tail.await.unwrap();
        assert_eq!(stream.next().await, None);
    }
}
