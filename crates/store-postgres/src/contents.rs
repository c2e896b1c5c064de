//! The texts of a run, by the id that the event log uses.

use baton_core::content::{Content, ContentId, ContentKind};
use baton_core::package::Format;
use baton_core::run::RunId;
use baton_store::{
    DROPPING_EVENTS, DroppedText, EXPIRING_EVENTS, StoreResult, StoredContent, TextOwner,
    dropped_texts,
};
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::columns::Columns;
use crate::events;
use crate::query::{Connections, SqlQuery};

/// Adds texts. Adding one again changes nothing: its id is its hash. Those that every run has are
/// stored once.
pub(crate) fn add<'a>(query: &mut SqlQuery<'a>, contents: &'a [Content]) {
    let (mut shared, own): (Vec<&Content>, Vec<&Content>) =
        contents.iter().partition(|it| it.is_shared());
    if !own.is_empty() {
        add_own(query, &own);
    }
    if !shared.is_empty() {
        // Transactions that add the same texts at once take them in the same order.
        shared.sort_unstable_by_key(|it| it.id);
        let ids: Vec<&[u8]> = shared.iter().map(|it| &it.id.0.0[..]).collect();
        let texts: Vec<&str> = shared.iter().map(|it| &*it.text).collect();
        let (ids, texts) =
            (query.bind(ids, Type::BYTEA_ARRAY), query.bind(texts, Type::TEXT_ARRAY));
        query.sql.push_str(&format!(
            ", added_shared as (
                 insert into shared_texts (id, text)
                 select new.id, new.text from moved, unnest({ids}, {texts}) as new (id, text)
                 where not exists (select 1 from shared_texts where shared_texts.id = new.id)
                 on conflict (id) do nothing
             )"
        ));
    }
}

fn add_own<'a>(query: &mut SqlQuery<'a>, own: &[&'a Content]) {
    let ids: Vec<&[u8]> = own.iter().map(|it| &it.id.0.0[..]).collect();
    let nonces: Vec<&[u8]> = own.iter().map(|it| &it.nonce[..]).collect();
    let kinds: Vec<&str> = own.iter().map(|it| kind_name(&it.kind)).collect();
    let formats: Vec<Option<&str>> = own
        .iter()
        .map(|it| match &it.kind {
            ContentKind::Package { format, .. } => Some(format.name()),
            ContentKind::Words => None,
        })
        .collect();
    let hashes: Vec<Option<&[u8]>> = own
        .iter()
        .map(|it| match &it.kind {
            ContentKind::Package { hash, .. } => Some(&hash.0[..]),
            ContentKind::Words => None,
        })
        .collect();
    let texts: Vec<&str> = own.iter().map(|it| &*it.text).collect();
    let arrays = [
        query.bind(ids, Type::BYTEA_ARRAY),
        query.bind(nonces, Type::BYTEA_ARRAY),
        query.bind(kinds, Type::TEXT_ARRAY),
        query.bind(formats, Type::TEXT_ARRAY),
        query.bind(hashes, Type::BYTEA_ARRAY),
        query.bind(texts, Type::TEXT_ARRAY),
    ];
    query.sql.push_str(&format!(
        ", added_texts as (
             insert into contents (run_number, id, nonce, kind, format, hash, text)
             select moved.number, new.id, new.nonce, new.kind, new.format, new.hash, new.text
             from moved, unnest({}) as new (id, nonce, kind, format, hash, text)
             on conflict (run_number, id) do nothing
         )",
        arrays.join(", ")
    ));
}

fn kind_name(kind: &ContentKind) -> &'static str {
    match kind {
        ContentKind::Package { .. } => "package",
        ContentKind::Words => "words",
    }
}

/// Deletes texts. Their bytes stay in the database's files until it has vacuumed the table, and in
/// its backups: docs/how-to/audit.md says so.
pub(crate) fn drop_texts<'a>(query: &mut SqlQuery<'a>, ids: &'a [ContentId]) {
    if ids.is_empty() {
        return;
    }
    let ids: Vec<&[u8]> = ids.iter().map(|it| &it.0.0[..]).collect();
    let ids = query.bind(ids, Type::BYTEA_ARRAY);
    query.sql.push_str(&format!(
        ", dropped_texts as (
             delete from contents using moved
             where contents.run_number = moved.number and contents.id = any({ids})
         )"
    ));
}

pub(crate) async fn find(
    connections: &Connections,
    run: RunId,
    ids: &[ContentId],
) -> StoreResult<Vec<StoredContent>> {
    let bytes: Vec<&[u8]> = ids.iter().map(|it| &it.0.0[..]).collect();
    let sql = "select run_number, id, nonce, kind, format, hash, text from contents
               where run_number = (select number from runs where id = $1) and id = any($2)";
    let query = SqlQuery::new(sql).with(run.0, Type::UUID).with(bytes, Type::BYTEA_ARRAY);
    let mut found: Vec<StoredContent> = Vec::with_capacity(ids.len());
    for row in &connections.read(&query).await? {
        found.push(StoredContent::new(read(row)?, TextOwner::Run));
    }
    let missing: Vec<&[u8]> = ids
        .iter()
        .filter(|id| !found.iter().any(|it| it.id() == **id))
        .map(|it| &it.0.0[..])
        .collect();
    if !missing.is_empty() {
        let sql = "select id, text from shared_texts where id = any($1)";
        let query = SqlQuery::new(sql).with(missing, Type::BYTEA_ARRAY);
        for row in &connections.read(&query).await? {
            found.push(StoredContent::new(read_shared(row)?, TextOwner::AllRuns));
        }
    }
    Ok(found)
}

/// The texts of a run that are recorded as lost.
pub(crate) async fn lost(connections: &Connections, run: RunId) -> StoreResult<Vec<ContentId>> {
    let sql = "select run_number, id from lost_texts
               where run_number = (select number from runs where id = $1) order by id";
    let rows = connections.read(&SqlQuery::new(sql).with(run.0, Type::UUID)).await?;
    rows.iter().map(|row| Columns::of(row, "lost_texts", "run_number").content_id("id")).collect()
}

/// The texts of all runs that are recorded as lost, by the number of the run.
pub(crate) async fn all_lost(connections: &Connections) -> StoreResult<Vec<(u64, ContentId)>> {
    let sql = "select run_number, id from lost_texts order by run_number, id";
    let rows = connections.read(&SqlQuery::new(sql)).await?;
    let read = |row: &Row| {
        let columns = Columns::of(row, "lost_texts", "run_number");
        Ok((columns.number("run_number")?, columns.content_id("id")?))
    };
    rows.iter().map(read).collect()
}

/// The texts that events of a run say are dropped.
pub(crate) async fn dropped(
    connections: &Connections,
    run: RunId,
) -> StoreResult<Vec<DroppedText>> {
    let dropping = events::named(connections, run, &DROPPING_EVENTS).await?;
    if !dropping.iter().any(|it| it.name == "content.expired") {
        return Ok(dropped_texts(&dropping));
    }
    let names = [&DROPPING_EVENTS[..], &EXPIRING_EVENTS[..]];
    Ok(dropped_texts(&events::named(connections, run, &names.concat()).await?))
}

/// How many texts are the run's own.
pub(crate) async fn count(connections: &Connections, run: RunId) -> StoreResult<u64> {
    let sql = "select count(*) as n from contents
               where run_number = (select number from runs where id = $1)";
    let row = connections.read_one(&SqlQuery::new(sql).with(run.0, Type::UUID)).await?;
    row.map_or(Ok(0), |row| Columns::of(&row, "contents", "n").number("n"))
}

pub(crate) fn read(row: &Row) -> StoreResult<Content> {
    let row = Columns::of(row, "contents", "run_number");
    let kind = match row.get::<&str>("kind")? {
        "package" => ContentKind::Package {
            format: row.parsed("format", Format::parse)?,
            hash: row.hash("hash")?,
        },
        "words" => ContentKind::Words,
        _ => return Err(row.unreadable("kind")),
    };
    let text: &str = row.get("text")?;
    Ok(Content { id: row.content_id("id")?, nonce: row.bytes("nonce")?, kind, text: text.into() })
}

fn read_shared(row: &Row) -> StoreResult<Content> {
    let row = Columns::of(row, "shared_texts", "id");
    // The id as it is stored: whether the text fits it is checked like that of every text.
    Ok(Content { id: row.content_id("id")?, ..Content::shared(row.get::<String>("text")?) })
}
