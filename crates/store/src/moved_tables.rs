//! The tables that make up the data, as they are moved from one backend to the other: every row as it
//! is, so that nothing is left out because no read of [`Store`](crate::Store) returns it.
//!
//! Not moved: what a backend knows of its own files (identity, known gaps, derivations), and the nodes
//! and pushed files of a database.

use sha2::{Digest as _, Sha256};

use crate::checksum::{ChecksumPart, framed};

/// A table that both backends have.
#[derive(Debug, PartialEq, Eq)]
pub struct MovedTable {
    pub name: &'static str,
    /// The first ones, as many as `n_keys` says, identify a row and give the order.
    pub columns: &'static [MovedColumn],
    pub n_keys: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MovedColumn {
    pub name: &'static str,
    pub kind: ColumnKind,
}

/// How a column is stored: `uuid` and `boolean` are types of their own in PostgreSQL only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    Integer,
    Text,
    Bytes,
    Uuid,
    Boolean,
}

/// One value of a row. Booleans are integers, uuids are bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MovedValue {
    Null,
    Integer(i64),
    Text(String),
    Bytes(Vec<u8>),
}

pub type MovedRow = Vec<MovedValue>;

/// The last numbers that were given, to rows that may be gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LastNumbers {
    pub run: u64,
    pub handoff: u64,
    pub position: u64,
    pub outbox: u64,
}

/// What all rows of a table come to, in the order of their keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableDigest {
    pub n_rows: u64,
    pub sha256: [u8; 32],
}

/// Computes a [`TableDigest`] row by row.
#[derive(Debug, Default)]
pub struct TableHasher {
    n_rows: u64,
    hash: Sha256,
}

impl TableHasher {
    pub fn add(&mut self, row: &[MovedValue]) {
        self.n_rows += 1;
        let part = |value| match value {
            &MovedValue::Null => ChecksumPart::Null,
            &MovedValue::Integer(it) => ChecksumPart::Integer(it),
            MovedValue::Text(it) => ChecksumPart::Text(it),
            MovedValue::Bytes(it) => ChecksumPart::Bytes(it),
        };
        self.hash.update(framed(&row.iter().map(part).collect::<Vec<_>>()));
    }

    pub fn finish(self) -> TableDigest {
        TableDigest { n_rows: self.n_rows, sha256: self.hash.finalize().into() }
    }
}

impl MovedTable {
    /// The columns that identify a row.
    pub fn keys(&self) -> &'static [MovedColumn] {
        &self.columns[..self.n_keys]
    }

    /// The values of the keys of a row.
    pub fn key_of<'a>(&self, row: &'a [MovedValue]) -> &'a [MovedValue] {
        &row[..self.n_keys]
    }
}

const fn integer(name: &'static str) -> MovedColumn {
    MovedColumn { name, kind: ColumnKind::Integer }
}

const fn text(name: &'static str) -> MovedColumn {
    MovedColumn { name, kind: ColumnKind::Text }
}

const fn bytes(name: &'static str) -> MovedColumn {
    MovedColumn { name, kind: ColumnKind::Bytes }
}

const fn uuid(name: &'static str) -> MovedColumn {
    MovedColumn { name, kind: ColumnKind::Uuid }
}

const fn boolean(name: &'static str) -> MovedColumn {
    MovedColumn { name, kind: ColumnKind::Boolean }
}

/// In this order: the rows that others refer to come first.
pub const MOVED_TABLES: &[MovedTable] = &[
    MovedTable {
        name: "definitions",
        columns: &[bytes("hash"), text("name"), text("text")],
        n_keys: 1,
    },
    MovedTable {
        name: "stories",
        columns: &[
            text("key"),
            text("title"),
            text("description"),
            text("acceptance"),
            text("depends_on"),
            integer("priority"),
            text("branch"),
            text("pr_url"),
            integer("created_at"),
            text("outline"),
            text("run_status"),
        ],
        n_keys: 1,
    },
    MovedTable {
        name: "story_log",
        columns: &[
            integer("number"),
            text("key"),
            integer("written_at"),
            bytes("story"),
            bytes("hash"),
        ],
        n_keys: 1,
    },
    MovedTable {
        name: "runs",
        columns: &[
            integer("number"),
            uuid("id"),
            integer("version"),
            bytes("head"),
            text("story_key"),
            text("workflow"),
            text("status"),
            text("baton"),
            text("current_agent"),
            integer("started_at"),
            integer("moved_at"),
            text("state"),
        ],
        n_keys: 1,
    },
    MovedTable {
        name: "events",
        columns: &[
            integer("position"),
            integer("run_number"),
            integer("version"),
            integer("happened_at"),
            text("name"),
            text("done_by"),
            bytes("hash"),
            text("body"),
        ],
        n_keys: 1,
    },
    MovedTable {
        name: "handoffs",
        columns: &[
            integer("number"),
            uuid("id"),
            integer("run_number"),
            integer("no"),
            text("kind"),
            text("from_agent"),
            text("from_place"),
            text("to_agent"),
            text("to_place"),
            text("state"),
            text("outcome"),
            bytes("package"),
            bytes("reason"),
            bytes("ended_reason"),
            bytes("acknowledgement"),
            integer("attempt"),
            integer("follows"),
            text("approved_by"),
            text("warnings"),
            boolean("is_stale"),
            integer("created_at"),
            integer("accepted_at"),
            integer("ended_at"),
            integer("score"),
        ],
        n_keys: 1,
    },
    MovedTable { name: "shared_texts", columns: &[bytes("id"), text("text")], n_keys: 1 },
    MovedTable {
        name: "contents",
        columns: &[
            integer("run_number"),
            bytes("id"),
            bytes("nonce"),
            text("kind"),
            text("format"),
            bytes("hash"),
            text("text"),
        ],
        n_keys: 2,
    },
    MovedTable { name: "lost_texts", columns: &[integer("run_number"), bytes("id")], n_keys: 2 },
    MovedTable {
        name: "timers",
        columns: &[
            integer("run_number"),
            integer("no"),
            text("kind"),
            integer("fence"),
            integer("seconds"),
            integer("due_at"),
            integer("checksum"),
        ],
        n_keys: 2,
    },
    MovedTable {
        name: "due",
        columns: &[integer("run_number"), integer("due_at"), integer("checksum")],
        n_keys: 1,
    },
    MovedTable { name: "waiting", columns: &[integer("run_number")], n_keys: 1 },
    MovedTable { name: "blocked", columns: &[integer("run_number")], n_keys: 1 },
    MovedTable {
        name: "outbox",
        columns: &[integer("id"), integer("run_number"), text("about"), integer("added_at")],
        n_keys: 1,
    },
    MovedTable {
        name: "answered",
        columns: &[
            text("scope"),
            text("key"),
            bytes("request"),
            integer("answered_at"),
            text("answer"),
            integer("checksum"),
        ],
        n_keys: 2,
    },
    MovedTable {
        name: "cursors",
        columns: &[text("projector"), integer("position"), integer("checksum")],
        n_keys: 1,
    },
    MovedTable {
        name: "checkpoints",
        columns: &[integer("number"), text("text"), bytes("signature")],
        n_keys: 1,
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(rows: &[MovedRow]) -> TableDigest {
        let mut hasher = TableHasher::default();
        rows.iter().for_each(|it| hasher.add(it));
        hasher.finish()
    }

    #[test]
    fn a_digest_tells_every_difference() {
        let text = |it: &str| MovedValue::Text(it.to_owned());
        let rows = [
            vec![],
            vec![vec![text("ab"), MovedValue::Null]],
            vec![vec![text("a"), text("b")]],
            vec![vec![text("a")], vec![text("b")], vec![]],
            vec![vec![MovedValue::Bytes(b"ab".to_vec()), MovedValue::Null]],
            vec![vec![MovedValue::Integer(0), MovedValue::Null]],
            vec![vec![MovedValue::Integer(-1), MovedValue::Null]],
        ];
        for (a, first) in rows.iter().enumerate() {
            for (b, second) in rows.iter().enumerate() {
                assert_eq!(digest(first) == digest(second), a == b, "{a} {b}");
            }
        }
    }

    #[test]
    fn every_key_is_a_column() {
        for table in MOVED_TABLES {
            assert!((1..=table.columns.len()).contains(&table.n_keys), "{}", table.name);
        }
    }
}
