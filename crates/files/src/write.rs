//! Creating, replacing and renaming.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use crate::dir::Dir;
use crate::error::FileError;
use crate::fail_point::{DiskStep, step};
use crate::file::{Access, FileHandle, FileMode};
use crate::platform;

impl Dir {
    /// Creates a file where there is nothing yet, not even a link.
    pub fn create_new(
        &self,
        path: impl AsRef<Path>,
        mode: FileMode,
    ) -> Result<FileHandle, FileError> {
        let (dir, name) = self.parent_of(path.as_ref())?;
        dir.create_here(name, mode)
    }

    /// Replaces a file atomically by `bytes`: the old or the new one is there complete, also after
    /// a power failure. A link or a pipe in its place is replaced, not used.
    pub fn write_atomic(
        &self,
        path: impl AsRef<Path>,
        bytes: &[u8],
        mode: FileMode,
    ) -> Result<(), FileError> {
        let (dir, name) = self.parent_of(path.as_ref())?;
        dir.replace_here(name, bytes, mode)?;
        dir.sync()
    }

    /// As [`Dir::write_atomic`], but after a power failure the old file may be back: for files that
    /// can be rebuilt.
    pub fn replace(
        &self,
        path: impl AsRef<Path>,
        bytes: &[u8],
        mode: FileMode,
    ) -> Result<(), FileError> {
        let (dir, name) = self.parent_of(path.as_ref())?;
        dir.replace_here(name, bytes, mode)
    }

    /// Renames within one disk; a file under the new name is replaced. Not on disk before
    /// [`Dir::sync`] of both folders.
    pub fn rename(
        &self,
        from: impl AsRef<Path>,
        to_dir: &Dir,
        to: impl AsRef<Path>,
    ) -> Result<(), FileError> {
        let (from_dir, from) = self.parent_of(from.as_ref())?;
        let (to_dir, to) = to_dir.parent_of(to.as_ref())?;
        step(DiskStep::Rename, &to_dir.shown(to));
        platform::rename(&from_dir.handle, from, &to_dir.handle, to)
            .map_err(from_dir.failed("rename", from))
    }

    /// As [`Dir::rename`], unless the new name exists.
    pub fn rename_new(
        &self,
        from: impl AsRef<Path>,
        to_dir: &Dir,
        to: impl AsRef<Path>,
    ) -> Result<(), FileError> {
        let (from_dir, from) = self.parent_of(from.as_ref())?;
        let (to_dir, to) = to_dir.parent_of(to.as_ref())?;
        // The old name is known to exist: an error is about the new one.
        from_dir.entry_here(from)?;
        step(DiskStep::Rename, &to_dir.shown(to));
        platform::rename_new(&from_dir.handle, from, &to_dir.handle, to)
            .map_err(to_dir.failed("rename to", to))
    }

    /// Only the owner may read a file afterwards. It is not opened: closing a database's file would
    /// drop the locks that SQLite has on it.
    pub fn make_private(&self, path: impl AsRef<Path>) -> Result<(), FileError> {
        let (dir, name) = self.parent_of(path.as_ref())?;
        let entry = dir.entry_here(name)?;
        dir.check_file(name, Access::Write, entry)?;
        if !platform::is_private(&dir.handle, name).map_err(dir.failed("look at", name))? {
            step(DiskStep::SetMode, &dir.shown(name));
            platform::make_private(&dir.handle, name).map_err(dir.failed("protect", name))?;
        }
        Ok(())
    }

    /// True if a file is this user's, no other user may read or write it, and it has no second name.
    pub fn is_for_owner_alone(&self, path: impl AsRef<Path>) -> Result<bool, FileError> {
        let (dir, name) = self.parent_of(path.as_ref())?;
        let entry = dir.entry_here(name)?;
        let look = dir.failed("look at", name);
        let is_private = platform::is_private(&dir.handle, name)
            .and_then(|it| Ok(it && platform::is_own(&dir.handle, name)?))
            .map_err(look)?;
        Ok(entry.is_file() && entry.n_links == 1 && is_private)
    }

    fn create_here(&self, name: &OsStr, mode: FileMode) -> Result<FileHandle, FileError> {
        step(DiskStep::Create, &self.shown(name));
        let file =
            platform::create_new(&self.handle, name, mode).map_err(self.failed("create", name))?;
        Ok(FileHandle::new(file, self.shown(name)))
    }

    fn replace_here(&self, name: &OsStr, bytes: &[u8], mode: FileMode) -> Result<(), FileError> {
        let fresh = beside(name);
        // A killed process leaves it.
        self.remove_here(&fresh)?;
        let replaced = self.write_fresh(&fresh, bytes, mode).and_then(|()| {
            step(DiskStep::Rename, &self.shown(name));
            platform::rename(&self.handle, &fresh, &self.handle, name)
                .map_err(self.failed("write", name))
        });
        if replaced.is_err() {
            // Best effort: the next write removes it too.
            let _ = self.remove_here(&fresh);
        }
        replaced
    }

    fn write_fresh(&self, name: &OsStr, bytes: &[u8], mode: FileMode) -> Result<(), FileError> {
        let mut file = self.create_here(name, mode)?;
        file.write(bytes)?;
        file.sync()
    }
}

/// The temporary name of a file until it is complete.
fn beside(name: &OsStr) -> OsString {
    let mut fresh = OsString::from(".");
    fresh.push(name);
    fresh.push(".new");
    fresh
}
