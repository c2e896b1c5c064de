//! What a durable store still knows when it is opened again.

use std::sync::Arc;

use async_trait::async_trait;
use baton_core::run::{HandoffNo, RunStatus};
use baton_core::story::Story;
use baton_store::{AppendError, HandoffFilter, LeaseRenewal, Position, RunRef, Store};
use jiff::SignedDuration;

use crate::dump;
use crate::outbox::telling;
use crate::sample::*;
use crate::timers::held_by_bea;

const SECOND: SignedDuration = SignedDuration::from_secs(1);

/// Where a store keeps what it keeps.
#[async_trait]
pub trait Place: Send + Sync {
    /// Opens the store there. The one before it has been closed or dropped.
    async fn open(&self) -> Arc<dyn Store>;
}

pub async fn everything_is_still_there_after_reopening(place: &dyn Place) {
    let store = place.open().await;
    fill(&*store).await;
    let before = dump(&*store).await;
    store.close().await;
    drop(store);
    still_there(&*place.open().await, &before).await;
}

pub async fn everything_is_still_there_without_a_proper_close(place: &dyn Place) {
    let store = place.open().await;
    fill(&*store).await;
    let before = dump(&*store).await;
    drop(store);
    still_there(&*place.open().await, &before).await;
}

pub async fn numbers_continue_after_reopening(place: &dyn Place) {
    let store = place.open().await;
    put_all(&*store, &tale(1, "s-1")).await;
    let last = store.last_position().await.unwrap();
    store.close().await;
    let store = place.open().await;
    assert_eq!(store.last_position().await.unwrap(), last);
    let first = start(2, "s-2");
    let appended = put(&*store, &first).await;
    assert_eq!(appended.run_number, 2);
    assert!(appended.position > last);
    put(&*store, &hand_to(&first, "bea")).await;
    let handoffs = store.handoffs(&HandoffFilter::default()).await.unwrap();
    assert_eq!(handoffs.iter().map(|it| it.number).collect::<Vec<_>>(), [1, 2, 3]);
}

pub async fn outbox_ids_continue_after_reopening(place: &dyn Place) {
    let store = place.open().await;
    put(&*store, &telling(start(1, "s-1"), &["a", "b"])).await;
    assert!(store.settle(1).await.unwrap());
    assert!(store.settle(2).await.unwrap());
    store.close().await;
    let store = place.open().await;
    put(&*store, &telling(start(2, "s-2"), &["c"])).await;
    assert_eq!(store.outbox(0, 0).await.unwrap()[0].id, 3);
}

pub async fn a_repeated_key_is_known_after_reopening(place: &dyn Place) {
    let append = keyed(start(1, "s-1"), "scope", "k-1");
    let store = place.open().await;
    put(&*store, &append).await;
    store.close().await;
    let store = place.open().await;
    let error = store.append(append.into()).await.unwrap_err();
    assert!(matches!(error, AppendError::Repeated(_)), "{error:?}");
}

pub async fn a_run_goes_on_after_reopening(place: &dyn Place) {
    for append in tale(1, "s-1") {
        let store = place.open().await;
        let row = store.run(&RunRef::Id(run_id(1))).await.unwrap();
        assert_eq!(row.map_or(0, |it| it.version.0), append.expected.0);
        put(&*store, &append).await;
        store.close().await;
    }
    let row = place.open().await.run(&RunRef::Number(1)).await.unwrap().unwrap();
    assert_eq!(row.run.status, RunStatus::Completed);
}

pub async fn a_lease_can_be_put_off_after_reopening(place: &dyn Place) {
    let mut store = place.open().await;
    held_by_bea(&*store, 1).await;
    let due = moment(9_999);
    for (n, fence) in [(0, 1), (1, 1), (0, 2)] {
        store.close().await;
        drop(store);
        store = place.open().await;
        let lease = LeaseRenewal { run: run_id(1), no: HandoffNo(1), fence, due: due + SECOND * n };
        let n_put_off = store.put_off(&[lease]).await.unwrap();
        assert_eq!(n_put_off, u64::from(fence == 1), "another fence is another holding");
    }
    store.close().await;
    let timers = place.open().await.timers(None, 0).await.unwrap();
    assert_eq!(timers.iter().map(|it| it.due).collect::<Vec<_>>(), [due + SECOND]);
}

/// Something of everything.
async fn fill(store: &dyn Store) {
    put_all(store, &tale(1, "s-1")).await;
    let mut append = keyed(start(2, "s-2"), "scope", "key");
    append.story = Some(Story::named(story_key("s-2")));
    append.definition = Some(definition("steps: []"));
    put(store, &telling(append.clone(), &["run.started"])).await;
    let second = hand_to(&append, "bea");
    put_all(store, &[second.clone(), leased(accept(&second, 1), &[(1, 1)])]).await;
    store.add_story(&Story::named(story_key("s-3")), moment(3)).await.unwrap();
    assert!(store.advance("archive", Position::START, Position(5)).await.unwrap());
}

async fn still_there(store: &dyn Store, before: &str) {
    assert_eq!(dump(store).await, before);
    assert_eq!(store.cursor("archive").await.unwrap(), Position(5));
    assert_eq!(store.definition(&pin()).await.unwrap(), Some(definition("steps: []")));
    assert!(store.answered("scope", "key").await.unwrap().is_some());
    assert_eq!(store.check().await.unwrap().problems, Vec::<String>::new());
}
