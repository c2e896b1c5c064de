//! One opener per data directory. The operating system releases the lock when its holder ends, in
//! whatever way; the file stays, and names the holder.

use std::fs::TryLockError;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use baton_files::{Access, Dir, FileError, FileHandle};
use baton_store::WriteFault;

use crate::error::fault_of_io;

/// The name of the file that is locked while the data is open.
pub const FILE: &str = "baton.lock";
const PAUSE: Duration = Duration::from_millis(20);
/// The maximum length of a note: anything longer was not written by Baton.
const MOST_NOTE_BYTES: u64 = 4096;

/// Held while a process has the data directory open; released when it is dropped.
#[derive(Debug)]
pub struct DataLock {
    dir: Dir,
    file: FileHandle,
}

#[derive(Debug, thiserror::Error)]
pub enum LockError {
    #[error("the data directory is in use ({by})")]
    Held {
        /// The holder's note about itself.
        by: String,
    },
    #[error(transparent)]
    File(FileError),
    #[error("`{path}` cannot be locked")]
    Refused {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

impl DataLock {
    /// Locks `dir`, waiting at most `wait`. Blocks the thread.
    pub fn take(dir: &Dir, wait: Duration) -> Result<Self, LockError> {
        let asked_at = Instant::now();
        loop {
            let lock = Self::take_file(dir, asked_at, wait)?;
            // The file may have been removed while we waited for its lock: then another process can
            // lock a new one.
            if lock.is_in_place() {
                // The note only helps processes that find the data in use: on a disk that takes no
                // writes the data can still be read.
                let _ = lock.set_note(&format!("pid {}", std::process::id()));
                return Ok(lock);
            }
        }
    }

    fn take_file(dir: &Dir, asked_at: Instant, wait: Duration) -> Result<Self, LockError> {
        let file = open(dir).map_err(LockError::File)?;
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if asked_at.elapsed() < wait => {
                    // File locks have no time-out, so poll.
                    std::thread::park_timeout(PAUSE.min(wait));
                }
                Err(TryLockError::WouldBlock) => {
                    let by = read_note(dir).unwrap_or_else(|| "by another process".to_owned());
                    return Err(LockError::Held { by });
                }
                Err(TryLockError::Error(source)) => {
                    return Err(LockError::Refused { path: file.path().to_owned(), source });
                }
            }
        }
        let dir = dir.again().map_err(LockError::File)?;
        Ok(Self { dir, file })
    }

    /// The locked data directory.
    pub fn dir(&self) -> &Dir {
        &self.dir
    }

    /// Whether the locked file still has its name. Otherwise another process may lock the data too.
    pub fn is_in_place(&self) -> bool {
        match (self.dir.entry(FILE), self.file.entry()) {
            (Ok(Some(named)), Ok(ours)) => named.identity == ours.identity,
            (Ok(_) | Err(_), Ok(_) | Err(_)) => false,
        }
    }

    /// Writes the holder into the lock file, in one line: a process id, or the address of a server.
    pub fn set_note(&self, note: &str) -> Result<(), FileError> {
        let line = format!("{}\n", note.replace(['\r', '\n'], " "));
        // Empty for a moment, rather than the note of the previous holder.
        self.file.overwrite(line.as_bytes())
    }
}

impl Drop for DataLock {
    fn drop(&mut self) {
        // A killed process cannot do this either: readers confirm a note before they trust it.
        let _ = self.file.truncate(0);
    }
}

/// The note of the current or last holder of `dir`. The holder may be gone.
pub fn read_note(dir: &Dir) -> Option<String> {
    let text = dir.read_text(FILE, MOST_NOTE_BYTES).ok()?;
    let note = text.lines().next()?.trim();
    if note.is_empty() { None } else { Some(note.to_owned()) }
}

fn open(dir: &Dir) -> Result<FileHandle, FileError> {
    match dir.open_file(FILE, Access::WriteOrCreate) {
        // Locking needs no write access; only the note does.
        Err(error @ FileError::Io { .. }) if is_read_only(&error) => {
            dir.open_file(FILE, Access::Read).map_err(|_| error)
        }
        opened => opened,
    }
}

fn is_read_only(error: &FileError) -> bool {
    matches!(error, FileError::Io { source, .. } if fault_of_io(source) == Some(WriteFault::ReadOnly))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    fn temporary() -> (tempfile::TempDir, Dir) {
        let folder = tempfile::tempdir().unwrap();
        let dir = Dir::open(folder.path()).unwrap();
        (folder, dir)
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn a_second_taker_is_refused_and_told_who_has_it() {
        let (_folder, dir) = temporary();
        let lock = DataLock::take(&dir, Duration::ZERO).unwrap();
        let own = format!("pid {}", std::process::id());
        assert_eq!(refused(&dir), own);
        lock.set_note("http://127.0.0.1:4000").unwrap();
        assert_eq!(refused(&dir), "http://127.0.0.1:4000");
        lock.set_note("short").unwrap();
        assert_eq!(refused(&dir), "short");
        assert_eq!(read_note(&dir), Some("short".to_owned()));
    }

    #[test]
    fn a_dropped_lock_is_free_and_its_file_stays_without_a_name() {
        let (folder, dir) = temporary();
        let lock = DataLock::take(&dir, Duration::ZERO).unwrap();
        lock.set_note("http://127.0.0.1:4000").unwrap();
        drop(lock);
        assert!(folder.path().join(FILE).exists());
        assert_eq!(read_note(&dir), None);
        DataLock::take(&dir, Duration::ZERO).unwrap();
    }

    #[test]
    fn a_taker_waits_until_the_lock_is_free() {
        let (_folder, dir) = temporary();
        let first = DataLock::take(&dir, Duration::ZERO).unwrap();
        let (asking, is_asking) = mpsc::channel();
        std::thread::scope(|scope| {
            let second = scope.spawn(|| {
                asking.send(()).unwrap();
                DataLock::take(&dir, LONG)
            });
            is_asking.recv().unwrap();
            assert!(!second.is_finished());
            drop(first);
            second.join().unwrap().unwrap();
        });
    }

    #[test]
    fn a_lock_whose_file_was_removed_is_not_in_place() {
        let (folder, dir) = temporary();
        let lock = DataLock::take(&dir, Duration::ZERO).unwrap();
        assert!(lock.is_in_place());
        std::fs::remove_file(folder.path().join(FILE)).unwrap();
        assert!(!lock.is_in_place());
        let other = DataLock::take(&dir, Duration::ZERO).unwrap();
        assert!(other.is_in_place() && !lock.is_in_place());
    }

    #[test]
    fn a_link_in_place_of_the_lock_is_refused_and_its_file_left_alone() {
        let (folder, dir) = temporary();
        let theirs = folder.path().join("theirs");
        std::fs::write(&theirs, "theirs").unwrap();
        std::os::unix::fs::symlink(&theirs, folder.path().join(FILE)).unwrap();
        let error = DataLock::take(&dir, LONG).unwrap_err();
        assert!(matches!(error, LockError::File(FileError::Link { .. })), "{error:?}");
        assert_eq!(read_note(&dir), None);
        assert_eq!(std::fs::read_to_string(&theirs).unwrap(), "theirs");
    }

    fn refused(dir: &Dir) -> String {
        match DataLock::take(dir, Duration::from_millis(1)) {
            Err(LockError::Held { by }) => by,
            other => panic!("{other:?}"),
        }
    }
}
