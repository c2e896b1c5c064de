//! The only file of the engine that writes files: each atomically, and none outside the project.
//!
//! File names are never made from user text, only from ids and labels. Folders are opened one
//! beneath the other without following links, so that no link leads into another folder.

mod rescue;

use std::error::Error as _;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use baton_core::hash::Hash;
use baton_core::run::RunId;
use baton_files::{Dir, FileError, FileKind, FileMode};
use uuid::Uuid;

use super::newer;

const MOST_ID_BYTES: u64 = 100;

/// The folder that confines all files.
#[derive(Debug, Clone)]
pub(super) struct Disk {
    root: PathBuf,
}

/// The failed operation, and its path in the project.
#[derive(Debug)]
pub struct DiskError(FileError);

/// The type of a directory entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    Folder,
    /// Whatever its target is.
    Link,
    File,
}

impl Disk {
    pub(super) fn new(root: PathBuf) -> Self {
        Self { root }
    }

    /// Writes a file of a folder, unless it has that content already.
    pub(super) fn write(&self, folder: &Path, name: &str, text: &str) -> Result<(), DiskError> {
        let write = || {
            let folder = self.folder(folder)?;
            if says(&folder, name, text) {
                return Ok(());
            }
            folder.replace(name, text.as_bytes(), FileMode::Shared)
        };
        write().map_err(|error| self.failed(error))
    }

    /// The id in a file of a folder; `fresh` is written where there is none.
    pub(super) fn id(&self, folder: &Path, name: &str, fresh: Uuid) -> Result<Uuid, DiskError> {
        let read = || {
            let folder = self.folder(folder)?;
            let id = folder.read_text(name, MOST_ID_BYTES).ok();
            if let Some(id) = id.and_then(|it| Uuid::try_parse(it.trim()).ok()) {
                return Ok(id);
            }
            folder.replace(name, format!("{fresh}\n").as_bytes(), FileMode::Shared)?;
            Ok(fresh)
        };
        read().map_err(|error| self.failed(error))
    }

    /// Removes a file or a folder, if it exists. Of a link, the link is removed and not its target.
    pub(super) fn remove(&self, folder: &Path, name: &str) -> Result<(), DiskError> {
        let removed = self.folder(folder).and_then(|it| it.remove(name));
        removed.map_err(|error| self.failed(error))
    }

    /// Replaces one folder by another, and keeps the files in it that are not Baton's own.
    pub(super) fn swap(
        &self,
        folder: &Path,
        fresh: &str,
        name: &str,
        is_own: fn(&str) -> bool,
    ) -> Result<(), DiskError> {
        self.settle(folder, name, is_own)?;
        let swap = || {
            let within = self.folder(folder)?;
            match within.rename(name, &within, old(name)) {
                Err(FileError::NotFound { .. }) => {}
                renamed => renamed?,
            }
            within.rename(fresh, &within, name)
        };
        swap().map_err(|error| self.failed(error))?;
        self.settle(folder, name, is_own)
    }

    /// Removes a replaced folder, once all files of others in it have moved over. If the process is
    /// killed in between, the next call finishes the work.
    pub(super) fn settle(
        &self,
        folder: &Path,
        name: &str,
        is_own: fn(&str) -> bool,
    ) -> Result<(), DiskError> {
        let settle = || {
            let within = self.folder(folder)?;
            let old = old(name);
            if within.entry(&old)?.is_some_and(|it| it.is_folder()) {
                rescue::rescue(&within.subdir(&old)?, &within, name, is_own)?;
            }
            within.remove(&old)
        };
        settle().map_err(|error| self.failed(error))
    }

    /// Renames the session of `run` if it has events whose hashes are not in `hashes`, and returns
    /// its new name. Files that are not Baton's own stay under the old one.
    pub(super) fn keep_newer(
        &self,
        sessions: &Path,
        run: RunId,
        hashes: &[Hash],
        is_own: fn(&str) -> bool,
    ) -> Result<Option<String>, DiskError> {
        let name = run.to_string();
        let keep = || {
            let within = self.folder(sessions)?;
            // A rebuild that was killed may have left the session under this name.
            for place in [name.clone(), old(&name)] {
                if !within.entry(&place)?.is_some_and(|it| it.is_folder()) {
                    continue;
                }
                if !newer::tells_more(&within.subdir(&place)?, run, hashes) {
                    continue;
                }
                let aside = newer::free_name(&within, &name)?;
                within.rename_new(&place, &within, &aside)?;
                rescue::rescue(&within.subdir(&aside)?, &within, &name, is_own)?;
                return Ok(Some(aside));
            }
            Ok(None)
        };
        keep().map_err(|error| self.failed(error))
    }

    /// The entries of a folder.
    pub(super) fn entries(&self, folder: &Path) -> Result<Vec<(OsString, Sort)>, DiskError> {
        let listed = self.folder(folder).and_then(|it| entries(&it));
        listed.map_err(|error| self.failed(error))
    }

    /// Creates a folder and its parents, where they do not exist.
    fn folder(&self, folder: &Path) -> Result<Dir, FileError> {
        Dir::open(&self.root)?.make_dirs(folder, FileMode::Shared)
    }

    fn failed(&self, error: FileError) -> DiskError {
        DiskError(error.beneath(&self.root))
    }
}

/// Includes the cause: an archive problem is shown as one text everywhere.
impl fmt::Display for DiskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.source() {
            Some(source) => write!(f, "{}: {source}", self.0),
            None => write!(f, "{}", self.0),
        }
    }
}

impl std::error::Error for DiskError {}

fn entries(folder: &Dir) -> Result<Vec<(OsString, Sort)>, FileError> {
    let sorted = |kind| match kind {
        FileKind::Folder => Sort::Folder,
        FileKind::Link => Sort::Link,
        FileKind::File | FileKind::Pipe | FileKind::Socket | FileKind::Device => Sort::File,
    };
    Ok(folder.list()?.into_iter().map(|(name, it)| (name, sorted(it.kind))).collect())
}

/// The name of a folder while it is being replaced.
fn old(name: &str) -> String {
    format!(".{name}.old")
}

/// Whether the file has this text. Reads it only if the length matches.
fn says(folder: &Dir, name: &str, text: &str) -> bool {
    let n_bytes = text.len() as u64;
    let is_alike = folder
        .entry(name)
        .is_ok_and(|it| it.is_some_and(|it| it.is_file() && it.n_bytes == n_bytes));
    is_alike && folder.read(name, n_bytes).is_ok_and(|it| it == text.as_bytes())
}

#[cfg(test)]
mod tests;
