//! Handoffs: one row each, updated while it is open.

use std::cmp::Reverse;

use baton_core::names::{AgentId, Principal, StoryKey};
use baton_core::run::{HandoffId, HandoffNo, HandoffState, Kind, Party, State};
use baton_store::{HandoffFilter, HandoffRef, HandoffRow, Order, StoreError};
use rusqlite::{Connection, OptionalExtension as _, Row, ToSql, params};

use crate::columns::{
    after, content_id, count_executed, integer, limit, list_text, maybe_content_id, maybe_parsed,
    maybe_time, nanoseconds, nearest_nanoseconds, number, outcome, parsed, place, place_text,
    run_id, time, until, uuid,
};
use crate::error::{damaged, in_row, to_store};
use crate::statements::Statements;

/// Inserts a handoff; returns its number. A row without one gets the next: only a recovered row has
/// one already.
pub(crate) fn add(
    statements: &impl Statements,
    run_number: i64,
    row: &HandoffRow,
) -> Result<u64, StoreError> {
    let sql = "insert into handoffs (
                   number, id, run_number, no, kind, from_agent, from_place, to_agent, to_place,
                   state, outcome, package, reason, ended_reason, acknowledgement, attempt,
                   follows, approved_by, warnings, is_stale, created_at, accepted_at, ended_at,
                   score
               ) values (
                   ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17,
                   ?18, ?19, ?20, ?21, ?22, ?23, ?24
               )";
    let params = params![
        (row.number > 0).then(|| integer(row.number)),
        row.id.0.as_bytes(),
        run_number,
        row.no.0,
        row.kind.name(),
        row.from.agent.as_str(),
        place_text(&row.from.place),
        row.to.agent.as_str(),
        place_text(&row.to.place),
        row.state.name(),
        row.outcome.map(|it| it.name()),
        row.package.map(|it| it.0.0),
        row.reason.0.0,
        row.ended_reason.map(|it| it.0.0),
        row.acknowledgement.map(|it| it.0.0),
        row.attempt,
        row.follows.map(|it| it.0),
        row.approved_by.as_ref().map(|it| it.as_str()),
        warnings_text(&row.warnings),
        row.is_stale,
        nanoseconds(row.created_at)?,
        row.accepted_at.map(nanoseconds).transpose()?,
        row.ended_at.map(nanoseconds).transpose()?,
        row.score,
    ];
    let number = statements.with(sql, |it| it.insert(params));
    number.map(i64::unsigned_abs).map_err(to_store)
}

/// `None` where there are no warnings.
fn warnings_text(warnings: &[String]) -> Option<String> {
    (!warnings.is_empty()).then(|| list_text(warnings))
}

/// Updates an open handoff to `row`. A missing or ended handoff cannot be updated.
pub(crate) fn change(
    statements: &impl Statements,
    run_number: i64,
    row: &HandoffRow,
) -> Result<(), StoreError> {
    // Only the columns that may change. Two statements, because setting `ended_at`, even to null,
    // rewrites the index of open handoffs.
    let sql = match row.state {
        HandoffState::Open(_) => {
            "update handoffs
             set state = ?3, is_stale = ?4, outcome = ?5, ended_reason = ?6, acknowledgement = ?7,
                 accepted_at = ?8
             where run_number = ?1 and no = ?2 and ended_at is null and ?9 is null"
        }
        HandoffState::Ended(_) => {
            "update handoffs
             set state = ?3, is_stale = ?4, outcome = ?5, ended_reason = ?6, acknowledgement = ?7,
                 accepted_at = ?8, ended_at = ?9
             where run_number = ?1 and no = ?2 and ended_at is null"
        }
    };
    let params = params![
        run_number,
        row.no.0,
        row.state.name(),
        row.is_stale,
        row.outcome.map(|it| it.name()),
        row.ended_reason.map(|it| it.0.0),
        row.acknowledgement.map(|it| it.0.0),
        row.accepted_at.map(nanoseconds).transpose()?,
        row.ended_at.map(nanoseconds).transpose()?,
    ];
    if count_executed(statements, sql, params).map_err(to_store)? == 0 {
        return Err(damaged(&format!("{} is not there, or has ended", row.no)));
    }
    Ok(())
}

pub(crate) fn find(
    connection: &Connection,
    which: &HandoffRef,
) -> rusqlite::Result<Option<HandoffRow>> {
    let (condition, params): (_, &[&dyn ToSql]) = match which {
        HandoffRef::Number(number) => ("handoffs.number = ?1", &[&integer(*number)]),
        HandoffRef::Id(id) => ("handoffs.id = ?1", &[id.0.as_bytes()]),
        HandoffRef::InRun(run, no) => {
            ("runs.id = ?1 and handoffs.no = ?2", &[run.0.as_bytes(), &no.0])
        }
    };
    let sql = format!(
        "{COLUMNS} from handoffs join runs on runs.number = handoffs.run_number where {condition}"
    );
    connection.prepare_cached(&sql)?.query_row(params, read).optional()
}

pub(crate) fn list(
    connection: &Connection,
    filter: &HandoffFilter,
) -> rusqlite::Result<Vec<HandoffRow>> {
    let mut statement = connection.prepare_cached(&list_sql(filter))?;
    let rows: rusqlite::Result<Vec<HandoffRow>> =
        with_params(filter, |params| statement.query_map(params, read)?.collect());
    let mut rows = rows?;
    // The join may return the page in any order.
    match filter.order {
        Order::OldestFirst if filter.by_time => {
            rows.sort_unstable_by_key(|it| (it.created_at, it.id))
        }
        Order::NewestFirst if filter.by_time => {
            rows.sort_unstable_by_key(|it| Reverse((it.created_at, it.id)));
        }
        Order::OldestFirst => rows.sort_unstable_by_key(|it| it.number),
        Order::NewestFirst => rows.sort_unstable_by_key(|it| Reverse(it.number)),
    }
    Ok(rows)
}

pub(crate) fn count(connection: &Connection, filter: &HandoffFilter) -> rusqlite::Result<u64> {
    let sql = format!("select count(*) as n {}", matching(filter));
    let mut statement = connection.prepare_cached(&sql)?;
    with_params(filter, |params| statement.query_row(params, |row| number(row, "n")))
}

/// Runs a query with the parameters of the conditions in [`matching`].
pub(crate) fn with_params<T>(filter: &HandoffFilter, query: impl FnOnce(&[&dyn ToSql]) -> T) -> T {
    let states: Vec<String> = filter.states.iter().map(|it| it.name().to_owned()).collect();
    query(params![
        integer(filter.after),
        limit(filter.limit),
        filter.run.as_ref().map(|it| it.0.as_bytes()),
        filter.story.as_ref().map(|it| it.as_str()),
        filter.to.as_ref().map(|it| it.as_str()),
        list_text(&states),
        filter.unmoved_since.map(nearest_nanoseconds),
        filter.with.as_ref().map(|it| it.as_str()),
        filter.kind.map(|it| it.name()),
        filter.created_from.map(nearest_nanoseconds),
        filter.created_before.map(nearest_nanoseconds),
        integer(filter.skip),
        integer(filter.until),
    ])
}

pub(crate) fn list_sql(filter: &HandoffFilter) -> String {
    let (_, direction) = after(filter.order, "handoffs.number");
    let page = format!("{direction} limit ?2 offset ?12");
    if !is_by_state(filter) {
        let matching = matching(filter);
        if filter.by_time {
            let columns = format!("handoffs.created_at {direction}, handoffs.id {page}");
            return format!("{COLUMNS} {matching} order by {columns}");
        }
        return format!("{COLUMNS} {matching} order by handoffs.number {page}");
    }
    // Each part comes in index order, so they are merged and never sorted.
    let parts: Vec<String> = parts(filter).into_iter().map(|it| it.sql(filter)).collect();
    let parts = parts.join(" union all ");
    format!(
        "{COLUMNS} from ({parts} order by 1 {page}) as listed
         cross join handoffs on handoffs.number = listed.number
         join runs on runs.number = handoffs.run_number"
    )
}

/// Whether the filter names open states only, and neither a run nor a story.
fn is_by_state(filter: &HandoffFilter) -> bool {
    are_open(filter) && filter.run.is_none() && filter.story.is_none()
}

/// A part of an index of open handoffs whose rows are in number order.
#[derive(Clone, Copy)]
struct IndexPart {
    state: HandoffState,
    /// `None` for `handoffs_offered`, which has no such column.
    is_stale: Option<bool>,
}

fn parts(filter: &HandoffFilter) -> Vec<IndexPart> {
    let stale: &[Option<bool>] = match filter.is_stale {
        None => &[Some(false), Some(true)],
        Some(false) => &[Some(false)],
        Some(true) => &[Some(true)],
    };
    let states = HandoffState::ALL.into_iter().filter(|it| filter.states.contains(it));
    states
        .flat_map(|state| {
            let is_offered = filter.to.is_some() && is_offered(state);
            let stale = if is_offered { &[None] } else { stale };
            stale.iter().map(move |&is_stale| IndexPart { state, is_stale })
        })
        .collect()
}

impl IndexPart {
    fn sql(self, filter: &HandoffFilter) -> String {
        let state = self.state.name();
        let (index, is_stale) = match self.is_stale {
            Some(is_stale) => (BY_STATE, format!("handoffs.is_stale = {}", u8::from(is_stale))),
            None => (OFFERED, IS_OFFERED.to_owned()),
        };
        let conditions = conditions(filter, Some(self.state));
        format!(
            "select handoffs.number from handoffs {index}
             where handoffs.state = '{state}' and {is_stale} and {conditions}"
        )
    }
}

const BY_STATE: &str = "indexed by handoffs_open_by_state";
const OFFERED: &str = "indexed by handoffs_offered";
/// Written as in that index, so that SQLite uses it.
const IS_OFFERED: &str = "handoffs.state in ('pending', 'clarification')";

fn is_offered(state: HandoffState) -> bool {
    matches!(state, HandoffState::Open(State::Pending | State::Clarification))
}

/// Whether the index of offered handoffs covers the whole filter.
fn are_offered(filter: &HandoffFilter) -> bool {
    filter.to.is_some() && are_open(filter) && filter.states.iter().all(|it| is_offered(*it))
}

fn are_open(filter: &HandoffFilter) -> bool {
    !filter.states.is_empty() && filter.states.iter().all(|it| it.is_open())
}

pub(crate) fn matching(filter: &HandoffFilter) -> String {
    let index = index(filter);
    let conditions = conditions(filter, None);
    format!(
        "from handoffs {index} join runs on runs.number = handoffs.run_number where {conditions}"
    )
}

/// Only the conditions that the filter has, so that SQLite can choose the index for them. All
/// parameters are bound: an unused one is null, or ignored. For a filter on one state, the caller
/// adds that condition.
fn conditions(filter: &HandoffFilter, only: Option<HandoffState>) -> String {
    let (after, _) = after(filter.order, "handoffs.number");
    let until = until(filter.order, "handoffs.number", "?13", filter.until);
    let mut conditions = vec![after.as_str(), &until, "?2 is not null", "?12 is not null"];
    if are_open(filter) {
        // Written as in the partial indexes, so that SQLite uses them.
        conditions.push("handoffs.ended_at is null");
    }
    if are_offered(filter) {
        conditions.push(IS_OFFERED);
    }
    conditions.push(match filter.run {
        Some(_) => "handoffs.run_number = (select number from runs where id = ?3)",
        None => "?3 is null",
    });
    conditions.push(match filter.story {
        Some(_) => "handoffs.run_number in (select number from runs where story_key = ?4)",
        None => "?4 is null",
    });
    conditions.push(if filter.to.is_some() { "handoffs.to_agent = ?5" } else { "?5 is null" });
    conditions.push(if filter.states.is_empty() || only.is_some() {
        "?6 is not null"
    } else {
        "handoffs.state in (select value from json_each(?6))"
    });
    conditions.push(match filter.is_stale {
        Some(true) => "handoffs.is_stale = 1",
        Some(false) => "handoffs.is_stale = 0",
        None => "true",
    });
    conditions.push(match (filter.unmoved_since, only) {
        // A pending handoff was not accepted: its creation is its last move.
        (Some(_), Some(HandoffState::Open(State::Pending))) => "handoffs.created_at <= ?7",
        (Some(_), _) => "coalesce(handoffs.accepted_at, handoffs.created_at) <= ?7",
        (None, _) => "?7 is null",
    });
    conditions.push(match filter.with {
        Some(_) => "(handoffs.from_agent = ?8 or handoffs.to_agent = ?8)",
        None => "?8 is null",
    });
    conditions.push(if filter.kind.is_some() { "handoffs.kind = ?9" } else { "?9 is null" });
    conditions.push(if filter.only_moves { "handoffs.kind <> 'question'" } else { "true" });
    conditions.push(match filter.created_from {
        Some(_) => "handoffs.created_at >= ?10",
        None => "?10 is null",
    });
    conditions.push(match filter.created_before {
        Some(_) => "handoffs.created_at < ?11",
        None => "?11 is null",
    });
    conditions.join(" and ")
}

/// Left alone, SQLite would rather read a whole history in order than sort a few rows of it.
fn index(filter: &HandoffFilter) -> &'static str {
    if filter.run.is_some() || filter.story.is_some() {
        return "indexed by handoffs_by_run";
    }
    match (are_offered(filter), are_open(filter)) {
        (true, _) => OFFERED,
        (false, true) => BY_STATE,
        (false, false) => "",
    }
}

const COLUMNS: &str = "select
    handoffs.number, handoffs.id, runs.id as run_id, runs.story_key, handoffs.no, handoffs.kind,
    handoffs.from_agent, handoffs.from_place, handoffs.to_agent, handoffs.to_place,
    handoffs.state, handoffs.outcome, handoffs.package, handoffs.reason, handoffs.ended_reason,
    handoffs.acknowledgement, handoffs.attempt, handoffs.follows, handoffs.approved_by,
    handoffs.warnings, handoffs.is_stale, handoffs.created_at, handoffs.accepted_at,
    handoffs.ended_at, handoffs.score";

pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<HandoffRow> {
    in_row(row, "handoffs", "number", |row| {
        let agent = |column| parsed(row, column, |it| AgentId::parse(it).ok());
        Ok(HandoffRow {
            number: number(row, "number")?,
            id: HandoffId(uuid(row, "id")?),
            run: run_id(row, "run_id")?,
            story: parsed(row, "story_key", |it| StoryKey::parse(it).ok())?,
            no: HandoffNo(row.get("no")?),
            kind: parsed(row, "kind", Kind::from_name)?,
            from: Party { agent: agent("from_agent")?, place: place(row, "from_place")? },
            to: Party { agent: agent("to_agent")?, place: place(row, "to_place")? },
            state: parsed(row, "state", HandoffState::from_name)?,
            outcome: maybe_parsed(row, "outcome", outcome)?,
            package: maybe_content_id(row, "package")?,
            reason: content_id(row, "reason")?,
            ended_reason: maybe_content_id(row, "ended_reason")?,
            acknowledgement: maybe_content_id(row, "acknowledgement")?,
            attempt: row.get("attempt")?,
            follows: row.get::<_, Option<u32>>("follows")?.map(HandoffNo),
            approved_by: maybe_parsed(row, "approved_by", |it| Principal::parse(it).ok())?,
            warnings: maybe_parsed(row, "warnings", crate::columns::list)?.unwrap_or_default(),
            score: row.get("score")?,
            is_stale: row.get("is_stale")?,
            created_at: time(row, "created_at")?,
            accepted_at: maybe_time(row, "accepted_at")?,
            ended_at: maybe_time(row, "ended_at")?,
        })
    })
}
