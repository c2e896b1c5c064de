//! Removal.

use std::ffi::OsStr;
use std::path::Path;

use crate::dir::Dir;
use crate::error::FileError;
use crate::fail_point::{DiskStep, step};
use crate::platform;

impl Dir {
    /// Removes a path, if it exists: a folder with its contents; a link itself, not its target.
    pub fn remove(&self, path: impl AsRef<Path>) -> Result<(), FileError> {
        match self.parent_of(path.as_ref()) {
            Err(FileError::NotFound { .. }) => Ok(()),
            found => {
                let (dir, name) = found?;
                dir.remove_here(name)
            }
        }
    }

    pub(crate) fn remove_here(&self, name: &OsStr) -> Result<(), FileError> {
        let entry = match self.entry_here(name) {
            Err(FileError::NotFound { .. }) => return Ok(()),
            entry => entry?,
        };
        if entry.is_folder() {
            let folder = self.subdir(name)?;
            for (inner, _) in folder.list()? {
                folder.remove_here(&inner)?;
            }
        }
        step(DiskStep::Remove, &self.shown(name));
        let removed = if entry.is_folder() {
            platform::remove_dir(&self.handle, name)
        } else {
            platform::remove_file(&self.handle, name)
        };
        match removed.map_err(self.failed("remove", name)) {
            // Another process was faster.
            Err(FileError::NotFound { .. }) => Ok(()),
            removed => removed,
        }
    }
}
