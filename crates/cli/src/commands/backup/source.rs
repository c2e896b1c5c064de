//! The source of a restore: a database, and the log beside it, which may have the newest data. Both
//! are only read.

use std::ffi::OsString;
use std::path::Path;

use baton_files::{Access, Dir, FileError, FileHandle, FileKind, FileMode};
use baton_store_sqlite::{DATABASE_FILE, LOCK_FILE, LOG_ENDING, OpenError, is_database};

use crate::failure::{Failure, chain};

pub(crate) struct BackupSource {
    dir: Dir,
    name: OsString,
    /// The path as the user typed it.
    typed: String,
}

impl BackupSource {
    /// A file that the user names, or the folder with one, such as `before-restore-1`.
    pub(super) fn open(from: &Path) -> Result<Self, Failure> {
        let source = Self::open_damaged(from)?;
        source.check_kind()?;
        Ok(source)
    }

    /// The same, without checking its contents.
    pub(crate) fn open_damaged(from: &Path) -> Result<Self, Failure> {
        let typed = from.display().to_string();
        let failed = |error: std::io::Error| {
            if error.kind() == std::io::ErrorKind::NotFound {
                return Failure::NotFound(format!("there is no file `{typed}`"));
            }
            Failure::io(format!("read `{typed}`"), error)
        };
        // The user may name a link; the log is beside its target.
        let real = from.canonicalize().map_err(failed)?;
        let (dir, name) = match Dir::open(&real) {
            Ok(dir) if dir.entry(DATABASE_FILE)?.is_none() => {
                let why = format!("is a folder without a `{DATABASE_FILE}`");
                return Err(Failure::NoBackup { file: typed, why });
            }
            Ok(dir) => (dir, OsString::from(DATABASE_FILE)),
            Err(FileError::WrongKind { .. }) => {
                let parent = real.parent().unwrap_or(Path::new(""));
                (Dir::open(parent)?, real.file_name().unwrap_or_default().to_owned())
            }
            Err(error) => return Err(error.into()),
        };
        Ok(Self { dir, name, typed })
    }

    /// Refuses a file that is no database before anything is written. SQLite would take an empty
    /// file for a new one, and replace all data by it.
    fn check_kind(&self) -> Result<(), Failure> {
        let refused = |why: String| Failure::NoBackup { file: self.typed.clone(), why };
        let Some(entry) = self.dir.entry(&self.name)? else {
            return Err(Failure::NotFound(format!("there is no file `{}`", self.typed)));
        };
        match entry.kind {
            FileKind::File => {}
            FileKind::Folder
            | FileKind::Link
            | FileKind::Pipe
            | FileKind::Socket
            | FileKind::Device => return Err(refused(format!("is {}", entry.kind))),
        }
        if entry.n_bytes == 0 {
            return Err(refused("is empty".to_owned()));
        }
        let file = self.dir.open_file(&self.name, Access::Read)?;
        let failed = |error| Failure::io(format!("read `{}`", self.typed), error);
        if !is_database(file).map_err(failed)? {
            return Err(refused("is no database".to_owned()));
        }
        Ok(())
    }

    /// A problem of the copy is reported for its source, which is what the user knows.
    pub(super) fn as_typed(&self, failure: Failure) -> Failure {
        let why = if let Failure::Open(OpenError::Damaged { damage, source, .. }) = &failure {
            let cause = source.as_ref().map(|it| format!(" ({})", chain(it.as_ref())));
            format!("{damage}{}", cause.unwrap_or_default())
        } else if let Failure::Open(OpenError::NotOurs { .. }) = failure {
            "it is no database of Baton's".to_owned()
        } else if let Failure::Broken { what } = failure {
            return Failure::Broken {
                what: format!("`{}` cannot be restored: {what}", self.typed),
            };
        } else {
            return failure;
        };
        Failure::BadBackup { file: self.typed.clone(), why }
    }

    /// Whether it is the database of a data folder.
    pub(super) fn is_in(&self, data: &Dir) -> Result<bool, Failure> {
        let [ours, theirs] = [self.dir.entry(&self.name)?, data.entry(DATABASE_FILE)?];
        let identity = ours.and_then(|it| it.identity);
        Ok(identity.is_some() && identity == theirs.and_then(|it| it.identity))
    }

    /// Copies the database with its log, under the names that they have in a data folder. The
    /// caller holds the lock of `data`.
    pub(crate) fn copy_into(&self, staging: &Dir, data: &Dir) -> Result<(), Failure> {
        let _lock = self.lock(data)?;
        for ending in ["", LOG_ENDING] {
            let mut name = self.name.clone();
            name.push(ending);
            let mut from = match self.dir.open_file(&name, Access::Read) {
                Err(FileError::NotFound { .. }) if ending == LOG_ENDING => continue,
                from => from?,
            };
            let to = format!("{DATABASE_FILE}{ending}");
            let mut to = staging.create_new(to, FileMode::Private)?;
            to.copy_from(&mut from)?;
            to.sync()?;
        }
        Ok(())
    }

    /// A database that another Baton is writing to could not be copied as one snapshot.
    fn lock(&self, data: &Dir) -> Result<Option<FileHandle>, Failure> {
        let [ours, theirs] = [self.dir.own_entry()?, data.own_entry()?];
        if ours.identity.is_some() && ours.identity == theirs.identity {
            return Ok(None);
        }
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
