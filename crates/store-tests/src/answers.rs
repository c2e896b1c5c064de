//! A command may be sent twice: the same key gives the same answer, and takes effect once.

use baton_core::run::RunStatus;
use baton_store::{Append, AppendError, IdempotencyRecord, Store};
use jiff::SignedDuration;

use crate::dump;
use crate::sample::*;

pub async fn an_answer_is_kept_with_its_command(store: &dyn Store) {
    let append = keyed(start(1, "s-1"), "ada create", "k-1");
    put(store, &append).await;
    assert_eq!(store.answered("ada create", "k-1").await.unwrap(), append.answered);
    assert_eq!(store.answered("ada create", "k-2").await.unwrap(), None);
}

pub async fn a_repeated_key_gets_the_first_answer(store: &dyn Store) {
    let first = keyed(start(1, "s-1"), "scope", "k-1");
    put(store, &first).await;
    let before = dump(store).await;
    let mut again = keyed(hand_to(&first, "bea"), "scope", "k-1");
    again.outbox = vec!["handoff.created".to_owned()];
    refused_as_repeated(store, again.clone(), first.answered.as_ref()).await;
    assert_eq!(dump(store).await, before);

    // Without the key it is a command of its own.
    again.answered = None;
    put(store, &again).await;
}

pub async fn a_repeated_key_goes_before_every_other_refusal(store: &dyn Store) {
    let first = keyed(start(1, "s-1"), "scope", "k-1");
    put(store, &first).await;
    let expected = first.answered.as_ref();
    refused_as_repeated(store, first.clone(), expected).await;
    refused_as_repeated(store, keyed(start(2, "s-1"), "scope", "k-1"), expected).await;
    let far_ahead = accept(&hand_to(&first, "bea"), 1);
    refused_as_repeated(store, keyed(far_ahead, "scope", "k-1"), expected).await;
}

pub async fn the_same_key_in_another_scope_is_another_key(store: &dyn Store) {
    let first = keyed(start(1, "s-1"), "scope", "k-1");
    let second = keyed(start(2, "s-2"), "elsewhere", "k-1");
    // Where a scope ends and a key begins matters.
    let third = keyed(start(3, "s-3"), "scopek", "-1");
    for append in [first, second, third] {
        put(store, &append).await;
        let answered = append.answered.unwrap();
        let kept = store.answered(&answered.scope, &answered.key).await.unwrap();
        assert_eq!(kept, Some(answered));
    }
}

pub async fn a_refused_command_leaves_no_answer(store: &dyn Store) {
    put(store, &start(1, "s-1")).await;
    let refused = keyed(start(2, "s-1"), "scope", "k-1");
    store.append(refused.into()).await.unwrap_err();
    assert_eq!(store.answered("scope", "k-1").await.unwrap(), None);
    put(store, &keyed(start(2, "s-2"), "scope", "k-1")).await;
}

pub async fn only_old_answers_are_forgotten(store: &dyn Store) {
    for n in 1..=5 {
        let append = keyed(start(n, &format!("s-{n}")), "scope", &format!("k-{n}"));
        put_all(store, &[append.clone(), finish(&append, RunStatus::Completed)]).await;
    }
    let third = start(3, "s-3").at;
    assert_eq!(store.forget_answered(third, 1).await.unwrap(), 1, "no more than asked");
    assert_eq!(store.forget_answered(third, 9).await.unwrap(), 1);
    assert_eq!(store.answered("scope", "k-2").await.unwrap(), None);
    assert!(store.answered("scope", "k-3").await.unwrap().is_some());
    assert_eq!(store.forget_answered(third, 9).await.unwrap(), 0);
    let a_bit_later = third + SignedDuration::from_nanos(1);
    assert_eq!(store.forget_answered(a_bit_later, 9).await.unwrap(), 1);
    // A forgotten key is a new key.
    put(store, &keyed(start(6, "s-6"), "scope", "k-1")).await;
}

async fn refused_as_repeated(
    store: &dyn Store,
    append: Append,
    expected: Option<&IdempotencyRecord>,
) {
    let error = store.append(append.into()).await.unwrap_err();
    match error {
        AppendError::Repeated(answered) => assert_eq!(Some(&*answered), expected),
        AppendError::Conflict | AppendError::OpenRunExists(_) | AppendError::Store(_) => {
            panic!("{error:?}")
        }
    }
}
