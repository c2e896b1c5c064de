//! A state that this Baton cannot read is rebuilt from the events; only if they cannot be read
//! either is the run damaged.

use baton_store::{Append, RunFilter, RunRef, RunRow, Store as _, StoreError};
use baton_store_tests::sample::*;
use tempfile::TempDir;

use crate::{FILE, SqliteStore, connect};

/// What the first Baton wrote after the first two commands of [`tale`].
const OF_THE_FIRST_BATON: &str = r#"{"v":1,"id":"00000000-0000-0000-0000-000000000001","story":"s-1","workflow":"story-pipeline","pin":"0101010101010101010101010101010101010101010101010101010101010101","owner":"ada","status":"open","branches":[{"no":0,"baton":{"offered":{"handoff":1}}}],"handoffs":[{"no":1,"id":"00000000-0000-0000-0000-000100000001","branch":0,"kind":"sequential","from":{"agent":"ada","place":{"step":"analysis"}},"to":{"agent":"bea","place":{"step":"review"}},"state":"pending","package":PACKAGE,"forward":{"from":{"step":"analysis"},"to":{"step":"review"}},"reject_to":null,"attempt":1,"fence":0,"created_at":"2026-01-01T00:16:41.123456789Z","accepted_at":null,"is_stale":false,"gate":null}],"rounds":[],"visited":[],"package":PACKAGE,"given":[{"step":"review","package":PACKAGE,"sender":{"agent":"ada","place":{"step":"analysis"}},"forward":{"from":{"step":"analysis"},"to":{"step":"review"}}}],"n_handoffs":1,"started_at":"2026-01-01T00:16:40.123456789Z","moved_at":"2026-01-01T00:16:41.123456789Z"}"#;

#[tokio::test]
async fn a_state_of_the_first_baton_is_read() {
    let stored = Stored::new().await;
    let package = format!("\"{}\"", stored.row.run.package.unwrap().0);
    stored.edit(&OF_THE_FIRST_BATON.replace("PACKAGE", &package), "");
    assert_eq!(stored.read().await.unwrap(), stored.row);
    let store = SqliteStore::open(stored.dir.path()).unwrap();
    assert_eq!(store.check().await.unwrap().problems, Vec::<String>::new());
}

#[tokio::test]
async fn a_state_that_cannot_be_read_is_told_by_the_events() {
    for state in [
        // From an older Baton, with fewer fields.
        r#"{"v":1,"id":"00000000-0000-0000-0000-000000000001","story":"s-1","status":"open"}"#,
        // From newer ones: another encoding, another word.
        r#"{"v":2,"all":"new"}"#,
        &OF_THE_FIRST_BATON.replace("PACKAGE", "null").replace("pending", "on_the_moon"),
        "{}",
        "",
        "garbage \u{1F980}",
    ] {
        let stored = Stored::new().await;
        stored.edit(state, "");
        assert_eq!(stored.read().await.unwrap(), stored.row, "{state}");
        let store = SqliteStore::open(stored.dir.path()).unwrap();
        let said = store.check().await.unwrap().problems;
        assert_eq!(said, ["run 1 has a state that cannot be read"], "{state}");
        // The run moves, which repairs its stored state.
        put(&store, &stored.next).await;
        assert_eq!(store.check().await.unwrap().problems, Vec::<String>::new());
    }
}

#[tokio::test]
async fn a_run_whose_events_cannot_be_read_either_is_damaged() {
    for edit in [
        "update events set body = '{}' where version = 2",
        "update events set body = replace(body, '\"v\":1', '\"v\":9') where version = 2",
        "delete from events where version = 1",
        "delete from events where version = 2",
        "update runs set version = 3",
        "update events set hash = zeroblob(32) where version = 2",
    ] {
        let stored = Stored::new().await;
        stored.edit("{}", edit);
        let error = stored.read().await.unwrap_err();
        let StoreError::Damaged { what } = error else { panic!("{error:?}") };
        let expected = "row 1 of `runs`: column `state` holds what Baton does not write";
        assert_eq!(what, expected, "{edit}");
    }
}

/// A run with one pending handoff, in a file that no process has open.
struct Stored {
    dir: TempDir,
    row: RunRow,
    /// The remaining commands of the run.
    next: Append,
}

impl Stored {
    async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(dir.path()).unwrap();
        let first = start(1, "s-1");
        let second = hand_to(&first, "bea");
        put_all(&store, &[first, second.clone()]).await;
        let row = store.run(&RunRef::Number(1)).await.unwrap().unwrap();
        store.close().await;
        Self { dir, row, next: accept(&second, 1) }
    }

    fn edit(&self, state: &str, then: &str) {
        let connection = connect::writing(&self.dir.path().join(FILE)).unwrap();
        connection.execute("update runs set state = ?1", [state]).unwrap();
        connection.execute_batch(then).unwrap();
    }

    /// By number and from the list; both must agree.
    async fn read(&self) -> Result<RunRow, StoreError> {
        let store = SqliteStore::open(self.dir.path()).unwrap();
        let listed = store.runs(&RunFilter::default()).await;
        let found = store.run(&RunRef::Number(1)).await;
        assert_eq!(
            listed.as_ref().ok().map(Vec::as_slice),
            found.as_ref().ok().map(Option::as_slice)
        );
        found.map(Option::unwrap)
    }
}
