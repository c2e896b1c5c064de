//! Why a file was not opened or changed: what was found, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

use crate::entry::FileKind;

/// Paths are as people call them: the root as it was typed, and the names beneath it.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error(
        "`{}` is a symbolic link; Baton follows no links inside a project: remove it, or put {expected} in its place",
        path.display()
    )]
    Link { path: PathBuf, expected: FileKind },
    #[error("`{}` is {found}, where Baton needs {expected}: move it out of the way", path.display())]
    WrongKind { path: PathBuf, found: FileKind, expected: FileKind },
    #[error(
        "`{}` is a hard link: it has {n_links} names, and a change would reach the others; put a copy in its place",
        path.display()
    )]
    HardLink { path: PathBuf, n_links: u64 },
    #[error("`{}` is not a path inside `{}`", path.display(), dir.display())]
    Outside { path: PathBuf, dir: PathBuf },
    #[error("`{}` was exchanged for another while Baton had it open; try again", path.display())]
    Exchanged { path: PathBuf },
    #[error("`{}` has {n_bytes} bytes; at most {limit} are read", path.display())]
    TooLarge { path: PathBuf, n_bytes: u64, limit: u64 },
    #[error("`{}` is not UTF-8 text", path.display())]
    NotText { path: PathBuf },
    #[error("`{}` does not exist", path.display())]
    NotFound { path: PathBuf },
    #[error("`{}` is there already", path.display())]
    Exists { path: PathBuf },
    #[error("cannot {action} `{}`", path.display())]
    Io {
        action: &'static str,
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

impl FileError {
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::NotFound { .. })
    }

    /// The operating system's reason, where it is one: a full disk, a missing permission.
    pub fn io_kind(&self) -> Option<io::ErrorKind> {
        match self {
            Self::Io { source, .. } => Some(source.kind()),
            Self::NotFound { .. } => Some(io::ErrorKind::NotFound),
            Self::Exists { .. } => Some(io::ErrorKind::AlreadyExists),
            Self::Link { .. }
            | Self::WrongKind { .. }
            | Self::HardLink { .. }
            | Self::Outside { .. }
            | Self::Exchanged { .. }
            | Self::TooLarge { .. }
            | Self::NotText { .. } => None,
        }
    }

    /// The same with paths beneath `root`, for readers who do not know the root.
    #[must_use]
    pub fn beneath(mut self, root: &Path) -> Self {
        let (Self::Link { path, .. }
        | Self::WrongKind { path, .. }
        | Self::HardLink { path, .. }
        | Self::Outside { path, .. }
        | Self::Exchanged { path }
        | Self::TooLarge { path, .. }
        | Self::NotText { path }
        | Self::NotFound { path }
        | Self::Exists { path }
        | Self::Io { path, .. }) = &mut self;
        if let Ok(below) = path.strip_prefix(root)
            && below != Path::new("")
        {
            *path = below.to_owned();
        }
        self
    }

    pub(crate) fn io(action: &'static str, path: PathBuf, source: io::Error) -> Self {
        if source.kind() == io::ErrorKind::NotFound {
            return Self::NotFound { path };
        }
        if source.kind() == io::ErrorKind::AlreadyExists {
            return Self::Exists { path };
        }
        Self::Io { action, path, source }
    }
}

/// For callers that speak of `std::io`.
impl From<FileError> for io::Error {
    fn from(error: FileError) -> Self {
        let kind = error.io_kind().unwrap_or(io::ErrorKind::InvalidData);
        Self::new(kind, error)
    }
}
