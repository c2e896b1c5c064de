//! What is restored: a database, and the log beside it, which may have the newest of it. Both are
//! only read.

use std::ffi::OsString;
use std::path::Path;

use baton_files::{Access, Dir, FileError, FileHandle, Mode};
use baton_store_sqlite::DATABASE_FILE;

use crate::failure::Failure;

const LOCK_FILE: &str = "baton.lock";

pub(crate) struct Source {
    dir: Dir,
    name: OsString,
}

impl Source {
    /// A file that the user names, or the folder with one, such as `before-restore-1`.
    pub(crate) fn open(from: &Path) -> Result<Self, Failure> {
        let failed = |error: std::io::Error| {
            if error.kind() == std::io::ErrorKind::NotFound {
                return Failure::NotFound(format!("there is no file `{}`", from.display()));
            }
            Failure::io(format!("read `{}`", from.display()), error)
        };
        // Links are the user's own; the log stands beside what they lead to.
        let real = from.canonicalize().map_err(failed)?;
        let (dir, name) = match Dir::open(&real) {
            Ok(dir) => (dir, OsString::from(DATABASE_FILE)),
            Err(FileError::WrongKind { .. }) => {
                let parent = real.parent().unwrap_or(Path::new(""));
                (Dir::open(parent)?, real.file_name().unwrap_or_default().to_owned())
            }
            Err(error) => return Err(error.into()),
        };
        Ok(Self { dir, name })
    }

    /// Whether it is the database of a data folder.
    pub(super) fn is_in(&self, data: &Dir) -> Result<bool, Failure> {
        let [ours, theirs] = [self.dir.entry(&self.name)?, data.entry(DATABASE_FILE)?];
        let identity = ours.and_then(|it| it.identity);
        Ok(identity.is_some() && identity == theirs.and_then(|it| it.identity))
    }

    /// Copies the database with its log, under the names that they have in a data folder.
    pub(crate) fn copy_into(&self, staging: &Dir) -> Result<(), Failure> {
        let _lock = self.lock()?;
        for ending in ["", "-wal"] {
            let mut name = self.name.clone();
            name.push(ending);
            let mut from = match self.dir.open_file(&name, Access::Read) {
                Err(FileError::NotFound { .. }) if ending == "-wal" => continue,
                from => from?,
            };
            let to = format!("{DATABASE_FILE}{ending}");
            let mut to = staging.create_new(to, Mode::Private)?;
            to.copy_from(&mut from)?;
            to.sync()?;
        }
        Ok(())
    }

    /// A database that another Baton writes to meanwhile would not be copied at one moment.
    fn lock(&self) -> Result<Option<FileHandle>, Failure> {
        let file = match self.dir.open_file(LOCK_FILE, Access::Read) {
            Err(FileError::NotFound { .. }) => return Ok(None),
            file => file?,
        };
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(_) => Err(Failure::Conflict(format!(
                "`{}` is in use; `baton backup` copies what is in use",
                self.dir.path().join(&self.name).display()
            ))),
        }
    }
}
