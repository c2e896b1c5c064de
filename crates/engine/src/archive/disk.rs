//! The one file of the engine that writes files: each whole or not at all, and none outside the
//! project.
//!
//! A name is never made of what somebody wrote: only of ids and labels. Folders are opened one
//! beneath the other, and no link is followed, so that none leads into another folder.

mod rescue;

use std::error::Error as _;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use baton_core::hash::Hash;
use baton_core::run::RunId;
use baton_files::{Dir, FileError, FileKind, FileMode};

use super::newer;

/// The folder that everything has to stay in.
#[derive(Debug, Clone)]
pub(super) struct Disk {
    root: PathBuf,
}

/// What could not be done, and where in the project.
#[derive(Debug)]
pub struct DiskError(FileError);

/// What stands under a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    Folder,
    /// Wherever it leads.
    Link,
    File,
}

impl Disk {
    pub(super) fn new(root: PathBuf) -> Self {
        Self { root }
    }

    /// Writes a file of a folder, unless it says that already.
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

    /// Takes a file or a folder away, if it is there. A link goes, not what it leads to.
    pub(super) fn remove(&self, folder: &Path, name: &str) -> Result<(), DiskError> {
        let removed = self.folder(folder).and_then(|it| it.remove(name));
        removed.map_err(|error| self.failed(error))
    }

    /// Puts one folder in the place of another, of which only what is not Baton's own stays.
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

    /// Takes away what a folder has replaced, once all that is of others has moved over. Whoever
    /// is killed in between leaves it to the next.
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

    /// Renames the session of `run` where it tells of events whose hashes are none of `hashes`, and
    /// returns its new name. What is not Baton's own stays under the old one.
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

    /// What is in a folder.
    pub(super) fn entries(&self, folder: &Path) -> Result<Vec<(OsString, Sort)>, DiskError> {
        let listed = self.folder(folder).and_then(|it| entries(&it));
        listed.map_err(|error| self.failed(error))
    }

    /// Makes a folder and those above it, as far as they are not there.
    fn folder(&self, folder: &Path) -> Result<Dir, FileError> {
        Dir::open(&self.root)?.make_dirs(folder, FileMode::Shared)
    }

    fn failed(&self, error: FileError) -> DiskError {
        DiskError(error.beneath(&self.root))
    }
}

/// With its cause: what is wrong with the archive is one text, wherever it is shown.
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

/// Where a folder goes that is replaced.
fn old(name: &str) -> String {
    format!(".{name}.old")
}

/// Only a file of that length is read.
fn says(folder: &Dir, name: &str, text: &str) -> bool {
    let n_bytes = text.len() as u64;
    let is_alike = folder
        .entry(name)
        .is_ok_and(|it| it.is_some_and(|it| it.is_file() && it.n_bytes == n_bytes));
    is_alike && folder.read(name, n_bytes).is_ok_and(|it| it == text.as_bytes())
}

#[cfg(test)]
mod tests;
