//! Every version of every story, as a link in one hash chain. The end of the chain is one row:
//! the writer of a link holds it until the transaction ends, so only writers of stories wait for each
//! other. The database hashes, because only it knows the end.

use baton_store::{StoreResult, StoryColumns, StoryHead, framed_story_link};
use tokio_postgres::types::Type;

use crate::columns::{Columns, integer};
use crate::query::{Connections, SqlQuery};

/// A link for a story as it is written.
pub(crate) struct Link {
    story: [u8; 32],
    /// What is hashed after the end of the chain.
    framed: Vec<u8>,
    at: i64,
}

impl Link {
    pub(crate) fn of(columns: &StoryColumns, at: i64) -> Self {
        let story = columns.digest();
        Self { framed: framed_story_link(&columns.key, at, &story), story, at }
    }
}

/// Adds a link, if the part `written_story` of the statement has a row. The end of the chain is
/// hashed as 32 bytes: type 3, then the length.
pub(crate) fn add(query: &mut SqlQuery<'_>, link: Link) {
    let framed = query.bind(link.framed, Type::BYTEA);
    let at = query.bind(link.at, Type::INT8);
    let story = query.bind(link.story.to_vec(), Type::BYTEA);
    query.sql.push_str(&format!(
        r", chained as (
             update story_chain
             set n_links = n_links + 1,
                 head = sha256('\x030000000000000020'::bytea || head || {framed})
             from written_story
             returning n_links, head, written_story.key
         ), logged_story as (
             insert into story_log (number, key, written_at, story, hash)
             select n_links, key, {at}, {story}, head from chained
         )"
    ));
}

/// The chain up to the link with this number, or its last one before that.
pub(crate) async fn head_at(connections: &Connections, up_to: u64) -> StoreResult<StoryHead> {
    let sql = "select number, hash from story_log where number <= $1 order by number desc limit 1";
    let row = connections.read_one(&SqlQuery::new(sql).with(integer(up_to), Type::INT8)).await?;
    let Some(row) = row else { return Ok(StoryHead::NONE) };
    let row = Columns::of(&row, "story_log", "number");
    Ok(StoryHead { n_links: row.number("number")?, head: row.hash("hash")? })
}
