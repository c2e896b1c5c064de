//! How far a copy of a database goes, found out without writing to it.

use baton_core::run::RunId;
use baton_files::Dir;
use baton_store::{Identity, Position};
use rusqlite::{Connection, OptionalExtension as _};

use crate::mark::MarkNumber;
use crate::{LastMark, connect, events, filesystem, identity};

/// A copy that is open for reading. A log beside it is left out, so it may go further than this says.
#[derive(Debug)]
pub struct CopyExtent {
    pub identity: Identity,
    pub position: Position,
    number: MarkNumber,
    connection: Connection,
}

impl CopyExtent {
    /// None where it cannot be read.
    pub fn read(dir: &Dir) -> Option<Self> {
        let connection = connect::reading_frozen(&filesystem::path_in(dir).ok()?).ok()?;
        let identity = identity::find(&connection).ok()?;
        let number = identity::mark_number(&connection).ok()?;
        let position = events::last_position(&connection).ok()?;
        Some(Self { identity, position, number, connection })
    }

    /// Whether it has all that `mark` speaks of. Numbers of marks compare within one epoch; across a
    /// restore, only events do.
    pub fn is_as_new_as(&self, mark: &LastMark) -> bool {
        let is_number_reached =
            self.identity.epoch != mark.identity.epoch || self.number >= MarkNumber(mark.number);
        self.identity.project == mark.identity.project
            && self.position >= mark.position
            && is_number_reached
    }

    /// How many events it has of a run.
    pub fn n_events_of(&self, run: RunId) -> u64 {
        let sql = "select version from runs where id = ?1";
        let version =
            self.connection.query_row(sql, [run.0.as_bytes()], |row| row.get::<_, i64>(0));
        let version = version.optional().ok().flatten();
        version.and_then(|it| u64::try_from(it).ok()).unwrap_or(0)
    }
}
