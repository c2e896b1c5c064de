//! A database on a disk that takes no writes: it is read as it is, and every write is refused with
//! the reason.

use std::path::Path;
use std::sync::Arc;

use baton_store::WriteFault;

use crate::error::OpenError;
use crate::reader::Readers;
use crate::watch::WriteGuard;
use crate::writer::Writer;
use crate::{FILE, SqliteStore, check, connect, migrate};

impl SqliteStore {
    /// As [`SqliteStore::open`], where that fails because of `fault`: only for reading, and only a
    /// database that was closed in order and has the schema of this Baton. SQLite keeps no locks on
    /// it and makes no files beside it.
    ///
    /// The caller holds the [`DataLock`](crate::DataLock), so nobody else writes meanwhile.
    pub fn open_frozen(dir: &Path, fault: WriteFault) -> Result<Self, OpenError> {
        let path = dir.join(FILE);
        if check::has_log(&path) {
            return Err(OpenError::Unwritable { path, fault });
        }
        let mut connection = connect::reading_frozen(&path)?;
        check::at_start(&connection, &path)?;
        migrate::migrate(&mut connection, &path, migrate::MIGRATIONS)?;
        let readers = Readers::open_with(|| connect::reading_frozen(&path))?;
        let guard = Arc::new(WriteGuard::refusing(dir, fault));
        let writer = Writer::start(connection, guard.clone())
            .map_err(|source| OpenError::File { path: path.clone(), source })?;
        Ok(Self::over(readers, guard, None, writer, path))
    }
}
