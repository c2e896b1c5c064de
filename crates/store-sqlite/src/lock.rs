//! One opener per data directory. The lock is the operating system's, so it is gone as soon as its
//! holder is, however that ended; the file stays, and says who holds it.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use baton_store::WriteFault;

use crate::error::fault_of_io;
use crate::filesystem::make_private_dir;

pub(crate) const FILE: &str = "baton.lock";
const PAUSE: Duration = Duration::from_millis(20);

/// Held while somebody has the data directory open; released when it is dropped.
#[derive(Debug)]
pub struct DataLock {
    file: File,
}

#[derive(Debug, thiserror::Error)]
pub enum LockError {
    #[error("the data directory is in use ({by})")]
    Held {
        /// What the holder says of itself.
        by: String,
    },
    #[error("`{path}` cannot be locked")]
    File {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

impl DataLock {
    /// Takes the lock of `dir`, which is made where there is none, and waits for it as long as
    /// `wait`. It blocks the thread.
    pub fn take(dir: &Path, wait: Duration) -> Result<Self, LockError> {
        let path = dir.join(FILE);
        let failed = |source| LockError::File { path: path.clone(), source };
        make_private_dir(dir).map_err(failed)?;
        let file = open(&path).map_err(failed)?;
        let asked_at = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if asked_at.elapsed() < wait => {
                    // A lock cannot be waited for with a limit, so it is asked for again and again.
                    std::thread::park_timeout(PAUSE.min(wait));
                }
                Err(TryLockError::WouldBlock) => {
                    let by = read_note(dir).unwrap_or_else(|| "by another process".to_owned());
                    return Err(LockError::Held { by });
                }
                Err(TryLockError::Error(source)) => return Err(failed(source)),
            }
        }
        let lock = Self { file };
        // It only helps those who find the data in use: on a disk that takes no writes the data can
        // still be read.
        let _ = lock.set_note(&format!("pid {}", std::process::id()));
        Ok(lock)
    }

    /// Says who holds the lock, in one line: a process id, or where a server can be reached.
    pub fn set_note(&self, note: &str) -> io::Result<()> {
        let line = format!("{}\n", note.replace(['\r', '\n'], " "));
        // Nothing is said for a moment, rather than what the holder before said of itself.
        self.file.set_len(0)?;
        let mut file = &self.file;
        file.rewind()?;
        file.write_all(line.as_bytes())
    }
}

impl Drop for DataLock {
    fn drop(&mut self) {
        // Whoever is killed cannot do this either: a note is believed only once it is confirmed.
        let _ = self.file.set_len(0);
    }
}

/// What the holder of `dir` says of itself, or said last. It may be gone.
pub fn read_note(dir: &Path) -> Option<String> {
    let text = std::fs::read_to_string(dir.join(FILE)).ok()?;
    let note = text.lines().next()?.trim();
    if note.is_empty() { None } else { Some(note.to_owned()) }
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        // A lock needs no writing, only its note does.
        Err(error) if fault_of_io(&error) == Some(WriteFault::ReadOnly) => {
            File::open(path).map_err(|_| error)
        }
        opened => opened,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn a_second_taker_is_refused_and_told_who_has_it() {
        let dir = tempfile::tempdir().unwrap();
        let lock = DataLock::take(dir.path(), Duration::ZERO).unwrap();
        let own = format!("pid {}", std::process::id());
        assert_eq!(refused(dir.path()), own);
        lock.set_note("http://127.0.0.1:4000").unwrap();
        assert_eq!(refused(dir.path()), "http://127.0.0.1:4000");
        lock.set_note("short").unwrap();
        assert_eq!(refused(dir.path()), "short");
        assert_eq!(read_note(dir.path()), Some("short".to_owned()));
    }

    #[test]
    fn a_dropped_lock_is_free_and_its_file_stays_without_a_name() {
        let dir = tempfile::tempdir().unwrap();
        let lock = DataLock::take(dir.path(), Duration::ZERO).unwrap();
        lock.set_note("http://127.0.0.1:4000").unwrap();
        drop(lock);
        assert!(dir.path().join(FILE).exists());
        assert_eq!(read_note(dir.path()), None);
        DataLock::take(dir.path(), Duration::ZERO).unwrap();
    }

    #[test]
    fn a_taker_waits_until_the_lock_is_free() {
        let dir = tempfile::tempdir().unwrap();
        let first = DataLock::take(dir.path(), Duration::ZERO).unwrap();
        let (asking, is_asking) = mpsc::channel();
        std::thread::scope(|scope| {
            let second = scope.spawn(|| {
                asking.send(()).unwrap();
                DataLock::take(dir.path(), LONG)
            });
            is_asking.recv().unwrap();
            assert!(!second.is_finished());
            drop(first);
            second.join().unwrap().unwrap();
        });
    }

    #[test]
    fn a_directory_that_is_not_there_is_made() {
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path().join("new/data");
        assert_eq!(read_note(&data), None);
        DataLock::take(&data, Duration::ZERO).unwrap();
    }

    #[test]
    fn a_file_in_place_of_the_directory_is_an_error_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        std::fs::write(&file, "").unwrap();
        let error = DataLock::take(&file, LONG).unwrap_err();
        assert!(matches!(error, LockError::File { .. }), "{error:?}");
    }

    fn refused(dir: &Path) -> String {
        match DataLock::take(dir, Duration::from_millis(1)) {
            Err(LockError::Held { by }) => by,
            other => panic!("{other:?}"),
        }
    }
}
