//! Every version of every story, as a link in one chain: stories can be edited, and no event tells
//! of that. The texts themselves are not kept, only what they hash to.

use baton_core::names::StoryKey;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::checksum::{Part, digest};

/// The columns of a story that its digest is over.
pub(crate) const COLUMNS: &str =
    "key, title, description, acceptance, depends_on, priority, branch, pr_url, created_at";

/// What the chain starts from.
pub(crate) const START: [u8; 32] = [0; 32];

/// Adds a link for the story of `key` as it stands in its row now.
pub(crate) fn add(connection: &Connection, key: &StoryKey, at: i64) -> rusqlite::Result<()> {
    let sql = format!("select {COLUMNS} from stories where key = ?1");
    let mut statement = connection.prepare_cached(&sql)?;
    let story = statement.query_row([key.as_str()], story_digest)?;
    let head = head(connection)?;
    insert(connection, key.as_str(), at, &story, &link(&head, key.as_str(), at, &story))
}

/// Begins the log of a database that had none, oldest story first.
pub(crate) fn fill(connection: &Connection) -> rusqlite::Result<()> {
    let mut head = START;
    let sql = format!("select {COLUMNS} from stories order by created_at, key");
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (key, at): (String, i64) = (row.get("key")?, row.get("created_at")?);
        let story = story_digest(row)?;
        head = link(&head, &key, at, &story);
        insert(connection, &key, at, &story, &head)?;
    }
    Ok(())
}

pub(crate) fn link(head: &[u8; 32], key: &str, at: i64, story: &[u8; 32]) -> [u8; 32] {
    digest(&[Part::Bytes(head), Part::Text(key), Part::Integer(at), Part::Bytes(story)])
}

/// Over a row that has [`COLUMNS`].
pub(crate) fn story_digest(row: &Row<'_>) -> rusqlite::Result<[u8; 32]> {
    let text = |column| row.get::<_, Option<String>>(column);
    let texts = [
        text("key")?,
        text("title")?,
        text("description")?,
        text("acceptance")?,
        text("depends_on")?,
        text("branch")?,
        text("pr_url")?,
    ];
    let mut parts: Vec<Part<'_>> = texts.iter().map(|it| Part::maybe_text(it.as_deref())).collect();
    parts.push(Part::Integer(row.get("priority")?));
    parts.push(Part::Integer(row.get("created_at")?));
    Ok(digest(&parts))
}

fn head(connection: &Connection) -> rusqlite::Result<[u8; 32]> {
    let sql = "select hash from story_log order by number desc limit 1";
    let head = connection.prepare_cached(sql)?.query_row([], |row| row.get(0)).optional()?;
    Ok(head.unwrap_or(START))
}

fn insert(
    connection: &Connection,
    key: &str,
    at: i64,
    story: &[u8; 32],
    hash: &[u8; 32],
) -> rusqlite::Result<()> {
    let sql = "insert into story_log (key, written_at, story, hash) values (?1, ?2, ?3, ?4)";
    connection.prepare_cached(sql)?.execute(params![key, at, story, hash])?;
    Ok(())
}
