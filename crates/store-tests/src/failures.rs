//! An append that cannot be made leaves nothing behind, however late it fails.

use baton_core::run::{Ended, HandoffState, RunStatus, State};
use baton_core::story::Story;
use baton_store::{Append, AppendError, HandoffRow, RunRef, Store, StoreError};

use crate::dump;
use crate::sample::*;

pub async fn a_failed_append_leaves_nothing(store: &dyn Store) {
    put_all(store, &tale(1, "s-1")).await;
    let before = dump(store).await;
    let append = doomed(2, "s-2");
    refused_as_damaged(store, append.clone()).await;
    assert_eq!(dump(store).await, before);
    nothing_is_left_of(store, &append).await;
    assert_eq!(store.check().await.unwrap().problems, Vec::<String>::new());
}

pub async fn a_finished_handoff_never_changes(store: &dyn Store) {
    for (n, state) in (1..).zip([
        Ended::Completed,
        Ended::Rejected,
        Ended::TimedOut,
        Ended::Cancelled,
        Ended::Superseded,
    ]) {
        let first = start(n, &format!("s-{n}"));
        let second = hand_to(&first, "bea");
        let mut third = complete(&second, 1);
        to_state(&mut third, 1, HandoffState::Ended(state));
        put_all(store, &[first, second, third.clone()]).await;
        let before = dump(store).await;
        for next in [HandoffState::Open(State::Pending), HandoffState::Ended(state)] {
            let mut fourth = finish(&third, RunStatus::Completed);
            fourth.changed = third.changed.clone();
            to_state(&mut fourth, 1, next);
            refused_as_damaged(store, fourth).await;
        }
        assert_eq!(dump(store).await, before);
    }
}

pub async fn a_handoff_cannot_be_opened_twice(store: &dyn Store) {
    let first = start(1, "s-1");
    let second = hand_to(&first, "bea");
    let other = start(2, "s-2");
    put_all(store, &[first, second.clone(), other.clone()]).await;
    let before = dump(store).await;

    let mut same_no = hand_to(&second, "cid");
    same_no.opened = second.opened.clone();
    refused_as_damaged(store, same_no).await;

    let mut same_id = hand_to(&other, "cid");
    same_id.opened[0].id = handoff_id(run_id(1), 1);
    refused_as_damaged(store, same_id).await;
    assert_eq!(dump(store).await, before);
}

pub async fn an_append_without_events_is_refused(store: &dyn Store) {
    let mut first = start(1, "s-1");
    let second = hand_to(&first, "bea");
    first.events.clear();
    refused_as_damaged(store, first).await;
    put_all(store, &[start(1, "s-1"), second.clone()]).await;
    let mut third = accept(&second, 1);
    third.events.clear();
    refused_as_damaged(store, third).await;
}

/// A run with everything an append can carry, which fails at its very end.
pub fn doomed(n: u32, story: &str) -> Append {
    let mut append = keyed(start(n, story), "scope", &format!("doomed {n}"));
    append.contents = vec![words("never to be seen"), package("{}")];
    append.story = Some(Story::named(story_key(story)));
    append.definition = Some(definition("never: seen"));
    append.outbox = vec!["run.started".to_owned()];
    append = leased(append, &[(9, 1)]);
    let missing = created(&append, "bea", &words("it was never opened"));
    append.changed = vec![HandoffRow::opened(&append.run, &missing, append.at)];
    append
}

/// Not a run, not a text, not a story, not an answer, not a timer.
pub async fn nothing_is_left_of(store: &dyn Store, append: &Append) {
    let id = append.run.id;
    let row = store.run(&RunRef::Id(id)).await.unwrap();
    assert_eq!(row, None);
    let ids: Vec<_> = append.contents.iter().map(|it| it.id).collect();
    assert_eq!(whole_contents(store, id, &ids).await, []);
    if let Some(story) = &append.story {
        assert_eq!(store.story(&story.key).await.unwrap(), None);
    }
    if let Some(definition) = &append.definition {
        assert_eq!(store.definition(&definition.hash).await.unwrap(), None);
    }
    if let Some(answered) = &append.answered {
        let kept = store.answered(&answered.scope, &answered.key).await.unwrap();
        assert_eq!(kept, None);
    }
    let outbox = store.outbox(0, 0).await.unwrap();
    assert!(outbox.iter().all(|it| it.run != id), "{outbox:?}");
    let timers = store.timers(None, 0).await.unwrap();
    assert!(timers.iter().all(|it| it.run != id), "{timers:?}");
}

async fn refused_as_damaged(store: &dyn Store, append: Append) {
    let error = store.append(append.into()).await.unwrap_err();
    assert!(matches!(error, AppendError::Store(StoreError::Damaged { .. })), "{error:?}");
}
