//! Opening and reading.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use crate::dir::Dir;
use crate::entry::{FileEntry, FileKind};
use crate::error::FileError;
use crate::fail_point::{DiskStep, step};
use crate::file::{Access, FileHandle};
use crate::platform;

impl Dir {
    /// Opens a regular file, and nothing else: any other type is refused without blocking.
    pub fn open_file(
        &self,
        path: impl AsRef<Path>,
        access: Access,
    ) -> Result<FileHandle, FileError> {
        let (dir, name) = self.parent_of(path.as_ref())?;
        dir.open_here(name, access)
    }

    /// A regular file with no other hard link, or nothing: for paths that another library opens.
    pub fn own_file(&self, path: impl AsRef<Path>) -> Result<Option<FileEntry>, FileError> {
        let found = self.parent_of(path.as_ref()).and_then(|(dir, name)| {
            let entry = dir.entry_here(name)?;
            dir.check_file(name, Access::Write, entry)?;
            Ok(entry)
        });
        match found {
            Err(FileError::NotFound { .. }) => Ok(None),
            found => found.map(Some),
        }
    }

    /// All of a file, unless it has more than `limit` bytes.
    pub fn read(&self, path: impl AsRef<Path>, limit: u64) -> Result<Vec<u8>, FileError> {
        let mut file = self.open_file(path, Access::Read)?;
        let n_bytes = file.entry()?.n_bytes;
        if n_bytes > limit {
            return Err(FileError::TooLarge { path: file.path().to_owned(), n_bytes, limit });
        }
        file.read_all(limit)
    }

    /// As [`Dir::read`], for text.
    pub fn read_text(&self, path: impl AsRef<Path>, limit: u64) -> Result<String, FileError> {
        let path = path.as_ref();
        let bytes = self.read(path, limit)?;
        String::from_utf8(bytes).map_err(|_| FileError::NotText { path: self.shown(path) })
    }

    /// What is in the folder, sorted by name.
    pub fn list(&self) -> Result<Vec<(OsString, FileEntry)>, FileError> {
        let names = platform::list(&self.handle).map_err(self.failed("list", ""))?;
        let mut entries = Vec::with_capacity(names.len());
        for name in names {
            match self.entry_here(&name) {
                // Gone since it was listed.
                Err(FileError::NotFound { .. }) => {}
                entry => entries.push((name, entry?)),
            }
        }
        entries.sort_by(|(a, _), (b, _)| a.cmp(b));
        Ok(entries)
    }

    pub(crate) fn open_here(&self, name: &OsStr, access: Access) -> Result<FileHandle, FileError> {
        // Opening a device may have side effects, so it is not tried.
        match self.entry_here(name) {
            Ok(entry) => self.check_file(name, access, entry)?,
            Err(FileError::NotFound { .. }) if access == Access::WriteOrCreate => {
                step(DiskStep::Create, &self.shown(name));
            }
            Err(error) => return Err(error),
        }
        let file = platform::open_file(&self.handle, name, access)
            .map_err(|error| self.open_failed(name, error))?;
        // It may be another file than the one that was checked.
        let entry = platform::entry_of(&file).map_err(self.failed("look at", name))?;
        self.check_file(name, access, entry)?;
        Ok(FileHandle::new(file, self.shown(name)))
    }

    pub(crate) fn check_file(
        &self,
        name: &OsStr,
        access: Access,
        entry: FileEntry,
    ) -> Result<(), FileError> {
        if !entry.is_file() {
            return Err(self.wrong_kind(name, entry.kind, FileKind::File));
        }
        match access {
            Access::Read => Ok(()),
            Access::Write | Access::WriteOrCreate if entry.n_links > 1 => {
                Err(FileError::HardLink { path: self.shown(name), n_links: entry.n_links })
            }
            Access::Write | Access::WriteOrCreate => Ok(()),
        }
    }

    fn open_failed(&self, name: &OsStr, error: std::io::Error) -> FileError {
        match platform::entry(&self.handle, name) {
            Ok(it) if !it.is_file() => self.wrong_kind(name, it.kind, FileKind::File),
            Ok(_) | Err(_) => FileError::io("open", self.shown(name), error),
        }
    }
}
