//! Files on Linux, macOS and the BSDs, by `openat` and its relatives. Each takes one name and does not follow
//! it, so that a path of many names is beneath its folder by construction.

use std::ffi::{CStr, OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode as Bits, OFlags, RenameFlags, Stat};
use rustix::io::Errno;

use crate::entry::{FileEntry, FileIdentity, FileKind, FileTime};
use crate::file::{Access, FileMode};

pub(crate) type Handle = OwnedFd;

const DIR: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
/// Otherwise opening a pipe without a writer would block, before its type is known.
const FILE: OFlags =
    OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);
const OWNER_FILE: Bits = Bits::RUSR.union(Bits::WUSR);

/// Whatever stands between two separators is a name.
pub(crate) fn is_plain(_name: &OsStr) -> bool {
    true
}

pub(crate) fn open_root(path: &Path) -> io::Result<Handle> {
    Ok(rustix::fs::open(path, DIR, Bits::empty())?)
}

pub(crate) fn again(dir: &Handle) -> io::Result<Handle> {
    dir.try_clone()
}

#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) fn current_path(dir: &Handle) -> Option<PathBuf> {
    use std::os::fd::AsRawFd as _;
    let link = format!("/proc/self/fd/{}", dir.as_raw_fd());
    let path = rustix::fs::readlink(link, Vec::new()).ok()?;
    Some(PathBuf::from(OsStr::from_bytes(path.to_bytes())))
}

#[cfg(target_vendor = "apple")]
pub(crate) fn current_path(dir: &Handle) -> Option<PathBuf> {
    let path = rustix::fs::getpath(dir).ok()?;
    Some(PathBuf::from(OsStr::from_bytes(path.to_bytes())))
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
pub(crate) fn current_path(_: &Handle) -> Option<PathBuf> {
    None
}

pub(crate) fn open_dir(dir: &Handle, name: &OsStr) -> io::Result<Handle> {
    Ok(rustix::fs::openat(dir, name, DIR | OFlags::NOFOLLOW, Bits::empty())?)
}

pub(crate) fn make_dir(dir: &Handle, name: &OsStr, mode: FileMode) -> io::Result<()> {
    let bits = match mode {
        FileMode::Private => Bits::RWXU,
        FileMode::Shared => Bits::RWXU | Bits::RGRP | Bits::XGRP | Bits::ROTH | Bits::XOTH,
    };
    Ok(rustix::fs::mkdirat(dir, name, bits)?)
}

pub(crate) fn open_file(dir: &Handle, name: &OsStr, access: Access) -> io::Result<File> {
    let flags = match access {
        Access::Read => OFlags::RDONLY,
        Access::Write => OFlags::RDWR,
        Access::WriteOrCreate => OFlags::RDWR | OFlags::CREATE,
    };
    Ok(rustix::fs::openat(dir, name, flags | FILE, OWNER_FILE)?.into())
}

pub(crate) fn create_new(dir: &Handle, name: &OsStr, mode: FileMode) -> io::Result<File> {
    let bits = match mode {
        FileMode::Private => OWNER_FILE,
        FileMode::Shared => OWNER_FILE | Bits::RGRP | Bits::ROTH,
    };
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | FILE;
    Ok(rustix::fs::openat(dir, name, flags, bits)?.into())
}

pub(crate) fn entry(dir: &Handle, name: &OsStr) -> io::Result<FileEntry> {
    Ok(of_stat(&rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?))
}

pub(crate) fn entry_of(file: &File) -> io::Result<FileEntry> {
    Ok(of_stat(&rustix::fs::fstat(file)?))
}

pub(crate) fn entry_of_dir(dir: &Handle) -> io::Result<FileEntry> {
    Ok(of_stat(&rustix::fs::fstat(dir)?))
}

pub(crate) fn is_private(dir: &Handle, name: &OsStr) -> io::Result<bool> {
    let stat = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(Bits::from_raw_mode(stat.st_mode) == OWNER_FILE)
}

pub(crate) fn is_own(dir: &Handle, name: &OsStr) -> io::Result<bool> {
    let stat = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(stat.st_uid == rustix::process::geteuid().as_raw())
}

/// The caller has checked that the name is no link; where the system can, that is enforced again.
pub(crate) fn make_private(dir: &Handle, name: &OsStr) -> io::Result<()> {
    match rustix::fs::chmodat(dir, name, OWNER_FILE, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => {
            Ok(rustix::fs::chmodat(dir, name, OWNER_FILE, AtFlags::empty())?)
        }
        changed => Ok(changed?),
    }
}

pub(crate) fn rename(from: &Handle, old: &OsStr, to: &Handle, new: &OsStr) -> io::Result<()> {
    Ok(rustix::fs::renameat(from, old, to, new)?)
}

pub(crate) fn rename_new(from: &Handle, old: &OsStr, to: &Handle, new: &OsStr) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
    match rustix::fs::renameat_with(from, old, to, new, RenameFlags::NOREPLACE) {
        // Some file systems cannot do it atomically.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
        renamed => return Ok(renamed?),
    }
    if entry(to, new).is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    rename(from, old, to, new)
}

pub(crate) fn remove_file(dir: &Handle, name: &OsStr) -> io::Result<()> {
    Ok(rustix::fs::unlinkat(dir, name, AtFlags::empty())?)
}

pub(crate) fn remove_dir(dir: &Handle, name: &OsStr) -> io::Result<()> {
    Ok(rustix::fs::unlinkat(dir, name, AtFlags::REMOVEDIR)?)
}

pub(crate) fn list(dir: &Handle) -> io::Result<Vec<OsString>> {
    let mut names = Vec::new();
    for entry in rustix::fs::Dir::read_from(dir.as_fd())? {
        let entry = entry?;
        let name: &CStr = entry.file_name();
        if name != c"." && name != c".." {
            names.push(OsStr::from_bytes(name.to_bytes()).to_owned());
        }
    }
    Ok(names)
}

pub(crate) fn sync(dir: &Handle) -> io::Result<()> {
    match rustix::fs::fsync(dir) {
        // Some file systems cannot sync a folder, and return an error.
        Err(Errno::INVAL) => Ok(()),
        synced => Ok(synced?),
    }
}

fn of_stat(stat: &Stat) -> FileEntry {
    let kind = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => FileKind::File,
        FileType::Directory => FileKind::Folder,
        FileType::Symlink => FileKind::Link,
        FileType::Fifo => FileKind::Pipe,
        FileType::Socket => FileKind::Socket,
        FileType::CharacterDevice | FileType::BlockDevice | FileType::Unknown => FileKind::Device,
    };
    // The widths of these fields differ between systems.
    #[expect(clippy::unnecessary_cast, reason = "see above")]
    let identity = FileIdentity { device: stat.st_dev as u64, inode: stat.st_ino as u64 };
    #[expect(clippy::unnecessary_cast, reason = "see above")]
    let (n_bytes, n_links) = (stat.st_size as u64, stat.st_nlink as u64);
    #[expect(clippy::unnecessary_cast, reason = "see above")]
    let (written, changed) = (
        FileTime { seconds: stat.st_mtime as i64, nanoseconds: stat.st_mtime_nsec as i64 },
        FileTime { seconds: stat.st_ctime as i64, nanoseconds: stat.st_ctime_nsec as i64 },
    );
    FileEntry { kind, n_bytes, n_links, identity: Some(identity), written, changed }
}
