//! A copy of a database whose files were deleted or replaced: whatever a connection has open stays
//! readable until it is closed.

use std::error::Error;
use std::path::{Path, PathBuf};

use baton_files::{Access, Dir, FileError, Mode};
use rusqlite::Connection;

use crate::FILE;
use crate::backup::copy_to;

/// Folders with what was saved when the files were deleted or replaced under a server.
pub const RESCUED_PREFIX: &str = "rescued-";

const MOST_COPIES: u32 = 100;

/// Copies all that `connection` reads into a new folder in `data`, and says where. The folder of
/// the data is made again where it was deleted alone.
pub(crate) fn rescue(
    connection: &Connection,
    data: &Path,
) -> Result<PathBuf, Box<dyn Error + Send + Sync>> {
    let (Some(parent), Some(name)) = (data.parent(), data.file_name()) else {
        return Err("the data folder has no parent".into());
    };
    // What is put in the place of the data is not ours to follow.
    let data = Dir::open(parent)?.make_dirs(name, Mode::Private)?;
    let (name, folder) = new_folder(&data)?;
    let copied = copy(connection, &data, &folder);
    if copied.is_err() {
        // Half a copy would be taken for a whole one.
        let _ = data.remove(&name);
    }
    copied.map(|()| folder.path().join(FILE))
}

fn copy(
    connection: &Connection,
    data: &Dir,
    folder: &Dir,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    copy_to(connection, folder)?;
    folder.open_file(FILE, Access::Write)?.sync()?;
    folder.sync()?;
    Ok(data.sync()?)
}

fn new_folder(data: &Dir) -> Result<(String, Dir), FileError> {
    let mut name = String::new();
    for number in 1..=MOST_COPIES {
        name = format!("{RESCUED_PREFIX}{number}");
        if data.entry(&name)?.is_none() {
            let folder = data.make_dirs(&name, Mode::Private)?;
            return Ok((name, folder));
        }
    }
    Err(FileError::Exists { path: data.path().join(name) })
}
