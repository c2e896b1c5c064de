//! A check of the whole file in the background: it uses a small part of one core, and ends when the
//! store is closed.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use baton_store::{StoreCheck, StoreError, StoreResult};

use crate::error::{thread_gone, to_store};
use crate::judge::WAL_FILE;
use crate::{check, connect};

/// SQLite steps between two pauses: about a millisecond of work.
const STEPS: i32 = 20_000;
/// Units of rest per unit of work.
const REST: u32 = 9;
const LONGEST_REST: Duration = Duration::from_millis(100);
/// A reader's old snapshot keeps the log from being truncated. From this length on, the check
/// hurries.
const MOST_LOG_BYTES: u64 = 256 << 20;

/// Every problem of the database at `path`, on a separate connection.
pub(crate) async fn check(path: &Path, is_closing: &Arc<AtomicBool>) -> StoreResult<StoreCheck> {
    let (path, is_closing) = (path.to_owned(), is_closing.clone());
    let checking = tokio::task::spawn_blocking(move || check_now(&path, &is_closing));
    checking.await.unwrap_or_else(|_| Err(thread_gone()))
}

fn check_now(path: &Path, is_closing: &Arc<AtomicBool>) -> StoreResult<StoreCheck> {
    let opened = connect::reading(path);
    let mut connection = opened.map_err(|error| StoreError::Unavailable(Box::new(error)))?;
    connection.progress_handler(STEPS, Some(pause(path, is_closing.clone()))).map_err(to_store)?;
    match check::in_full(&connection).map_err(to_store) {
        Err(_) if is_closing.load(Ordering::Relaxed) => Err(StoreError::Closed),
        // Too damaged to be read through is a result too.
        Err(StoreError::Damaged { what }) => Ok(vec![what].into()),
        checked => checked,
    }
}

/// Rests after each piece of work; true where the work must end.
fn pause(path: &Path, is_closing: Arc<AtomicBool>) -> impl FnMut() -> bool + Send + 'static {
    let log: PathBuf = path.with_file_name(WAL_FILE);
    let mut rested_at = Instant::now();
    move || {
        let is_log_short = log.metadata().map_or(0, |it| it.len()) < MOST_LOG_BYTES;
        if is_log_short && !is_closing.load(Ordering::Relaxed) {
            std::thread::park_timeout((rested_at.elapsed() * REST).min(LONGEST_REST));
        }
        rested_at = Instant::now();
        is_closing.load(Ordering::Relaxed)
    }
}

/// For a check requested after the close.
pub(crate) fn refuse_closed(is_closing: &AtomicBool) -> StoreResult<()> {
    if is_closing.load(Ordering::Relaxed) { Err(StoreError::Closed) } else { Ok(()) }
}
