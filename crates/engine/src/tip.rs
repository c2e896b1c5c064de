//! The end of the log, now and as it grows.
//!
//! Where only this process appends, its own appends are the end. Where others do too, an append may
//! be visible in the log later than another one with a higher position, so only the store knows how
//! far the log is complete.

use std::time::Duration;

use baton_store::{Position, Store, StoreError};
use tokio::sync::watch;
use tokio::task::AbortHandle;

/// A transaction of another program can hold the log of a database back, while its rows have
/// changed already: after this long, they are looked at all the same.
const LOOK_AT_ROWS: Duration = Duration::from_secs(2);

pub(crate) struct LogTip {
    /// Everything up to here is on disk, and nothing is added there any more.
    complete: watch::Sender<Position>,
    /// Rows may have changed.
    news: watch::Sender<()>,
    /// Follows the store; `None` where only this process appends.
    follower: Option<AbortHandle>,
}

impl LogTip {
    pub(crate) async fn of(store: &dyn Store) -> Result<Self, StoreError> {
        let Some(settled) = store.settled() else {
            let complete = watch::Sender::new(store.last_position().await?);
            return Ok(Self { complete, news: watch::Sender::new(()), follower: None });
        };
        let complete = watch::Sender::new(complete_at(*settled.borrow()));
        let news = watch::Sender::new(());
        let follower = tokio::spawn(follow(settled, complete.clone(), news.clone()));
        Ok(Self { complete, news, follower: Some(follower.abort_handle()) })
    }

    pub(crate) fn subscribe(&self) -> watch::Receiver<Position> {
        self.complete.subscribe()
    }

    pub(crate) fn news(&self) -> watch::Receiver<()> {
        self.news.subscribe()
    }

    /// This process has appended up to `position`.
    pub(crate) fn appended(&self, position: Position) {
        if self.follower.is_none() {
            self.complete.send_if_modified(|tip| {
                let is_newer = *tip < position;
                *tip = position.max(*tip);
                is_newer
            });
        }
        self.news.send_replace(());
    }

    /// Wakes all feeds, which find the store closed.
    pub(crate) fn wake_all(&self) {
        self.complete.send_modify(|_| {});
        self.news.send_replace(());
    }
}

impl Drop for LogTip {
    fn drop(&mut self) {
        if let Some(follower) = &self.follower {
            follower.abort();
        }
    }
}

async fn follow(
    mut settled: watch::Receiver<Position>,
    complete: watch::Sender<Position>,
    news: watch::Sender<()>,
) {
    loop {
        tokio::select! {
            changed = settled.changed() => if changed.is_err() { return },
            () = tokio::time::sleep(LOOK_AT_ROWS) => {}
        }
        let position = complete_at(*settled.borrow_and_update());
        complete.send_if_modified(|tip| {
            let is_newer = *tip < position;
            *tip = position.max(*tip);
            is_newer
        });
        news.send_replace(());
    }
}

/// The last position below that to which a log has settled.
fn complete_at(settled: Position) -> Position {
    Position(settled.0.saturating_sub(1))
}
