//! Creates an empty database in place of a lost one, because a person confirmed it.

use baton_files::Dir;

use crate::error::OpenError;
use crate::judge::WAL_FILE;
use crate::mark::MARK_FILE;
use crate::{FILE, SqliteStore};

impl SqliteStore {
    /// Creates an empty database of a new project in `dir`, whose database is gone. Remains of the
    /// old one are never removed: if there are any, the call is refused.
    pub fn begin_anew(dir: &Dir) -> Result<Self, OpenError> {
        for name in [FILE, WAL_FILE] {
            if dir.entry(name)?.is_some_and(|it| it.n_bytes > 0) {
                return Err(OpenError::InTheWay { path: dir.path().join(name) });
            }
        }
        dir.remove(MARK_FILE)?;
        Self::open_in(dir)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use baton_store::Store as _;
    use baton_store_tests::sample::{put_all, tale};

    use super::*;

    #[tokio::test]
    async fn only_where_nothing_is_left_a_new_database_begins() {
        let folder = tempfile::tempdir().unwrap();
        let dir = Dir::open(folder.path()).unwrap();
        let store = SqliteStore::open_in(&dir).unwrap();
        put_all(&store, &tale(1, "s-1")).await;
        let before = store.identity().await.unwrap();
        store.close().await;
        let error = SqliteStore::begin_anew(&dir).unwrap_err();
        assert!(matches!(error, OpenError::InTheWay { .. }), "{error}");
        fs::remove_file(folder.path().join(FILE)).unwrap();
        SqliteStore::open_in(&dir).unwrap_err();
        let store = SqliteStore::begin_anew(&dir).unwrap();
        assert_ne!(store.identity().await.unwrap(), before);
        store.close().await;
        SqliteStore::open_in(&dir).unwrap();
    }
}
