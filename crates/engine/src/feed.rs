//! The log as it grows: every event once, in order, from any cursor.
//!
//! A feed reads the store and is only woken by the engine, so a slow subscriber neither misses an
//! event nor gets one twice.

use std::collections::VecDeque;
use std::sync::Arc;

use baton_core::run::RunId;
use baton_store::{EventFilter, Position, Store, StoredEvent};
use tokio::sync::watch;

use crate::EngineError;

const PAGE: u32 = 256;

pub struct Feed {
    store: Arc<dyn Store>,
    tip: watch::Receiver<Position>,
    /// Everything up to here has been read from the store.
    cursor: Position,
    run: Option<RunId>,
    read: VecDeque<StoredEvent>,
}

impl Feed {
    pub(crate) fn new(
        store: Arc<dyn Store>,
        tip: watch::Receiver<Position>,
        cursor: Position,
        run: Option<RunId>,
    ) -> Self {
        Self { store, tip, cursor, run, read: VecDeque::new() }
    }

    /// The next event; waits for one if necessary. `None` once the engine is gone or shut down.
    ///
    /// A shutdown may leave events unread: a feed from the last one's cursor replays them later.
    pub async fn next(&mut self) -> Result<Option<StoredEvent>, EngineError> {
        loop {
            match self.read_next().await {
                Ok(Some(event)) => return Ok(Some(event)),
                Ok(None) => {}
                Err(EngineError::Closing) => return Ok(None),
                Err(error) => return Err(error),
            }
            if self.tip.changed().await.is_err() {
                return self.read_next().await;
            }
        }
    }

    /// The next events, as many as one read returns; waits for one if necessary. `None` as in
    /// [`Feed::next`]. Cancel-safe: dropping the future loses no event.
    pub async fn next_page(&mut self) -> Result<Option<Vec<StoredEvent>>, EngineError> {
        let Some(first) = self.next().await? else { return Ok(None) };
        Ok(Some(std::iter::once(first).chain(self.read.drain(..)).collect()))
    }

    /// The next event if one is available now.
    pub async fn read_next(&mut self) -> Result<Option<StoredEvent>, EngineError> {
        if self.read.is_empty() {
            // Read the tip before the store: a commit during the read then wakes this feed again.
            let tip = *self.tip.borrow_and_update();
            let filter = EventFilter { after: self.cursor, run: self.run, limit: PAGE };
            self.read = self.store.events(&filter).await?.into();
            match self.read.back() {
                Some(last) => self.cursor = last.position,
                // Up to the tip there is nothing, and nothing is added there: skip it from now on.
                None => self.cursor = self.cursor.max(tip),
            }
        }
        Ok(self.read.pop_front())
    }
}
