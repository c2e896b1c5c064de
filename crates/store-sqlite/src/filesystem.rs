//! The file's location: only its owner may read it, and it must be on a local disk.

use std::path::{Path, PathBuf};

use baton_files::{Dir, FileError, FileMode};

use crate::error::OpenError;
use crate::{FILE, LOG_ENDING};

/// File systems on which several machines may have the file open at once. SQLite's log needs shared
/// memory, which those machines do not have.
const SHARED: [&str; 7] = ["nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "fuse.sshfs"];

/// The suffixes of the files that SQLite opens beside a database.
const ENDINGS: [&str; 4] = ["", LOG_ENDING, "-shm", "-journal"];

/// Creates the directory and an empty file for their owner alone, and refuses unsafe paths.
pub(crate) fn prepare(path: &Path) -> Result<(), OpenError> {
    let dir = path.parent().unwrap_or(Path::new("."));
    let name = path.file_name().unwrap_or_default();
    let dir = Dir::open_or_make(dir, FileMode::Private).map_err(OpenError::Files)?;
    refuse_shared(dir.path())?;
    check_parts(&dir, name.as_ref())?;
    make_private_file(&dir, name.as_ref()).map_err(OpenError::Files)
}

/// The path of the database in `dir`, without links, once its parts have been checked.
pub(crate) fn path_in(dir: &Dir) -> Result<PathBuf, OpenError> {
    check_parts(dir, Path::new(FILE))?;
    Ok(dir.real_path().map_err(OpenError::Files)?.join(FILE))
}

/// Refuses a database or log that is a link, a pipe, a device, or has a second hard link: SQLite
/// opens files by path, so this is checked before it does. Writes nothing.
pub(crate) fn check_parts(dir: &Dir, name: &Path) -> Result<(), OpenError> {
    for ending in ENDINGS {
        let mut part = name.as_os_str().to_owned();
        part.push(ending);
        dir.own_file(part).map_err(OpenError::Files)?;
    }
    Ok(())
}

/// An existing file is not opened and closed: on Unix that would drop SQLite's locks on it.
fn make_private_file(dir: &Dir, name: &Path) -> Result<(), FileError> {
    match dir.make_private(name) {
        Err(FileError::NotFound { .. }) => dir.create_new(name, FileMode::Private).map(drop),
        made => made,
    }
}

fn refuse_shared(dir: &Path) -> Result<(), OpenError> {
    // Only Linux lists mounts; elsewhere, enabling write-ahead mode fails where it cannot work.
    let (Ok(mounts), Ok(real)) = (mounts(), dir.canonicalize()) else {
        return Ok(());
    };
    match kind_of(&mounts, &real) {
        Some(kind) if SHARED.contains(&kind) => {
            Err(OpenError::Network { dir: dir.to_owned(), kind: kind.to_owned() })
        }
        Some(_) | None => Ok(()),
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the kernel's file, and no project's")]
fn mounts() -> std::io::Result<String> {
    std::fs::read_to_string("/proc/self/mounts")
}

/// The type of the file system that holds `dir`, from the kernel's mount table.
fn kind_of<'a>(mounts: &'a str, dir: &Path) -> Option<&'a str> {
    let holding = mounts.lines().filter_map(|line| {
        let mut words = line.split(' ').skip(1);
        let (point, kind) = (words.next()?, words.next()?);
        // A space in a path is escaped as four characters.
        let point = point.replace("\\040", " ");
        dir.starts_with(&point).then_some((point.len(), kind))
    });
    // Of equal mount points, the last one is on top.
    holding.max_by_key(|(length, _)| *length).map(|(_, kind)| kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
/dev/sda1 / ext4 rw,relatime 0 0
server:/home /home nfs4 rw 0 0
/dev/sdb1 /home/ada\\040l ext4 rw 0 0
//nas/share /mnt cifs rw 0 0
/dev/sdc1 /mnt xfs rw 0 0
";

    #[test]
    fn the_innermost_and_topmost_mount_holds_a_directory() {
        for (dir, kind) in [
            ("/var/lib/baton", "ext4"),
            ("/home/bea", "nfs4"),
            ("/home/ada l/data", "ext4"),
            ("/homework", "ext4"),
            ("/mnt/data", "xfs"),
        ] {
            assert_eq!(kind_of(MOUNTS, Path::new(dir)), Some(kind), "{dir}");
        }
        assert_eq!(kind_of("", Path::new("/")), None);
    }

    #[test]
    fn only_the_owner_may_read() {
        use std::fs;
        use std::os::unix::fs::PermissionsExt as _;
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path().join("new/data");
        let file = data.join("baton.db");
        prepare(&file).unwrap();
        assert_eq!((mode(&data), mode(&file)), (0o700, 0o600));
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        prepare(&file).unwrap();
        assert_eq!(mode(&file), 0o600);
    }

    #[test]
    fn no_part_of_a_database_may_lead_elsewhere() {
        use std::os::unix::fs::symlink;
        for ending in ENDINGS {
            let folder = tempfile::tempdir().unwrap();
            let theirs = folder.path().join("theirs");
            std::fs::write(&theirs, "theirs").unwrap();
            let path = folder.path().join("baton.db");
            symlink(&theirs, folder.path().join(format!("baton.db{ending}"))).unwrap();
            let error = prepare(&path).unwrap_err();
            assert!(matches!(error, OpenError::Files(FileError::Link { .. })), "{error}");
            std::fs::remove_file(folder.path().join(format!("baton.db{ending}"))).unwrap();
            std::fs::hard_link(&theirs, folder.path().join(format!("baton.db{ending}"))).unwrap();
            let error = prepare(&path).unwrap_err();
            assert!(matches!(error, OpenError::Files(FileError::HardLink { .. })), "{error}");
            assert_eq!(std::fs::read_to_string(&theirs).unwrap(), "theirs");
        }
    }
}
