//! Copies a database whose files were deleted or replaced: an open connection can read them until
//! it is closed.

use std::error::Error;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use baton_files::{Access, Dir, FileError, FileKind, FileMode};
use rusqlite::Connection;

use crate::FILE;
use crate::backup::copy_to;

/// Folders with the data that a server saved when its files were deleted or replaced.
pub const RESCUED_PREFIX: &str = "rescued-";

const MOST_COPIES: u32 = 100;

type AnyError = Box<dyn Error + Send + Sync>;

/// What is known of the lost location.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LostPlace<'a> {
    /// Handle of the data folder.
    pub(crate) data: &'a Dir,
    /// Its path, with all links resolved.
    pub(crate) path: &'a Path,
    /// The project's current or last path.
    pub(crate) project: &'a Path,
}

/// The name of a copy beside a project, up to its number, where the folder around the data is gone
/// too.
pub fn rescued_beside(project: &Path) -> String {
    let name = project.file_name().map(OsStr::to_string_lossy).unwrap_or_default();
    format!("{name}-baton-{RESCUED_PREFIX}")
}

/// Copies everything that `connection` reads into a new folder, and returns its path. That is in
/// the data folder if it exists or has just been deleted; else beside the project, out of reach of
/// commits and repository clean-ups; else in the nearest existing folder.
pub(crate) fn rescue(connection: &Connection, lost: LostPlace<'_>) -> Result<PathBuf, AnyError> {
    let in_data = (open_data(lost), RESCUED_PREFIX.to_owned());
    let beside = rescued_beside(lost.project);
    let around = places_around(lost).into_iter().map(|it| (open_real(it), beside.clone()));
    let mut cause = None;
    for (dir, prefix) in std::iter::once(in_data).chain(around) {
        match dir.map_err(AnyError::from).and_then(|dir| copy(connection, &dir, &prefix)) {
            Ok(copy) => return Ok(copy),
            Err(error) => keep_cause(&mut cause, error),
        }
    }
    Err(cause.unwrap_or_else(|| "there is no folder for it".into()))
}

/// That a folder is gone explains less than why the next one cannot be used.
fn keep_cause(cause: &mut Option<AnyError>, error: AnyError) {
    let is_gone = |it: &AnyError| it.downcast_ref().is_some_and(FileError::is_not_found);
    if cause.as_ref().is_none_or(is_gone) {
        *cause = Some(error);
    }
}

/// The data folder at its current path. It is created again where it alone was deleted.
fn open_data(lost: LostPlace<'_>) -> Result<Dir, FileError> {
    if let Some(path) = lost.data.current_path() {
        return Dir::open(&path);
    }
    let (Some(parent), Some(name)) = (lost.path.parent(), lost.path.file_name()) else {
        return Err(FileError::NotFound { path: lost.path.to_owned() });
    };
    // A link or file in the place of the data folder must not be followed.
    open_real(parent)?.make_dirs(name, FileMode::Private)
}

/// The folders above the data, nearest first; those inside the project last, and never the root.
fn places_around(lost: LostPlace<'_>) -> Vec<&Path> {
    let above = lost.path.ancestors().skip(2).filter(|it| it.parent().is_some());
    let (inside, outside): (Vec<_>, Vec<_>) = above.partition(|it| it.starts_with(lost.project));
    outside.into_iter().chain(inside).collect()
}

/// Opens a folder without following links: the path had none when the data was opened.
fn open_real(path: &Path) -> Result<Dir, FileError> {
    let dir = Dir::open(path)?;
    if dir.real_path()? != path {
        return Err(FileError::Link { path: path.to_owned(), expected: FileKind::Folder });
    }
    Ok(dir)
}

fn copy(connection: &Connection, parent: &Dir, prefix: &str) -> Result<PathBuf, AnyError> {
    let (name, folder) = new_folder(parent, prefix)?;
    let copied = write(connection, parent, &folder);
    if copied.is_err() {
        // A partial copy would be taken for a complete one.
        let _ = parent.remove(&name);
    }
    copied.map(|()| folder.path().join(FILE))
}

fn write(connection: &Connection, parent: &Dir, folder: &Dir) -> Result<(), AnyError> {
    copy_to(connection, folder)?;
    folder.open_file(FILE, Access::Write)?.sync()?;
    folder.sync()?;
    Ok(parent.sync()?)
}

fn new_folder(parent: &Dir, prefix: &str) -> Result<(String, Dir), FileError> {
    let mut name = String::new();
    for number in 1..=MOST_COPIES {
        name = format!("{prefix}{number}");
        if parent.entry(&name)?.is_none() {
            let folder = parent.make_dirs(&name, FileMode::Private)?;
            return Ok((name, folder));
        }
    }
    Err(FileError::Exists { path: parent.path().join(name) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_goes_beside_the_project_before_it_goes_into_it() {
        let dir = tempfile::tempdir().unwrap();
        let data = Dir::open(dir.path()).unwrap();
        for (path, project, expected) in [
            ("/srv/shop/.baton/data", "/srv/shop", &["/srv", "/srv/shop"][..]),
            ("/srv/shop/.baton/a/b", "/srv/shop", &["/srv", "/srv/shop/.baton", "/srv/shop"]),
            ("/var/lib/shop/data", "/srv/shop", &["/var/lib", "/var"]),
            ("/data", "/srv/shop", &[]),
        ] {
            let (path, project) = (Path::new(path), Path::new(project));
            let found = places_around(LostPlace { data: &data, path, project });
            assert_eq!(found, expected.iter().map(Path::new).collect::<Vec<_>>(), "{path:?}");
        }
        assert_eq!(rescued_beside(Path::new("/srv/shop")), "shop-baton-rescued-");
    }
}
