//! A read-only database: because its disk takes no writes, or because nothing may be written before
//! it is known to be sound.

use std::path::PathBuf;
use std::sync::Arc;

use baton_files::Dir;
use baton_store::WriteFault;

use crate::backup::copy_to;
use crate::error::{OpenError, to_open};
use crate::judge::Judgement;
use crate::mark::MarkState;
use crate::reader::Readers;
use crate::watch::WriteGuard;
use crate::writer::Writer;
use crate::{SqliteStore, connect, filesystem, judge, migrate};

impl SqliteStore {
    /// As [`SqliteStore::open`], where that fails because of `fault`: read-only, and only for a
    /// database that was closed cleanly and has the schema of this Baton. SQLite takes no locks on
    /// it and creates no files beside it.
    ///
    /// The caller holds the [`DataLock`](crate::DataLock), so no other process writes meanwhile.
    pub fn open_frozen(dir: &Dir, fault: WriteFault) -> Result<Self, OpenError> {
        let path = filesystem::path_in(dir)?;
        let judgement = judge::judge_files(dir)?;
        if judgement.is_unclean || !judgement.has_database {
            return Err(OpenError::Unwritable { path, fault });
        }
        let guard = WriteGuard::refusing(dir.again()?, path.parent().unwrap_or(&path), fault);
        Self::over_read_only(path, &judgement, guard)
    }

    /// Opens the database in `dir` without a writing connection: the log stays where it is, and is
    /// neither checkpointed nor marked. A missing database, or one with an older schema, is an
    /// error; [`SqliteStore::open_in`] creates or migrates it.
    ///
    /// The caller holds the [`DataLock`](crate::DataLock).
    pub fn open_to_read(dir: &Dir) -> Result<Self, OpenError> {
        let path = filesystem::path_in(dir)?;
        let judgement = judge::judge_files(dir)?;
        if !judgement.has_database {
            return Err(OpenError::Missing { path, position: None });
        }
        let guard = WriteGuard::of(dir.again()?, path.parent().unwrap_or(&path));
        Self::over_read_only(path, &judgement, guard)
    }

    /// As [`SqliteStore::open_to_read`], for a damaged database: reads as much as possible, so that
    /// every problem can be named. The store must not be used for anything else.
    pub fn open_damaged(dir: &Dir) -> Result<Self, OpenError> {
        let path = filesystem::path_in(dir)?;
        let judgement = judge::judge_files(dir)?;
        let open = if judgement.is_unclean { connect::reading } else { connect::reading_frozen };
        let connection = open(&path)?;
        // Unreadable parts are named like other problems.
        let mark = judge::mark_state(&connection, &judgement).unwrap_or(MarkState::Unreadable);
        let readers = Readers::open_with(|| open(&path))?;
        let guard = Arc::new(WriteGuard::of(dir.again()?, path.parent().unwrap_or(&path)));
        let writer = Writer::start(connection, None, guard.clone())
            .map_err(|source| OpenError::File { path: path.clone(), source })?;
        let store = Self::over(readers, guard, None, writer, path);
        Ok(Self { was_left_open: judgement.is_unclean, mark, ..store })
    }

    /// As [`SqliteStore::open_to_read`], for a database with an older schema: migrates a copy of it
    /// in `into`, a private folder that outlives the store. The database itself is only read.
    pub fn open_copy_of_older(dir: &Dir, into: &Dir) -> Result<Self, OpenError> {
        let path = filesystem::path_in(dir)?;
        let judgement = judge::judge_files(dir)?;
        let open = if judgement.is_unclean { connect::reading } else { connect::reading_frozen };
        let connection = open(&path)?;
        judge::judge_contents(&connection, &path, &judgement)?;
        let mark = judge::mark_state(&connection, &judgement).map_err(to_open(&path))?;
        copy_to(&connection, into).map_err(|error| match error.downcast::<rusqlite::Error>() {
            Ok(error) => to_open(&path)(*error),
            Err(source) => {
                OpenError::File { path: path.clone(), source: std::io::Error::other(source) }
            }
        })?;
        let store = Self::open_in(into)?;
        Ok(Self { was_left_open: judgement.is_unclean, mark, ..store })
    }

    fn over_read_only(
        path: PathBuf,
        judgement: &Judgement,
        guard: WriteGuard,
    ) -> Result<Self, OpenError> {
        // Without a log, SQLite need not create files.
        let open = if judgement.is_unclean { connect::reading } else { connect::reading_frozen };
        let connection = open(&path)?;
        judge::judge_contents(&connection, &path, judgement)?;
        let mark = judge::mark_state(&connection, judgement).map_err(to_open(&path))?;
        migrate::expect_current(&connection, &path)?;
        let readers = Readers::open_with(|| open(&path))?;
        let guard = Arc::new(guard);
        let writer = Writer::start(connection, None, guard.clone())
            .map_err(|source| OpenError::File { path: path.clone(), source })?;
        let store = Self::over(readers, guard, None, writer, path);
        Ok(Self { was_left_open: judgement.is_unclean, mark, ..store })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use baton_store::Store as _;
    use baton_store_tests::{dump, sample};

    use super::*;
    use crate::FILE;
    use crate::judge::WAL_FILE;
    use crate::mark::MARK_FILE;

    const FILES: [&str; 3] = [FILE, WAL_FILE, MARK_FILE];

    #[tokio::test]
    async fn to_close_what_was_only_read_is_no_failed_write() {
        let dir = tempfile::tempdir().unwrap();
        SqliteStore::open(dir.path()).unwrap().close().await;
        let store = SqliteStore::open_to_read(&Dir::open(dir.path()).unwrap()).unwrap();
        let guard = store.guard.clone();
        store.close().await;
        assert_eq!(guard.fault(), None);
    }

    #[tokio::test]
    async fn what_a_killed_process_left_is_read_and_not_touched() {
        let [here, left] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let store = SqliteStore::open(here.path()).unwrap();
        for append in sample::tale(1, "s1") {
            store.append(append.into()).await.unwrap();
        }
        let dumped = dump(&store).await;
        for name in FILES {
            fs::copy(here.path().join(name), left.path().join(name)).unwrap();
        }
        let bytes = || FILES.map(|it| fs::read(left.path().join(it)).unwrap());
        let before = bytes();
        let dir = Dir::open(left.path()).unwrap();
        let store = SqliteStore::open_to_read(&dir).unwrap();
        assert!(store.was_left_open());
        assert_eq!(store.mark_state(), MarkState::Present);
        assert_eq!(dump(&store).await, dumped);
        assert!(store.begin_epoch().await.is_err(), "nothing can be written");
        store.close().await;
        assert_eq!(bytes(), before);
    }

    /// A folder at its path keeps the mark from being written, even by root.
    #[tokio::test]
    async fn a_mark_that_cannot_be_written_is_a_fault_until_it_can() {
        let here = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(here.path()).unwrap();
        let mark = here.path().join(MARK_FILE);
        fs::remove_file(&mark).unwrap();
        fs::create_dir_all(mark.join("in the way")).unwrap();
        let wait_until = async |is_fault: bool| {
            let begun = std::time::Instant::now();
            while matches!(store.write_fault(), Some(WriteFault::Unmarked { .. })) != is_fault {
                assert!(begun.elapsed().as_secs() < 60, "{:?}", store.write_fault());
                store.begin_epoch().await.unwrap();
            }
        };
        wait_until(true).await;
        fs::remove_dir_all(&mark).unwrap();
        wait_until(false).await;
    }

    #[tokio::test]
    async fn that_the_mark_is_lost_or_damaged_is_known() {
        let here = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(here.path()).unwrap();
        assert_eq!(store.mark_state(), MarkState::NeverWritten);
        for append in sample::tale(1, "s1") {
            store.append(append.into()).await.unwrap();
        }
        store.close().await;
        fs::write(here.path().join(MARK_FILE), "baton mark 1\n").unwrap();
        let store = SqliteStore::open(here.path()).unwrap();
        assert_eq!(store.mark_state(), MarkState::Unreadable);
        store.close().await;
        fs::remove_file(here.path().join(MARK_FILE)).unwrap();
        let store = SqliteStore::open(here.path()).unwrap();
        assert_eq!(store.mark_state(), MarkState::Missing);
        store.close().await;
        let store = SqliteStore::open(here.path()).unwrap();
        assert_eq!(store.mark_state(), MarkState::Renewed, "that it was lost stays known");
        for append in sample::tale(2, "s2") {
            store.append(append.into()).await.unwrap();
        }
        store.close().await;
        let store = SqliteStore::open(here.path()).unwrap();
        assert_eq!(store.mark_state(), MarkState::Renewed);
        store.begin_epoch().await.unwrap();
        store.close().await;
        let store = SqliteStore::open(here.path()).unwrap();
        assert_eq!(store.mark_state(), MarkState::Present, "a restore settles it");
    }
}
