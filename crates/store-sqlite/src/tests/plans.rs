//! A list must not get slower with a long history: each query uses an index.

use baton_core::run::{Ended, HandoffState, Kind, RunStatus, State};
use baton_store::{EventFilter, HandoffFilter, Order, Position, RunFilter, SharedEvents};
use baton_store_tests::sample::*;
use rusqlite::types::Null;
use rusqlite::{Connection, params_from_iter};

use crate::migrate::{MIGRATIONS, migrate};
use crate::{connect, due, events, handoffs, idempotency, runs, stories, timers};

#[test]
fn a_list_of_handoffs_reads_no_more_than_it_must() {
    let (_dir, connection) = empty();

    let open = || HandoffFilter {
        states: vec![HandoffState::Open(State::Pending), HandoffState::Open(State::Accepted)],
        ..HandoffFilter::default()
    };
    let check = |filter: HandoffFilter, expected: &str| {
        check_plan(&connection, &handoffs::list_sql(&filter), expected);
    };
    let to = Some(agent("bea"));
    check(HandoffFilter::default(), "SEARCH handoffs USING INTEGER PRIMARY KEY (rowid>?)");
    let by_state = "SEARCH handoffs USING COVERING INDEX handoffs_open_by_state \
                    (state=? AND is_stale=? AND number>?)";
    let in_hand = HandoffFilter { to: to.clone(), ..open() };
    let offered =
        "SEARCH handoffs USING INDEX handoffs_offered (to_agent=? AND state=? AND rowid>?)";
    check(in_hand.clone(), offered);
    check(in_hand, by_state);
    check(open(), by_state);
    check(open(), "MERGE (UNION ALL)");
    check(HandoffFilter { is_stale: Some(false), ..open() }, by_state);
    check(
        HandoffFilter { kind: Some(Kind::Question), is_stale: Some(true), ..open() },
        "SEARCH handoffs USING INDEX handoffs_open_by_state (state=? AND is_stale=? AND number>?)",
    );
    let pending = vec![HandoffState::Open(State::Pending)];
    check(HandoffFilter { states: pending, unmoved_since: Some(moment(1)), ..open() }, by_state);
    check(
        HandoffFilter { run: Some(run_id(1)), ..HandoffFilter::default() },
        "SEARCH handoffs USING INDEX handoffs_by_run (run_number=?)",
    );
    check(
        HandoffFilter { run: Some(run_id(1)), to, ..open() },
        "SEARCH handoffs USING INDEX handoffs_by_run (run_number=?)",
    );
    check(
        HandoffFilter {
            story: Some(story_key("s-1")),
            states: vec![HandoffState::Ended(Ended::Rejected)],
            ..HandoffFilter::default()
        },
        "SEARCH handoffs USING INDEX handoffs_by_run (run_number=?)",
    );

    check(
        HandoffFilter {
            run: Some(run_id(1)),
            with: Some(agent("bea")),
            created_from: Some(moment(1)),
            ..HandoffFilter::default()
        },
        "SEARCH handoffs USING INDEX handoffs_by_run (run_number=?)",
    );
    check(
        HandoffFilter { order: Order::NewestFirst, ..HandoffFilter::default() },
        "SEARCH handoffs USING INTEGER PRIMARY KEY (rowid<?)",
    );
    let of_run = HandoffFilter { run: Some(run_id(1)), ..HandoffFilter::default() };
    let counted = format!("select count(*) {}", handoffs::matching(&of_run));
    check_plan(
        &connection,
        &counted,
        "SEARCH handoffs USING COVERING INDEX handoffs_by_run (run_number=?)",
    );
}

#[test]
fn a_list_of_runs_or_events_reads_no_more_than_it_must() {
    let (_dir, connection) = empty();
    let newest = RunFilter { order: Order::NewestFirst, ..RunFilter::default() };
    let open = RunFilter { statuses: vec![RunStatus::Open], ..RunFilter::default() };
    let statuses = vec![RunStatus::Open, RunStatus::Paused];
    let unfinished = RunFilter { statuses, ..RunFilter::default() };
    let waiting = RunFilter { only_waiting: true, ..RunFilter::default() };
    let blocked = RunFilter { only_blocked: true, ..RunFilter::default() };
    let story = RunFilter { story: Some(story_key("s-1")), ..RunFilter::default() };
    for (filter, expected) in [
        (RunFilter::default(), "SEARCH runs USING INTEGER PRIMARY KEY (rowid>?)"),
        (open, "SEARCH runs USING COVERING INDEX runs_open (status=? AND number>?)"),
        (unfinished, "MERGE (UNION ALL)"),
        (blocked, "SEARCH blocked USING INTEGER PRIMARY KEY (rowid>?)"),
        (waiting, "SEARCH waiting USING INTEGER PRIMARY KEY (rowid>?)"),
        (newest, "SEARCH runs USING INTEGER PRIMARY KEY (rowid<?)"),
        (story, "SEARCH runs USING INDEX runs_by_story (story_key=? AND rowid>?)"),
    ] {
        check_plan(&connection, &runs::list_sql(&filter), expected);
    }

    for (run, expected) in [
        (None, "SEARCH events USING INTEGER PRIMARY KEY (rowid>?)"),
        (Some(run_id(1)), "SEARCH events USING INDEX events_by_run (run_number=? AND rowid>?)"),
    ] {
        let filter = EventFilter { after: Position::START, run, limit: 1 };
        check_plan(&connection, &events::list_sql(&filter), expected);
    }
    let before = "SEARCH events USING INDEX events_by_run (run_number=? AND rowid<?)";
    check_plan(&connection, events::BEFORE, before);
    let shared = "SEARCH events USING INDEX events_shared_votes (run_number=? AND name=?)";
    // They are sorted by position: a run has few.
    let found = plan(&connection, &events::shared_sql(SharedEvents::Decisions));
    assert!(found.iter().any(|it| it == shared), "{found:#?}");
}

#[test]
fn keys_that_look_alike_are_found_without_reading_the_others() {
    let (_dir, connection) = empty();
    let expected = "SEARCH stories USING COVERING INDEX stories_by_outline (outline=?)";
    check_plan(&connection, crate::outlines::LIKE, expected);
}

/// Queries of every start, every command, every sweep, and the page of all runs.
#[test]
fn nothing_is_read_through_or_sorted_where_it_is_asked_often() {
    let (_dir, connection) = empty();
    for sql in [
        due::LIST,
        timers::LIST,
        runs::NEWEST_FIRST,
        idempotency::FORGET,
        events::LAST_POSITION,
        &stories::to_begin_sql(),
        &stories::list_sql(),
    ] {
        let plan = plan(&connection, sql);
        // Reading a tree from one end until there is enough is not a full scan.
        let is_long = |it: &String| {
            it.contains("TEMP B-TREE") || (it.starts_with("SCAN") && *it != "SCAN events")
        };
        assert!(!plan.iter().any(is_long), "{sql}\n{plan:#?}");
    }
    for sql in [runs::COUNT_OPEN, runs::OPEN_ENDING, stories::COUNT] {
        let plan = plan(&connection, sql);
        let reads_rows = |it: &String| {
            (it.starts_with("SCAN") || it.starts_with("SEARCH")) && !it.contains("COVERING INDEX")
        };
        assert!(!plan.iter().any(|it| reads_rows(it) && it != "SCAN CONSTANT ROW"), "{plan:#?}");
    }
}

fn empty() -> (tempfile::TempDir, Connection) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(crate::FILE);
    let mut connection = connect::writing(&path).unwrap();
    migrate(&mut connection, &path, MIGRATIONS).unwrap();
    (dir, connection)
}

#[track_caller]
fn check_plan(connection: &Connection, sql: &str, expected: &str) {
    let plan = plan(connection, sql);
    assert!(plan.iter().any(|it| it == expected), "{sql}\n{plan:#?}\nlacks {expected}");
    // A run has a bounded number of handoffs, which may be sorted.
    let is_of_run = expected.contains("handoffs_by_run");
    let is_sorted = plan.iter().any(|it| it.contains("TEMP B-TREE"));
    assert!(!is_sorted || is_of_run, "{sql}\n{plan:#?}\nis sorted");
}

fn plan(connection: &Connection, sql: &str) -> Vec<String> {
    let mut statement = connection.prepare(&format!("explain query plan {sql}")).unwrap();
    let nothing = params_from_iter(vec![Null; statement.parameter_count()]);
    let rows = statement.query_map(nothing, |row| row.get::<_, String>("detail")).unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}
