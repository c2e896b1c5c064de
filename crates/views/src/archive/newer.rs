//! Sessions on disk with events that the store does not have, as after the restore of an older
//! backup. Such a log may be the only proof of them, so it is moved aside and never replaced.

use std::io::{BufRead as _, BufReader, Read as _};

use baton_core::hash::Hash;
use baton_core::run::RunId;
use baton_files::{Access, Dir, FileError};
use baton_wire::run_log::RunLogLine;
use uuid::Uuid;

use super::log::LOG;

/// Between the id of a run and a number, in the name of a folder that was moved aside.
const ASIDE: &str = ".newer-";
/// The first line of a log is short.
const MOST_FIRST_LINE: u64 = 4096;

/// The run of a session folder, under its own name or moved aside.
pub fn run_of_session(folder: &str) -> Option<RunId> {
    let id = match folder.split_once(ASIDE) {
        Some((id, number)) => {
            number.parse::<u32>().ok()?;
            id
        }
        None => folder,
    };
    let run = RunId(Uuid::try_parse(id).ok()?);
    (run.to_string() == id).then_some(run)
}

/// The first free name in `sessions` for the session of this run.
pub(super) fn free_name(sessions: &Dir, name: &str) -> Result<String, FileError> {
    let mut number = 1_u32;
    loop {
        let aside = format!("{name}{ASIDE}{number}");
        if sessions.entry(&aside)?.is_none() {
            return Ok(aside);
        }
        number += 1;
    }
}

/// Whether the log in `folder` has events of `run` that are not in `hashes`, those of the run in
/// the store, in order.
pub(super) fn tells_more(folder: &Dir, run: RunId, hashes: &[Hash]) -> bool {
    let Some((version, head)) = archived_head(folder, run) else { return false };
    let Some(last) = version.checked_sub(1) else { return false };
    let known = usize::try_from(last).ok().and_then(|it| hashes.get(it));
    known != Some(&head)
}

/// The version of a session, and the hash of its last event. An unreadable log proves nothing.
fn archived_head(folder: &Dir, run: RunId) -> Option<(u64, Hash)> {
    let file = folder.open_file(LOG, Access::Read).ok()?;
    let mut line = String::new();
    BufReader::new(file.take(MOST_FIRST_LINE)).read_line(&mut line).ok()?;
    match RunLogLine::decode(line.trim_end())? {
        RunLogLine::Run { id, version, head, .. } => (id == run.0).then_some((version, head)),
        RunLogLine::Story(_)
        | RunLogLine::Handoff { .. }
        | RunLogLine::Event { .. }
        | RunLogLine::Text(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_folders_of_sessions_are_of_a_run() {
        let id = RunId(Uuid::from_u128(7));
        for (folder, expected) in [
            (id.to_string(), Some(id)),
            (format!("{id}.newer-1"), Some(id)),
            (format!("{id}.newer-"), None),
            (format!("{id}.newer-x"), None),
            (format!(".{id}.new"), None),
            (format!(".{id}.old"), None),
            ("notes".to_owned(), None),
        ] {
            assert_eq!(run_of_session(&folder), expected, "{folder}");
        }
    }
}
