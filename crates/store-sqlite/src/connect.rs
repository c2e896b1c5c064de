//! The only file that opens a database, so that every connection has the same settings. Each
//! setting is read back: SQLite silently ignores a value it does not know.
#![expect(clippy::disallowed_methods, reason = "this is the file that opens databases")]

use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _};

use crate::error::{OpenError, to_open};
use crate::filesystem;

/// In older versions, two connections that wrote and checkpointed at once could damage the file.
const OLDEST_SAFE_SQLITE: i32 = 3_051_003;

/// More than the number of statements, so that none is ever parsed twice.
const N_STATEMENTS: usize = 64;

/// A longer log is truncated to this size when it restarts.
pub(crate) const LOG_LIMIT: u64 = 67_108_864;

const FOR_ALL: [(&str, &str, &str); 6] = [
    ("busy_timeout", "5000", "5000"),
    ("temp_store", "memory", "2"),
    ("mmap_size", "0", "0"),
    ("foreign_keys", "on", "1"),
    ("trusted_schema", "off", "0"),
    ("cell_size_check", "on", "1"),
];

const FOR_WRITING: [(&str, &str, &str); 5] = [
    ("journal_mode", "wal", "wal"),
    ("synchronous", "full", "2"),
    // The writer checkpoints, once a mark covers the log.
    ("wal_autocheckpoint", "0", "0"),
    // A log that grew is truncated; below this size it keeps its disk space, which is faster.
    ("journal_size_limit", "67108864", "67108864"),
    // Writes go to the end of each tree. A larger cache would not be read again, and every commit
    // walks over all of it.
    ("cache_size", "-8192", "-8192"),
];

const FOR_SCRATCH: [(&str, &str, &str); 3] = [
    ("journal_mode", "off", "off"),
    ("synchronous", "off", "0"),
    // Rows come in no order, so insertions hit random pages of the tree.
    ("cache_size", "-65536", "-65536"),
];

const FOR_READING: [(&str, &str, &str); 2] =
    [("query_only", "on", "1"), ("cache_size", "-8192", "-8192")];

/// Opens the one connection that writes, and creates the file where there is none.
pub(crate) fn writing(path: &Path) -> Result<Connection, OpenError> {
    making(path, &FOR_WRITING)
}

/// Opens a connection to inspect a database that may be damaged; changes no byte of it or of its
/// log. The file must exist.
pub(crate) fn looking(path: &Path) -> Result<Connection, OpenError> {
    refuse_old_sqlite()?;
    open(path, OpenFlags::SQLITE_OPEN_READ_ONLY)
}

/// Opens a connection to a temporary file: nothing in it needs to survive the process.
pub(crate) fn scratch(path: &Path) -> Result<Connection, OpenError> {
    making(path, &FOR_SCRATCH)
}

fn making(path: &Path, settings: &[(&'static str, &str, &str)]) -> Result<Connection, OpenError> {
    refuse_old_sqlite()?;
    filesystem::prepare(path)?;
    let connection = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    set(&connection, path, settings)?;
    Ok(connection)
}

/// Opens a read-only connection. The file must exist and be in write-ahead mode.
pub(crate) fn reading(path: &Path) -> Result<Connection, OpenError> {
    let connection = open(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    expect(&connection, path, "journal_mode", "wal")?;
    set(&connection, path, &FOR_READING)?;
    Ok(connection)
}

/// Opens a connection to a file that does not change meanwhile, without a lock and without side
/// files. A log beside it would be ignored.
pub(crate) fn reading_frozen(path: &Path) -> Result<Connection, OpenError> {
    let mode = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let connection = open(Path::new(&frozen_uri(path)), mode)?;
    set(&connection, path, &FOR_READING)?;
    Ok(connection)
}

/// Escapes every byte that could have a meaning in a URI.
fn frozen_uri(path: &Path) -> String {
    use std::fmt::Write as _;
    let mut uri = "file:".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        if byte.is_ascii_alphanumeric() || b"/._-".contains(byte) {
            uri.push(char::from(*byte));
        } else {
            // Writing into a string never fails.
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri + "?immutable=1"
}

fn open(path: &Path, mode: OpenFlags) -> Result<Connection, OpenError> {
    // One thread uses a connection at a time, so it needs no lock of its own.
    let flags = mode | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let connection = Connection::open_with_flags(path, flags).map_err(to_open(path))?;
    connection.set_prepared_statement_cache_capacity(N_STATEMENTS);
    // Otherwise SQLite parses some statements again whenever a parameter has another value.
    switch_on(&connection, path, DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG)?;
    // Only the writer checkpoints, once a mark covers the log.
    switch_on(&connection, path, DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE)?;
    set(&connection, path, &FOR_ALL)?;
    Ok(connection)
}

/// The log is empty, and closing the last connection may remove it.
pub(crate) fn remove_log_on_close(connection: &Connection) {
    // An empty log that stays does no harm.
    let _ = connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false);
}

fn switch_on(connection: &Connection, path: &Path, switch: DbConfig) -> Result<(), OpenError> {
    if !connection.set_db_config(switch, true).map_err(to_open(path))? {
        let (wanted, found) = ("on".to_owned(), "off".to_owned());
        return Err(OpenError::Setting { name: "a switch of the connection", wanted, found });
    }
    Ok(())
}

fn set(
    connection: &Connection,
    path: &Path,
    settings: &[(&'static str, &str, &str)],
) -> Result<(), OpenError> {
    for (name, value, wanted) in settings {
        let sql = format!("pragma {name} = {value}");
        // Some pragmas return a row, others none.
        connection.query_row(&sql, [], |_| Ok(())).optional().map_err(to_open(path))?;
        expect(connection, path, name, wanted)?;
    }
    Ok(())
}

fn expect(
    connection: &Connection,
    path: &Path,
    name: &'static str,
    wanted: &str,
) -> Result<(), OpenError> {
    let found = connection
        .pragma_query_value(None, name, |row| row.get::<_, Value>(0))
        .map_err(to_open(path))?;
    let found = match found {
        Value::Integer(number) => number.to_string(),
        Value::Text(text) => text,
        other @ (Value::Null | Value::Real(_) | Value::Blob(_)) => format!("{other:?}"),
    };
    if found != wanted {
        return Err(OpenError::Setting { name, wanted: wanted.to_owned(), found });
    }
    Ok(())
}

fn refuse_old_sqlite() -> Result<(), OpenError> {
    if rusqlite::version_number() < OLDEST_SAFE_SQLITE {
        return Err(OpenError::OldSqlite { found: rusqlite::version().to_owned() });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_writing_connection_has_every_setting() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("baton.db");
        let connection = writing(&path).unwrap();
        for (name, _, wanted) in FOR_ALL.iter().chain(&FOR_WRITING) {
            expect(&connection, &path, name, wanted).unwrap();
        }
        expect(&connection, &path, "journal_size_limit", &LOG_LIMIT.to_string()).unwrap();
    }

    #[test]
    fn a_reading_connection_has_every_setting_and_cannot_write() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("baton.db");
        let writer = writing(&path).unwrap();
        writer.execute_batch("create table t (x) ").unwrap();
        let connection = reading(&path).unwrap();
        for (name, _, wanted) in FOR_ALL.iter().chain(&FOR_READING) {
            expect(&connection, &path, name, wanted).unwrap();
        }
        assert!(connection.execute("insert into t values (1)", []).is_err());
    }

    #[test]
    fn a_setting_that_did_not_take_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("baton.db");
        let connection = writing(&path).unwrap();
        // `wal` is not a valid value here; SQLite silently takes it for `normal`.
        let error = set(&connection, &path, &[("synchronous", "wal", "2")]).unwrap_err();
        let expected = "SQLite keeps `synchronous` at `1` instead of `2`";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn sqlite_is_new_enough() {
        refuse_old_sqlite().unwrap();
    }

    #[test]
    fn a_database_behind_a_link_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        writing(&dir.path().join("real.db")).unwrap();
        let link = dir.path().join("baton.db");
        std::os::unix::fs::symlink(dir.path().join("real.db"), &link).unwrap();
        assert!(matches!(writing(&link), Err(OpenError::Files(_))));
        assert!(matches!(reading(&link), Err(OpenError::Sqlite { .. })));
    }
}
