//! A database on a disk that takes no writes: it is read as it is, and every write is refused with
//! the reason.

use std::sync::Arc;

use baton_files::Dir;
use baton_store::WriteFault;

use crate::error::OpenError;
use crate::reader::Readers;
use crate::watch::WriteGuard;
use crate::writer::Writer;
use crate::{SqliteStore, connect, filesystem, judge, migrate};

impl SqliteStore {
    /// As [`SqliteStore::open`], where that fails because of `fault`: only for reading, and only a
    /// database that was closed in order and has the schema of this Baton. SQLite keeps no locks on
    /// it and makes no files beside it.
    ///
    /// The caller holds the [`DataLock`](crate::DataLock), so nobody else writes meanwhile.
    pub fn open_frozen(dir: &Dir, fault: WriteFault) -> Result<Self, OpenError> {
        let path = filesystem::path_in(dir)?;
        let judgement = judge::judge_files(dir)?;
        if judgement.is_unclean || !judgement.has_database {
            return Err(OpenError::Unwritable { path, fault });
        }
        let mut connection = connect::reading_frozen(&path)?;
        judge::judge_contents(&connection, &path, &judgement)?;
        migrate::migrate(&mut connection, &path, migrate::MIGRATIONS)?;
        let readers = Readers::open_with(|| connect::reading_frozen(&path))?;
        let guard =
            Arc::new(WriteGuard::refusing(dir.again()?, path.parent().unwrap_or(&path), fault));
        let writer = Writer::start(connection, None, guard.clone())
            .map_err(|source| OpenError::File { path: path.clone(), source })?;
        Ok(Self::over(readers, guard, None, writer, path))
    }
}
