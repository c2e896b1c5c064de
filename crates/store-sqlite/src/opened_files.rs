//! The files that the store has open, as they were when it opened them: whether their paths still
//! lead to them. They are looked at, never opened: on Unix, closing a file drops the locks that
//! SQLite has on it.

use std::fs::Metadata;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::{FILE, lock};

#[derive(Debug, Default)]
pub(crate) struct OpenedFiles(Vec<OpenedFile>);

#[derive(Debug)]
struct OpenedFile {
    path: PathBuf,
    kind: FileKind,
    identity: (u64, u64),
    /// The most that it was seen to have.
    n_bytes: AtomicU64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileKind {
    /// Only grows: pages are freed inside of it.
    Database,
    /// The write-ahead log and its index. They are cut back by their owner.
    Log,
    Lock,
}

/// A file that is not the one that was opened.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LostFile {
    pub(crate) kind: FileKind,
    /// Says what happened to it.
    pub(crate) what: String,
}

impl OpenedFiles {
    /// Those of an open store in `dir`. What is not there cannot get lost.
    pub(crate) fn of(dir: &Path) -> Self {
        let files = [
            (FILE.to_owned(), FileKind::Database),
            (format!("{FILE}-wal"), FileKind::Log),
            (format!("{FILE}-shm"), FileKind::Log),
            (lock::FILE.to_owned(), FileKind::Lock),
        ];
        let known = files.into_iter().filter_map(|(name, kind)| {
            let path = dir.join(name);
            let found = path.symlink_metadata().ok()?;
            let (identity, n_bytes) = (identity(&found), AtomicU64::new(found.len()));
            Some(OpenedFile { path, kind, identity, n_bytes })
        });
        Self(known.collect())
    }

    /// The first that is lost.
    pub(crate) fn lost(&self) -> Option<LostFile> {
        self.0.iter().find_map(OpenedFile::lost)
    }
}

impl OpenedFile {
    fn lost(&self) -> Option<LostFile> {
        let happened = match self.path.symlink_metadata() {
            Ok(found) => self.changed(&found)?,
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                "was deleted or moved".to_owned()
            }
            // It may be there all the same; the next look tells.
            Err(_) => return None,
        };
        let what = format!("`{}` {happened} while Baton had it open", self.path.display());
        Some(LostFile { kind: self.kind, what })
    }

    fn changed(&self, found: &Metadata) -> Option<String> {
        if identity(found) != self.identity {
            return Some("was replaced by another file".to_owned());
        }
        if self.kind != FileKind::Database {
            return None;
        }
        let known = self.n_bytes.fetch_max(found.len(), Ordering::Relaxed);
        (found.len() < known).then(|| format!("was cut from {known} to {} bytes", found.len()))
    }
}

#[cfg(unix)]
fn identity(metadata: &Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt as _;
    (metadata.dev(), metadata.ino())
}

/// Only what was deleted or cut is noticed here.
#[cfg(not(unix))]
fn identity(_: &Metadata) -> (u64, u64) {
    (0, 0)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// What is done to the folder, and what is said of it: the kind, and the words after the path.
    #[test]
    fn every_way_to_lose_a_file_is_noticed() {
        type Act = fn(&Path);
        let cases: [(Act, Option<(FileKind, &str)>); 10] = [
            (|_| {}, None),
            (|dir| remove(dir, "baton.db"), Some((FileKind::Database, "was deleted or moved"))),
            (|dir| remove(dir, "baton.db-wal"), Some((FileKind::Log, "was deleted or moved"))),
            (|dir| remove(dir, "baton.db-shm"), Some((FileKind::Log, "was deleted or moved"))),
            (|dir| remove(dir, "baton.lock"), Some((FileKind::Lock, "was deleted or moved"))),
            (
                |dir| fs::remove_dir_all(dir).unwrap(),
                Some((FileKind::Database, "was deleted or moved")),
            ),
            (
                |dir| replace(dir, "baton.db"),
                Some((FileKind::Database, "was replaced by another file")),
            ),
            (
                |dir| replace(dir, "baton.lock"),
                Some((FileKind::Lock, "was replaced by another file")),
            ),
            (
                |dir| fs::write(dir.join("baton.db"), "1234").unwrap(),
                Some((FileKind::Database, "was cut from 8 to 4 bytes")),
            ),
            // As after a checkpoint.
            (|dir| fs::write(dir.join("baton.db-wal"), "").unwrap(), None),
        ];
        for (number, (act, expected)) in cases.into_iter().enumerate() {
            let parent = tempfile::tempdir().unwrap();
            let dir = parent.path().join("data");
            fs::create_dir(&dir).unwrap();
            for name in ["baton.db", "baton.db-wal", "baton.db-shm", "baton.lock"] {
                fs::write(dir.join(name), "12345678").unwrap();
            }
            let files = OpenedFiles::of(&dir);
            assert_eq!(files.lost(), None);
            act(&dir);
            let lost = files.lost();
            let found = lost.as_ref().map(|it| (it.kind, happened(&it.what)));
            assert_eq!(found, expected, "case {number}: {lost:?}");
        }
    }

    #[test]
    fn a_file_that_grew_may_not_shrink_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("baton.db");
        fs::write(&path, "12").unwrap();
        let files = OpenedFiles::of(dir.path());
        fs::write(&path, "123456").unwrap();
        assert_eq!(files.lost(), None);
        fs::write(&path, "123").unwrap();
        let lost = files.lost().unwrap();
        assert_eq!(happened(&lost.what), "was cut from 6 to 3 bytes");
    }

    fn remove(dir: &Path, name: &str) {
        fs::remove_file(dir.join(name)).unwrap();
    }

    fn replace(dir: &Path, name: &str) {
        fs::write(dir.join("other"), "12345678").unwrap();
        fs::rename(dir.join("other"), dir.join(name)).unwrap();
    }

    fn happened(what: &str) -> &str {
        let (_, rest) = what.rsplit_once("` ").unwrap();
        rest.strip_suffix(" while Baton had it open").unwrap()
    }
}
