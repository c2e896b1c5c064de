//! The list of nodes.

use baton_store_postgres::NodeRow;
use baton_store_tests::sample::moment;
use baton_test_postgres::TestSchema;
use uuid::Uuid;

use crate::database::open;

#[tokio::test]
async fn a_node_that_was_killed_is_forgotten_once_another_has_its_address() {
    let schema = TestSchema::fresh();
    let store = open(&schema).await;
    let node = |id: u128, name: &str, at: i64| NodeRow {
        id: Uuid::from_u128(id),
        name: name.to_owned(),
        url: "http://127.0.0.1:4180".to_owned(),
        version: "0.1.0".to_owned(),
        started_at: moment(at),
        seen_at: moment(at),
    };
    let ids = async || {
        let nodes = store.nodes().await.unwrap();
        nodes.iter().map(|it| it.id.as_u128()).collect::<Vec<_>>()
    };
    store.announce_node(&node(1, "web-1", 0)).await.unwrap();
    store.announce_node(&node(2, "web-2", 1)).await.unwrap();
    store.announce_node(&node(3, "web-1", 10)).await.unwrap();
    assert_eq!(ids().await, [1, 2, 3], "it may have missed an announcement");
    store.announce_node(&node(3, "web-1", 25)).await.unwrap();
    assert_eq!(ids().await, [2, 3]);
}
