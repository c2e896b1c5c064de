//! Tables whose rows no event proves: checks whether an image has all of them in their last
//! version.

use std::collections::BTreeSet;

use baton_files::Dir;
use rusqlite::Connection;

use super::suspect::SuspectPages;
use crate::mark::MarkNumber;
use crate::{FILE, check, connect, identity};

/// A table that cannot be rebuilt from the runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum UnprovenTable {
    Stories,
    /// The idempotency records.
    Answers,
}

impl UnprovenTable {
    pub const ALL: [Self; 2] = [Self::Stories, Self::Answers];

    /// The table, and the tables that show whether it is complete.
    fn tables(self) -> &'static [&'static str] {
        match self {
            Self::Stories => &["stories", "story_log"],
            Self::Answers => &["answered"],
        }
    }
}

/// Whether an image in `dir` is no older than the mark with this number.
pub fn is_as_new_as(dir: &Dir, mark: u64) -> bool {
    let number = || {
        let connection = connect::reading_frozen(&dir.path().join(FILE)).ok()?;
        identity::mark_number(&connection).ok()
    };
    mark == 0 || number().is_some_and(|it| it >= MarkNumber(mark))
}

/// Whether SQLite can read every page of an image in `dir`; checked before anything slower.
pub fn is_readable(dir: &Dir) -> bool {
    let read = || {
        let connection = connect::reading_frozen(&dir.path().join(FILE)).ok()?;
        let sql = "pragma quick_check(1)";
        connection.query_row(sql, [], |row| row.get::<_, String>(0)).ok()
    };
    read().is_some_and(|it| it == "ok")
}

/// The tables of an image in `dir` that are complete and have no suspect page.
pub fn whole_tables(dir: &Dir, suspects: &SuspectPages) -> BTreeSet<UnprovenTable> {
    if suspects.may_be_any {
        return BTreeSet::new();
    }
    let Ok(connection) = connect::reading_frozen(&dir.path().join(FILE)) else {
        return BTreeSet::new();
    };
    let is_whole = |it: &UnprovenTable| is_whole(&connection, *it, suspects).unwrap_or(false);
    UnprovenTable::ALL.into_iter().filter(is_whole).collect()
}

fn is_whole(
    connection: &Connection,
    which: UnprovenTable,
    suspects: &SuspectPages,
) -> rusqlite::Result<bool> {
    for table in which.tables() {
        // The pages of the table and of its indexes.
        let sql = format!("pragma integrity_check({table})");
        let found: String = connection.query_row(&sql, [], |row| row.get(0))?;
        if found != "ok" {
            return Ok(false);
        }
        let sql = "select pageno from dbstat
                   where name in (select name from sqlite_schema where tbl_name = ?1)";
        let mut statement = connection.prepare(sql)?;
        for page in statement.query_map([table], |row| row.get::<_, u32>(0))? {
            if suspects.pages.contains(&page?) {
                return Ok(false);
            }
        }
    }
    let found = match which {
        UnprovenTable::Stories => check::in_stories(connection)?,
        UnprovenTable::Answers => check::in_answered(connection)?,
    };
    Ok(found.n_problems == 0)
}
