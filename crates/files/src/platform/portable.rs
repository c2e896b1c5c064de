//! For systems without `openat`: each name in the path is checked before the path is used. This
//! does not stop a program that swaps a folder in between; it does stop a hostile cloned
//! repository.
#![expect(clippy::disallowed_methods, reason = "here the standard library is all there is")]

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use crate::entry::{FileEntry, FileKind};
use crate::file::{Access, Mode};

pub(crate) type Handle = PathBuf;

/// Windows has more special names than Unix: streams, devices and trimmed characters.
pub(crate) fn is_plain(name: &OsStr) -> bool {
    name.to_str().is_some_and(|it| !it.contains([':', '/', '\\']) && !it.ends_with(['.', ' ']))
}

pub(crate) fn open_root(path: &Path) -> io::Result<Handle> {
    let path = path.canonicalize()?;
    if !path.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    Ok(path)
}

pub(crate) fn again(dir: &Handle) -> io::Result<Handle> {
    Ok(dir.clone())
}

/// A folder is only known by its path here.
pub(crate) fn current_path(_: &Handle) -> Option<PathBuf> {
    None
}

pub(crate) fn open_dir(dir: &Handle, name: &OsStr) -> io::Result<Handle> {
    let path = dir.join(name);
    if !fs::symlink_metadata(&path)?.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    Ok(path)
}

pub(crate) fn make_dir(dir: &Handle, name: &OsStr, _mode: Mode) -> io::Result<()> {
    fs::create_dir(dir.join(name))
}

/// The caller has checked that it is a regular file, or missing.
pub(crate) fn open_file(dir: &Handle, name: &OsStr, access: Access) -> io::Result<File> {
    let mut options = File::options();
    options.read(true);
    match access {
        Access::Read => &mut options,
        Access::Write => options.write(true),
        Access::WriteOrCreate => options.write(true).create(true).truncate(false),
    };
    options.open(dir.join(name))
}

pub(crate) fn create_new(dir: &Handle, name: &OsStr, _mode: Mode) -> io::Result<File> {
    File::options().read(true).write(true).create_new(true).open(dir.join(name))
}

pub(crate) fn entry(dir: &Handle, name: &OsStr) -> io::Result<FileEntry> {
    Ok(of_metadata(&fs::symlink_metadata(dir.join(name))?))
}

pub(crate) fn entry_of(file: &File) -> io::Result<FileEntry> {
    Ok(of_metadata(&file.metadata()?))
}

pub(crate) fn entry_of_dir(dir: &Handle) -> io::Result<FileEntry> {
    Ok(of_metadata(&fs::metadata(dir)?))
}

pub(crate) fn is_private(_dir: &Handle, _name: &OsStr) -> io::Result<bool> {
    // The folder decides who may read.
    Ok(true)
}

pub(crate) fn make_private(_dir: &Handle, _name: &OsStr) -> io::Result<()> {
    Ok(())
}

pub(crate) fn rename(from: &Handle, old: &OsStr, to: &Handle, new: &OsStr) -> io::Result<()> {
    fs::rename(from.join(old), to.join(new))
}

pub(crate) fn rename_new(from: &Handle, old: &OsStr, to: &Handle, new: &OsStr) -> io::Result<()> {
    if entry(to, new).is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    rename(from, old, to, new)
}

pub(crate) fn remove_file(dir: &Handle, name: &OsStr) -> io::Result<()> {
    fs::remove_file(dir.join(name))
}

pub(crate) fn remove_dir(dir: &Handle, name: &OsStr) -> io::Result<()> {
    fs::remove_dir(dir.join(name))
}

pub(crate) fn list(dir: &Handle) -> io::Result<Vec<OsString>> {
    fs::read_dir(dir)?.map(|it| Ok(it?.file_name())).collect()
}

pub(crate) fn sync(_dir: &Handle) -> io::Result<()> {
    // The standard library opens no folders here.
    Ok(())
}

fn of_metadata(metadata: &Metadata) -> FileEntry {
    let kind = match (metadata.is_file(), metadata.is_dir(), metadata.is_symlink()) {
        (true, _, _) => FileKind::File,
        (_, true, _) => FileKind::Folder,
        (_, _, true) => FileKind::Link,
        (false, false, false) => FileKind::Device,
    };
    FileEntry { kind, n_bytes: metadata.len(), n_links: 1, identity: None }
}
