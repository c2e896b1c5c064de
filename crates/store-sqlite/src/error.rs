//! What SQLite says, in the words of the store. The only file that looks into its errors.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use baton_store::{AppendError, StoreError, WriteFault};
use rusqlite::ErrorCode;
use rusqlite::types::Type;

use crate::room::has_room;

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
    #[error("`{path}` cannot be opened: {fault}")]
    Unwritable { path: PathBuf, fault: WriteFault },
    #[error("`{path}` cannot be opened")]
    Sqlite {
        path: PathBuf,
        #[source]
        source: rusqlite::Error,
    },
}

impl OpenError {
    /// Why the data cannot be opened for writing, where the disk is the reason. It may be good for
    /// [`reading`](crate::SqliteStore::open_frozen) all the same.
    pub fn write_fault(&self) -> Option<WriteFault> {
        match self {
            OpenError::File { source, .. } => fault_of_io(source),
            OpenError::Unwritable { fault, .. } => Some(fault.clone()),
            OpenError::Sqlite { path, source } => write_fault(source).or_else(|| {
                let dir = path.parent()?;
                has_room(dir).err().as_ref().and_then(fault_of_io)
            }),
            OpenError::Setting { .. }
            | OpenError::Link { .. }
            | OpenError::Network { .. }
            | OpenError::OldSqlite { .. }
            | OpenError::NotOurs { .. }
            | OpenError::FromTheFuture { .. }
            | OpenError::Changed { .. }
            | OpenError::Damaged { .. } => None,
        }
    }
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
    if let Some(fault) = write_fault(&error) {
        return StoreError::Unwritable(fault);
    }
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

/// What keeps SQLite from writing, where its code alone tells. A disk that fails has one code for
/// everything, so [`fault_of_io`] has to be asked too.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the enum is rusqlite's and grows; all but these may be anything"
)]
pub(crate) fn write_fault(error: &rusqlite::Error) -> Option<WriteFault> {
    match error.sqlite_error_code()? {
        ErrorCode::DiskFull => Some(WriteFault::DiskFull),
        ErrorCode::ReadOnly => Some(WriteFault::ReadOnly),
        _ => None,
    }
}

/// What keeps a folder from being written.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the enum is the standard library's and grows; all but these may be anything"
)]
pub fn fault_of_io(error: &io::Error) -> Option<WriteFault> {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Some(WriteFault::DiskFull),
        io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
            Some(WriteFault::ReadOnly)
        }
        _ => None,
    }
}

/// An error of a command that was to be written.
pub(crate) trait WriteError: From<StoreError> {
    fn fault(&self) -> Option<&WriteFault>;
}

impl WriteError for StoreError {
    fn fault(&self) -> Option<&WriteFault> {
        if let Self::Unwritable(fault) = self { Some(fault) } else { None }
    }
}

impl WriteError for AppendError {
    fn fault(&self) -> Option<&WriteFault> {
        if let Self::Store(error) = self { error.fault() } else { None }
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
            let column = source.downcast_ref::<Unreadable>()?.column;
            Some(format!("column `{column}`"))
        }
        rusqlite::Error::InvalidColumnType(_, column, _) => Some(format!("column `{column}`")),
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

/// Nobody's command of the group took effect, and all have the same cause.
#[derive(Debug, Clone, thiserror::Error)]
#[error("the transaction could not be committed")]
pub(crate) struct GroupFailed(#[source] pub(crate) Arc<rusqlite::Error>);

#[derive(Debug, thiserror::Error)]
#[error("the thread that works on the database has ended")]
pub(crate) struct ThreadGone;
