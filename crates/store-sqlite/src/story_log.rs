//! Every version of every story, as a link in one hash chain: stories can be edited, and no event
//! records that. Only hashes are kept, not the texts.

use baton_store::{StoryColumns, StoryHead, story_link};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::columns::{execute, hash, number};
use crate::statements::Statements;

/// The columns of a story that its digest covers.
pub(crate) const COLUMNS: &str =
    "key, title, description, acceptance, depends_on, priority, branch, pr_url, created_at";

/// The initial value of the chain.
pub(crate) const START: [u8; 32] = [0; 32];

/// Reads a row that has [`COLUMNS`].
pub(crate) fn columns_of_row(row: &Row<'_>) -> rusqlite::Result<StoryColumns> {
    Ok(StoryColumns {
        key: row.get("key")?,
        title: row.get("title")?,
        description: row.get("description")?,
        acceptance: row.get("acceptance")?,
        depends_on: row.get("depends_on")?,
        priority: row.get("priority")?,
        branch: row.get("branch")?,
        pr_url: row.get("pr_url")?,
        created_at: row.get("created_at")?,
    })
}

/// Adds a link for a story that was just written.
pub(crate) fn add(
    statements: &impl Statements,
    key: &str,
    story: &[u8; 32],
    at: i64,
) -> rusqlite::Result<()> {
    let hash = story_link(&head(statements)?, key, at, story);
    insert(statements, key, at, story, &hash)
}

/// Creates the log in a database that had none, oldest story first.
pub(crate) fn fill(connection: &Connection) -> rusqlite::Result<()> {
    let mut head = START;
    let sql = format!("select {COLUMNS} from stories order by created_at, key");
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let story = columns_of_row(row)?;
        let (at, digest) = (story.created_at, story.digest());
        head = story_link(&head, &story.key, at, &digest);
        insert(connection, &story.key, at, &digest, &head)?;
    }
    Ok(())
}

/// The chain up to the link with this number, or its last one before that.
pub(crate) fn head_at(connection: &Connection, up_to: u64) -> rusqlite::Result<StoryHead> {
    let sql = "select number, hash from story_log where number <= ?1 order by number desc limit 1";
    let up_to = i64::try_from(up_to).unwrap_or(i64::MAX);
    let read =
        |row: &Row<'_>| Ok(StoryHead { n_links: number(row, "number")?, head: hash(row, "hash")? });
    let head = connection.prepare_cached(sql)?.query_row([up_to], read).optional()?;
    Ok(head.unwrap_or(StoryHead::NONE))
}

fn head(statements: &impl Statements) -> rusqlite::Result<[u8; 32]> {
    let sql = "select hash from story_log order by number desc limit 1";
    let head = statements.with(sql, |it| it.query_row([], |row| row.get(0))).optional()?;
    Ok(head.unwrap_or(START))
}

fn insert(
    statements: &impl Statements,
    key: &str,
    at: i64,
    story: &[u8; 32],
    hash: &[u8; 32],
) -> rusqlite::Result<()> {
    let sql = "insert into story_log (key, written_at, story, hash) values (?1, ?2, ?3, ?4)";
    execute(statements, sql, params![key, at, story, hash])
}
