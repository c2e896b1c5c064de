//! The tail of the log, read once for all subscribers.
//!
//! One task reads the committed events, encodes them and sends the bytes to all streams. Delivery
//! is not guaranteed: a batch says after which event it begins, and a stream that finds a gap
//! before it reads the store instead. So a slow subscriber costs no memory, and no subscriber
//! misses an event.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use baton_engine::{Caller, Engine, EngineError, Reader};
use baton_store::{Position, StoredEvent};
use tokio::sync::{Notify, broadcast};
use tokio::time::{MissedTickBehavior, interval};

use super::batch::Batch;
use super::names::Names;
use super::snapshot::Snapshots;

/// How far a stream may fall behind before it reads the store.
const MOST_BATCHES: usize = 128;
/// Bounds the memory of those batches.
const MOST_EVENTS: usize = 64;
/// So that proxies do not close a silent connection.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// The approximate cost of sending to one subscriber; the task rests for so long, and events
/// committed meanwhile are sent together. So many subscribers cost fewer, larger writes.
const REST_PER_LISTENER: Duration = Duration::from_micros(25);
const MOST_REST: Duration = Duration::from_millis(25);
const AFTER_FAILURE: Duration = Duration::from_secs(1);

#[derive(Clone)]
pub(super) enum Broadcast {
    Events(Arc<Batch>),
    /// No event was committed.
    Heartbeat,
}

/// What the streams of one server share.
pub(crate) struct EventTail {
    engine: Arc<Engine>,
    /// The reader of the log: the server itself. A subscriber reads as its own caller only what it
    /// has missed; what is live is the same bytes for all.
    caller: Caller,
    pub(super) names: Names,
    pub(super) snapshots: Snapshots,
    /// `None` once the server closes: then every stream ends.
    tidings: Mutex<Option<broadcast::Sender<Broadcast>>>,
    listeners: Notify,
    closing: Notify,
    /// For requests that wait.
    closed: Notify,
}

impl EventTail {
    pub(crate) fn new(engine: Arc<Engine>) -> Self {
        let (sender, _) = broadcast::channel(MOST_BATCHES);
        Self {
            engine,
            caller: Caller::of_baton("baton:events"),
            names: Names::default(),
            snapshots: Snapshots::default(),
            tidings: Mutex::new(Some(sender)),
            listeners: Notify::new(),
            closing: Notify::new(),
            closed: Notify::new(),
        }
    }

    /// Subscribes to everything from now on; `None` once the server closes.
    pub(super) fn listen(&self) -> Option<broadcast::Receiver<Broadcast>> {
        let receiver = self.sender()?.subscribe();
        self.listeners.notify_one();
        Some(receiver)
    }

    /// Ends every stream, and the task.
    pub(crate) fn close(&self) {
        *self.tidings.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.closing.notify_one();
        self.closed.notify_waiters();
    }

    /// Waits until the server closes.
    pub(crate) async fn closed(&self) {
        // Before the look, so that a close between the two is not missed.
        let closed = self.closed.notified();
        if self.sender().is_some() {
            closed.await;
        }
    }

    /// The task: reads the log while there are subscribers, until the server closes.
    pub(crate) async fn run(&self) {
        let Some(sender) = self.sender() else { return };
        tokio::select! {
            () = self.closing.notified() => {}
            () = self.tail(&sender) => {}
        }
    }

    async fn tail(&self, sender: &broadcast::Sender<Broadcast>) {
        loop {
            while sender.receiver_count() == 0 {
                self.listeners.notified().await;
            }
            match self.tell(sender).await {
                Ok(TailEnd::NobodyListens) => {}
                Ok(TailEnd::LogEnded) | Err(EngineError::Closing) => return self.close(),
                Err(error) => {
                    log(&error);
                    tokio::time::sleep(AFTER_FAILURE).await;
                }
            }
        }
    }

    async fn tell(&self, sender: &broadcast::Sender<Broadcast>) -> Result<TailEnd, EngineError> {
        let mut cursor = self.reader().last_position().await?;
        let mut feed = self.reader().feed(cursor, None);
        // A subscriber that is behind reads the store up to here.
        send(sender, Batch::here(cursor));
        let mut heartbeat = interval(HEARTBEAT);
        heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // The first tick is immediate, and must not be sent.
        heartbeat.reset();
        while sender.receiver_count() > 0 {
            let page = tokio::select! {
                page = feed.next_page() => page?,
                _ = heartbeat.tick() => {
                    let _ = sender.send(Broadcast::Heartbeat);
                    continue;
                }
            };
            let Some(page) = page else { return Ok(TailEnd::LogEnded) };
            for events in page.chunks(MOST_EVENTS) {
                let batch = self.batch(cursor, events).await?;
                cursor = batch.upto;
                send(sender, batch);
            }
            tokio::time::sleep(rest(sender.receiver_count())).await;
        }
        Ok(TailEnd::NobodyListens)
    }

    async fn batch(&self, after: Position, events: &[StoredEvent]) -> Result<Batch, EngineError> {
        Batch::of(self.reader(), &self.names, after, events).await
    }

    fn reader(&self) -> Reader<'_> {
        self.engine.read_as(&self.caller)
    }

    fn sender(&self) -> Option<broadcast::Sender<Broadcast>> {
        self.tidings.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

enum TailEnd {
    NobodyListens,
    /// The engine was shut down.
    LogEnded,
}

fn rest(n_listeners: usize) -> Duration {
    let n_listeners = u32::try_from(n_listeners).unwrap_or(u32::MAX);
    REST_PER_LISTENER.saturating_mul(n_listeners).min(MOST_REST)
}

/// It is not an error if there are no subscribers left.
fn send(sender: &broadcast::Sender<Broadcast>, batch: Batch) {
    let _ = sender.send(Broadcast::Events(Arc::new(batch)));
}

fn log(error: &(dyn std::error::Error + 'static)) {
    tracing::error!(error, "the log could not be read for those who listen");
}
