//! The log of all runs.
//!
//! A position is the transaction's id times [`MOST_EVENTS`], plus the index of the event in its
//! append, plus a base that is constant for a database. So the order of positions is the order of
//! `(transaction, index)`, no writer waits for another to get one, and the log is complete below the
//! oldest transaction that is still open: it is read up to there, and never skips an event that is
//! committed late. See ADR 0042.

use baton_core::names::Principal;
use baton_core::run::RunId;
use baton_store::{
    EventFilter, EventRecord, Position, SharedEvents, StoreResult, StoredEvent, Version,
};
use baton_wire::checkpoint::LogLink;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::columns::{Columns, integer, limit};
use crate::query::{Connections, SqlQuery};

/// How many events one transaction can have, at most.
pub(crate) const MOST_EVENTS: usize = 4096;

/// The first position that an open transaction, or one to come, may still give: the log is complete
/// before it.
pub(crate) const BOUND: &str = "(
    select position_base + pg_snapshot_xmin(pg_current_snapshot())::text::bigint * 4096 from identity
)";

/// Adds the events of a command, which follow `version`.
pub(crate) fn add<'a>(
    query: &mut SqlQuery<'a>,
    version: Version,
    at: i64,
    events: &'a [EventRecord],
) {
    let version = query.bind(integer(version.0), Type::INT8);
    let at = query.bind(at, Type::INT8);
    let names: Vec<&str> = events.iter().map(|it| it.name).collect();
    let actors: Vec<&str> = events.iter().map(|it| it.by.as_str()).collect();
    let hashes: Vec<&[u8]> = events.iter().map(|it| &it.hash.0[..]).collect();
    let bodies: Vec<&str> = events.iter().map(|it| it.body.as_str()).collect();
    let arrays = [
        query.bind(names, Type::TEXT_ARRAY),
        query.bind(actors, Type::TEXT_ARRAY),
        query.bind(hashes, Type::BYTEA_ARRAY),
        query.bind(bodies, Type::TEXT_ARRAY),
    ];
    query.sql.push_str(&format!(
        ", added_events as (
             insert into events (
                 position, run_number, version, happened_at, name, done_by, hash, body
             )
             select
                 identity.position_base + pg_current_xact_id()::text::bigint * 4096 + ordinal - 1,
                 moved.number, {version} + ordinal, {at}, new.name, new.done_by, new.hash, new.body
             from moved, identity,
                 unnest({}) with ordinality as new (name, done_by, hash, body, ordinal)
             returning position
         )",
        arrays.join(", ")
    ));
}

const COLUMNS: &str = "select events.position, runs.id as run_id, events.version,
        events.happened_at, events.name, events.done_by, events.hash, events.body
    from events join runs on runs.number = events.run_number";

/// The events of one run have no other writer than those that follow each other, so they need not be
/// cut at the bound.
pub(crate) async fn list(
    connections: &Connections,
    filter: &EventFilter,
) -> StoreResult<Vec<StoredEvent>> {
    connections.read(&list_query(filter)).await?.iter().map(read).collect()
}

pub(crate) fn list_query(filter: &EventFilter) -> SqlQuery<'_> {
    let sql = match filter.run {
        Some(_) => format!(
            "{COLUMNS} where events.run_number = (select number from runs where id = $3)
                 and events.position > $1
             order by events.position limit $2"
        ),
        None => format!(
            "{COLUMNS} where events.position > $1 and events.position < {BOUND}
             order by events.position limit $2"
        ),
    };
    let query = SqlQuery::new(sql)
        .with(integer(filter.after.0), Type::INT8)
        .with(limit(filter.limit), Type::INT8);
    match filter.run {
        Some(run) => query.with(run.0, Type::UUID),
        None => query,
    }
}

/// The events of a run before a position, newest first.
pub(crate) async fn before(
    connections: &Connections,
    run: RunId,
    before: Position,
    most: u32,
) -> StoreResult<Vec<StoredEvent>> {
    let sql = format!(
        "{COLUMNS} where events.run_number = (select number from runs where id = $1)
             and events.position < $2
         order by events.position desc limit $3"
    );
    let query = SqlQuery::new(sql)
        .with(run.0, Type::UUID)
        .with(integer(before.0), Type::INT8)
        .with(limit(most), Type::INT8);
    connections.read(&query).await?.iter().map(read).collect()
}

/// Repeats the condition of the index, so that the plan can use it.
const IS_SHARED: &str = "events.name in (
        'decision.recorded', 'decision.superseded', 'decision.locked', 'context.changed',
        'message.asked', 'message.replied', 'message.repeated', 'message.unanswered', 'gate.opened',
        'gate.answered', 'gate.approved', 'gate.delegated'
    )";

pub(crate) async fn shared(
    connections: &Connections,
    run: RunId,
    of: SharedEvents,
) -> StoreResult<Vec<StoredEvent>> {
    named_if(connections, run, of.names(), IS_SHARED).await
}

/// The events of a run with one of these names, by position.
pub(crate) async fn named(
    connections: &Connections,
    run: RunId,
    names: &[&str],
) -> StoreResult<Vec<StoredEvent>> {
    named_if(connections, run, names, "true").await
}

async fn named_if(
    connections: &Connections,
    run: RunId,
    names: &[&str],
    condition: &str,
) -> StoreResult<Vec<StoredEvent>> {
    let sql = format!(
        "{COLUMNS} where events.run_number = (select number from runs where id = $1)
             and {condition} and events.name = any($2)
         order by events.position"
    );
    let query = SqlQuery::new(sql).with(run.0, Type::UUID).with(names, Type::TEXT_ARRAY);
    connections.read(&query).await?.iter().map(read).collect()
}

/// The events of all runs after a position, as a checkpoint covers them.
pub(crate) async fn links(
    connections: &Connections,
    after: Position,
    most: u32,
) -> StoreResult<Vec<LogLink>> {
    let sql = format!(
        "select events.position, runs.id as run_id, events.version, events.name, events.hash
         from events join runs on runs.number = events.run_number
         where events.position > $1 and events.position < {BOUND}
         order by events.position limit $2"
    );
    let query = SqlQuery::new(sql).with(integer(after.0), Type::INT8).with(limit(most), Type::INT8);
    let read = |row: &Row| {
        let row = Columns::of(row, "events", "position");
        Ok(LogLink {
            position: row.number("position")?,
            run: row.run_id("run_id")?,
            version: row.number("version")?,
            name: row.get("name")?,
            hash: row.hash("hash")?,
        })
    };
    connections.read(&query).await?.iter().map(read).collect()
}

/// How far the log is written, and how far it is complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LogEnd {
    /// The newest event that can be read in its order.
    pub(crate) settled: Position,
    /// The newest event of all.
    pub(crate) newest: Position,
    /// Everything below this is complete.
    pub(crate) bound: Position,
    /// Which data this is; `None` where that is gone.
    pub(crate) of: Option<LogOrigin>,
    pub(crate) is_read_only: bool,
}

/// What changes when the data under a log is replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LogOrigin {
    pub(crate) epoch: String,
    /// Of the table `identity`: a restored dump makes it anew.
    pub(crate) table: i64,
}

pub(crate) async fn end(connections: &Connections) -> StoreResult<LogEnd> {
    let sql = format!(
        "select greatest({BOUND}, 0) as bound,
             (select coalesce(max(position), 0) from events where position < {BOUND}) as settled,
             (select coalesce(max(position), 0) from events) as newest,
             (select epoch from identity) as epoch,
             (select tableoid::bigint from identity) as of_table,
             current_setting('transaction_read_only') = 'on' as is_read_only"
    );
    let row = connections.read_one(&SqlQuery::new(sql)).await?;
    let Some(row) = row else {
        return Ok(LogEnd {
            settled: Position::START,
            newest: Position::START,
            bound: Position::START,
            of: None,
            is_read_only: false,
        });
    };
    let row = Columns::of(&row, "events", "newest");
    let (epoch, table): (Option<String>, Option<i64>) = (row.get("epoch")?, row.get("of_table")?);
    Ok(LogEnd {
        of: epoch.zip(table).map(|(epoch, table)| LogOrigin { epoch, table }),
        is_read_only: row.get("is_read_only")?,
        settled: Position(row.number("settled")?),
        newest: Position(row.number("newest")?),
        bound: Position(row.number("bound")?),
    })
}

pub(crate) fn read(row: &Row) -> StoreResult<StoredEvent> {
    let row = Columns::of(row, "events", "position");
    Ok(StoredEvent {
        position: Position(row.number("position")?),
        run: row.run_id("run_id")?,
        version: Version(row.number("version")?),
        at: row.time("happened_at")?,
        name: row.get("name")?,
        by: row.parsed("done_by", |it| Principal::parse(it).ok())?,
        body: row.get("body")?,
        hash: row.hash("hash")?,
    })
}
