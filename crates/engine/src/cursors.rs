//! How far the projections of the log have come.

use baton_store::{Position, StoreLock};

use crate::{Engine, EngineError};

/// How many events are counted at once.
const PAGE: u32 = 2000;

impl Engine {
    /// How far a projection of the log has come.
    pub async fn cursor(&self, projector: &str) -> Result<Position, EngineError> {
        Ok(self.store.cursor(projector).await?)
    }

    /// Waits until no other process that uses this store holds the cursor. It is free again when what is
    /// returned is dropped.
    pub async fn hold_cursor(&self, projector: &str) -> Result<StoreLock, EngineError> {
        Ok(self.store.lock(projector).await?)
    }

    /// How many events follow a position, as many as one page has, and the position of the last.
    pub(crate) async fn count_events_after(
        &self,
        after: Position,
    ) -> Result<(u64, Option<Position>), EngineError> {
        let links = self.store.log_links(after, PAGE).await?;
        Ok((links.len() as u64, links.last().map(|it| Position(it.position))))
    }

    /// How many events a projection has not read, which has come up to `done`.
    pub async fn n_behind(&self, done: Position) -> Result<u64, EngineError> {
        if !self.is_shared() {
            // Positions are dense where only one process appends.
            return Ok(self.store.last_position().await?.0.saturating_sub(done.0));
        }
        let (mut n_behind, mut after) = (0, done);
        loop {
            let (n_events, last) = self.count_events_after(after).await?;
            n_behind += n_events;
            match last.filter(|_| n_events >= u64::from(PAGE)) {
                Some(last) => after = last,
                None => return Ok(n_behind),
            }
        }
    }

    /// Moves a projection's cursor, unless another writer has moved it since; false then.
    pub async fn advance_cursor(
        &self,
        projector: &str,
        from: Position,
        to: Position,
    ) -> Result<bool, EngineError> {
        Ok(self.store.advance(projector, from, to).await?)
    }
}
