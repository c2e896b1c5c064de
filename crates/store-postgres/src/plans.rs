//! A list must not get slower with a long history: the plan of each query uses an index, on tables that
//! are large enough for it to matter.

use baton_core::run::{HandoffState, RunStatus, State};
use baton_store::{EventFilter, HandoffFilter, Order, Position, RunFilter};
use baton_store_tests::sample::*;
use baton_test_postgres::TestSchema;

use crate::query::{Connections, SqlQuery};
use crate::{PostgresSettings, PostgresStore, events, handoffs, runs};

/// Rows as a long history leaves them: few runs are open.
const HISTORY: &str = "
    insert into runs (number, id, version, head, story_key, workflow, status, baton, current_agent,
        started_at, moved_at, state)
    select n, gen_random_uuid(), 7, sha256(n::text::bytea), 's-' || n, 'story-pipeline',
        case when n % 500 = 0 then 'open' else 'completed' end,
        case when n % 500 = 0 then 'offered' else 'done' end, null, n, n, '{}'
    from generate_series(1000, 21000) as n;
    insert into handoffs (id, run_number, no, kind, from_agent, from_place, to_agent, to_place, state,
        reason, attempt, is_stale, created_at, accepted_at, ended_at)
    select gen_random_uuid(), number, no, 'sequential', 'ada', 'step:a', 'bea', 'step:b',
        case when status = 'open' then 'pending' else 'completed' end,
        sha256('x'), 1, false, number, null, case when status = 'open' then null else number end
    from runs, generate_series(1, 2) as no where number >= 1000;
    insert into events (position, run_number, version, happened_at, name, done_by, hash, body)
    select number * 10 + n, number, n, number, 'handoff.created', 'ada', head, '{}'
    from runs, generate_series(1, 3) as n where number >= 1000;
    insert into timers (run_number, no, kind, fence, seconds, due_at, checksum)
    select number, 1, 'lease', 1, 20, number, 0 from runs where number >= 1000;
    insert into due (run_number, due_at, checksum) select number, number, 0 from runs where number >= 1000;
    analyze;
";

async fn with_history() -> (TestSchema, PostgresStore) {
    let schema = TestSchema::fresh();
    let settings = PostgresSettings::parse(&format!("{}&pool=3", schema.url())).unwrap();
    let store = PostgresStore::open(&settings).await.unwrap();
    schema.sql(HISTORY);
    (schema, store)
}

#[tokio::test]
async fn lists_of_runs_handoffs_and_events_use_their_indexes() {
    let (_schema, store) = with_history().await;
    let connections = &store.connections;
    let to_bea = HandoffFilter {
        to: Some(agent("bea")),
        states: vec![HandoffState::Open(State::Pending)],
        limit: 50,
        ..HandoffFilter::default()
    };
    let of_run = HandoffFilter { run: Some(run_id(1)), ..HandoffFilter::default() };
    let newest = HandoffFilter { order: Order::NewestFirst, limit: 50, ..HandoffFilter::default() };
    for (filter, index) in
        [(to_bea, "handoffs_"), (of_run, "handoffs_by_run"), (newest, "handoffs_pkey")]
    {
        check_plan(connections, handoffs::list_query(&filter), index).await;
    }
    let open = RunFilter { statuses: vec![RunStatus::Open], limit: 50, ..RunFilter::default() };
    let newest = RunFilter { order: Order::NewestFirst, limit: 50, ..RunFilter::default() };
    let story = RunFilter { story: Some(story_key("s-1500")), ..RunFilter::default() };
    for (filter, index) in [(open, "runs_"), (newest, "runs_pkey"), (story, "runs_")] {
        check_plan(connections, runs::list_query(&filter), index).await;
    }
    for (run, index) in [(None, "events_pkey"), (Some(run_id(1)), "events_by_run")] {
        let filter = EventFilter { after: Position(150_000), run, limit: 100 };
        check_plan(connections, events::list_query(&filter), index).await;
    }
    baton_store::Store::close(&store).await;
}

/// The plan names the index, and reads no table through.
async fn check_plan(connections: &Connections, query: SqlQuery<'_>, index: &str) {
    let plan = plan(connections, query).await;
    assert!(plan.contains(index), "lacks {index}:\n{plan}");
    for table in ["runs", "handoffs", "events", "contents", "timers", "due"] {
        let is_read_through = plan.contains(&format!("Seq Scan on {table}\n"))
            || plan.contains(&format!("Seq Scan on {table} "));
        assert!(!is_read_through, "reads all of {table}:\n{plan}");
    }
}

async fn plan(connections: &Connections, mut query: SqlQuery<'_>) -> String {
    query.sql = format!("explain (costs off) {}", query.sql);
    let rows = connections.rows(&query).await.unwrap();
    rows.iter().map(|it| it.get::<_, String>(0) + "\n").collect()
}
