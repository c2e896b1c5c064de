//! What others have put into a folder that is made again: it moves over, and nothing of it is ever
//! written over.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use super::{Disk, DiskError, Sort, entries};

/// The one folder of a session that has files of Baton's.
const SHARED: &str = "handoffs";

impl Disk {
    /// Moves everything from `old` to a folder of the project that is not Baton's own, by its path
    /// in there.
    pub(super) fn rescue(
        &self,
        old: &Path,
        folder: &Path,
        is_own: fn(&str) -> bool,
    ) -> Result<(), DiskError> {
        for entry in entries(old).map_err(|error| self.failed(old, error))? {
            match entry {
                (name, Sort::Folder) if name == SHARED => {
                    let is_own = |it: &str| is_own(&format!("{SHARED}/{it}"));
                    let old = old.join(name);
                    for (name, sort) in entries(&old).map_err(|error| self.failed(&old, error))? {
                        if sort == Sort::Folder || !is_written(&name, is_own) {
                            self.carry(&old, &folder.join(SHARED), &name)?;
                        }
                    }
                }
                // What it leads to stays where it is.
                (name, Sort::Link) if name == SHARED => {}
                (name, Sort::Folder) => self.carry(old, folder, &name)?,
                (name, Sort::Link | Sort::File) if is_written(&name, is_own) => {}
                (name, Sort::Link | Sort::File) => self.carry(old, folder, &name)?,
            }
        }
        Ok(())
    }

    /// Renames, so that a folder goes with all that is in it.
    fn carry(&self, old: &Path, folder: &Path, name: &OsStr) -> Result<(), DiskError> {
        let path = free(&self.folder(folder)?, name);
        fs::rename(old.join(name), &path).map_err(|error| self.failed(&path, error))
    }
}

/// Whether Baton writes a file of that name, or was about to.
fn is_written(name: &OsStr, is_own: impl Fn(&str) -> bool) -> bool {
    let Some(name) = name.to_str() else { return false };
    let becomes = name.strip_prefix('.').and_then(|it| it.strip_suffix(".new"));
    is_own(becomes.unwrap_or(name))
}

/// Its own name, or where that is taken, the first one with a number.
fn free(folder: &Path, name: &OsStr) -> PathBuf {
    let mut path = folder.join(name);
    let mut n_taken = 0_u32;
    while fs::symlink_metadata(&path).is_ok() {
        n_taken += 1;
        let mut other = OsString::from(name);
        other.push(format!(".kept-{n_taken}"));
        path = folder.join(other);
    }
    path
}
