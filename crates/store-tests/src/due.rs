//! When runs have to be looked at: written by appends only where it became earlier, put off by the sweep that looked.

use baton_core::run::{HandoffNo, RunStatus};
use baton_store::{
    Append, DueChange, DueRow, LookAgain, RunSchedule, Store, TimerChange, TimerKind, TimerRow,
};
use jiff::Timestamp;

use crate::sample::*;

pub async fn a_run_is_due_no_later_than_its_appends_say(store: &dyn Store) {
    let first = due_by(start(1, "s-1"), 50);
    put(store, &first).await;
    assert_eq!(due(store, 49).await, []);
    assert_eq!(due(store, 50).await, [(1, 50)]);
    let second = due_by(hand_to(&first, "bea"), 60);
    put(store, &second).await;
    assert_eq!(due(store, 100).await, [(1, 50)], "a later time changes nothing");
    let third = due_by(accept(&second, 1), 40);
    put(store, &third).await;
    assert_eq!(due(store, 100).await, [(1, 40)]);
    let fourth = Append { due: DueChange::Keep, ..complete(&third, 1) };
    put(store, &fourth).await;
    assert_eq!(due(store, 100).await, [(1, 40)]);
    put(store, &finish(&fourth, RunStatus::Completed)).await;
    assert_eq!(due(store, 100).await, []);
}

pub async fn a_refused_append_makes_nothing_due(store: &dyn Store) {
    let first = due_by(start(1, "s-1"), 50);
    put(store, &first).await;
    put(store, &hand_to(&first, "bea")).await;
    let late = due_by(hand_to(&first, "ada"), 10);
    store.append(late.into()).await.unwrap_err();
    assert_eq!(due(store, 100).await, [(1, 50)]);
}

pub async fn what_is_due_is_listed_by_time_and_number(store: &dyn Store) {
    for (n, at) in [(1, 30), (2, 10), (3, 20), (4, 10), (5, 90)] {
        put(store, &due_by(start(n, &format!("s-{n}")), at)).await;
    }
    let expected = [(2, 10), (4, 10), (3, 20), (1, 30)];
    assert_eq!(due(store, 50).await, expected);
    let mut after: Option<DueRow> = None;
    for expected in expected {
        let page = store.due(at(50), after.as_ref(), 1).await.unwrap();
        assert_eq!(shown(&page), [expected]);
        after = page.first().copied();
    }
    assert_eq!(store.due(at(50), after.as_ref(), 1).await.unwrap(), []);
    assert_eq!(store.due(Timestamp::MAX, None, 0).await.unwrap().len(), 5);
    assert_eq!(store.due(Timestamp::MIN, None, 0).await.unwrap(), []);
}

pub async fn who_looked_says_when_to_look_again(store: &dyn Store) {
    let first = due_by(start(1, "s-1"), 10);
    put_all(store, &[first.clone(), due_by(start(2, "s-2"), 20)]).await;
    let looked =
        |n, append: &Append, due| LookAgain { run: run_id(n), version: version(append), due };
    let position = store.last_position().await.unwrap();
    let other = start(2, "s-2");
    let again = [looked(1, &first, Some(at(70))), looked(2, &other, None), looked(9, &first, None)];
    assert_eq!(store.look_again(&again).await.unwrap(), 2);
    assert_eq!(due(store, 100).await, [(1, 70)]);
    assert_eq!(store.last_position().await.unwrap(), position, "it is no event");

    // Of a run that has moved since, it says nothing.
    let second = due_by(hand_to(&first, "bea"), 60);
    put(store, &second).await;
    assert_eq!(store.look_again(&[looked(1, &first, Some(at(99)))]).await.unwrap(), 0);
    assert_eq!(due(store, 100).await, [(1, 60)]);
    assert_eq!(store.look_again(&[]).await.unwrap(), 0);
}

pub async fn the_schedule_of_a_run_is_what_the_lists_have_of_it(store: &dyn Store) {
    let first = due_by(start(1, "s-1"), 50);
    let second = due_by(hand_to(&first, "bea"), 40);
    let no = HandoffNo(1);
    let what = TimerKind::Lease { fence: 1, seconds: 60 };
    let held =
        Append { timers: vec![TimerChange::Set { no, what, due: at(30) }], ..accept(&second, 1) };
    put_all(store, &[first, second, held, due_by(start(2, "s-2"), 20)]).await;
    let timer = TimerRow { run: run_id(1), no, what, due: at(30) };
    let expected = RunSchedule { timers: vec![timer], due: Some(at(40)) };
    assert_eq!(store.schedule(run_id(1)).await.unwrap(), expected);
    assert_eq!(store.timers(None, 0).await.unwrap(), [timer]);
    let expected = RunSchedule { timers: Vec::new(), due: Some(at(20)) };
    assert_eq!(store.schedule(run_id(2)).await.unwrap(), expected);
    assert_eq!(store.schedule(run_id(9)).await.unwrap(), RunSchedule::default());
}

fn at(seconds: i64) -> Timestamp {
    moment(100_000 + seconds)
}

fn due_by(append: Append, seconds: i64) -> Append {
    Append { due: DueChange::NoLaterThan(at(seconds)), ..append }
}

/// The numbers of the runs that are due, and when.
async fn due(store: &dyn Store, seconds: i64) -> Vec<(u64, i64)> {
    shown(&store.due(at(seconds), None, 0).await.unwrap())
}

fn shown(rows: &[DueRow]) -> Vec<(u64, i64)> {
    rows.iter().map(|it| (it.number, it.due.as_second() - at(0).as_second())).collect()
}
