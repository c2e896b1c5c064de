//! A database file that another program changes, and what Baton reports then.
#![expect(clippy::disallowed_methods, reason = "this is the other program")]

use std::path::PathBuf;

use baton_engine::verify_all;
use baton_store::Store as _;
use baton_store_sqlite::{DATABASE_FILE, SqliteStore};
use rusqlite::Connection;
use rusqlite::types::Value;
use tempfile::TempDir;

/// Columns that carry no meaning: nothing in Baton reads them.
pub(crate) const NO_MEANING: [(&str, &str); 1] = [("schema_migrations", "applied_at")];

/// Columns of which some edits are found and others change nothing that matters.
pub(crate) const PARTLY: [(&str, &str, &str); 1] =
    [("sqlite_sequence", "seq", "found; not a higher one for `outbox`, whose rows come and go")];

pub(crate) struct DatabaseFile {
    dir: TempDir,
}

/// What Baton reports on a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    Refused(String),
    Problems(Vec<String>),
    Sound,
}

impl DatabaseFile {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let file = Self { dir: tempfile::tempdir().unwrap() };
        std::fs::write(file.path(), bytes).unwrap();
        file
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.dir.path().join(DATABASE_FILE)
    }

    /// As a program opens it that knows nothing of Baton, and that SQLite lets do anything.
    pub(crate) fn connection(&self) -> Connection {
        let connection = Connection::open(self.path()).unwrap();
        connection
            .execute_batch(
                "pragma foreign_keys = off; pragma ignore_check_constraints = on;
                 pragma synchronous = off;",
            )
            .unwrap();
        connection
    }

    pub(crate) fn open(&self) -> Result<SqliteStore, String> {
        SqliteStore::open(self.dir.path()).map_err(|error| error.to_string())
    }

    /// Opens it as Baton does, and verifies all of it.
    pub(crate) async fn verdict(&self) -> Verdict {
        let store = match self.open() {
            Ok(store) => store,
            Err(error) => return Verdict::Refused(error),
        };
        let verified = verify_all(&store).await.unwrap();
        store.close().await;
        match verified.problems {
            problems if problems.is_empty() => Verdict::Sound,
            problems => Verdict::Problems(problems),
        }
    }

    /// Everything that is stored and carries meaning.
    pub(crate) fn dump(&self) -> rusqlite::Result<Vec<String>> {
        let connection = self.connection();
        let mut lines = rows(&connection, "select type, name, tbl_name, sql from sqlite_schema")?;
        for table in tables(&connection)? {
            let columns: Vec<String> = (columns(&connection, &table)?.into_iter())
                .filter(|it| !NO_MEANING.contains(&(table.as_str(), it.as_str())))
                .collect();
            let sql = format!("select '{table}', {} from {table}", columns.join(", "));
            lines.extend(rows(&connection, &sql)?);
        }
        lines.sort_unstable();
        Ok(lines)
    }
}

impl Verdict {
    pub(crate) fn is_found(&self) -> bool {
        match self {
            Verdict::Refused(_) | Verdict::Problems(_) => true,
            Verdict::Sound => false,
        }
    }
}

/// Every table, SQLite's own list of the last numbers too.
pub(crate) fn tables(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let sql = "select name from sqlite_schema
               where type = 'table' and (name not like 'sqlite_%' or name = 'sqlite_sequence')
               order by name";
    connection.prepare(sql)?.query_map([], |row| row.get(0))?.collect()
}

pub(crate) fn columns(connection: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let sql = "select name from pragma_table_info(?1) order by cid";
    connection.prepare(sql)?.query_map([table], |row| row.get(0))?.collect()
}

fn rows(connection: &Connection, sql: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare(sql)?;
    let n_columns = statement.column_count();
    let line = |row: &rusqlite::Row<'_>| {
        let values: Vec<Value> = (0..n_columns).map(|it| row.get(it)).collect::<Result<_, _>>()?;
        Ok(format!("{values:?}"))
    };
    statement.query_map([], line)?.collect()
}
