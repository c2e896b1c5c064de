//! Notifications that wait to be sent, and how far each projector has read.

use baton_store::{Append, OutboxRow, Position, Store};

use crate::sample::*;

pub async fn the_outbox_keeps_its_order(store: &dyn Store) {
    let first = telling(start(1, "s-1"), &["run.started", "step.started"]);
    let second = telling(hand_to(&first, "bea"), &["handoff.created"]);
    put_all(store, &[first.clone(), second.clone()]).await;
    let row = |id, append: &Append, about: &str| OutboxRow {
        id,
        run: append.run.id,
        about: about.to_owned(),
        at: append.at,
    };
    let all = [
        row(1, &first, "run.started"),
        row(2, &first, "step.started"),
        row(3, &second, "handoff.created"),
    ];
    assert_eq!(store.outbox(0, 0).await.unwrap(), all);
    assert_eq!(store.outbox(0, 2).await.unwrap(), all[..2]);
    assert_eq!(store.outbox(2, 2).await.unwrap(), all[2..]);
    assert_eq!(store.outbox(3, 0).await.unwrap(), []);
    assert_eq!(store.outbox(u64::MAX, 0).await.unwrap(), []);
}

pub async fn an_outbox_row_is_settled_once(store: &dyn Store) {
    put(store, &telling(start(1, "s-1"), &["a", "b"])).await;
    assert!(store.settle(1).await.unwrap());
    assert!(!store.settle(1).await.unwrap());
    assert!(!store.settle(u64::MAX).await.unwrap());
    let waiting = store.outbox(0, 0).await.unwrap();
    assert_eq!(waiting.iter().map(|it| it.id).collect::<Vec<_>>(), [2]);
}

pub async fn outbox_ids_are_never_reused(store: &dyn Store) {
    put(store, &telling(start(1, "s-1"), &["a", "b"])).await;
    assert!(store.settle(1).await.unwrap());
    assert!(store.settle(2).await.unwrap());
    put(store, &telling(start(2, "s-2"), &["c"])).await;
    let waiting = store.outbox(0, 0).await.unwrap();
    assert_eq!(waiting.iter().map(|it| it.id).collect::<Vec<_>>(), [3]);
}

pub async fn a_cursor_starts_at_the_beginning(store: &dyn Store) {
    assert_eq!(store.cursor("archive").await.unwrap(), Position::START);
    assert!(store.advance("archive", Position::START, Position(3)).await.unwrap());
    assert_eq!(store.cursor("archive").await.unwrap(), Position(3));
    assert_eq!(store.cursor("search").await.unwrap(), Position::START);
}

pub async fn a_cursor_moves_only_from_where_it_is(store: &dyn Store) {
    assert!(!store.advance("archive", Position(1), Position(2)).await.unwrap());
    assert_eq!(store.cursor("archive").await.unwrap(), Position::START);
    assert!(store.advance("archive", Position::START, Position(3)).await.unwrap());
    for wrong in [Position::START, Position(2), Position(4)] {
        assert!(!store.advance("archive", wrong, Position(9)).await.unwrap(), "{wrong:?}");
    }
    assert!(store.advance("archive", Position(3), Position(4)).await.unwrap());
    // To read again from the beginning is a move like any other.
    assert!(store.advance("archive", Position(4), Position::START).await.unwrap());
    assert!(store.advance("archive", Position::START, Position(1)).await.unwrap());
    assert_eq!(store.cursor("archive").await.unwrap(), Position(1));
}

/// The same append, with something to tell.
pub(crate) fn telling(append: Append, outbox: &[&str]) -> Append {
    Append { outbox: outbox.iter().map(|it| (*it).to_owned()).collect(), ..append }
}
