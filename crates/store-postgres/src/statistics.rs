//! Counts and means over handoffs, computed in SQL.

use baton_core::event::{Event, UsageEvent};
use baton_core::names::{AgentId, WorkflowName};
use baton_core::run::{HandoffNo, HandoffState, Kind, Party};
use baton_store::{
    AgentStatistics, HandoffFact, HandoffFilter, Order, Statistics, StoreResult, UsageFact,
};
use baton_wire::event::decode;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::columns::{Columns, integer, limit};
use crate::handoffs::matching;
use crate::query::{Connections, SqlQuery};

pub(crate) async fn over(
    connections: &Connections,
    filter: &HandoffFilter,
) -> StoreResult<Statistics> {
    let filter = HandoffFilter { order: Order::OldestFirst, after: 0, ..filter.clone() };
    Ok(Statistics {
        by_state: by_state(connections, &filter).await?,
        by_agent: by_agent(connections, &filter).await?,
    })
}

/// Handoffs without their texts, newest first.
pub(crate) async fn facts(
    connections: &Connections,
    before: u64,
    most: u32,
) -> StoreResult<Vec<HandoffFact>> {
    let before = if before == 0 { i64::MAX } else { integer(before) };
    let sql = "select
            handoffs.number, handoffs.run_number, handoffs.no, handoffs.score, runs.workflow,
            handoffs.kind, handoffs.from_agent, handoffs.from_place, handoffs.to_agent,
            handoffs.to_place, handoffs.state,
            coalesce(json_array_length(handoffs.warnings::json), 0) as n_warnings,
            handoffs.created_at, handoffs.accepted_at, handoffs.ended_at
        from handoffs join runs on runs.number = handoffs.run_number
        where handoffs.number < $1 order by handoffs.number desc limit $2";
    let query = SqlQuery::new(sql).with(before, Type::INT8).with(limit(most), Type::INT8);
    connections.read(&query).await?.iter().map(read_fact).collect()
}

fn read_fact(row: &Row) -> StoreResult<HandoffFact> {
    let row = Columns::of(row, "handoffs", "number");
    let agent = |column| row.parsed(column, |it| AgentId::parse(it).ok());
    let score: Option<i16> = row.get("score")?;
    Ok(HandoffFact {
        number: row.number("number")?,
        run_number: row.number("run_number")?,
        no: HandoffNo(row.small("no")?),
        score: score.map(|it| u8::try_from(it).map_err(|_| row.unreadable("score"))).transpose()?,
        workflow: row.parsed("workflow", |it| WorkflowName::parse(it).ok())?,
        kind: row.parsed("kind", Kind::from_name)?,
        from: Party { agent: agent("from_agent")?, place: row.place("from_place")? },
        to: Party { agent: agent("to_agent")?, place: row.place("to_place")? },
        state: row.parsed("state", HandoffState::from_name)?,
        n_warnings: row.small("n_warnings")?,
        created_at: row.time("created_at")?,
        accepted_at: row.maybe_time("accepted_at")?,
        ended_at: row.maybe_time("ended_at")?,
    })
}

/// What agents used in some runs, newest runs first.
pub(crate) async fn usage(
    connections: &Connections,
    first_run: u64,
    last_run: u64,
    most: u32,
) -> StoreResult<Vec<UsageFact>> {
    let sql = "select run_number, body from events
               where name = 'usage.recorded' and run_number between $1 and $2
               order by run_number desc limit $3";
    let query = SqlQuery::new(sql)
        .with(integer(first_run), Type::INT8)
        .with(integer(last_run), Type::INT8)
        .with(limit(most), Type::INT8);
    let mut found = Vec::new();
    for row in &connections.read(&query).await? {
        let row = Columns::of(row, "events", "run_number");
        if let Ok(Event::Usage(UsageEvent::Recorded { handoff, usage, .. })) =
            decode(row.get("body")?)
        {
            found.push(UsageFact { run_number: row.number("run_number")?, handoff, usage });
        }
    }
    Ok(found)
}

async fn by_state(
    connections: &Connections,
    filter: &HandoffFilter,
) -> StoreResult<Vec<(HandoffState, u64)>> {
    let mut query = SqlQuery::new("");
    let matching = matching(&mut query, filter);
    query.sql = format!("select handoffs.state, count(*) as n {matching} group by handoffs.state");
    let mut counts = Vec::new();
    for row in &connections.read(&query).await? {
        let row = Columns::of(row, "handoffs", "n");
        counts.push((row.parsed("state", HandoffState::from_name)?, row.number("n")?));
    }
    let of_state = |state| counts.iter().find(|(it, _)| *it == state).copied();
    Ok(HandoffState::ALL.into_iter().filter_map(of_state).collect())
}

async fn by_agent(
    connections: &Connections,
    filter: &HandoffFilter,
) -> StoreResult<Vec<AgentStatistics>> {
    let mut query = SqlQuery::new("");
    let matching = matching(&mut query, filter);
    query.sql = format!(
        "select handoffs.to_agent as agent,
             count(*) as n_handoffs,
             count(*) filter (where handoffs.ended_at is null) as n_open,
             count(*) filter (where handoffs.state = 'completed') as n_completed,
             count(*) filter (where handoffs.state = 'rejected') as n_rejected,
             trunc(avg(handoffs.accepted_at - handoffs.created_at) / 1000000)::bigint
                 as to_accept,
             trunc(
                 avg(handoffs.ended_at - handoffs.accepted_at)
                     filter (where handoffs.state = 'completed') / 1000000
             )::bigint as to_complete
         {matching} group by handoffs.to_agent order by handoffs.to_agent"
    );
    connections.read(&query).await?.iter().map(read).collect()
}

fn read(row: &Row) -> StoreResult<AgentStatistics> {
    let row = Columns::of(row, "handoffs", "n_handoffs");
    // A clock that was set back can make a span negative.
    let mean = |column| {
        row.get::<Option<i64>>(column).map(|it| it.map(|ms| u64::try_from(ms).unwrap_or(0)))
    };
    Ok(AgentStatistics {
        agent: row.parsed("agent", |it| AgentId::parse(it).ok())?,
        n_handoffs: row.number("n_handoffs")?,
        n_open: row.number("n_open")?,
        n_completed: row.number("n_completed")?,
        n_rejected: row.number("n_rejected")?,
        mean_ms_to_accept: mean("to_accept")?,
        mean_ms_to_complete: mean("to_complete")?,
    })
}
