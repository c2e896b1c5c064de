//! The one file of the engine that writes files: each whole or not at all, and none outside the
//! project.
//!
//! A name is never made of what somebody wrote: only of ids and labels. Folders are walked one by
//! one, so that no link on the way leads elsewhere.

mod rescue;

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Component, Path, PathBuf};

/// The folder that everything has to stay in.
#[derive(Debug, Clone)]
pub(super) struct Disk {
    root: PathBuf,
}

/// What could not be done, and where in the project.
#[derive(Debug, thiserror::Error)]
pub enum DiskError {
    #[error("`{}` leads out of the project", path.display())]
    Outside { path: PathBuf },
    #[error("cannot write `{}`: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

/// What stands under a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    Folder,
    /// Wherever it leads.
    Link,
    File,
}

impl Disk {
    pub(super) fn new(root: PathBuf) -> Self {
        Self { root }
    }

    /// Makes a folder and those above it, as far as they are not there, and gives its path.
    pub(super) fn folder(&self, folder: &Path) -> Result<PathBuf, DiskError> {
        let root = fs::canonicalize(&self.root).map_err(|it| self.failed(&self.root, it))?;
        let mut path = root.clone();
        for part in folder.components() {
            let Component::Normal(name) = part else {
                return Err(DiskError::Outside { path: folder.to_owned() });
            };
            path.push(name);
            match make_folder(&path) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(self.failed(&path, error)),
            }
            // Follows links: where they lead counts.
            let real = fs::canonicalize(&path).map_err(|it| self.failed(&path, it))?;
            if !real.starts_with(&root) {
                return Err(DiskError::Outside { path: self.shown(&path) });
            }
            if !real.is_dir() {
                let error = io::Error::from(io::ErrorKind::NotADirectory);
                return Err(self.failed(&path, error));
            }
            path = real;
        }
        Ok(path)
    }

    /// Writes a file of a folder, unless it says that already.
    pub(super) fn write(&self, folder: &Path, name: &str, text: &str) -> Result<(), DiskError> {
        let folder = self.folder(folder)?;
        let path = folder.join(name);
        if says(&path, text) {
            return Ok(());
        }
        let beside = folder.join(format!(".{name}.new"));
        replace(&path, &beside, text).map_err(|error| {
            // Best effort: the next write takes it away too.
            let _ = fs::remove_file(&beside);
            self.failed(&path, error)
        })
    }

    /// Takes a file or a folder away, if it is there. A link goes, not what it leads to.
    pub(super) fn remove(&self, folder: &Path, name: &str) -> Result<(), DiskError> {
        let path = self.folder(folder)?.join(name);
        remove(&path).map_err(|error| self.failed(&path, error))
    }

    /// Puts one folder in the place of another, of which only what is not Baton's own stays.
    pub(super) fn swap(
        &self,
        folder: &Path,
        fresh: &str,
        name: &str,
        is_own: fn(&str) -> bool,
    ) -> Result<(), DiskError> {
        self.settle(folder, name, is_own)?;
        let within = self.folder(folder)?;
        let (fresh, path) = (within.join(fresh), within.join(name));
        let swapped = match fs::rename(&path, within.join(old(name))) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => fs::rename(&fresh, &path),
        };
        swapped.map_err(|error| self.failed(&path, error))?;
        self.settle(folder, name, is_own)
    }

    /// Takes away what a folder has replaced, once all that is of others has moved over. Whoever
    /// is killed in between leaves it to the next.
    pub(super) fn settle(
        &self,
        folder: &Path,
        name: &str,
        is_own: fn(&str) -> bool,
    ) -> Result<(), DiskError> {
        let old = self.folder(folder)?.join(old(name));
        if fs::symlink_metadata(&old).is_ok_and(|it| it.is_dir()) {
            self.rescue(&old, &folder.join(name), is_own)?;
        }
        remove(&old).map_err(|error| self.failed(&old, error))
    }

    /// What is in a folder.
    pub(super) fn entries(&self, folder: &Path) -> Result<Vec<(OsString, Sort)>, DiskError> {
        let folder = self.folder(folder)?;
        entries(&folder).map_err(|error| self.failed(&folder, error))
    }

    fn failed(&self, path: &Path, source: io::Error) -> DiskError {
        DiskError::Io { path: self.shown(path), source }
    }

    /// As people call it: by its path in the project.
    fn shown(&self, path: &Path) -> PathBuf {
        let root = fs::canonicalize(&self.root).unwrap_or_default();
        match path.strip_prefix(root) {
            Ok(below) if below != Path::new("") => below.to_owned(),
            Ok(_) | Err(_) => path.to_owned(),
        }
    }
}

fn entries(folder: &Path) -> io::Result<Vec<(OsString, Sort)>> {
    let sorted = |entry: io::Result<fs::DirEntry>| {
        let entry = entry?;
        let kind = entry.file_type()?;
        let sort = match (kind.is_dir(), kind.is_symlink()) {
            (true, _) => Sort::Folder,
            (false, true) => Sort::Link,
            (false, false) => Sort::File,
        };
        Ok((entry.file_name(), sort))
    };
    fs::read_dir(folder)?.map(sorted).collect()
}

/// Where a folder goes that is replaced.
fn old(name: &str) -> String {
    format!(".{name}.old")
}

/// Only a plain file of that length is opened: a pipe would never be read to its end, and a link
/// leads elsewhere.
fn says(path: &Path, text: &str) -> bool {
    let is_alike = |it: fs::Metadata| it.is_file() && it.len() == text.len() as u64;
    fs::symlink_metadata(path).is_ok_and(is_alike)
        && fs::read(path).is_ok_and(|it| it == text.as_bytes())
}

/// On disk under another name first, so that nobody ever reads half of it.
fn replace(path: &Path, beside: &Path, text: &str) -> io::Result<()> {
    remove(beside)?;
    let mut file = fs::File::options().write(true).create_new(true).open(beside)?;
    file.write_all(text.as_bytes())?;
    file.sync_data()?;
    drop(file);
    fs::rename(beside, path)
}

fn remove(path: &Path) -> io::Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Ok(it) if it.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

#[cfg(unix)]
fn make_folder(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new().mode(0o755).create(path)
}

#[cfg(not(unix))]
fn make_folder(path: &Path) -> io::Result<()> {
    fs::create_dir(path)
}

#[cfg(test)]
mod tests;
