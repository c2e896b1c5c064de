//! How far the files follow the log. The cursor is in the store; where several nodes use one store,
//! each has files of its own, so each folder of files has a cursor of its own.

use baton_store::{Position, StoreLock};
use uuid::Uuid;

use super::{Archive, ArchiveError};

/// The name of the cursor where one process has the store.
const PROJECTOR: &str = "archive";
/// In the folder of states, where the store is shared: which files these are.
const ARCHIVE_ID: &str = "archive-id";

impl Archive {
    /// Everything up to here is in the files.
    pub(super) async fn written_to(&self) -> Result<Position, ArchiveError> {
        Ok(self.engine.cursor(self.cursor_name().await?).await?)
    }

    /// Until it is dropped, no other process writes these files: two may work in one folder.
    pub(super) async fn hold(&self) -> Result<StoreLock, ArchiveError> {
        Ok(self.engine.hold_cursor(self.cursor_name().await?).await?)
    }

    /// If another writer of the same files has moved it meanwhile, it has written the same.
    pub(super) async fn move_cursor(
        &self,
        from: Position,
        to: Position,
    ) -> Result<(), ArchiveError> {
        self.engine.advance_cursor(self.cursor_name().await?, from, to).await?;
        Ok(())
    }

    async fn cursor_name(&self) -> Result<&str, ArchiveError> {
        if !self.engine.is_shared() {
            return Ok(PROJECTOR);
        }
        let name = self.cursor.get_or_try_init(async || {
            let fresh = Uuid::from_bytes(self.views().nonce());
            let id =
                self.on_disk(move |disk, places| disk.id(&places.state, ARCHIVE_ID, fresh)).await?;
            Ok::<_, ArchiveError>(format!("{PROJECTOR} {id}"))
        });
        name.await.map(String::as_str)
    }
}
