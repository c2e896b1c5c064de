//! The files that the store has open, as they were when it opened them: whether their paths still
//! lead to them, and whether another program wrote to them. They are examined with `stat` and never
//! opened: on Unix, closing a file drops the locks that SQLite has on it.

use std::fs::Metadata;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use crate::judge::WAL_FILE;
use crate::{FILE, connect, lock};

#[derive(Debug, Default)]
pub(crate) struct OpenedFiles(Mutex<Opened>);

#[derive(Debug, Default)]
struct Opened {
    files: Vec<OpenedFile>,
    /// A checkpoint is running: both files change, and by our own writes.
    is_moving: bool,
}

#[derive(Debug)]
struct OpenedFile {
    path: PathBuf,
    kind: DataFile,
    identity: (u64, u64),
    /// The greatest length seen.
    n_bytes: u64,
    /// Time of the owner's last write.
    modified_at: Option<SystemTime>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DataFile {
    /// Written only by checkpoints, and never truncated: pages are freed inside it.
    Database,
    /// Grows with every commit; checkpoints truncate it.
    Log,
    /// The index of the log, a shared-memory file.
    Index,
    Lock,
}

/// A file that has changed unexpectedly.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LostFile {
    pub(crate) kind: DataFile,
    pub(crate) path: PathBuf,
    pub(crate) change: FileChange,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileChange {
    Gone,
    Replaced,
    Cut { from: u64, to: u64 },
    Overwritten,
}

/// Guard: a checkpoint runs while it lives.
#[derive(Debug)]
pub(crate) struct MovingLog<'a>(&'a OpenedFiles);

impl OpenedFiles {
    /// The files of an open store in `dir`. Missing files cannot get lost.
    pub(crate) fn of(dir: &Path) -> Self {
        let files = [
            (FILE.to_owned(), DataFile::Database),
            (WAL_FILE.to_owned(), DataFile::Log),
            (format!("{FILE}-shm"), DataFile::Index),
            (lock::FILE.to_owned(), DataFile::Lock),
        ];
        let known = files.into_iter().filter_map(|(name, kind)| {
            let path = dir.join(name);
            let found = path.symlink_metadata().ok()?;
            let (n_bytes, modified_at) = (found.len(), found.modified().ok());
            Some(OpenedFile { path, kind, identity: identity(&found), n_bytes, modified_at })
        });
        Self(Mutex::new(Opened { files: known.collect(), is_moving: false }))
    }

    /// The first lost file.
    pub(crate) fn lost(&self) -> Option<LostFile> {
        self.lock().lost()
    }

    /// Checks again, and allows the database to change from now on.
    pub(crate) fn begin_move(&self) -> Result<MovingLog<'_>, LostFile> {
        let mut opened = self.lock();
        if let Some(lost) = opened.lost() {
            return Err(lost);
        }
        opened.is_moving = true;
        Ok(MovingLog(self))
    }

    /// Whether the database and its log are in `dir` now, under their names.
    pub(crate) fn are_in(&self, dir: &Path) -> bool {
        let opened = self.lock();
        let mut data =
            opened.files.iter().filter(|it| matches!(it.kind, DataFile::Database | DataFile::Log));
        data.all(|it| {
            let found = it.path.file_name().and_then(|name| dir.join(name).symlink_metadata().ok());
            found.is_some_and(|found| identity(&found) == it.identity)
        })
    }

    /// It is consistent after every statement, so a poisoned lock is still good.
    fn lock(&self) -> MutexGuard<'_, Opened> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for MovingLog<'_> {
    fn drop(&mut self) {
        let mut opened = self.0.lock();
        opened.is_moving = false;
        for file in &mut opened.files {
            file.learn();
        }
    }
}

impl Opened {
    fn lost(&mut self) -> Option<LostFile> {
        let is_moving = self.is_moving;
        self.files.iter_mut().find_map(|it| {
            let change = it.change(is_moving)?;
            Some(LostFile { kind: it.kind, path: it.path.clone(), change })
        })
    }
}

impl OpenedFile {
    fn change(&mut self, is_moving: bool) -> Option<FileChange> {
        let found = match self.path.symlink_metadata() {
            Ok(found) => found,
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                return Some(FileChange::Gone);
            }
            // The file may exist all the same; the next check will show.
            Err(_) => return None,
        };
        if identity(&found) != self.identity {
            return Some(FileChange::Replaced);
        }
        if is_moving {
            return None;
        }
        let (known, n_bytes) = (self.n_bytes, found.len());
        match self.kind {
            DataFile::Database if n_bytes < known => {
                Some(FileChange::Cut { from: known, to: n_bytes })
            }
            DataFile::Database if found.modified().ok() != self.modified_at => {
                Some(FileChange::Overwritten)
            }
            // The commit that restarts a log truncates it to this size.
            DataFile::Log if n_bytes < known.min(connect::LOG_LIMIT) => {
                Some(FileChange::Cut { from: known, to: n_bytes })
            }
            DataFile::Log => {
                self.n_bytes = n_bytes;
                None
            }
            DataFile::Database | DataFile::Index | DataFile::Lock => None,
        }
    }

    /// Accepts the file's current state, if it is still the same file.
    fn learn(&mut self) {
        if let Ok(found) = self.path.symlink_metadata()
            && identity(&found) == self.identity
        {
            (self.n_bytes, self.modified_at) = (found.len(), found.modified().ok());
        }
    }
}

fn identity(metadata: &Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt as _;
    (metadata.dev(), metadata.ino())
}

#[cfg(test)]
mod tests;
