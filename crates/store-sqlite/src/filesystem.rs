//! Where the file lies: only its owner may read it, and only a local disk is safe for it.

use std::fs;
use std::io;
use std::path::Path;

use crate::error::OpenError;

/// File systems on which several machines may have the file open at once. The log of SQLite needs
/// memory that they do not share.
const SHARED: [&str; 7] = ["nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "fuse.sshfs"];

/// Makes the directory and an empty file for their owner alone, and refuses what is not safe.
pub(crate) fn prepare(path: &Path) -> Result<(), OpenError> {
    let dir = path.parent().unwrap_or(Path::new("."));
    let failed = |path: &Path| {
        let path = path.to_owned();
        |source| OpenError::File { path, source }
    };
    make_private_dir(dir).map_err(failed(dir))?;
    refuse_shared(dir)?;
    make_private_file(path).map_err(failed(path))
}

fn refuse_shared(dir: &Path) -> Result<(), OpenError> {
    // Only Linux tells; elsewhere the write-ahead mode itself refuses what it cannot use.
    let (Ok(mounts), Ok(real)) = (fs::read_to_string("/proc/self/mounts"), dir.canonicalize())
    else {
        return Ok(());
    };
    match kind_of(&mounts, &real) {
        Some(kind) if SHARED.contains(&kind) => {
            Err(OpenError::Network { dir: dir.to_owned(), kind: kind.to_owned() })
        }
        Some(_) | None => Ok(()),
    }
}

/// The kind of the file system that holds `dir`, from the lines of the kernel's list of mounts.
fn kind_of<'a>(mounts: &'a str, dir: &Path) -> Option<&'a str> {
    let holding = mounts.lines().filter_map(|line| {
        let mut words = line.split(' ').skip(1);
        let (point, kind) = (words.next()?, words.next()?);
        // A space in a path is written as four characters.
        let point = point.replace("\\040", " ");
        dir.starts_with(&point).then_some((point.len(), kind))
    });
    // The last of equal ones lies on top of the others.
    holding.max_by_key(|(length, _)| *length).map(|(_, kind)| kind)
}

#[cfg(unix)]
pub(crate) fn make_private_dir(dir: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    if dir.is_dir() {
        return Ok(());
    }
    fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    // What SQLite puts on disk is found again only if the directory is on disk too.
    match dir.canonicalize()?.parent() {
        Some(parent) => fs::File::open(parent)?.sync_all(),
        None => Ok(()),
    }
}

#[cfg(unix)]
fn make_private_file(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
    if path.exists() {
        // Not opened and closed here: on Unix that would drop the locks SQLite has on the file.
        return fs::set_permissions(path, fs::Permissions::from_mode(0o600));
    }
    fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    Ok(())
}

#[cfg(not(unix))]
pub(crate) fn make_private_dir(dir: &Path) -> io::Result<()> {
    fs::create_dir_all(dir)
}

#[cfg(not(unix))]
fn make_private_file(path: &Path) -> io::Result<()> {
    if path.exists() {
        return Ok(());
    }
    fs::OpenOptions::new().write(true).create_new(true).open(path)?;
    Ok(())
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

    #[cfg(unix)]
    #[test]
    fn only_the_owner_may_read() {
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
}
