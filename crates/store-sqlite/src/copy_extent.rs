//! How far a copy of a database goes, determined without writing to it.

use baton_core::run::RunId;
use baton_files::Dir;
use baton_store::{Identity, Position};
use rusqlite::{Connection, OptionalExtension as _};

use crate::mark::MarkNumber;
use crate::{LastMark, connect, events, filesystem, identity};

/// A copy opened for reading. A log beside it is ignored, so it may go further than this says.
#[derive(Debug)]
pub struct CopyExtent {
    pub identity: Identity,
    pub position: Position,
    number: MarkNumber,
    connection: Connection,
}

impl CopyExtent {
    /// `None` where it cannot be read.
    pub fn read(dir: &Dir) -> Option<Self> {
        let connection = connect::reading_frozen(&filesystem::path_in(dir).ok()?).ok()?;
        let identity = identity::find(&connection).ok()?;
        let number = identity::mark_number(&connection).ok()?;
        let position = events::last_position(&connection).ok()?;
        Some(Self { identity, position, number, connection })
    }

    /// Whether it covers all that `mark` covers. Mark numbers are comparable within one epoch;
    /// across a restore, only events are.
    pub fn is_as_new_as(&self, mark: &LastMark) -> bool {
        let is_number_reached =
            self.identity.epoch != mark.identity.epoch || self.number >= MarkNumber(mark.number);
        self.identity.project == mark.identity.project
            && self.position >= mark.position
            && is_number_reached
    }

    /// How many events of a run it has.
    pub fn n_events_of(&self, run: RunId) -> u64 {
        let sql = "select version from runs where id = ?1";
        let version =
            self.connection.query_row(sql, [run.0.as_bytes()], |row| row.get::<_, i64>(0));
        let version = version.optional().ok().flatten();
        version.and_then(|it| u64::try_from(it).ok()).unwrap_or(0)
    }
}
