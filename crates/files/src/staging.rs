//! A private folder for unfinished files, removed on drop. A killed process's folder is recognised
//! by its prefix and its free lock.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use crate::dir::Dir;
use crate::error::FileError;
use crate::file::{Access, FileHandle, FileMode};

/// The file in a staging folder whose lock shows that its owner is alive.
pub const STAGING_LOCK: &str = "owner.lock";

const FRESH_LOCK: &str = "owner.lock.new";

/// A private folder, removed with all that is in it when it is dropped.
#[derive(Debug)]
pub struct Staging {
    parent: Dir,
    name: OsString,
    dir: Dir,
    /// Held as long as the folder is in use.
    _lock: FileHandle,
}

impl Staging {
    /// Creates a folder in `parent` that only its owner may open.
    pub fn make(parent: &Dir, prefix: &str) -> Result<Self, FileError> {
        let mut n_taken = 0_u32;
        loop {
            let name = OsString::from(format!("{prefix}{}-{n_taken}", std::process::id()));
            match parent.entry(&name)? {
                Some(_) => n_taken += 1,
                None => {
                    let dir = parent.make_dirs(&name, FileMode::Private)?;
                    // Locked before it has its name, so that it is never found unlocked while it is
                    // ours.
                    let lock = dir.create_new(FRESH_LOCK, FileMode::Private)?;
                    lock.try_lock()
                        .map_err(|it| FileError::io("lock", lock.path().to_owned(), it.into()))?;
                    dir.rename(FRESH_LOCK, &dir, STAGING_LOCK)?;
                    return Ok(Self { parent: parent.again()?, name, dir, _lock: lock });
                }
            }
        }
    }

    pub fn dir(&self) -> &Dir {
        &self.dir
    }

    /// What it is called in its parent.
    pub fn name(&self) -> &OsStr {
        &self.name
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Removes the folders that killed processes have left in `parent` under a prefix.
    pub fn remove_abandoned(parent: &Dir, prefix: &str) -> Result<(), FileError> {
        for name in Self::abandoned(parent, prefix)? {
            parent.remove(name)?;
        }
        Ok(())
    }

    /// The folders that killed processes have left in `parent` under a prefix: their locks are
    /// free.
    pub fn abandoned(parent: &Dir, prefix: &str) -> Result<Vec<OsString>, FileError> {
        let mut abandoned = Vec::new();
        for (name, entry) in parent.list()? {
            let is_ours = name.to_str().is_some_and(|it| it.starts_with(prefix));
            if is_ours && entry.is_folder() && is_free(&parent.subdir(&name)?) {
                abandoned.push(name);
            }
        }
        Ok(abandoned)
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // A folder that cannot be removed is found later as abandoned.
        let _ = self.parent.remove(&self.name);
    }
}

/// A folder without a lock file may be under construction.
fn is_free(dir: &Dir) -> bool {
    dir.open_file(STAGING_LOCK, Access::Write).is_ok_and(|it| it.try_lock().is_ok())
}
