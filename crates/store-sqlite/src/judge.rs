//! Examines the files of a database before anything may write, checkpoint or delete.
//!
//! SQLite takes the valid beginning of a damaged log for the log, checkpoints it and deletes it;
//! and takes the rest of a truncated database for a new one. So the files are judged first,
//! read-only, whatever their size. Damaged files are left byte for byte as they were.

use std::collections::BTreeSet;
use std::io::BufReader;
use std::path::Path;

use baton_files::{Access, Dir, FileError};
use rusqlite::{Connection, OptionalExtension as _};

use crate::database_header::DatabaseHeader;
use crate::error::{Damage, OpenError, to_open};
use crate::mark::{LogPart, Mark, MarkNumber, MarkState, MarkedLog, StoredMark};
use crate::wal::{Wal, WalFrames};
use crate::{FILE, check, identity};

/// The suffix that SQLite adds to a database's name to name its log.
pub const LOG_ENDING: &str = "-wal";
/// The name of the log.
pub const WAL_FILE: &str = "baton.db-wal";
/// A rollback journal, which Baton does not use once a database is created. SQLite would write its
/// contents over the database.
pub(crate) const JOURNAL_FILE: &str = "baton.db-journal";
/// The folder in which data that is moved here is kept until all of it is there.
pub const UNFINISHED_MOVE: &str = "moving";
/// The length of a database before it has any contents.
const FIRST_PAGE: u64 = 4096;

/// The result, where nothing prevents opening the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Judgement {
    /// The mark beside the database; `None` for a new or an older database.
    pub(crate) mark: StoredMark,
    pub(crate) has_database: bool,
    /// The last writing process did not close the database.
    pub(crate) is_unclean: bool,
}

/// Judges the files in `dir`, as far as possible without SQLite.
pub(crate) fn judge_files(dir: &Dir) -> Result<Judgement, OpenError> {
    let mark = StoredMark::read(dir)?;
    let n_bytes = length(dir, FILE)?;
    let wal = read_wal(dir)?;
    if length(dir, JOURNAL_FILE)? > 0 {
        // SQLite turns an empty file into a database in write-ahead mode by way of a journal.
        let is_being_made =
            n_bytes <= FIRST_PAGE && wal.wal == Wal::Empty && mark == StoredMark::None;
        if !is_being_made {
            return Err(damaged(dir, Damage::Journal));
        }
        return Ok(Judgement { mark, has_database: false, is_unclean: true });
    }
    if n_bytes == 0 {
        return judge_absent(dir, mark, &wal.wal);
    }
    let header = DatabaseHeader::read(dir)?.ok_or_else(|| damaged(dir, Damage::Header))?;
    let frames = judge_log(dir, &header, &wal.wal, &mark)?;
    header.check_length(n_bytes, frames, &wal.pages).map_err(|it| damaged(dir, it))?;
    Ok(Judgement { mark, has_database: true, is_unclean: wal.wal != Wal::Empty })
}

/// The log as read, and which pages of the database it has.
struct ReadWal {
    wal: Wal,
    pages: BTreeSet<u32>,
}

fn read_wal(dir: &Dir) -> Result<ReadWal, OpenError> {
    let mut pages = BTreeSet::new();
    let n_bytes = length(dir, WAL_FILE)?;
    if n_bytes == 0 {
        return Ok(ReadWal { wal: Wal::Empty, pages });
    }
    let file = dir.open_file(WAL_FILE, Access::Read).map_err(OpenError::Files)?;
    let wal = Wal::read(BufReader::with_capacity(1 << 20, file), n_bytes, |it| pages.extend(it))
        .map_err(|source| OpenError::File { path: dir.path().join(WAL_FILE), source })?;
    Ok(ReadWal { wal, pages })
}

/// For a folder without a database: it is not a new one where data is being moved there.
pub fn refuse_unfinished_move(dir: &Dir) -> Result<(), OpenError> {
    match dir.entry(UNFINISHED_MOVE).map_err(OpenError::Files)? {
        Some(_) => Err(OpenError::Moving { path: dir.path().join(UNFINISHED_MOVE) }),
        None => Ok(()),
    }
}

/// There is no database. That is normal for a new project only.
fn judge_absent(dir: &Dir, mark: StoredMark, wal: &Wal) -> Result<Judgement, OpenError> {
    if *wal != Wal::Empty {
        return Err(damaged(dir, Damage::LogAlone));
    }
    refuse_unfinished_move(dir)?;
    let path = dir.path().join(FILE);
    match &mark {
        StoredMark::None => Ok(Judgement { mark, has_database: false, is_unclean: false }),
        StoredMark::Unreadable => Err(OpenError::Missing { path, position: None }),
        StoredMark::Mark(it) => Err(OpenError::Missing { path, position: Some(it.position.0) }),
    }
}

/// The log is valid, by itself and by the mark.
fn judge_log<'a>(
    dir: &Dir,
    header: &DatabaseHeader,
    wal: &'a Wal,
    mark: &StoredMark,
) -> Result<Option<&'a WalFrames>, OpenError> {
    let marked = match mark {
        StoredMark::Mark(it) => it.log,
        StoredMark::None | StoredMark::Unreadable => MarkedLog::Empty,
    };
    let frames = match (wal, marked) {
        (Wal::Empty, MarkedLog::Empty | MarkedLog::Moved(_)) => return Ok(None),
        (Wal::Empty, MarkedLog::Needed(LogPart { n_frames, .. })) => {
            return Err(damaged(dir, Damage::LogMissing { n_frames }));
        }
        (Wal::HeaderBroken { .. }, _) => return Err(damaged(dir, Damage::LogHeader)),
        (Wal::Frames(frames), _) => frames,
    };
    if frames.header.page_size != header.page_size {
        return Err(damaged(dir, Damage::LogHeader));
    }
    if let Some(stranded) = frames.stranded {
        let n_whole = frames.n_committed;
        return Err(damaged(dir, Damage::LogBroken { n_whole, stranded }));
    }
    let (MarkedLog::Needed(part) | MarkedLog::Moved(part)) = marked else {
        return Ok(Some(frames));
    };
    if part.salts == frames.header.salts && frames.n_committed < part.n_frames {
        let (n_whole, n_frames) = (frames.n_committed, part.n_frames);
        return Err(damaged(dir, Damage::LogShort { n_whole, n_frames }));
    }
    Ok(Some(frames))
}

/// The database at `path` is the one that was last open here, and no older. `connection` cannot
/// write to it.
pub(crate) fn judge_contents(
    connection: &Connection,
    path: &Path,
    judgement: &Judgement,
) -> Result<(), OpenError> {
    check::at_start(connection, path)?;
    let found = found_identity(connection).map_err(|error| {
        if matches!(error, rusqlite::Error::QueryReturnedNoRows) {
            // The table exists, but its one row is missing.
            let (path, damage) = (path.to_owned(), Damage::Pages);
            return OpenError::Damaged { path, damage, source: Some(error.into()) };
        }
        to_open(path)(error)
    })?;
    let path = path.to_owned();
    let StoredMark::Mark(mark) = &judgement.mark else { return Ok(()) };
    let marked = mark.position.0;
    match found {
        // Created by a Baton without marks, so before the mark.
        None => Err(OpenError::Older { path, marked }),
        Some((identity, _)) if identity != mark.identity => Err(OpenError::Exchanged { path }),
        Some((_, number)) if number < mark.number => Err(OpenError::Older { path, marked }),
        Some(_) => Ok(()),
    }
}

/// The state of the mark: a database that was ever marked has a number above 0.
pub(crate) fn mark_state(
    connection: &Connection,
    judgement: &Judgement,
) -> rusqlite::Result<MarkState> {
    Ok(match &judgement.mark {
        StoredMark::Mark(Mark { is_renewed: true, .. }) => MarkState::Renewed,
        StoredMark::Mark(_) => MarkState::Present,
        StoredMark::Unreadable => MarkState::Unreadable,
        StoredMark::None => match found_identity(connection)? {
            Some((_, MarkNumber(1..))) => MarkState::Missing,
            Some((_, MarkNumber(0))) | None => MarkState::NeverWritten,
        },
    })
}

/// `None` for a database that has no identity yet.
fn found_identity(
    connection: &Connection,
) -> rusqlite::Result<Option<(baton_store::Identity, MarkNumber)>> {
    let sql = "select 1 from sqlite_schema where type = 'table' and name = 'identity'";
    if connection.query_row(sql, [], |_| Ok(())).optional()?.is_none() {
        return Ok(None);
    }
    Ok(Some((identity::find(connection)?, identity::mark_number(connection)?)))
}

fn length(dir: &Dir, name: &str) -> Result<u64, OpenError> {
    Ok(dir.entry(name).map_err(OpenError::Files)?.map_or(0, |it| it.n_bytes))
}

fn damaged(dir: &Dir, damage: Damage) -> OpenError {
    OpenError::Damaged { path: dir.path().join(damage.file()), damage, source: None }
}

/// Maps what the file module refuses.
impl From<FileError> for OpenError {
    fn from(error: FileError) -> Self {
        Self::Files(error)
    }
}

#[cfg(test)]
mod tests;
