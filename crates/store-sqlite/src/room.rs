//! Whether the data folder takes new bytes: SQLite's codes do not distinguish the reasons, and a
//! trial must succeed before a full disk counts as recovered.

use std::io;
use std::path::Path;

use baton_files::{Dir, FileError, FileMode};
use baton_store::WriteFault;

use crate::error::fault_of_io;

const FILE: &str = "baton.room";
/// Room for a large package and its events. A log truncated by a full disk still has space for a
/// few pages, so a smaller trial would succeed on a full disk.
const N_BLOCKS: usize = 16;
static BLOCK: [u8; 64 << 10] = [0; 64 << 10];

/// Writes a file of a megabyte into `dir`, and removes it again.
pub(crate) fn has_room(dir: &Path) -> io::Result<()> {
    let dir = Dir::open(dir)?;
    let written = write(&dir);
    // Also removes what a killed Baton left; if that fails, the next trial reports it.
    let _ = dir.remove(FILE);
    Ok(written?)
}

/// The fault that prevents writes in `dir`. Writes a trial file, and removes it.
pub fn fault_of_folder(dir: &Dir) -> Option<WriteFault> {
    has_room(dir.path()).err().as_ref().and_then(fault_of_io)
}

fn write(dir: &Dir) -> Result<(), FileError> {
    // Never write into an existing file: it may be a link to something else.
    dir.remove(FILE)?;
    let mut file = dir.create_new(FILE, FileMode::Private)?;
    for _ in 0..N_BLOCKS {
        file.write(&BLOCK)?;
    }
    file.sync()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_trial_leaves_nothing_behind_and_overwrites_nothing() {
        let dir = tempfile::tempdir().unwrap();
        has_room(dir.path()).unwrap();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
        {
            let other = dir.path().join("other");
            fs::write(&other, "kept").unwrap();
            std::os::unix::fs::symlink(&other, dir.path().join(FILE)).unwrap();
            has_room(dir.path()).unwrap();
            assert_eq!(fs::read(&other).unwrap(), b"kept");
        }
    }

    #[test]
    fn a_folder_that_is_gone_has_no_room() {
        let dir = tempfile::tempdir().unwrap();
        let error = has_room(&dir.path().join("gone")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
