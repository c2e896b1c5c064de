//! Counts and means over handoffs, computed in SQL.

use baton_core::event::{Event, UsageEvent};
use baton_core::names::{AgentId, WorkflowName};
use baton_core::run::{HandoffNo, HandoffState, Kind, Party};
use baton_store::{AgentStatistics, HandoffFact, HandoffFilter, Order, Statistics, UsageFact};
use baton_wire::event::decode;
use rusqlite::{Connection, Row, params};

use crate::columns::{integer, limit, maybe_time, number, parsed, place, time};
use crate::error::{in_row, unreadable};
use crate::handoffs::{matching, with_params};

pub(crate) fn over(
    connection: &Connection,
    filter: &HandoffFilter,
) -> rusqlite::Result<Statistics> {
    let filter = HandoffFilter { order: Order::OldestFirst, after: 0, ..filter.clone() };
    Ok(Statistics {
        by_state: by_state(connection, &filter)?,
        by_agent: by_agent(connection, &filter)?,
    })
}

/// Handoffs without their texts, newest first.
pub(crate) fn facts(
    connection: &Connection,
    before: u64,
    most: u32,
) -> rusqlite::Result<Vec<HandoffFact>> {
    let before = if before == 0 { i64::MAX } else { integer(before) };
    let params = params![before, limit(most)];
    connection.prepare_cached(FACTS)?.query_map(params, read_fact)?.collect()
}

/// By the handoffs' own tree, and each run by its number: no index, and nothing is sorted.
const FACTS: &str = "select
        handoffs.number, handoffs.run_number, handoffs.no, handoffs.score, runs.workflow, handoffs.kind, handoffs.from_agent,
        handoffs.from_place, handoffs.to_agent, handoffs.to_place, handoffs.state,
        coalesce(json_array_length(handoffs.warnings), 0) as n_warnings, handoffs.created_at,
        handoffs.accepted_at, handoffs.ended_at
    from handoffs join runs on runs.number = handoffs.run_number
    where handoffs.number < ?1 order by handoffs.number desc limit ?2";

fn read_fact(row: &Row<'_>) -> rusqlite::Result<HandoffFact> {
    in_row(row, "handoffs", "number", |row| {
        let agent = |column| parsed(row, column, |it| AgentId::parse(it).ok());
        Ok(HandoffFact {
            number: number(row, "number")?,
            run_number: number(row, "run_number")?,
            no: HandoffNo(row.get("no")?),
            score: row.get("score")?,
            workflow: parsed(row, "workflow", |it| WorkflowName::parse(it).ok())?,
            kind: parsed(row, "kind", Kind::from_name)?,
            from: Party { agent: agent("from_agent")?, place: place(row, "from_place")? },
            to: Party { agent: agent("to_agent")?, place: place(row, "to_place")? },
            state: parsed(row, "state", HandoffState::from_name)?,
            n_warnings: row.get("n_warnings")?,
            created_at: time(row, "created_at")?,
            accepted_at: maybe_time(row, "accepted_at")?,
            ended_at: maybe_time(row, "ended_at")?,
        })
    })
}

/// What agents used in some runs, newest runs first.
pub(crate) fn usage(
    connection: &Connection,
    first_run: u64,
    last_run: u64,
    most: u32,
) -> rusqlite::Result<Vec<UsageFact>> {
    let mut statement = connection.prepare_cached(USAGE)?;
    let params = params![integer(first_run), integer(last_run), limit(most)];
    let mut rows = statement.query(params)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let body = row.get_ref("body")?.as_str().map_err(|_| unreadable("body"))?;
        if let Ok(Event::Usage(UsageEvent::Recorded { handoff, usage, .. })) = decode(body) {
            found.push(UsageFact { run_number: number(row, "run_number")?, handoff, usage });
        }
    }
    Ok(found)
}

pub(crate) const USAGE: &str = "select run_number, body from events indexed by events_usage
    where name = 'usage.recorded' and run_number between ?1 and ?2
    order by run_number desc limit ?3";

fn by_state(
    connection: &Connection,
    filter: &HandoffFilter,
) -> rusqlite::Result<Vec<(HandoffState, u64)>> {
    let sql = format!(
        "select handoffs.state, count(*) as n {} group by handoffs.state",
        matching(filter)
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let read =
        |row: &Row<'_>| Ok((parsed(row, "state", HandoffState::from_name)?, number(row, "n")?));
    let counts: Vec<(HandoffState, u64)> =
        with_params(filter, |params| statement.query_map(params, read)?.collect::<Result<_, _>>())?;
    let of_state = |state| counts.iter().find(|(it, _)| *it == state).copied();
    Ok(HandoffState::ALL.into_iter().filter_map(of_state).collect())
}

fn by_agent(
    connection: &Connection,
    filter: &HandoffFilter,
) -> rusqlite::Result<Vec<AgentStatistics>> {
    // A mean is a float here, because a sum of nanoseconds could overflow an integer.
    let sql = format!(
        "select handoffs.to_agent as agent,
             count(*) as n_handoffs,
             sum(handoffs.ended_at is null) as n_open,
             sum(handoffs.state = 'completed') as n_completed,
             sum(handoffs.state = 'rejected') as n_rejected,
             cast(avg(handoffs.accepted_at - handoffs.created_at) / 1000000 as integer)
                 as to_accept,
             cast(
                 avg(
                     case handoffs.state when 'completed'
                         then handoffs.ended_at - handoffs.accepted_at
                     end
                 ) / 1000000 as integer
             ) as to_complete
         {} group by handoffs.to_agent order by handoffs.to_agent",
        matching(filter)
    );
    let mut statement = connection.prepare_cached(&sql)?;
    with_params(filter, |params| statement.query_map(params, read)?.collect())
}

fn read(row: &Row<'_>) -> rusqlite::Result<AgentStatistics> {
    // A clock that was set back can make a span negative.
    let mean = |column| {
        row.get::<_, Option<i64>>(column).map(|it| it.map(|ms| u64::try_from(ms).unwrap_or(0)))
    };
    Ok(AgentStatistics {
        agent: parsed(row, "agent", |it| AgentId::parse(it).ok())?,
        n_handoffs: number(row, "n_handoffs")?,
        n_open: number(row, "n_open")?,
        n_completed: number(row, "n_completed")?,
        n_rejected: number(row, "n_rejected")?,
        mean_ms_to_accept: mean("to_accept")?,
        mean_ms_to_complete: mean("to_complete")?,
    })
}
