//! Rows that were deleted behind Baton's back: `baton verify` finds them, and no command takes their
//! absence for something else.

use baton_core::story::Story;
use baton_store::{AppendError, CheckpointRow, Store, StoreError};
use baton_store_tests::sample::*;
use baton_test_postgres::TestSchema;
use baton_wire::checkpoint::SignedCheckpoint;

use crate::database::open;

#[tokio::test]
async fn every_row_that_others_count_on_is_missed() {
    for (sql, expected) in [
        ("delete from counters where counted = 'runs'", "the last number given to a run"),
        ("delete from identity", "the table `identity` has no row"),
        ("delete from stories where key = 's-1'", "story s-1 is in the story log, and missing"),
        ("delete from story_chain", "the story log does not end where it was written to last"),
        ("delete from checkpoints", "checkpoint 1 was signed, and is missing"),
        ("delete from runs where number = 2", "the last number given to a run is 2"),
    ] {
        let schema = TestSchema::fresh();
        let store = open(&schema).await;
        assert!(store.add_story(&Story::named(story_key("s-1")), moment(0)).await.unwrap());
        put_all(&store, &tale(1, "s-1")).await;
        put_all(&store, &tale(2, "s-2")).await;
        let signed = SignedCheckpoint::new("a text".to_owned(), [7; 64]);
        assert!(store.add_checkpoint(&CheckpointRow { number: 1, signed }).await.unwrap());
        assert_eq!(store.check().await.unwrap().problems, Vec::<String>::new());
        schema.sql(sql);
        let problems = store.check().await.unwrap().problems;
        assert!(problems.iter().any(|it| it.contains(expected)), "{sql}: {problems:?}");
    }
}

#[tokio::test]
async fn a_start_without_the_counter_or_the_identity_is_refused_as_damage() {
    for table in ["counters", "identity"] {
        let schema = TestSchema::fresh();
        let store = open(&schema).await;
        put_all(&store, &tale(1, "s-1")).await;
        let before = schema.sql("select count(*) from runs");
        schema.sql(&format!("delete from {table}"));
        let refused = store.append(start(2, "s-2").into()).await.unwrap_err();
        let is_damage = matches!(refused, AppendError::Store(StoreError::Damaged { .. }));
        assert!(is_damage, "{table}: {refused:?}");
        assert_eq!(schema.sql("select count(*) from runs"), before, "nothing is left of it");
    }
}

#[tokio::test]
async fn a_row_of_the_outbox_that_no_event_has_put_there_is_found() {
    for sql in [
        "update outbox set about = 'x' where id = 1",
        "update outbox set run_number = 9 where id = 1",
        "update outbox set added_at = added_at + 1 where id = 1",
        "update outbox set id = id + 1000 where id = 1",
        "insert into outbox (run_number, about, added_at)
         select run_number, about, added_at from outbox where id = 1",
    ] {
        let schema = TestSchema::fresh();
        let store = open(&schema).await;
        put_all(&store, &tale(1, "s-1")).await;
        put_all(&store, &tale(2, "s-2")).await;
        schema.sql(
            "insert into outbox (run_number, about, added_at)
             select run_number, name, happened_at from events order by position",
        );
        assert_eq!(store.check().await.unwrap().problems, Vec::<String>::new());
        schema.sql(sql);
        let problems = store.check().await.unwrap().problems;
        assert!(
            problems.iter().any(|it| it.contains("no event has put it there")),
            "{sql}: {problems:?}"
        );
    }
}
