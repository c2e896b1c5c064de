//! The log as it grows: every event once, in order, from any cursor on.
//!
//! A feed reads the store and is only woken by the engine, so nothing that it has not yet read
//! can be missed or told twice, however slow it is.

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

    /// The next event; waits for one if need be. `None` once the engine is gone or shut down.
    ///
    /// A shutdown may leave events unread: a feed from the cursor of the last one tells them later.
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

    /// The next events, as many as one read brings; waits for one if need be. `None` as in
    /// [`Feed::next`]. Giving up on it halfway loses nothing.
    pub async fn next_page(&mut self) -> Result<Option<Vec<StoredEvent>>, EngineError> {
        let Some(first) = self.next().await? else { return Ok(None) };
        Ok(Some(std::iter::once(first).chain(self.read.drain(..)).collect()))
    }

    /// The next event if there is one already.
    pub async fn read_next(&mut self) -> Result<Option<StoredEvent>, EngineError> {
        if self.read.is_empty() {
            // Seen before the read: what commits during it wakes us again.
            let tip = *self.tip.borrow_and_update();
            let filter = EventFilter { after: self.cursor, run: self.run, limit: PAGE };
            self.read = self.store.events(&filter).await?.into();
            match self.read.back() {
                Some(last) => self.cursor = last.position,
                // Nothing of this run up to the tip: no need to look there again.
                None => self.cursor = self.cursor.max(tip),
            }
        }
        Ok(self.read.pop_front())
    }
}
