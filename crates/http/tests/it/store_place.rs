//! Where the store of a test keeps its data: a folder for SQLite, or with `BATON_TEST_BACKEND=postgres` a
//! schema of a PostgreSQL database.

use std::path::Path;
use std::sync::Arc;

use baton_store::Store;
use baton_store_postgres::{PostgresSettings, PostgresStore};
use baton_store_sqlite::SqliteStore;
use baton_test_postgres::TestSchema;
use tempfile::TempDir;

pub(crate) enum StorePlace {
    Folder(TempDir),
    Schema(TestSchema),
}

/// Whether this run is about PostgreSQL.
pub(crate) fn is_on_postgres() -> bool {
    std::env::var_os("BATON_TEST_BACKEND").is_some_and(|it| it == "postgres")
}

impl StorePlace {
    pub(crate) fn fresh() -> Self {
        match is_on_postgres() {
            true => Self::Schema(TestSchema::fresh()),
            false => Self::Folder(tempfile::tempdir().unwrap()),
        }
    }

    pub(crate) async fn open(&self) -> Arc<dyn Store> {
        match self {
            Self::Folder(dir) => Arc::new(SqliteStore::open(dir.path()).unwrap()),
            Self::Schema(schema) => {
                let settings = PostgresSettings::parse(&format!("{}&pool=4", schema.url()));
                Arc::new(PostgresStore::open(&settings.unwrap()).await.unwrap())
            }
        }
    }

    /// The folder of a test that is about the files of SQLite.
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Folder(dir) => dir.path(),
            Self::Schema(_) => panic!("this test is about files; it is left out on PostgreSQL"),
        }
    }
}
