//! Replaces one database by another, completely or not at all, even if the process is killed.
//!
//! The new files are staged and synced before a note records the exchange; from then on, the next
//! process that opens the data finishes it before anything else.

use std::ffi::OsString;
use std::path::Path;

use baton_files::{Access, Dir, FileError, FileMode, Staging};
use serde::{Deserialize, Serialize};

use crate::FILE;
use crate::judge::{JOURNAL_FILE, WAL_FILE};
use crate::mark::MARK_FILE;

/// Staging folders of copies have this prefix, wherever they are.
pub const STAGING_PREFIX: &str = ".baton-copy-";
/// Folders with the data from before a restore.
pub const ASIDE_PREFIX: &str = "before-restore-";

const NOTE: &str = "restore-in-progress.json";
const MOST_NOTE_BYTES: u64 = 4096;

/// The files of a database. The database file itself is the last to be moved in either direction.
const PARTS: [&str; 5] = [MARK_FILE, JOURNAL_FILE, "baton.db-shm", WAL_FILE, FILE];

/// The planned exchange; written before it begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct ExchangeNote {
    /// Identity of the data folder on this machine: a note that came with a repository cannot know
    /// it.
    folder: String,
    /// The folder with the new database.
    staged: String,
    /// The files of the new database. One that is missing from the staging folder is already in its
    /// place.
    parts: Vec<String>,
    /// Where the old database goes.
    aside: String,
    /// Whether there is an old database.
    has_old: bool,
}

/// How an interrupted exchange ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Interrupted {
    /// The new database is in its place; the old one, if there was one, is in this folder.
    Finished { aside: Option<String> },
    /// The new database is gone, and the old one is back.
    Undone,
}

#[derive(Debug, thiserror::Error)]
pub enum ExchangeError {
    #[error(transparent)]
    File(FileError),
    #[error("`{path}` is not a note that Baton wrote; remove it, and type `baton restore` again")]
    Note { path: std::path::PathBuf },
}

impl From<FileError> for ExchangeError {
    fn from(error: FileError) -> Self {
        Self::File(error)
    }
}

/// Replaces the database in `data` by the closed and verified one in `staging`, and returns where
/// the old one is now. The caller holds the lock of `data`.
pub fn exchange(data: &Dir, staging: &Staging) -> Result<Option<String>, ExchangeError> {
    let staged = staging.dir();
    let parts = present(staged)?;
    for part in &parts {
        staged.open_file(part, Access::Write)?.sync()?;
    }
    staged.sync()?;
    let Some(name) = staging.name().to_str() else {
        return Err(ExchangeError::Note { path: staging.path().to_owned() });
    };
    let parts = parts.into_iter().map(str::to_owned).collect();
    let (staged, aside) = (name.to_owned(), free_aside(data)?);
    let (folder, has_old) = (folder_name(data)?, data.entry(FILE)?.is_some());
    let exchange = ExchangeNote { folder, staged, parts, aside, has_old };
    let note = serde_json::to_vec(&exchange).map_err(|_| not_a_note(data))?;
    data.write_atomic(NOTE, &note, FileMode::Private)?;
    match carry_out(data, &exchange)? {
        Interrupted::Finished { aside } => Ok(aside),
        // Only if another process just removed the staged files.
        Interrupted::Undone => Err(FileError::NotFound { path: staging.path().join(FILE) }.into()),
    }
}

/// Finishes an exchange that a killed process has begun, so that the old or the new database is
/// there, complete. The caller holds the lock of `data` and has not opened the database yet.
pub fn finish_interrupted(data: &Dir) -> Result<Option<Interrupted>, ExchangeError> {
    let note = match data.read(NOTE, MOST_NOTE_BYTES) {
        Err(FileError::NotFound { .. }) => return Ok(None),
        note => note?,
    };
    let exchange: ExchangeNote = serde_json::from_slice(&note).map_err(|_| not_a_note(data))?;
    // The note may have come with a repository: it must be of this very folder, and name nothing
    // but what Baton creates.
    if exchange.folder != folder_name(data)? {
        return Err(not_a_note(data));
    }
    let is_name = |name: &str, prefix| name.starts_with(prefix) && !name.contains(['/', '\\']);
    if !is_name(&exchange.staged, STAGING_PREFIX) || !is_name(&exchange.aside, ASIDE_PREFIX) {
        return Err(not_a_note(data));
    }
    carry_out(data, &exchange).map(Some)
}

/// Every step leaves a state from which this reaches the same end.
fn carry_out(data: &Dir, exchange: &ExchangeNote) -> Result<Interrupted, ExchangeError> {
    let staged = match data.subdir(&exchange.staged) {
        Err(FileError::NotFound { .. }) => None,
        staged => Some(staged?),
    };
    let staged_parts = staged.as_ref().map(present).transpose()?.unwrap_or_default();
    let old_is_aside = data.entry(Path::new(&exchange.aside).join(FILE))?.is_some();
    let new_has_come = data.entry(FILE)?.is_some() && (old_is_aside || !exchange.has_old);
    let mut is_undone = false;
    match &staged {
        Some(staged) if staged_parts.contains(&FILE) => {
            put_aside(data, exchange, &staged_parts)?;
            for part in staged_parts {
                staged.rename_new(part, data, part)?;
            }
            data.sync()?;
            staged.sync()?;
        }
        Some(_) | None if new_has_come => {}
        // An error, not a kill, has removed the staged files.
        Some(_) | None => {
            is_undone = true;
            bring_back(data, &exchange.aside)?;
        }
    }
    let has_aside = data.entry(&exchange.aside)?.is_some();
    data.remove(NOTE)?;
    data.sync()?;
    data.remove(&exchange.staged)?;
    if is_undone {
        return Ok(Interrupted::Undone);
    }
    Ok(Interrupted::Finished { aside: has_aside.then(|| exchange.aside.clone()) })
}

/// Moves everything that does not belong to the new database out of the way.
fn put_aside(data: &Dir, exchange: &ExchangeNote, staged_parts: &[&str]) -> Result<(), FileError> {
    let has_come =
        |part: &str| exchange.parts.iter().any(|it| it == part) && !staged_parts.contains(&part);
    let old: Vec<&str> = present(data)?.into_iter().filter(|it| !has_come(it)).collect();
    if old.is_empty() {
        return Ok(());
    }
    let aside = data.make_dirs(&exchange.aside, FileMode::Private)?;
    for part in old {
        data.rename_new(part, &aside, part)?;
    }
    // Sync before the new database is moved in: it must not meet the old log.
    aside.sync()?;
    data.sync()
}

/// The device and inode number of a folder.
fn folder_name(data: &Dir) -> Result<String, FileError> {
    let identity = data.own_entry()?.identity;
    Ok(identity.map_or_else(String::new, |it| format!("{}:{}", it.device, it.inode)))
}

fn bring_back(data: &Dir, aside: &str) -> Result<(), FileError> {
    let aside_dir = match data.subdir(aside) {
        Err(FileError::NotFound { .. }) => return Ok(()),
        dir => dir?,
    };
    for part in present(&aside_dir)? {
        // Existing files are never replaced.
        aside_dir.rename_new(part, data, part)?;
    }
    data.sync()?;
    data.remove(aside)
}

fn present(dir: &Dir) -> Result<Vec<&'static str>, FileError> {
    let mut present = Vec::new();
    for part in PARTS {
        if dir.entry(part)?.is_some() {
            present.push(part);
        }
    }
    Ok(present)
}

fn free_aside(data: &Dir) -> Result<String, FileError> {
    let taken: Vec<OsString> = data.list()?.into_iter().map(|(name, _)| name).collect();
    let mut n = 1_u32;
    loop {
        let name = format!("{ASIDE_PREFIX}{n}");
        if !taken.iter().any(|it| *it == *name) {
            return Ok(name);
        }
        n += 1;
    }
}

fn not_a_note(data: &Dir) -> ExchangeError {
    ExchangeError::Note { path: data.path().join(NOTE) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEW: &[u8] = b"new";
    const OLD: &[u8] = b"old";

    fn folder() -> (tempfile::TempDir, Dir) {
        let folder = tempfile::tempdir().unwrap();
        let data = Dir::open(folder.path()).unwrap();
        (folder, data)
    }

    fn put(dir: &Dir, name: &str, bytes: &[u8]) {
        dir.write_atomic(name, bytes, FileMode::Private).unwrap();
    }

    fn read(dir: &Dir, name: &str) -> Option<Vec<u8>> {
        dir.read(name, 100).ok()
    }

    fn note(data: &Dir, staged: &str, aside: &str) {
        let (staged, aside) = (staged.to_owned(), aside.to_owned());
        let (folder, parts) = (folder_name(data).unwrap(), vec![FILE.to_owned()]);
        let exchange = ExchangeNote { folder, staged, parts, aside, has_old: true };
        put(data, NOTE, &serde_json::to_vec(&exchange).unwrap());
    }

    #[test]
    fn a_note_of_another_folder_changes_nothing() {
        let (_folder, data) = folder();
        put(&data, FILE, OLD);
        put(&data, "baton.mark", OLD);
        data.make_dirs("before-restore-1", FileMode::Private).unwrap();
        put(&data.subdir("before-restore-1").unwrap(), "baton.mark", NEW);
        note(&data, ".baton-copy-1-0", "before-restore-1");
        let text = data.read_text(NOTE, MOST_NOTE_BYTES).unwrap();
        let theirs = text.replace(&folder_name(&data).unwrap(), "1:1");
        put(&data, NOTE, theirs.as_bytes());
        assert!(matches!(finish_interrupted(&data), Err(ExchangeError::Note { .. })));
        assert_eq!(read(&data, "baton.mark").as_deref(), Some(OLD));
        // Even a note of this folder overwrites nothing.
        put(&data, NOTE, text.as_bytes());
        assert!(finish_interrupted(&data).is_err());
        assert_eq!(read(&data, "baton.mark").as_deref(), Some(OLD));
        assert_eq!(read(&data, FILE).as_deref(), Some(OLD));
    }

    #[test]
    fn the_new_database_is_in_its_place_and_the_old_one_aside() {
        let (_folder, data) = folder();
        for (n, old) in [None, Some(OLD), Some(NEW)].into_iter().enumerate() {
            if n == 1 {
                put(&data, FILE, OLD);
                put(&data, "baton.db-wal", b"log");
            }
            let staging = Staging::make(&data, STAGING_PREFIX).unwrap();
            put(staging.dir(), FILE, NEW);
            put(staging.dir(), MARK_FILE, NEW);
            let aside = exchange(&data, &staging).unwrap();
            drop(staging);
            assert_eq!(read(&data, FILE).as_deref(), Some(NEW));
            assert_eq!(read(&data, MARK_FILE).as_deref(), Some(NEW));
            assert_eq!(read(&data, "baton.db-wal"), None);
            let expected = [None, Some("before-restore-1"), Some("before-restore-2")][n];
            assert_eq!(aside.as_deref(), expected);
            if let Some(aside) = aside {
                let aside = data.subdir(aside).unwrap();
                assert_eq!(read(&aside, FILE).as_deref(), old);
            }
            assert_eq!(finish_interrupted(&data).unwrap(), None);
            if n == 0 {
                data.remove(FILE).unwrap();
                data.remove(MARK_FILE).unwrap();
            }
        }
    }

    /// Every state between two renames, as a killed process leaves it.
    #[test]
    fn an_exchange_that_was_interrupted_anywhere_is_finished() {
        let parts = [MARK_FILE, "baton.db-wal", FILE];
        for n_aside in 0..=parts.len() {
            for n_in_place in 0..2 {
                if n_in_place > 0 && n_aside < parts.len() {
                    continue;
                }
                let (_folder, data) = folder();
                data.make_dirs(".baton-copy-1-0", FileMode::Private).unwrap();
                data.make_dirs("before-restore-1", FileMode::Private).unwrap();
                for (n, part) in parts.into_iter().enumerate() {
                    let place = if n < n_aside { "before-restore-1/" } else { "" };
                    put(&data, &format!("{place}{part}"), OLD);
                }
                for (n, part) in [MARK_FILE, FILE].into_iter().enumerate() {
                    let place = if n < n_in_place { "" } else { ".baton-copy-1-0/" };
                    put(&data, &format!("{place}{part}"), NEW);
                }
                let exchange = ExchangeNote {
                    folder: folder_name(&data).unwrap(),
                    staged: ".baton-copy-1-0".to_owned(),
                    parts: [MARK_FILE, FILE].map(str::to_owned).to_vec(),
                    aside: "before-restore-1".to_owned(),
                    has_old: true,
                };
                put(&data, NOTE, &serde_json::to_vec(&exchange).unwrap());
                finish_interrupted(&data).unwrap().unwrap();
                let found = [MARK_FILE, "baton.db-wal", FILE].map(|it| read(&data, it));
                let expected = [Some(NEW.to_vec()), None, Some(NEW.to_vec())];
                assert_eq!(found, expected, "{n_aside} {n_in_place}");
                let aside = data.subdir("before-restore-1").unwrap();
                assert_eq!(parts.map(|it| read(&aside, it)), [(); 3].map(|()| Some(OLD.to_vec())));
                assert_eq!(data.list().unwrap().len(), 3);
            }
        }
    }

    #[test]
    fn where_what_was_staged_is_gone_the_old_database_comes_back() {
        let parts = [MARK_FILE, "baton.db-wal", FILE];
        for n_aside in 0..=parts.len() {
            let (_folder, data) = folder();
            data.make_dirs("before-restore-1", FileMode::Private).unwrap();
            for (n, part) in parts.into_iter().enumerate() {
                let place = if n < n_aside { "before-restore-1/" } else { "" };
                put(&data, &format!("{place}{part}"), OLD);
            }
            note(&data, ".baton-copy-1-0", "before-restore-1");
            assert_eq!(finish_interrupted(&data).unwrap(), Some(Interrupted::Undone));
            assert_eq!(parts.map(|it| read(&data, it)), [(); 3].map(|()| Some(OLD.to_vec())));
            assert_eq!(data.list().unwrap().len(), 3);
        }
    }

    #[test]
    fn a_note_that_names_anything_else_is_refused() {
        let (folder, _) = folder();
        let data = Dir::open_or_make(&folder.path().join("data"), FileMode::Private).unwrap();
        std::fs::write(folder.path().join("baton.db"), "theirs").unwrap();
        for (staged, aside) in [
            ("..", "before-restore-1"),
            (".baton-copy-1/../..", "before-restore-1"),
            (".baton-copy-1", "../before-restore-1"),
            (".baton-copy-1", "before-restore-/../../x"),
        ] {
            note(&data, staged, aside);
            let error = finish_interrupted(&data).unwrap_err();
            assert!(matches!(error, ExchangeError::Note { .. }), "{error}");
        }
        put(&data, NOTE, b"{");
        assert!(finish_interrupted(&data).is_err());
        assert_eq!(std::fs::read(folder.path().join("baton.db")).unwrap(), b"theirs");
    }
}
