//! Every story matches the last link of its key in the story log, the chain of that log is valid,
//! and a story has the status of its newest run.

use std::collections::HashMap;

use rusqlite::Connection;

use super::found::FoundProblems;
use super::scan;
use crate::stories;
use crate::story_log;

const LOG: &str = "number, key, written_at, story, hash from story_log not indexed";

/// True where a story has the status of its newest run.
const NAMES_ITS_RUN: &str = "run_status is (
    select runs.status from runs where runs.story_key = stories.key
    order by runs.number desc limit 1
)";

pub(super) fn check(connection: &Connection, found: &mut FoundProblems) -> rusqlite::Result<()> {
    rows(connection, found, NAMES_ITS_RUN)
}

/// Only what does not depend on runs: where runs are unreadable, stories may still be valid.
pub(super) fn check_alone(
    connection: &Connection,
    found: &mut FoundProblems,
) -> rusqlite::Result<()> {
    rows(connection, found, "true")
}

fn rows(
    connection: &Connection,
    found: &mut FoundProblems,
    names_its_run: &str,
) -> rusqlite::Result<()> {
    let mut newest: HashMap<String, [u8; 32]> = HashMap::new();
    let mut head = story_log::START;
    scan::rows(connection, "story_log", LOG, found, |row, number, found| {
        let (key, at): (String, i64) = (row.get("key")?, row.get("written_at")?);
        let (story, hash): ([u8; 32], [u8; 32]) = (row.get("story")?, row.get("hash")?);
        if baton_store::story_link(&head, &key, at, &story) != hash {
            found.add(format!("link {number} of the story log does not fit the chain"));
        }
        head = hash;
        newest.insert(key, story);
        Ok(())
    })?;
    let from = format!(
        "rowid as row_number, {}, null as run_id, null as status, {names_its_run} as names_its_run
         from stories not indexed",
        story_log::COLUMNS
    );
    scan::rows(connection, "stories", &from, found, |row, _, found| {
        let key = stories::read(row)?.story.key;
        match newest.remove(key.as_str()) {
            Some(digest) if digest == story_log::columns_of_row(row)?.digest() => {}
            Some(_) => found.add(format!("the story `{key}` is not as it was written last")),
            None => found.add(format!("the story `{key}` was not written by Baton")),
        }
        if !row.get::<_, bool>("names_its_run")? {
            found.add(format!(
                "the story `{key}` has a `run_status` that is not that of its newest run"
            ));
        }
        Ok(())
    })?;
    let mut gone: Vec<String> = newest.into_keys().collect();
    gone.sort_unstable();
    for key in gone {
        found.add(format!("the story `{key}` is missing"));
    }
    Ok(())
}
