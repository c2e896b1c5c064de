//! Maps SQLite errors to store errors. The only file that looks into SQLite's errors.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use baton_core::shell::shell_word;
use baton_files::{Dir, FileError};
use baton_store::{AppendError, StoreError, WriteFault};
use rusqlite::types::Type;
use rusqlite::{ErrorCode, Row};

use crate::exchange::ExchangeError;
use crate::judge::{JOURNAL_FILE, WAL_FILE};
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
    #[error(transparent)]
    Files(FileError),
    #[error("a restore that was interrupted cannot be finished")]
    Interrupted(#[source] ExchangeError),
    #[error("`{dir}` is on {kind}, where a database is not safe; use a local disk")]
    Network { dir: PathBuf, kind: String },
    #[error("SQLite {found} can damage a database; build Baton with 3.51.3 or newer")]
    OldSqlite { found: String },
    #[error("SQLite keeps `{name}` at `{found}` instead of `{wanted}`")]
    Setting { name: &'static str, wanted: String, found: String },
    #[error("`{path}` is not a database of Baton's")]
    NotOurs { path: PathBuf },
    #[error(
        "`{path}` was written by a newer Baton (migration {number}); upgrade this one. If there is none, the file is damaged: {RECOVER}"
    )]
    FromTheFuture { path: PathBuf, number: i64 },
    #[error(
        "`{path}` was made with another migration {number} than this Baton has: by another build, or it is damaged. Nothing was changed; {RECOVER}"
    )]
    Changed { path: PathBuf, number: i64 },
    #[error("`{}` has the schema of an older Baton; type `baton status` to bring it up to date", path.display())]
    OlderSchema { path: PathBuf },
    #[error("`{}` is damaged: {damage}. Nothing was changed; {RECOVER}", path.display())]
    Damaged {
        path: PathBuf,
        damage: Damage,
        #[source]
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
    #[error(
        "`{}` is missing or empty, and this project had a database{}; {RECOVER}, \
         `baton restore FILE` to bring back a backup, or `baton init --new-data` to begin with \
         an empty one",
        path.display(), last_event(*position)
    )]
    Missing {
        path: PathBuf,
        /// Position of the newest event, if known.
        position: Option<u64>,
    },
    #[error(
        "`{}` is older than what was last written here (up to event {marked}): a copy, or part of it \
         is lost. Nothing was changed; {RECOVER}, or `baton restore --replace FILE` to go on with \
         a backup",
        path.display()
    )]
    Older { path: PathBuf, marked: u64 },
    #[error(
        "`{}` is not the database that was last open here. Nothing was changed; type `baton restore \
         --replace FILE` with a copy of the right one, or, to go on with this one, `mv {} {2}` and then \
         `baton restore --replace {2}`",
        path.display(), shell_path(path, ""), shell_path(path, ".other")
    )]
    Exchanged { path: PathBuf },
    #[error(
        "`{}` has a part of data that is being moved here, and not all of it; repeat the interrupted \
         `baton migrate` command to go on with it",
        path.display()
    )]
    Moving { path: PathBuf },
    #[error("`{}` has data; `baton restore --replace FILE` puts another database in its place", path.display())]
    InTheWay { path: PathBuf },
    #[error("`{path}` cannot be opened: {fault}")]
    Unwritable { path: PathBuf, fault: WriteFault },
    #[error(
        "`{}` cannot be opened: this process has as many files open as it may; raise the limit with \
         `ulimit -n`, or close some",
        path.display()
    )]
    TooManyFiles {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("`{path}` cannot be opened")]
    Sqlite {
        path: PathBuf,
        #[source]
        source: rusqlite::Error,
    },
}

const RECOVER: &str = "type `baton recover` to save all that is whole into a new database";

/// A path that can be pasted, followed by `ending`.
fn shell_path(path: &Path, ending: &str) -> String {
    shell_word(&format!("{}{ending}", path.display()))
}

fn last_event(position: Option<u64>) -> String {
    position.map_or_else(String::new, |it| format!(" that went up to event {it}"))
}

/// What is damaged, and how much of it is valid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    #[error("its first page is not that of a database")]
    Header,
    #[error(
        "it has {n_bytes} bytes, which is less than its {n_pages} pages of {page_size} bytes take"
    )]
    Short { n_bytes: u64, n_pages: u32, page_size: u32 },
    #[error("its pages do not fit together")]
    Pages,
    #[error("there is a log, and no database to go with it")]
    LogAlone,
    #[error("its first 32 bytes are not those of a log")]
    LogHeader,
    #[error("frame {} is broken, though frames were written behind it ({n_whole} before it are whole)", n_whole + 1)]
    LogBroken {
        n_whole: u64,
        /// The first commit frame behind the broken one, counted from 0.
        stranded: u64,
    },
    #[error("it has {n_whole} whole frames, and had {n_frames}")]
    LogShort { n_whole: u64, n_frames: u64 },
    #[error("it is missing or empty, and had {n_frames} frames")]
    LogMissing { n_frames: u64 },
    #[error("its list of migrations has no number {number}, whose tables it has")]
    Migrations { number: i64 },
    #[error("Baton leaves no such file behind, and SQLite would write it over the database")]
    Journal,
}

impl Damage {
    /// The damaged file.
    pub(crate) fn file(&self) -> &'static str {
        match self {
            Self::Header | Self::Short { .. } | Self::Pages | Self::Migrations { .. } => {
                crate::FILE
            }
            Self::LogAlone
            | Self::LogHeader
            | Self::LogBroken { .. }
            | Self::LogShort { .. }
            | Self::LogMissing { .. } => WAL_FILE,
            Self::Journal => JOURNAL_FILE,
        }
    }
}

impl OpenError {
    /// Why the data cannot be opened for writing, where the disk is the reason. It may still be
    /// good for [`reading`](crate::SqliteStore::open_frozen).
    pub fn write_fault(&self) -> Option<WriteFault> {
        match self {
            OpenError::File { source, .. } | OpenError::Files(FileError::Io { source, .. }) => {
                fault_of_io(source)
            }
            OpenError::Unwritable { fault, .. } => Some(fault.clone()),
            OpenError::Sqlite { path, source } => write_fault(source).or_else(|| {
                let dir = path.parent()?;
                has_room(dir).err().as_ref().and_then(fault_of_io)
            }),
            OpenError::Setting { .. }
            | OpenError::Files(_)
            | OpenError::Interrupted(_)
            | OpenError::Network { .. }
            | OpenError::OldSqlite { .. }
            | OpenError::NotOurs { .. }
            | OpenError::FromTheFuture { .. }
            | OpenError::Changed { .. }
            | OpenError::OlderSchema { .. }
            | OpenError::Damaged { .. }
            | OpenError::Missing { .. }
            | OpenError::Older { .. }
            | OpenError::Exchanged { .. }
            | OpenError::Moving { .. }
            | OpenError::InTheWay { .. }
            | OpenError::TooManyFiles { .. } => None,
        }
    }
}

/// Maps an error from opening `path`.
pub(crate) fn to_open(path: &Path) -> impl Fn(rusqlite::Error) -> OpenError {
    |source| {
        let path = path.to_owned();
        if is_damage(&source) {
            let damage = Damage::Pages;
            return OpenError::Damaged { path, damage, source: Some(Box::new(source)) };
        }
        if source.sqlite_error_code() == Some(ErrorCode::CannotOpen)
            && let Some(source) = no_descriptors(path.parent().unwrap_or(Path::new("")))
        {
            return OpenError::TooManyFiles { path, source };
        }
        OpenError::Sqlite { path, source }
    }
}

/// SQLite does not say why it cannot open a file, and has closed the others again by then. So this
/// opens as many files as one connection needs.
fn no_descriptors(dir: &Path) -> Option<io::Error> {
    /// `ENFILE` and `EMFILE`, on every Unix.
    const CODES: [i32; 2] = [23, 24];
    let opened: Result<Vec<Dir>, FileError> = (0..4).map(|_| Dir::open(dir)).collect();
    let Err(FileError::Io { source, .. }) = opened else { return None };
    source.raw_os_error().is_some_and(|it| CODES.contains(&it)).then_some(source)
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

/// The write fault, where SQLite's code alone identifies it. A failing disk has one code for
/// everything, so [`fault_of_io`] is needed too.
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

/// The fault that prevents writes to a folder.
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

/// Maps an error of a write command.
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

/// A schema constraint was violated: uniqueness or a foreign key.
pub(crate) fn is_constraint(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation)
}

fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
}

/// The unreadable columns, in our own words.
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
        // SQLite cannot prepare one of our statements: a table or an index is missing.
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

/// For a column value that Baton does not write.
pub(crate) fn unreadable(column: &'static str) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(0, Type::Text, Box::new(Unreadable { column }))
}

#[derive(Debug, thiserror::Error)]
#[error("column `{column}` holds what Baton does not write")]
struct Unreadable {
    column: &'static str,
}

/// Reads a row, and names its table and its number where a column is unreadable. `number` is the
/// column with the row's number.
pub(crate) fn in_row<T>(
    row: &Row<'_>,
    table: &'static str,
    number: &'static str,
    read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    read(row).map_err(|error| {
        let Some(column) = unreadable_column(&error) else { return error };
        let number = row.get(number).unwrap_or_default();
        let damage = RowDamage { table, number, column };
        rusqlite::Error::FromSqlConversionFailure(0, Type::Text, Box::new(damage))
    })
}

/// True for transient errors: they say nothing about the file.
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

/// What is unreadable, in our own words.
pub(crate) fn damage(error: &rusqlite::Error) -> String {
    unreadable_column(error).unwrap_or_else(|| error.to_string())
}

#[derive(Debug, thiserror::Error)]
#[error("row {number} of `{table}`: {column} holds what Baton does not write")]
struct RowDamage {
    table: &'static str,
    number: i64,
    /// With a preposition.
    column: String,
}

/// No command of the group took effect, and all have the same cause.
#[derive(Debug, Clone, thiserror::Error)]
#[error("the transaction could not be committed")]
pub(crate) struct GroupFailed(#[source] pub(crate) Arc<rusqlite::Error>);

#[derive(Debug, thiserror::Error)]
#[error("the thread that works on the database has ended")]
struct ThreadGone;

pub(crate) fn thread_gone() -> StoreError {
    StoreError::Unavailable(Box::new(ThreadGone))
}
