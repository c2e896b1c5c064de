//! The mark: how far the database was last known to be written, in a file of its own.
//!
//! A database alone cannot show that its newest part is missing: a shorter log, an older copy and
//! an empty file are all valid. So `baton.mark` repeats a number from the database and records the
//! length of the log. It is written only after the data it covers is on disk, so it never claims
//! too much: a database that has less than its mark has lost data.
//!
//! Two invariants make this hold at every moment (ADR 0018):
//! - a checkpoint moves no page into the database before a mark covers that part of the log;
//! - the log is truncated only once a mark says that all of it was checkpointed.

use baton_files::{Dir, FileError, FileMode};
use baton_store::{Identity, Position};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::wal::Salts;

pub(crate) const MARK_FILE: &str = "baton.mark";
const FIRST_LINE: &str = "baton mark 1";
/// Only in a mark that replaced a lost one.
const RENEWED_LINE: &str = "renewed yes\n";
const MOST_BYTES: u64 = 4096;

/// Of two copies of one database, the one with the lower number is older.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct MarkNumber(pub(crate) u64);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) identity: Identity,
    pub(crate) number: MarkNumber,
    /// Position of the newest event, for people.
    pub(crate) position: Position,
    pub(crate) log: MarkedLog,
    /// The previous mark was lost in this epoch, so this one cannot vouch for anything older than
    /// itself.
    pub(crate) is_renewed: bool,
}

/// What the log contained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MarkedLog {
    Empty,
    /// At least these frames, without which the database is incomplete.
    Needed(LogPart),
    /// At least these frames, all of them checkpointed: the log may be gone, but what is left of it
    /// must be valid.
    Moved(LogPart),
}

/// A number of frames from the start of the log with these salts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LogPart {
    pub(crate) salts: Salts,
    pub(crate) n_frames: u64,
}

/// The contents of the mark file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StoredMark {
    None,
    /// The file exists, but Baton did not write its contents.
    Unreadable,
    Mark(Mark),
}

/// State of the mark when the database was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarkState {
    Present,
    /// No mark, and there never was one: the database is new.
    NeverWritten,
    /// The file is not a valid mark: it is unknown whether the newest data is missing.
    Unreadable,
    /// No mark, though there was one once.
    Missing,
    /// A mark that replaced a lost one in the same epoch. Losses before that are unknown; a restore
    /// begins another epoch and settles it.
    Renewed,
}

impl MarkState {
    /// What is wrong with the mark, where it cannot show whether the newest events are missing.
    pub fn loss(self) -> Option<&'static str> {
        match self {
            Self::Present | Self::NeverWritten => None,
            Self::Unreadable => Some("`baton.mark` beside the database cannot be read"),
            Self::Missing => Some("`baton.mark` beside the database is missing"),
            Self::Renewed => Some("`baton.mark` beside the database was lost and made anew"),
        }
    }
}

/// Whether the mark in `dir` shows how far the data went. False where there is none, as beside a
/// new database.
pub fn has_trusted_mark(dir: &Dir) -> Result<bool, FileError> {
    Ok(matches!(StoredMark::read(dir)?, StoredMark::Mark(it) if !it.is_renewed))
}

/// What is wrong with the mark in `dir`, where one is expected.
pub fn mark_loss(dir: &Dir, is_expected: bool) -> Result<Option<&'static str>, FileError> {
    let state = match StoredMark::read(dir)? {
        StoredMark::None if is_expected => MarkState::Missing,
        StoredMark::None => MarkState::NeverWritten,
        StoredMark::Unreadable => MarkState::Unreadable,
        StoredMark::Mark(Mark { is_renewed: true, .. }) => MarkState::Renewed,
        StoredMark::Mark(_) => MarkState::Present,
    };
    Ok(state.loss())
}

impl StoredMark {
    pub(crate) fn read(dir: &Dir) -> Result<Self, FileError> {
        match dir.read(MARK_FILE, MOST_BYTES) {
            Ok(bytes) => Ok(parse(&bytes).map_or(Self::Unreadable, Self::Mark)),
            Err(FileError::NotFound { .. }) => Ok(Self::None),
            Err(FileError::TooLarge { .. }) => Ok(Self::Unreadable),
            Err(error) => Err(error),
        }
    }
}

impl Mark {
    pub(crate) fn write(&self, dir: &Dir) -> Result<(), FileError> {
        dir.replace(MARK_FILE, self.print().as_bytes(), FileMode::Private)
    }

    fn print(&self) -> String {
        let Self { identity, number, position, log, is_renewed } = self;
        let project = identity.project.simple();
        let print = |word: &str, part: &LogPart| {
            let Salts(one, two) = part.salts;
            format!("{word} {one:08x} {two:08x} {}", part.n_frames)
        };
        let log = match log {
            MarkedLog::Empty => "empty".to_owned(),
            MarkedLog::Needed(part) => print("needed", part),
            MarkedLog::Moved(part) => print("moved", part),
        };
        let renewed = if *is_renewed { RENEWED_LINE } else { "" };
        let lines = format!(
            "{FIRST_LINE}\nproject {project}\nepoch {}\nnumber {}\nposition {}\nlog {log}\n{renewed}",
            identity.epoch, number.0, position.0
        );
        format!("{lines}check {}\n", check(&lines))
    }
}

/// `None` unless the text equals the output of [`Mark::print`] byte for byte.
fn parse(bytes: &[u8]) -> Option<Mark> {
    let text = std::str::from_utf8(bytes).ok()?;
    let mut lines = text.strip_prefix(FIRST_LINE)?.strip_prefix('\n')?.lines();
    let mut value = |key: &str| lines.next()?.strip_prefix(key)?.strip_prefix(' ');
    let mark = Mark {
        identity: Identity {
            project: Uuid::try_parse(value("project")?).ok()?,
            epoch: value("epoch")?.to_owned(),
        },
        number: MarkNumber(value("number")?.parse().ok()?),
        position: Position(value("position")?.parse().ok()?),
        log: parse_log(value("log")?)?,
        is_renewed: text.contains(RENEWED_LINE),
    };
    (mark.print() == text).then_some(mark)
}

fn parse_log(text: &str) -> Option<MarkedLog> {
    let mut words = text.split(' ');
    let kind: fn(LogPart) -> MarkedLog = match words.next()? {
        "empty" => return Some(MarkedLog::Empty),
        "needed" => MarkedLog::Needed,
        "moved" => MarkedLog::Moved,
        _ => return None,
    };
    let mut salt = || u32::from_str_radix(words.next()?, 16).ok();
    let salts = Salts(salt()?, salt()?);
    let n_frames = words.next()?.parse().ok()?;
    Some(kind(LogPart { salts, n_frames }))
}

fn check(lines: &str) -> String {
    let hash: [u8; 32] = Sha256::digest(lines).into();
    hash[..8].iter().map(|it| format!("{it:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(log: MarkedLog) -> Mark {
        let identity = Identity { project: Uuid::from_u128(7), epoch: "0a1b2c3d".to_owned() };
        Mark { identity, number: MarkNumber(12), position: Position(345), log, is_renewed: false }
    }

    #[test]
    fn a_mark_comes_back_as_it_was_written() {
        let dir = tempfile::tempdir().unwrap();
        let dir = Dir::open(dir.path()).unwrap();
        assert_eq!(StoredMark::read(&dir).unwrap(), StoredMark::None);
        let part = LogPart { salts: Salts(1, !0), n_frames: 9 };
        for log in [MarkedLog::Empty, MarkedLog::Needed(part), MarkedLog::Moved(part)] {
            for is_renewed in [false, true] {
                let mark = Mark { is_renewed, ..sample(log) };
                mark.write(&dir).unwrap();
                assert_eq!(StoredMark::read(&dir).unwrap(), StoredMark::Mark(mark));
                assert_eq!(has_trusted_mark(&dir).unwrap(), !is_renewed);
            }
        }
    }

    #[test]
    fn a_mark_that_was_changed_in_any_byte_is_unreadable() {
        let part = LogPart { salts: Salts(1, 2), n_frames: 9 };
        let text = sample(MarkedLog::Needed(part)).print();
        assert!(parse(text.as_bytes()).is_some());
        for n in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[n] ^= 1;
            assert_eq!(parse(&bytes), None, "byte {n}");
            assert_eq!(parse(&text.as_bytes()[..n]), None, "cut to {n}");
        }
    }
}
