//! Tests whether a write works, for the watcher of a store that could not be written.

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use super::{QueuedCommand, WriterMessage};
use crate::error::to_store;
use crate::statements::KeptStatements;

/// Does not keep the thread alive.
pub(crate) struct Prober(pub(super) mpsc::WeakSender<WriterMessage>);

impl Prober {
    /// Rewrites an existing value and waits for the commit: true where it is on disk.
    pub(crate) fn probe(&self) -> bool {
        let Some(queue) = self.0.upgrade() else { return false };
        let (sender, receiver) = oneshot::channel();
        let work = |statements: &KeptStatements<'_>| rewrite(statements).map_err(to_store);
        let command = QueuedCommand { work, result: None, sender };
        let is_sent = queue.try_send(WriterMessage::Work(Box::new(command))).is_ok();
        drop(queue);
        is_sent && matches!(receiver.blocking_recv(), Ok((Ok(()), _)))
    }
}

/// A write that changes nothing: Baton does not use this number, but it is on the first page.
fn rewrite(connection: &Connection) -> rusqlite::Result<()> {
    let number: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    connection.pragma_update(None, "user_version", number)
}
