//! A copy of a database whose files were deleted or replaced: whatever a connection has open stays
//! readable until it is closed.

use std::error::Error;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use crate::FILE;
use crate::backup::copy_to;
use crate::filesystem::make_private_dir;

const MOST_COPIES: u32 = 100;

/// Copies all that `connection` reads into a new folder in `data`, and says where. The folder of
/// the data is made again where it was deleted alone.
pub(crate) fn rescue(
    connection: &Connection,
    data: &Path,
) -> Result<PathBuf, Box<dyn Error + Send + Sync>> {
    let project = data.parent().ok_or("the data folder has no parent")?;
    if !project.is_dir() {
        return Err(format!("`{}` is gone too", project.display()).into());
    }
    make_private_dir(data)?;
    // A link may lead anywhere, and what is put in the place of the data is not ours to follow.
    if !data.symlink_metadata()?.is_dir() {
        return Err(format!("`{}` is no folder any more", data.display()).into());
    }
    let folder = new_folder(data)?;
    let copy = folder.join(FILE);
    let copied = copy_to(connection, &copy).and_then(|()| Ok(sync(&copy, &folder, data)?));
    if copied.is_err() {
        // Half a copy would be taken for a whole one.
        let _ = fs::remove_dir_all(&folder);
    }
    copied.map(|()| copy)
}

fn new_folder(data: &Path) -> io::Result<PathBuf> {
    for number in 1..=MOST_COPIES {
        let folder = data.join(format!("rescued-{number}"));
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        match builder.create(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::new(io::ErrorKind::AlreadyExists, "there are too many rescued copies already"))
}

fn sync(copy: &Path, folder: &Path, data: &Path) -> io::Result<()> {
    #[cfg(unix)]
    fs::set_permissions(copy, std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    for path in [copy, folder, data] {
        fs::File::open(path)?.sync_all()?;
    }
    Ok(())
}
