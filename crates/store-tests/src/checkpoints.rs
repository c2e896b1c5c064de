//! Signed checkpoints, and the log as they cover it.

use baton_store::{CheckpointRow, EventFilter, Position, Store};
use baton_wire::checkpoint::SignedCheckpoint;

use crate::sample::*;

fn checkpoint(number: u64) -> CheckpointRow {
    let signed = SignedCheckpoint::new(format!("checkpoint {number}\n"), [7; 64]);
    CheckpointRow { number, signed }
}

pub async fn checkpoints_are_kept_in_their_order(store: &dyn Store) {
    assert_eq!(store.last_checkpoint().await.unwrap(), None);
    assert!(!store.add_checkpoint(&checkpoint(2)).await.unwrap(), "the first is 1");
    for number in 1..=3 {
        assert!(store.add_checkpoint(&checkpoint(number)).await.unwrap());
        assert!(!store.add_checkpoint(&checkpoint(number)).await.unwrap(), "another was faster");
    }
    assert_eq!(store.last_checkpoint().await.unwrap(), Some(checkpoint(3)));
    assert_eq!(store.checkpoints(0, 2).await.unwrap(), [checkpoint(1), checkpoint(2)]);
    assert_eq!(store.checkpoints(2, 0).await.unwrap(), [checkpoint(3)]);
}

pub async fn the_links_of_the_log_are_its_events(store: &dyn Store) {
    put_all(store, &tale(1, "s-1")).await;
    put_all(store, &tale(2, "s-2")).await;
    let events =
        store.events(&EventFilter { after: Position::START, run: None, limit: 0 }).await.unwrap();
    let links = store.log_links(Position::START, 0).await.unwrap();
    assert_eq!(links.len(), events.len());
    for (link, event) in links.iter().zip(&events) {
        assert_eq!(
            (link.position, link.run, link.version, &link.name, link.hash),
            (event.position.0, event.run, event.version.0, &event.name, event.hash)
        );
    }
    let second = store.log_links(Position(links[0].position), 1).await.unwrap();
    assert_eq!(second, links[1..2]);
}
