//! An open folder, and how paths beneath it are resolved.

use std::ffi::OsStr;
use std::io;
use std::ops::Deref;
use std::path::{Component, Path, PathBuf};

use crate::entry::{FileEntry, FileKind};
use crate::error::FileError;
use crate::fail_point::{DiskStep, step};
use crate::file::FileMode;
use crate::platform::{self, Handle};

/// An open folder. It stays the same folder, whatever its path leads to later.
#[derive(Debug)]
pub struct Dir {
    pub(crate) handle: Handle,
    path: PathBuf,
}

impl Dir {
    /// Opens a folder that the user named: links on the way there are the user's own choice.
    pub fn open(path: &Path) -> Result<Self, FileError> {
        let opened = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let handle = platform::open_root(opened).map_err(|source| {
            if source.kind() == io::ErrorKind::NotADirectory {
                let (found, expected) = (FileKind::File, FileKind::Folder);
                return FileError::WrongKind { path: path.to_owned(), found, expected };
            }
            FileError::io("open", path.to_owned(), source)
        })?;
        Ok(Self { handle, path: path.to_owned() })
    }

    /// As [`Dir::open`]; a missing folder is created, with its parents.
    pub fn open_or_make(path: &Path, mode: FileMode) -> Result<Self, FileError> {
        match Self::open(path) {
            Err(FileError::NotFound { .. }) => {}
            opened => return opened,
        }
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(FileError::NotFound { path: path.to_owned() });
        };
        // A dangling link as the last name was not followed: it is refused here.
        Self::open_or_make(parent, mode)?.make_dirs(name, mode)
    }

    /// As the user named it, with the names beneath.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder's path without any link in it, for paths that another library opens.
    pub fn real_path(&self) -> Result<PathBuf, FileError> {
        let path = if self.path.as_os_str().is_empty() { Path::new(".") } else { &self.path };
        let real = path.canonicalize().map_err(self.failed("resolve", ""))?;
        if Self::open(&real)?.own_entry()?.identity != self.own_entry()?.identity {
            return Err(FileError::Exchanged { path: self.path.clone() });
        }
        Ok(real)
    }

    /// The folder's current path, even if it was moved; `None` if it was deleted, or where the
    /// system does not tell.
    pub fn current_path(&self) -> Option<PathBuf> {
        let path = platform::current_path(&self.handle)?;
        // Some systems report the old path of a deleted folder, which may lead to another one.
        let there = Self::open(&path).ok()?.own_entry().ok()?;
        (there.identity.is_some() && there.identity == self.own_entry().ok()?.identity)
            .then_some(path)
    }

    /// The same folder once more.
    pub fn again(&self) -> Result<Self, FileError> {
        let handle = platform::again(&self.handle).map_err(self.failed("open", ""))?;
        Ok(Self { handle, path: self.path.clone() })
    }

    pub fn subdir(&self, path: impl AsRef<Path>) -> Result<Self, FileError> {
        let mut dir = ResolvedDir::Here(self);
        for name in self.names(path.as_ref())? {
            dir = ResolvedDir::Below(dir.child(name)?);
        }
        dir.into_owned()
    }

    /// As [`Dir::subdir`]; missing folders are created. A private folder, which is one for data, is
    /// synced to disk.
    pub fn make_dirs(&self, path: impl AsRef<Path>, mode: FileMode) -> Result<Self, FileError> {
        let mut dir = ResolvedDir::Here(self);
        for name in self.names(path.as_ref())? {
            dir = ResolvedDir::Below(match dir.child(name) {
                Err(FileError::NotFound { .. }) => dir.make_child(name, mode)?,
                found => found?,
            });
        }
        dir.into_owned()
    }

    /// The entry at a path, without following links; `None` where there is none.
    pub fn entry(&self, path: impl AsRef<Path>) -> Result<Option<FileEntry>, FileError> {
        let found = self.parent_of(path.as_ref()).and_then(|(dir, name)| dir.entry_here(name));
        match found {
            Err(FileError::NotFound { .. }) => Ok(None),
            found => found.map(Some),
        }
    }

    /// The folder itself.
    pub fn own_entry(&self) -> Result<FileEntry, FileError> {
        platform::entry_of_dir(&self.handle).map_err(self.failed("look at", ""))
    }

    /// Syncs the names in the folder to disk.
    pub fn sync(&self) -> Result<(), FileError> {
        step(DiskStep::Sync, &self.path);
        platform::sync(&self.handle).map_err(self.failed("sync", ""))
    }

    /// The folder that holds the last name of a path, and that name.
    pub(crate) fn parent_of<'a>(
        &self,
        path: &'a Path,
    ) -> Result<(ResolvedDir<'_>, &'a OsStr), FileError> {
        let mut names = self.names(path)?;
        let Some(last) = names.pop() else { return Err(self.outside(path)) };
        let mut dir = ResolvedDir::Here(self);
        for name in names {
            dir = ResolvedDir::Below(dir.child(name)?);
        }
        Ok((dir, last))
    }

    pub(crate) fn entry_here(&self, name: &OsStr) -> Result<FileEntry, FileError> {
        platform::entry(&self.handle, name).map_err(self.failed("look at", name))
    }

    pub(crate) fn make_child(&self, name: &OsStr, mode: FileMode) -> Result<Self, FileError> {
        step(DiskStep::MakeDir, &self.path.join(name));
        match platform::make_dir(&self.handle, name, mode) {
            // Another process may have been faster.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => {
                made.map_err(self.failed("make", name))?;
                match mode {
                    // Files in the folder survive a crash only if the folder's own name is on disk.
                    FileMode::Private => self.sync()?,
                    FileMode::Shared => {}
                }
            }
        }
        self.child(name)
    }

    /// An error about a name of this folder.
    pub(crate) fn failed<N: AsRef<Path>>(
        &self,
        action: &'static str,
        name: N,
    ) -> impl FnOnce(io::Error) -> FileError + use<N> {
        let path = self.shown(name);
        move |source| FileError::io(action, path, source)
    }

    pub(crate) fn shown(&self, name: impl AsRef<Path>) -> PathBuf {
        let name = name.as_ref();
        if name.as_os_str().is_empty() { self.path.clone() } else { self.path.join(name) }
    }

    /// Why an entry that is not `expected` is refused.
    pub(crate) fn wrong_kind(
        &self,
        name: &OsStr,
        found: FileKind,
        expected: FileKind,
    ) -> FileError {
        let path = self.path.join(name);
        match found {
            FileKind::Link => FileError::Link { path, expected },
            FileKind::File
            | FileKind::Folder
            | FileKind::Pipe
            | FileKind::Socket
            | FileKind::Device => FileError::WrongKind { path, found, expected },
        }
    }

    fn child(&self, name: &OsStr) -> Result<Self, FileError> {
        let handle = platform::open_dir(&self.handle, name).map_err(|error| {
            // The error for a link differs between systems, so the entry is examined.
            match platform::entry(&self.handle, name) {
                Ok(it) if !it.is_folder() => self.wrong_kind(name, it.kind, FileKind::Folder),
                Ok(_) | Err(_) => FileError::io("open", self.path.join(name), error),
            }
        })?;
        Ok(Self { handle, path: self.path.join(name) })
    }

    /// Nothing but plain names: neither `..` nor a root nor a drive.
    fn names<'a>(&self, path: &'a Path) -> Result<Vec<&'a OsStr>, FileError> {
        let mut names = Vec::new();
        for component in path.components() {
            match component {
                Component::Normal(name) if platform::is_plain(name) => names.push(name),
                Component::CurDir => {}
                Component::Normal(_)
                | Component::ParentDir
                | Component::RootDir
                | Component::Prefix(_) => return Err(self.outside(path)),
            }
        }
        Ok(names)
    }

    fn outside(&self, path: &Path) -> FileError {
        FileError::Outside { path: path.to_owned(), dir: self.path.clone() }
    }
}

/// The folder that a path was resolved from, or one beneath it.
pub(crate) enum ResolvedDir<'a> {
    Here(&'a Dir),
    Below(Dir),
}

impl ResolvedDir<'_> {
    fn into_owned(self) -> Result<Dir, FileError> {
        match self {
            Self::Here(dir) => dir.again(),
            Self::Below(dir) => Ok(dir),
        }
    }
}

impl Deref for ResolvedDir<'_> {
    type Target = Dir;

    fn deref(&self) -> &Dir {
        match self {
            Self::Here(dir) => dir,
            Self::Below(dir) => dir,
        }
    }
}
