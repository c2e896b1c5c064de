//! Handoffs: one row each, updated while it is open.

use baton_core::names::{AgentId, Principal, StoryKey};
use baton_core::run::{HandoffId, HandoffNo, HandoffState, Kind, Party, State};
use baton_store::{HandoffFilter, HandoffRef, HandoffRow, StoreResult};
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::columns::{
    Columns, direction, integer, limit, list_text, nanoseconds, nearest_nanoseconds, parse_list,
    parse_outcome, place_text, small,
};
use crate::query::{Connections, SqlQuery};

/// The columns that every new handoff has, in the order of [`new_rows`].
const NEW_COLUMNS: &str = "id, no, kind, from_agent, from_place, to_agent, to_place, state, outcome,
    package, reason, ended_reason, acknowledgement, attempt, follows, approved_by, warnings, is_stale,
    created_at, accepted_at, ended_at, score";

/// Adds handoffs; the database gives their numbers.
pub(crate) fn add<'a>(query: &mut SqlQuery<'a>, rows: &'a [HandoffRow]) -> StoreResult<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let arrays = new_rows(query, rows)?;
    query.sql.push_str(&format!(
        ", opened as (
             insert into handoffs (run_number, {NEW_COLUMNS})
             select moved.number, {NEW_COLUMNS}
             from moved, unnest({arrays}) with ordinality as new ({NEW_COLUMNS}, ordinal)
             order by ordinal
             returning no, number
         )"
    ));
    Ok(())
}

/// Binds one array for each of [`NEW_COLUMNS`]; returns their places.
fn new_rows<'a>(query: &mut SqlQuery<'a>, rows: &'a [HandoffRow]) -> StoreResult<String> {
    fn column<'a, T>(rows: &'a [HandoffRow], of: impl Fn(&'a HandoffRow) -> T) -> Vec<T> {
        rows.iter().map(of).collect()
    }
    let times = |of: fn(&HandoffRow) -> Option<jiff::Timestamp>| -> StoreResult<Vec<Option<i64>>> {
        rows.iter().map(|it| of(it).map(nanoseconds).transpose()).collect()
    };
    let arrays = [
        query.bind(column(rows, |it| it.id.0), Type::UUID_ARRAY),
        query.bind(column(rows, |it| small(it.no.0)), Type::INT4_ARRAY),
        query.bind(column(rows, |it| it.kind.name()), Type::TEXT_ARRAY),
        query.bind(column(rows, |it| it.from.agent.as_str()), Type::TEXT_ARRAY),
        query.bind(column(rows, |it| place_text(&it.from.place)), Type::TEXT_ARRAY),
        query.bind(column(rows, |it| it.to.agent.as_str()), Type::TEXT_ARRAY),
        query.bind(column(rows, |it| place_text(&it.to.place)), Type::TEXT_ARRAY),
        query.bind(column(rows, |it| it.state.name()), Type::TEXT_ARRAY),
        query.bind(column(rows, |it| it.outcome.map(|it| it.name())), Type::TEXT_ARRAY),
        query.bind(column(rows, |it| it.package.as_ref().map(|it| &it.0.0[..])), Type::BYTEA_ARRAY),
        query.bind(column(rows, |it| &it.reason.0.0[..]), Type::BYTEA_ARRAY),
        query.bind(
            column(rows, |it| it.ended_reason.as_ref().map(|it| &it.0.0[..])),
            Type::BYTEA_ARRAY,
        ),
        query.bind(
            column(rows, |it| it.acknowledgement.as_ref().map(|it| &it.0.0[..])),
            Type::BYTEA_ARRAY,
        ),
        query.bind(column(rows, |it| small(it.attempt)), Type::INT4_ARRAY),
        query.bind(column(rows, |it| it.follows.map(|it| small(it.0))), Type::INT4_ARRAY),
        query.bind(
            column(rows, |it| it.approved_by.as_ref().map(|it| it.as_str())),
            Type::TEXT_ARRAY,
        ),
        query.bind(column(rows, |it| warnings_text(&it.warnings)), Type::TEXT_ARRAY),
        query.bind(column(rows, |it| it.is_stale), Type::BOOL_ARRAY),
        query.bind(times(|it| Some(it.created_at))?, Type::INT8_ARRAY),
        query.bind(times(|it| it.accepted_at)?, Type::INT8_ARRAY),
        query.bind(times(|it| it.ended_at)?, Type::INT8_ARRAY),
        query.bind(column(rows, |it| it.score.map(i16::from)), Type::INT2_ARRAY),
    ];
    Ok(arrays.join(", "))
}

/// `None` where there are no warnings.
fn warnings_text(warnings: &[String]) -> Option<String> {
    (!warnings.is_empty()).then(|| list_text(warnings))
}

/// Updates open handoffs to `rows`: the columns that may change. A missing or ended one cannot be
/// updated; see [`demand_changed`].
pub(crate) fn change<'a>(query: &mut SqlQuery<'a>, rows: &'a [HandoffRow]) -> StoreResult<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let bytes = |of: fn(&HandoffRow) -> Option<&baton_core::content::ContentId>| {
        rows.iter().map(|it| of(it).map(|it| &it.0.0[..])).collect::<Vec<_>>()
    };
    let times = |of: fn(&HandoffRow) -> Option<jiff::Timestamp>| -> StoreResult<Vec<Option<i64>>> {
        rows.iter().map(|it| of(it).map(nanoseconds).transpose()).collect()
    };
    let nos: Vec<i32> = rows.iter().map(|it| small(it.no.0)).collect();
    let states: Vec<&str> = rows.iter().map(|it| it.state.name()).collect();
    let stale: Vec<bool> = rows.iter().map(|it| it.is_stale).collect();
    let outcomes: Vec<_> = rows.iter().map(|it| it.outcome.map(|it| it.name())).collect();
    let arrays = [
        query.bind(nos, Type::INT4_ARRAY),
        query.bind(states, Type::TEXT_ARRAY),
        query.bind(stale, Type::BOOL_ARRAY),
        query.bind(outcomes, Type::TEXT_ARRAY),
        query.bind(bytes(|it| it.ended_reason.as_ref()), Type::BYTEA_ARRAY),
        query.bind(bytes(|it| it.acknowledgement.as_ref()), Type::BYTEA_ARRAY),
        query.bind(times(|it| it.accepted_at)?, Type::INT8_ARRAY),
        query.bind(times(|it| it.ended_at)?, Type::INT8_ARRAY),
    ];
    query.sql.push_str(&format!(
        ", changed as (
             update handoffs
             set state = new.state, is_stale = new.is_stale, outcome = new.outcome,
                 ended_reason = new.ended_reason, acknowledgement = new.acknowledgement,
                 accepted_at = new.accepted_at, ended_at = new.ended_at
             from moved, unnest({}) as new (
                 no, state, is_stale, outcome, ended_reason, acknowledgement, accepted_at, ended_at
             )
             where handoffs.run_number = moved.number and handoffs.no = new.no
                 and handoffs.ended_at is null
             returning handoffs.no
         )",
        arrays.join(", ")
    ));
    Ok(())
}

/// Ends the statement where a handoff that was to be changed is missing or has ended.
pub(crate) fn demand_changed(n_rows: usize) -> String {
    if n_rows == 0 {
        return String::new();
    }
    format!(
        ", case when (select count(*) from changed) <> {n_rows}
             then refuse_append('a handoff that was to be changed is not there, or has ended')
         end"
    )
}

pub(crate) async fn find(
    connections: &Connections,
    which: &HandoffRef,
) -> StoreResult<Option<HandoffRow>> {
    let query = match which {
        HandoffRef::Number(number) => {
            SqlQuery::new(format!("{COLUMNS} {TABLES} where handoffs.number = $1"))
                .with(integer(*number), Type::INT8)
        }
        HandoffRef::Id(id) => SqlQuery::new(format!("{COLUMNS} {TABLES} where handoffs.id = $1"))
            .with(id.0, Type::UUID),
        HandoffRef::InRun(run, no) => {
            SqlQuery::new(format!("{COLUMNS} {TABLES} where runs.id = $1 and handoffs.no = $2"))
                .with(run.0, Type::UUID)
                .with(small(no.0), Type::INT4)
        }
    };
    connections.read_one(&query).await?.map(|row| read(&row)).transpose()
}

pub(crate) async fn list(
    connections: &Connections,
    filter: &HandoffFilter,
) -> StoreResult<Vec<HandoffRow>> {
    connections.read(&list_query(filter)).await?.iter().map(read).collect()
}

pub(crate) fn list_query(filter: &HandoffFilter) -> SqlQuery<'_> {
    let mut query = SqlQuery::new("");
    let matching = matching(&mut query, filter);
    let (sort, ..) = direction(filter.order);
    let order = match filter.by_time {
        true => format!("handoffs.created_at {sort}, handoffs.id {sort}"),
        false => format!("handoffs.number {sort}"),
    };
    let most = query.bind(limit(filter.limit), Type::INT8);
    let skip = query.bind(integer(filter.skip), Type::INT8);
    query.sql = format!("{COLUMNS} {matching} order by {order} limit {most} offset {skip}");
    query
}

pub(crate) async fn count(connections: &Connections, filter: &HandoffFilter) -> StoreResult<u64> {
    let mut query = SqlQuery::new("");
    let matching = matching(&mut query, filter);
    query.sql = format!("select count(*) as n {matching}");
    let row = connections.read_one(&query).await?;
    row.map_or(Ok(0), |row| Columns::of(&row, "handoffs", "n").number("n"))
}

/// The tables, and only the conditions that the filter has, so that the plan can use the index for
/// them.
pub(crate) fn matching<'a>(query: &mut SqlQuery<'a>, filter: &'a HandoffFilter) -> String {
    let (_, after, until) = direction(filter.order);
    let mut conditions = vec!["true".to_owned()];
    let mut when = |condition: String| conditions.push(condition);
    if filter.after > 0 {
        let number = query.bind(integer(filter.after), Type::INT8);
        when(format!("handoffs.number {after} {number}"));
    }
    if filter.until > 0 {
        let number = query.bind(integer(filter.until), Type::INT8);
        when(format!("handoffs.number {until}= {number}"));
    }
    if let Some(run) = filter.run {
        let run = query.bind(run.0, Type::UUID);
        when(format!("handoffs.run_number = (select number from runs where id = {run})"));
    }
    if let Some(story) = &filter.story {
        let story = query.bind(story.as_str(), Type::TEXT);
        when(format!(
            "handoffs.run_number = any(array(select number from runs where story_key = {story}))"
        ));
    }
    if let Some(to) = &filter.to {
        let to = query.bind(to.as_str(), Type::TEXT);
        when(format!("handoffs.to_agent = {to}"));
    }
    if let Some(with) = &filter.with {
        let with = query.bind(with.as_str(), Type::TEXT);
        when(format!("(handoffs.from_agent = {with} or handoffs.to_agent = {with})"));
    }
    if let Some(kind) = filter.kind {
        let kind = query.bind(kind.name(), Type::TEXT);
        when(format!("handoffs.kind = {kind}"));
    }
    if filter.only_moves {
        when("handoffs.kind <> 'question'".to_owned());
    }
    if !filter.states.is_empty() {
        let states: Vec<&str> = filter.states.iter().map(|it| it.name()).collect();
        let states = query.bind(states, Type::TEXT_ARRAY);
        when(format!("handoffs.state = any({states})"));
        // As in the partial indexes, so that the plan can use them.
        if filter.states.iter().all(|it| it.is_open()) {
            when("handoffs.ended_at is null".to_owned());
        }
        if filter.states.iter().all(|it| is_offered(*it)) {
            when("handoffs.state in ('pending', 'clarification')".to_owned());
        }
    }
    if let Some(is_stale) = filter.is_stale {
        when(format!("handoffs.is_stale = {is_stale}"));
    }
    if let Some(since) = filter.unmoved_since {
        let since = query.bind(nearest_nanoseconds(since), Type::INT8);
        when(format!("coalesce(handoffs.accepted_at, handoffs.created_at) <= {since}"));
    }
    if let Some(from) = filter.created_from {
        let from = query.bind(nearest_nanoseconds(from), Type::INT8);
        when(format!("handoffs.created_at >= {from}"));
    }
    if let Some(before) = filter.created_before {
        let before = query.bind(nearest_nanoseconds(before), Type::INT8);
        when(format!("handoffs.created_at < {before}"));
    }
    format!("{TABLES} where {}", conditions.join(" and "))
}

fn is_offered(state: HandoffState) -> bool {
    matches!(state, HandoffState::Open(State::Pending | State::Clarification))
}

const COLUMNS: &str = "select
    handoffs.number, handoffs.id, runs.id as run_id, runs.story_key, handoffs.no, handoffs.kind,
    handoffs.from_agent, handoffs.from_place, handoffs.to_agent, handoffs.to_place,
    handoffs.state, handoffs.outcome, handoffs.package, handoffs.reason, handoffs.ended_reason,
    handoffs.acknowledgement, handoffs.attempt, handoffs.follows, handoffs.approved_by,
    handoffs.warnings, handoffs.is_stale, handoffs.created_at, handoffs.accepted_at,
    handoffs.ended_at, handoffs.score";

const TABLES: &str = "from handoffs join runs on runs.number = handoffs.run_number";

pub(crate) fn read(row: &Row) -> StoreResult<HandoffRow> {
    let row = Columns::of(row, "handoffs", "number");
    let agent = |column| row.parsed(column, |it| AgentId::parse(it).ok());
    let score: Option<i16> = row.get("score")?;
    Ok(HandoffRow {
        number: row.number("number")?,
        id: HandoffId(row.get("id")?),
        run: row.run_id("run_id")?,
        story: row.parsed("story_key", |it| StoryKey::parse(it).ok())?,
        no: HandoffNo(row.small("no")?),
        kind: row.parsed("kind", Kind::from_name)?,
        from: Party { agent: agent("from_agent")?, place: row.place("from_place")? },
        to: Party { agent: agent("to_agent")?, place: row.place("to_place")? },
        state: row.parsed("state", HandoffState::from_name)?,
        outcome: row.maybe_parsed("outcome", parse_outcome)?,
        package: row.maybe_content_id("package")?,
        reason: row.content_id("reason")?,
        ended_reason: row.maybe_content_id("ended_reason")?,
        acknowledgement: row.maybe_content_id("acknowledgement")?,
        attempt: row.small("attempt")?,
        follows: row.maybe_small("follows")?.map(HandoffNo),
        approved_by: row.maybe_parsed("approved_by", |it| Principal::parse(it).ok())?,
        warnings: row.maybe_parsed("warnings", parse_list)?.unwrap_or_default(),
        score: score.map(|it| u8::try_from(it).map_err(|_| row.unreadable("score"))).transpose()?,
        is_stale: row.get("is_stale")?,
        created_at: row.time("created_at")?,
        accepted_at: row.maybe_time("accepted_at")?,
        ended_at: row.maybe_time("ended_at")?,
    })
}
