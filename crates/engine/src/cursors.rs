//! How far the projections of the log have come.

use baton_store::Position;

use crate::{Engine, EngineError};

impl Engine {
    /// How far a projection of the log has come.
    pub async fn cursor(&self, projector: &str) -> Result<Position, EngineError> {
        Ok(self.store.cursor(projector).await?)
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
