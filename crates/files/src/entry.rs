//! Information about a directory entry, without following links.

use std::fmt;

/// The type of a directory entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileKind {
    File,
    Folder,
    Link,
    Pipe,
    Socket,
    Device,
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::File => "a file",
            Self::Folder => "a folder",
            Self::Link => "a symbolic link",
            Self::Pipe => "a named pipe",
            Self::Socket => "a socket",
            Self::Device => "a device",
        })
    }
}

/// The same file, whatever it is called: equal while both exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileIdentity {
    pub device: u64,
    pub inode: u64,
}

/// What is known of an entry without opening it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileEntry {
    pub kind: FileKind,
    pub n_bytes: u64,
    /// The number of hard links. 1 where the platform does not say.
    pub n_links: u64,
    /// `None` where the platform does not say.
    pub identity: Option<FileIdentity>,
    /// When the content was last written.
    pub written: FileTime,
    /// When the entry was last changed, by a write or otherwise.
    pub changed: FileTime,
}

/// A time of the file system: only good for comparing with an earlier look at the same entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileTime {
    pub seconds: i64,
    pub nanoseconds: i64,
}

impl FileEntry {
    pub fn is_file(&self) -> bool {
        self.kind == FileKind::File
    }

    pub fn is_folder(&self) -> bool {
        self.kind == FileKind::Folder
    }
}
