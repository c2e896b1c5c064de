//! The table of the pipeline document, as a person with another tool sees it.

use baton_store_tests::sample::*;
use baton_test_postgres::TestSchema;

use crate::database::open;

#[tokio::test]
async fn the_view_has_the_columns_of_the_pipeline_document() {
    let schema = TestSchema::fresh();
    let _store = open(&schema).await;
    let columns = schema.sql(
        "select column_name from information_schema.columns
         where table_schema = current_schema() and table_name = 'agent_handoffs'
         order by ordinal_position",
    );
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
    assert_eq!(columns.lines().collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn the_view_shows_a_run_as_the_other_backend_does() {
    let schema = TestSchema::fresh();
    let store = open(&schema).await;
    put_all(&store, &tale(1, "s-1")).await;
    let rows = schema.sql(
        "select story_id, from_agent, to_agent, status, payload, rejection_reason, created_at,
             processed_at
         from agent_handoffs order by id",
    );
    let expected = "\
s-1|ada|bea|rejected|{\"summary\":\"for bea\"}|the tests fail|2026-01-01T00:16:41.123Z|2026-01-01T00:16:42.123Z
s-1|ada|cid|accepted|{\"summary\":\"for cid\"}||2026-01-01T00:16:43.123Z|2026-01-01T00:16:44.123Z";
    assert_eq!(rows, expected);
}
