//! The index that git uses while a workspace is looked at: a file of its own for each look, because a runner and a command such
//! as `baton workspace clean` may look at the same time, and a git that was killed leaves its lock behind.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use baton_files::{Dir, FileError};

/// Names it within this process; its number tells the processes apart.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// Removed, with git's lock of it, when it is dropped.
pub(super) struct ScratchIndex {
    folder: Dir,
    name: String,
    path: PathBuf,
}

impl ScratchIndex {
    /// In the folder of a workspace, beside its tree.
    pub(super) fn within(folder: Dir) -> Result<Self, FileError> {
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("index-{}-{n}", std::process::id());
        let path = folder.real_path()?.join(&name);
        let index = Self { folder, name, path };
        // A process with the same number may have been killed in the middle.
        index.remove();
        Ok(index)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    fn remove(&self) {
        // Where it stays, it only takes room until the workspace is removed.
        let _ = self.folder.remove(&self.name);
        let _ = self.folder.remove(format!("{}.lock", self.name));
    }
}

impl Drop for ScratchIndex {
    fn drop(&mut self) {
        self.remove();
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make files of their own")]
mod tests {
    use super::*;

    #[test]
    fn two_looks_at_once_have_files_of_their_own_which_are_gone_afterwards() {
        let place = tempfile::tempdir().unwrap();
        let folder = || Dir::open(place.path()).unwrap();
        let (one, other) =
            (ScratchIndex::within(folder()).unwrap(), ScratchIndex::within(folder()).unwrap());
        assert_ne!(one.path(), other.path());
        std::fs::write(one.path(), "").unwrap();
        std::fs::write(other.path().with_extension("lock"), "").unwrap();
        drop((one, other));
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
    }
}
