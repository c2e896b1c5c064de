//! The table of the pipeline document, as a person with another tool sees it.

use baton_core::event::{Event, HandoffEvent};
use baton_core::run::{Ended, HandoffNo, HandoffState, State};
use baton_store::Store as _;
use baton_store_tests::sample::*;

use crate::{SqliteStore, connect};

type Line = (i64, String, String, String, String, Option<String>, Option<String>, String);

#[tokio::test]
async fn the_view_has_the_columns_of_the_pipeline_api() {
    let dir = tempfile::tempdir().unwrap();
    let _store = SqliteStore::open(dir.path()).unwrap();
    let connection = connect::reading(&dir.path().join(crate::FILE)).unwrap();
    let statement = connection.prepare("select * from agent_handoffs").unwrap();
    let expected = [
        "id",
        "story_id",
        "from_agent",
        "to_agent",
        "status",
        "payload",
        "rejection_reason",
        "created_at",
        "processed_at",
    ];
    assert_eq!(statement.column_names().collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn the_view_tells_a_tale() {
    let dir = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(dir.path()).unwrap();
    put_all(&store, &tale(1, "s-1")).await;
    let connection = connect::reading(&dir.path().join(crate::FILE)).unwrap();
    let sql = "select id, story_id, from_agent, to_agent, status, payload, rejection_reason,
                   created_at || ' ' || processed_at
               from agent_handoffs order by id";
    let mut statement = connection.prepare(sql).unwrap();
    let lines: Vec<Line> =
        statement.query_map([], |row| row.try_into()).unwrap().collect::<Result<_, _>>().unwrap();
    let line = |id, to: &str, status: &str, reason: Option<&str>, times: &str| {
        let payload = Some(format!(r#"{{"summary":"for {to}"}}"#));
        let (story, from) = ("s-1".to_owned(), "ada".to_owned());
        let reason = reason.map(str::to_owned);
        (id, story, from, to.to_owned(), status.to_owned(), payload, reason, times.to_owned())
    };
    let expected = [
        line(
            1,
            "bea",
            "rejected",
            Some("the tests fail"),
            "2026-01-01T00:16:41.123Z 2026-01-01T00:16:42.123Z",
        ),
        line(2, "cid", "accepted", None, "2026-01-01T00:16:43.123Z 2026-01-01T00:16:44.123Z"),
    ];
    assert_eq!(lines, expected);
}

#[tokio::test]
async fn every_state_has_a_word_of_the_pipeline_api() {
    let dir = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(dir.path()).unwrap();
    for (n, state) in (1..).zip(HandoffState::ALL) {
        let first = start(n, &format!("s-{n}"));
        let second = hand_to(&first, "bea");
        let mut third = then(
            &second,
            &[Event::Handoff(HandoffEvent::Stale { handoff: HandoffNo(1), is_no_move: true })],
        );
        to_state(&mut third, 1, state);
        put_all(&store, &[first, second, third]).await;
    }
    let connection = connect::reading(&dir.path().join(crate::FILE)).unwrap();
    let sql = "select status, processed_at is not null, rejection_reason
               from agent_handoffs order by id";
    let mut statement = connection.prepare(sql).unwrap();
    let words: Vec<(String, bool, Option<String>)> =
        statement.query_map([], |row| row.try_into()).unwrap().collect::<Result<_, _>>().unwrap();
    for (state, (word, is_processed, reason)) in HandoffState::ALL.into_iter().zip(words) {
        let expected = match state {
            HandoffState::Open(State::Pending | State::Clarification) => "pending",
            HandoffState::Open(State::Accepted | State::Parked)
            | HandoffState::Ended(Ended::Completed) => "accepted",
            HandoffState::Ended(Ended::Rejected) => "rejected",
            HandoffState::Ended(Ended::TimedOut) => "timed_out",
            HandoffState::Ended(Ended::Cancelled | Ended::Superseded) => "cancelled",
        };
        assert_eq!(word, expected, "{state:?}");
        let has_moved = !state.is_open() || state == HandoffState::Open(State::Accepted);
        assert_eq!((is_processed, reason), (has_moved, None), "{state:?}");
    }
    store.close().await;
}
