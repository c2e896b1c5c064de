//! An open regular file.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::entry::FileEntry;
use crate::error::FileError;
use crate::fail_point::{self, DiskStep, step};
use crate::platform;

/// What an opened file is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    Read,
    /// Reads and writes an existing file. Refuses a file that has a second hard link.
    Write,
    /// As `Write`, and creates an empty file for its owner alone where there is none.
    WriteOrCreate,
}

/// The permissions of a new file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileMode {
    /// Only the owner: data, and every copy of it.
    Private,
    /// Everyone may read, as the user's mask allows: files that belong to the repository.
    Shared,
}

/// A regular file beneath a [`Dir`](crate::Dir).
#[derive(Debug)]
pub struct FileHandle {
    file: File,
    path: PathBuf,
}

impl FileHandle {
    pub(crate) fn new(file: File, path: PathBuf) -> Self {
        Self { file, path }
    }

    /// As people call it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn entry(&self) -> Result<FileEntry, FileError> {
        platform::entry_of(&self.file).map_err(self.failed("look at"))
    }

    /// When it was last written to.
    pub fn modified_at(&self) -> Result<SystemTime, FileError> {
        let metadata = self.file.metadata().map_err(self.failed("look at"))?;
        metadata.modified().map_err(self.failed("look at"))
    }

    /// Everything from the current offset on, unless there is more than `limit`.
    pub fn read_all(&mut self, limit: u64) -> Result<Vec<u8>, FileError> {
        let mut bytes = Vec::new();
        let most = limit.saturating_add(1);
        (&self.file).take(most).read_to_end(&mut bytes).map_err(self.failed("read"))?;
        if bytes.len() as u64 > limit {
            let n_bytes = self.entry()?.n_bytes.max(bytes.len() as u64);
            return Err(FileError::TooLarge { path: self.path.clone(), n_bytes, limit });
        }
        Ok(bytes)
    }

    pub fn write(&mut self, bytes: &[u8]) -> Result<(), FileError> {
        self.write_all(bytes).map_err(self.failed("write"))
    }

    /// Appends all of `from`, and says how many bytes that were.
    pub fn copy_from(&mut self, from: &mut FileHandle) -> Result<u64, FileError> {
        step(DiskStep::Write, &self.path);
        io::copy(&mut from.file, &mut self.file).map_err(self.failed("write"))
    }

    /// Replaces the whole contents by `bytes`. Other processes may see it empty in between.
    pub fn overwrite(&self, bytes: &[u8]) -> Result<(), FileError> {
        self.truncate(0)?;
        step(DiskStep::Write, &self.path);
        let mut file = &self.file;
        file.rewind().and_then(|()| file.write_all(bytes)).map_err(self.failed("write"))
    }

    pub fn truncate(&self, n_bytes: u64) -> Result<(), FileError> {
        step(DiskStep::Truncate, &self.path);
        self.file.set_len(n_bytes).map_err(self.failed("truncate"))
    }

    /// Syncs contents and length to disk.
    pub fn sync(&self) -> Result<(), FileError> {
        step(DiskStep::Sync, &self.path);
        self.file.sync_all().map_err(self.failed("sync"))
    }

    /// Takes the file's lock, which is released when the handle is closed or its process ends.
    pub fn try_lock(&self) -> Result<(), TryLockError> {
        self.file.try_lock()
    }

    fn failed(&self, action: &'static str) -> impl Fn(io::Error) -> FileError + use<> {
        let path = self.path.clone();
        move |source| FileError::io(action, path.clone(), source)
    }
}

impl Read for FileHandle {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.file.read(buffer)
    }
}

impl Seek for FileHandle {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

impl Write for FileHandle {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        step(DiskStep::Write, &self.path);
        // A killed process may leave the first half of what it wrote.
        let n_bytes = if fail_point::is_armed() { bytes.len().div_ceil(2) } else { bytes.len() };
        self.file.write(&bytes[..n_bytes])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
