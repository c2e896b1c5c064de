//! What a damaged database still holds, read without SQLite and without writing.
//!
//! Two ways: whole images, each combining the pages of the database and its log differently, for
//! `SqliteStore` to open and judge; and single rows, from every page that holds some. A found row
//! is not yet proven: the caller proves events by the hash chain of their run, and texts by their
//! hashes.

mod bytes;
mod cells;
mod frames;
mod pages;
mod record;
mod rows;
mod suspect;
mod unproven;

#[cfg(test)]
mod tests;

use baton_files::{Dir, FileError};
use baton_store::{Identity, Position};

use self::cells::Cell;
use self::pages::{Origin, Pages};
use crate::mark::StoredMark;

pub use self::pages::ImageKind;
pub use self::rows::{PackageClaim, SalvagedEvent, SalvagedRow, SalvagedText};
pub use self::suspect::SuspectPages;
pub use self::unproven::{UnprovenTable, is_as_new_as, is_readable, whole_tables};

/// A database and its log in a folder. They are only read.
#[derive(Debug)]
pub struct DamagedFiles {
    pages: Pages,
    mark: StoredMark,
}

/// The last contents of the mark file beside a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastMark {
    pub identity: Identity,
    /// Of two copies of a database, the one with the lower number is older.
    pub number: u64,
    /// Position of the newest event.
    pub position: Position,
}

impl LastMark {
    /// `None` where there is no readable mark.
    pub fn read(dir: &Dir) -> Result<Option<Self>, FileError> {
        match StoredMark::read(dir)? {
            StoredMark::None | StoredMark::Unreadable => Ok(None),
            StoredMark::Mark(it) => {
                Ok(Some(Self { identity: it.identity, number: it.number.0, position: it.position }))
            }
        }
    }
}

/// The rank of a salvaged row against others that contradict it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Trust(Origin);

impl Trust {
    /// From outside the database: a file that anyone may have written.
    pub const OF_THE_ARCHIVE: Self = Self(Origin::Archive);

    /// Of two rows that differ, the one with the higher rank is used.
    pub(crate) fn rank(self) -> i64 {
        const DATABASE: i64 = 1 << 40;
        let index = |it: usize| i64::try_from(it).unwrap_or(DATABASE).min(DATABASE - 3);
        match self.0 {
            Origin::Doubtful => 0,
            Origin::Archive => 1,
            Origin::OldLog(it) => 2 + index(it),
            Origin::Database => DATABASE,
            Origin::Log(it) => DATABASE + 1 + index(it),
        }
    }

    /// False for damaged or uncommitted rows.
    pub fn is_committed(self) -> bool {
        self.0 != Origin::Doubtful
    }
}

impl DamagedFiles {
    /// `None` where database and log are both missing or empty.
    pub fn open(dir: &Dir) -> Result<Option<Self>, FileError> {
        let mark = StoredMark::read(dir)?;
        Ok(Pages::open(dir)?.map(|pages| Self { pages, mark }))
    }

    /// Whether the log has bytes of unknown meaning.
    pub fn has_unknown_log(&self) -> bool {
        self.pages.has_unknown_log
    }

    /// The databases that the pages can form, the most complete first.
    pub fn images(&self) -> Vec<ImageKind> {
        self.pages.images()
    }

    /// Writes one of them into a folder that has no database yet; false where there is none.
    pub fn write_image(&mut self, kind: ImageKind, dir: &Dir) -> Result<bool, FileError> {
        self.pages.write_image(kind, dir)
    }

    /// The pages of an image that may not be in their last version.
    pub fn suspects(&mut self, kind: ImageKind) -> SuspectPages {
        self.pages.suspects(kind, &self.mark)
    }

    /// Visits every row of every version of every page, so some come many times.
    pub fn each_row<E>(
        &mut self,
        mut take: impl FnMut(SalvagedRow, Trust) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut result = Ok(());
        self.pages.each_cell(&mut |pages, origin, cell| {
            for row in rows_of(pages, cell) {
                if result.is_ok() {
                    result = take(row, Trust(origin));
                }
            }
        });
        result
    }
}

fn rows_of(pages: &mut Pages, cell: &Cell<'_>) -> Vec<SalvagedRow> {
    let Some(rowid) = cell.rowid else { return rows::in_index(cell).into_iter().collect() };
    // Before the others, because the rest of the row is long and not needed.
    if let Some(run) = rows::run(rowid, cell) {
        return vec![run];
    }
    let payloads = pages.payloads(cell);
    payloads.iter().filter_map(|it| rows::in_table(rowid, it)).collect()
}
