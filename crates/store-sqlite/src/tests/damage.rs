//! A damaged file is reported as damaged; it never crashes the process.

use std::fs;
use std::path::Path;

use baton_store::{
    EventFilter, HandoffFilter, Position, RunFilter, Store as _, StoreCheck, StoreError,
    StoryFilter,
};
use baton_store_tests::sample::*;

use crate::{FILE, OpenError, SqliteStore};

#[tokio::test]
async fn random_bytes_anywhere_never_panic() {
    let whole = a_file().await;
    let mut seed = 1_u64;
    let mut n_found = 0;
    for place in (0..whole.len()).step_by(whole.len() / 60) {
        let mut bytes = whole.clone();
        for byte in bytes.iter_mut().skip(place).take(200) {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            *byte = seed.to_be_bytes()[0];
        }
        n_found += usize::from(is_found_out(&bytes).await);
    }
    assert!(n_found > 20, "only {n_found} of 60 were found out");
}

#[tokio::test]
async fn a_cut_file_is_found_out() {
    let whole = a_file().await;
    for length in [1, 99, 100, 4095, 4096, whole.len() / 2, whole.len() - 4096] {
        assert!(is_found_out(&whole[..length]).await, "cut to {length}");
    }
}

#[tokio::test]
async fn an_empty_file_with_a_log_is_not_taken_for_a_new_one() {
    let dir = with_file(b"");
    fs::write(dir.path().join("baton.db-wal"), b"all that is left").unwrap();
    let error = SqliteStore::open(dir.path()).unwrap_err();
    assert!(matches!(error, OpenError::Damaged { .. }), "{error:?}");
    assert!(dir.path().join("baton.db-wal").exists());
}

#[tokio::test]
async fn a_file_that_is_no_database_is_refused() {
    let dir = with_file(&b"this is not a database".repeat(1000));
    let error = SqliteStore::open(dir.path()).unwrap_err();
    assert!(matches!(error, OpenError::Damaged { .. }), "{error:?}");
    let shown = error.to_string();
    assert!(shown.contains("is damaged: its first page is not that of a database"), "{shown}");
}

#[tokio::test]
async fn a_directory_in_place_of_the_file_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join(FILE)).unwrap();
    SqliteStore::open(dir.path()).unwrap_err();
}

#[tokio::test]
async fn a_value_that_baton_does_not_write_is_damage() {
    let dir = with_file(&a_file().await);
    let connection = crate::connect::writing(&dir.path().join(FILE)).unwrap();
    connection.execute("update handoffs set from_place = 'the moon' where number = 1", []).unwrap();
    drop(connection);
    let store = SqliteStore::open(dir.path()).unwrap();
    let error = store.handoffs(&HandoffFilter::default()).await.unwrap_err();
    let expected = "the data is damaged: row 1 of `handoffs`: column `from_place` holds what Baton \
                    does not write; `baton verify` lists what is wrong, `baton recover` saves what \
                    is whole";
    assert_eq!(error.to_string(), expected);
}

#[tokio::test]
async fn a_column_that_its_text_denies_is_reported() {
    for (edit, expected) in [
        ("update runs set story_key = 'other'", "run 1: `story_key` differs from its state"),
        ("update runs set workflow = 'other'", "run 1: `workflow` differs from its state"),
        ("update runs set status = 'cancelled'", "run 1: `status` differs from its state"),
        ("update runs set baton = 'held'", "run 1: `baton` differs from its state"),
        ("update runs set current_agent = 'eve'", "run 1: `current_agent` differs from its state"),
        ("update runs set started_at = 1", "run 1: `started_at` differs from its state"),
        ("update runs set moved_at = 1", "run 1: `moved_at` differs from its state"),
        (
            "update events set name = 'run.paused'",
            "row 1 of `events`: its name is not that of its body",
        ),
    ] {
        let dir = with_file(&a_file().await);
        let connection = crate::connect::writing(&dir.path().join(FILE)).unwrap();
        let key = if edit.contains("runs") { "number" } else { "position" };
        connection.execute(&format!("{edit} where {key} = 1"), []).unwrap();
        drop(connection);
        let store = SqliteStore::open(dir.path()).unwrap();
        assert_eq!(store.check().await.unwrap().problems, [expected], "{edit}");
    }
}

#[tokio::test]
async fn a_run_that_waits_and_is_not_listed_so_is_reported() {
    let dir = with_file(&a_file().await);
    let connection = crate::connect::writing(&dir.path().join(FILE)).unwrap();
    connection.execute("insert into waiting values (7)", []).unwrap();
    drop(connection);
    let store = SqliteStore::open(dir.path()).unwrap();
    let problems = store.check().await.unwrap().problems;
    assert_eq!(problems, ["run 7: `waiting` differs from its state"]);
}

#[tokio::test]
async fn problems_that_are_not_named_are_counted() {
    let dir = with_file(&a_file().await);
    let connection = crate::connect::writing(&dir.path().join(FILE)).unwrap();
    let forge =
        "with recursive many (n) as (select 1 union all select n + 1 from many where n < 30)
                 insert into cursors (projector, position, checksum)
                 select 'forged-' || n, 1, 0 from many";
    connection.execute(forge, []).unwrap();
    drop(connection);
    let store = SqliteStore::open(dir.path()).unwrap();
    let StoreCheck { problems, n_problems } = store.check().await.unwrap();
    assert_eq!((problems.len(), n_problems), (11, 30), "{problems:?}");
    assert_eq!(problems[10], "`cursors`: 20 more problems");
}

#[tokio::test]
async fn a_row_that_refers_to_nothing_is_reported() {
    let dir = with_file(&a_file().await);
    let connection = crate::connect::writing(&dir.path().join(FILE)).unwrap();
    connection
        .execute_batch("pragma foreign_keys = off; delete from runs where number = 1")
        .unwrap();
    drop(connection);
    let store = SqliteStore::open(dir.path()).unwrap();
    let problems = store.check().await.unwrap().problems;
    let expected = "row 1 of `handoffs` refers to what is not there";
    assert!(problems.iter().any(|it| it == expected), "{problems:?}");
}

/// The bytes of a store with a little of everything.
async fn a_file() -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(dir.path()).unwrap();
    for n in 1..=20 {
        put_all(&store, &tale(n, &format!("s-{n}"))).await;
    }
    store.close().await;
    fs::read(dir.path().join(FILE)).unwrap()
}

fn with_file(bytes: &[u8]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join(FILE), bytes).unwrap();
    dir
}

/// Whether opening, checking or reading reports the damage.
async fn is_found_out(bytes: &[u8]) -> bool {
    let dir = with_file(bytes);
    let Ok(store) = opened(dir.path()) else { return true };
    let problems = store.check().await.unwrap().problems;
    let all = EventFilter { after: Position::START, run: None, limit: 0 };
    let errors = [
        store.runs(&RunFilter::default()).await.err(),
        store.handoffs(&HandoffFilter::default()).await.err(),
        store.events(&all).await.err(),
        store.stories(&StoryFilter::default()).await.err(),
        store.contents(run_id(1), &[words("bea is next").id]).await.err(),
    ];
    for error in errors.iter().flatten() {
        assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
    }
    !problems.is_empty() || errors.iter().any(Option::is_some)
}

fn opened(dir: &Path) -> Result<SqliteStore, OpenError> {
    let store = SqliteStore::open(dir);
    if let Err(error) = &store {
        let is_expected = matches!(
            error,
            OpenError::Damaged { .. }
                | OpenError::NotOurs { .. }
                | OpenError::Changed { .. }
                | OpenError::FromTheFuture { .. }
                | OpenError::Sqlite { .. }
                | OpenError::Setting { .. }
        );
        assert!(is_expected, "{error:?}");
    }
    store
}
