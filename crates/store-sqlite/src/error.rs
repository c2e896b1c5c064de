//! What SQLite says, in the words of the store. The only file that looks into its errors.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use baton_store::{AppendError, StoreError};
use rusqlite::types::Type;
use rusqlite::{ErrorCode, Row};

/// Why a store could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("`{path}` cannot be made or read")]
    File {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("`{path}` is a link; name the directory that it leads to")]
    Link { path: PathBuf },
    #[error("`{dir}` is on {kind}, where a database is not safe; use a local disk")]
    Network { dir: PathBuf, kind: String },
    #[error("SQLite {found} can damage a database; build Baton with 3.51.3 or newer")]
    OldSqlite { found: String },
    #[error("SQLite keeps `{name}` at `{found}` instead of `{wanted}`")]
    Setting { name: &'static str, wanted: String, found: String },
    #[error("`{path}` is not a database of Baton's")]
    NotOurs { path: PathBuf },
    #[error("`{path}` was written by a newer Baton (migration {number}); upgrade this one")]
    FromTheFuture { path: PathBuf, number: i64 },
    #[error("`{path}` was made with another migration {number} than this Baton has")]
    Changed { path: PathBuf, number: i64 },
    #[error("`{path}` is damaged; restore a backup")]
    Damaged {
        path: PathBuf,
        #[source]
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
    #[error("`{path}` cannot be opened")]
    Sqlite {
        path: PathBuf,
        #[source]
        source: rusqlite::Error,
    },
}

/// For what went wrong while opening `path`.
pub(crate) fn to_open(path: &Path) -> impl Fn(rusqlite::Error) -> OpenError {
    |source| {
        let path = path.to_owned();
        if is_damage(&source) {
            return OpenError::Damaged { path, source: Some(Box::new(source)) };
        }
        OpenError::Sqlite { path, source }
    }
}

pub(crate) fn to_append(error: rusqlite::Error) -> AppendError {
    AppendError::Store(to_store(error))
}

pub(crate) fn to_store(error: rusqlite::Error) -> StoreError {
    if is_damage(&error) {
        return damaged("the database file is damaged");
    }
    if is_constraint(&error) {
        return damaged("what was to be added does not fit what is there");
    }
    match unreadable_column(&error) {
        Some(what) => StoreError::Damaged { what },
        None => StoreError::Unavailable(Box::new(error)),
    }
}

pub(crate) fn damaged(what: &str) -> StoreError {
    StoreError::Damaged { what: what.to_owned() }
}

/// A rule of the schema was broken: a row that must be the only one, or one that refers to nothing.
pub(crate) fn is_constraint(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation)
}

fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
}

/// The columns that could not be read, in our own words.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the enum is rusqlite's and grows; all but these are failures of the database"
)]
fn unreadable_column(error: &rusqlite::Error) -> Option<String> {
    match error {
        rusqlite::Error::FromSqlConversionFailure(_, _, source) => {
            if let Some(damage) = source.downcast_ref::<RowDamage>() {
                return Some(damage.to_string());
            }
            let column = source.downcast_ref::<Unreadable>()?.column;
            Some(format!("column `{column}`"))
        }
        rusqlite::Error::InvalidColumnType(_, column, _) => Some(format!("column `{column}`")),
        // A statement of ours that SQLite cannot prepare: a table or an index is not there.
        rusqlite::Error::SqlInputError { msg, .. }
        | rusqlite::Error::SqliteFailure(_, Some(msg))
            if msg.starts_with("no such ") =>
        {
            Some(format!("the schema is not the one that Baton makes ({msg})"))
        }
        rusqlite::Error::IntegralValueOutOfRange(..) | rusqlite::Error::Utf8Error(..) => {
            Some("a column of the wrong form".to_owned())
        }
        _ => None,
    }
}

/// For a column whose value is not one that Baton writes.
pub(crate) fn unreadable(column: &'static str) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(0, Type::Text, Box::new(Unreadable { column }))
}

#[derive(Debug, thiserror::Error)]
#[error("column `{column}` holds what Baton does not write")]
struct Unreadable {
    column: &'static str,
}

/// Says in which row of which table a column could not be read. `number` is the column that has the
/// row's number.
pub(crate) fn in_row(
    row: &Row<'_>,
    table: &'static str,
    number: &'static str,
) -> impl FnOnce(rusqlite::Error) -> rusqlite::Error {
    move |error| {
        let Some(column) = unreadable_column(&error) else { return error };
        let number = row.get(number).unwrap_or_default();
        let damage = RowDamage { table, number, column };
        rusqlite::Error::FromSqlConversionFailure(0, Type::Text, Box::new(damage))
    }
}

/// True for what may be gone the next time: then nothing is known of the file.
pub(crate) fn is_passing(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(
            ErrorCode::DatabaseBusy
                | ErrorCode::DatabaseLocked
                | ErrorCode::OutOfMemory
                | ErrorCode::OperationInterrupted
        )
    )
}

/// What cannot be read, in our own words.
pub(crate) fn damage(error: &rusqlite::Error) -> String {
    unreadable_column(error).unwrap_or_else(|| error.to_string())
}

#[derive(Debug, thiserror::Error)]
#[error("row {number} of `{table}`: {column} holds what Baton does not write")]
struct RowDamage {
    table: &'static str,
    number: i64,
    /// With the word before it.
    column: String,
}

/// Nobody's command of the group took effect, and all have the same cause.
#[derive(Debug, Clone, thiserror::Error)]
#[error("the transaction could not be committed")]
pub(crate) struct GroupFailed(#[source] pub(crate) Arc<rusqlite::Error>);

#[derive(Debug, thiserror::Error)]
#[error("the thread that works on the database has ended")]
pub(crate) struct ThreadGone;
