//! What has to happen at a time: written with the append, put off without one.

use baton_core::run::HandoffNo;
use baton_store::{
    Append, LeaseRenewal, Position, RunRef, Store, TimerChange, TimerKind, TimerRow, Version,
};
use jiff::{SignedDuration, Timestamp};

use crate::dump;
use crate::sample::*;

const SECOND: SignedDuration = SignedDuration::from_secs(1);

pub async fn a_timer_is_set_with_its_append(store: &dyn Store) {
    let first = held_by_bea(store, 1).await;
    let expected = [lease(1, 1, 1, first.at + SECOND * 20)];
    assert_eq!(store.timers(None, 0).await.unwrap(), expected);
}

pub async fn a_timer_that_is_set_again_is_the_only_one(store: &dyn Store) {
    let first = held_by_bea(store, 1).await;
    let due = first.at + SECOND * 7;
    let mut second = mark_stale(&first, 1);
    second.timers = vec![TimerChange::Set { no: HandoffNo(1), what: TimerKind::Wake, due }];
    put(store, &second).await;
    let woken = TimerRow { run: run_id(1), no: HandoffNo(1), what: TimerKind::Wake, due };
    assert_eq!(store.timers(None, 0).await.unwrap(), [woken]);

    let third = leased(mark_stale(&second, 1), &[(1, 2)]);
    put(store, &third).await;
    let expected = [lease(1, 1, 2, third.at + SECOND * 20)];
    assert_eq!(store.timers(None, 0).await.unwrap(), expected);
}

pub async fn a_timer_is_cleared_with_its_append(store: &dyn Store) {
    let first = held_by_bea(store, 1).await;
    held_by_bea(store, 2).await;
    let mut second = complete(&first, 1);
    // The second was never there.
    let cleared = [1, 2].map(|no| TimerChange::Clear { no: HandoffNo(no) });
    second.timers = cleared.to_vec();
    put(store, &second).await;
    let left = store.timers(None, 0).await.unwrap();
    assert_eq!(left.iter().map(|it| it.run).collect::<Vec<_>>(), [run_id(2)]);
}

pub async fn a_refused_append_sets_no_timer(store: &dyn Store) {
    let first = held_by_bea(store, 1).await;
    let before = dump(store).await;
    let late = leased(Append { expected: Version(1), ..mark_stale(&first, 1) }, &[(1, 9)]);
    store.append(late.into()).await.unwrap_err();
    assert_eq!(dump(store).await, before);
}

pub async fn timers_are_listed_by_their_time(store: &dyn Store) {
    let mut dues = Vec::new();
    for (n, seconds) in [(1, 30), (2, 10), (3, 20), (4, 10)] {
        let held = held_by_bea(store, n).await;
        let due = moment(10_000 + seconds);
        put_off_one(store, n, 1, due).await;
        dues.push((due, held.run.id));
    }
    dues.sort();
    let listed = async |due_by, limit| {
        let timers = store.timers(due_by, limit).await.unwrap();
        timers.iter().map(|it| (it.due, it.run)).collect::<Vec<_>>()
    };
    assert_eq!(listed(None, 0).await, dues, "of one time, the older run is first");
    assert_eq!(listed(None, 3).await, dues[..3]);
    assert_eq!(listed(Some(moment(10_020)), 0).await, dues[..3], "at that time it is due");
    assert_eq!(listed(Some(moment(10_020)), 2).await, dues[..2]);
    assert_eq!(listed(Some(moment(10_009)), 0).await, []);
    assert_eq!(listed(Some(Timestamp::MAX), 0).await, dues);
    assert_eq!(listed(Some(Timestamp::MIN), 0).await, []);
}

pub async fn only_the_lease_that_is_meant_is_put_off(store: &dyn Store) {
    held_by_bea(store, 1).await;
    let other = held_by_bea(store, 2).await;
    let mut third = hand_to(&start(3, "s-3"), "bea");
    let wake_at = third.at + SECOND;
    third.timers = vec![TimerChange::Set { no: HandoffNo(1), what: TimerKind::Wake, due: wake_at }];
    put_all(store, &[start(3, "s-3"), third]).await;
    let due = moment(9_999);
    let put_off = |run, no, fence| LeaseRenewal { run: run_id(run), no: HandoffNo(no), fence, due };
    let meant = [
        put_off(1, 1, 1),
        // An older and a newer holding, another handoff, no lease, no run.
        put_off(2, 1, 0),
        put_off(2, 1, 2),
        put_off(2, 2, 1),
        put_off(3, 1, 0),
        put_off(3, 1, 1),
        put_off(9, 1, 1),
    ];
    assert_eq!(store.put_off(&meant).await.unwrap(), 1);
    let expected = [(run_id(2), other.at + SECOND * 20), (run_id(3), wake_at), (run_id(1), due)];
    let timers = store.timers(None, 0).await.unwrap();
    assert_eq!(timers.iter().map(|it| (it.run, it.due)).collect::<Vec<_>>(), expected);
    assert_eq!(store.put_off(&[]).await.unwrap(), 0);
}

/// Two nodes may write what they heard in another order than they heard it.
pub async fn a_lease_that_nodes_share_is_never_made_shorter(store: &dyn Store) {
    if store.settled().is_none() {
        return;
    }
    held_by_bea(store, 1).await;
    for due in [moment(9_000), moment(8_000)] {
        let renewal = LeaseRenewal { run: run_id(1), no: HandoffNo(1), fence: 1, due };
        assert_eq!(store.put_off(&[renewal]).await.unwrap(), 1);
    }
    let timers = store.timers(None, 0).await.unwrap();
    assert_eq!(timers.iter().map(|it| it.due).collect::<Vec<_>>(), [moment(9_000)]);
}

pub async fn putting_off_is_no_event_and_changes_no_run(store: &dyn Store) {
    let held = held_by_bea(store, 1).await;
    let last = store.last_position().await.unwrap();
    let row = store.run(&RunRef::Number(1)).await.unwrap();
    for n in 1..=5 {
        put_off_one(store, 1, 1, moment(5_000 + n)).await;
    }
    assert_eq!(store.last_position().await.unwrap(), last);
    assert_eq!(store.run(&RunRef::Number(1)).await.unwrap(), row);
    assert_ne!(last, Position::START);
    // A caller that read the run before can still append to it.
    let mut next = complete(&held, 1);
    next.timers = vec![TimerChange::Clear { no: HandoffNo(1) }];
    put(store, &next).await;
    let gone = LeaseRenewal { run: run_id(1), no: HandoffNo(1), fence: 1, due: moment(9_999) };
    assert_eq!(store.put_off(&[gone]).await.unwrap(), 0);
    assert_eq!(store.timers(None, 0).await.unwrap(), []);
}

/// A run whose first handoff is held, with a lease; the last append of it.
pub(crate) async fn held_by_bea(store: &dyn Store, n: u32) -> Append {
    let first = start(n, &format!("s-{n}"));
    let second = hand_to(&first, "bea");
    let third = leased(accept(&second, 1), &[(1, 1)]);
    put_all(store, &[first, second, third.clone()]).await;
    third
}

async fn put_off_one(store: &dyn Store, n: u32, fence: u32, due: Timestamp) {
    let one = LeaseRenewal { run: run_id(n), no: HandoffNo(1), fence, due };
    assert_eq!(store.put_off(&[one]).await.unwrap(), 1);
}

fn lease(run: u32, no: u32, fence: u32, due: Timestamp) -> TimerRow {
    let what = TimerKind::Lease { fence, seconds: 20 };
    TimerRow { run: run_id(run), no: HandoffNo(no), what, due }
}
