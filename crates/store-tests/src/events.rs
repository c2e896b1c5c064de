//! The log: in order, from any place in it, without gap or duplicate.

use baton_core::event::{DecisionEvent, Event, HandoffEvent, MessageEvent};
use baton_core::run::{HandoffNo, RunId};
use baton_store::{EventFilter, Position, SharedEvents, Store, StoredEvent, Version};

use crate::sample::*;

pub async fn events_come_back_as_they_were_appended(store: &dyn Store) {
    let appends = tale(1, "s-1");
    put_all(store, &appends).await;
    let found = page(store, Position::START, None, 0).await;
    // Positions grow; a store may leave some out.
    assert!(found.is_sorted_by(|a, b| a.position < b.position));
    let mut expected = Vec::new();
    for append in &appends {
        for event in &append.events {
            let n = expected.len() as u64 + 1;
            let position = found.get(expected.len()).map_or(Position::START, |it| it.position);
            expected.push(StoredEvent {
                position,
                run: append.run.id,
                version: Version(n),
                at: append.at,
                name: event.name.to_owned(),
                by: event.by.clone(),
                body: event.body.clone(),
                hash: event.hash,
            });
        }
    }
    assert_eq!(found, expected);
}

/// A store may insert several events with one statement.
pub async fn a_command_may_have_any_number_of_events(store: &dyn Store) {
    let mut append = hand_to(&start(1, "s-1"), "bea");
    put_all(store, &[start(1, "s-1"), append.clone()]).await;
    let mut position = store.last_position().await.unwrap();
    for n_events in 1..=9 {
        let handoff = HandoffNo(1);
        let mark = HandoffEvent::Stale { handoff, is_no_move: true };
        let stale: Vec<Event> = vec![mark.into(); n_events];
        let before = append;
        append = then(&before, &stale);
        let appended = put(store, &append).await;
        let added = page(store, position, Some(append.run.id), 0).await;
        let expected: Vec<_> = (before.expected.0 + before.events.len() as u64 + 1..)
            .zip(&append.events)
            .map(|(version, it)| (version, it.hash, it.body.clone()))
            .collect();
        let found: Vec<_> =
            added.iter().map(|it| (it.version.0, it.hash, it.body.clone())).collect();
        assert_eq!(found, expected);
        let positions: Vec<_> = added.iter().map(|it| it.position).collect();
        assert!(positions.is_sorted_by(|a, b| a < b), "{positions:?}");
        assert!(positions[0] > position);
        position = appended.position;
        assert_eq!(positions.last(), Some(&position));
    }
}

pub async fn events_page_without_gap_or_duplicate(store: &dyn Store) {
    interleaved(store).await;
    let all = page(store, Position::START, None, 0).await;
    for limit in [1, 2, 3, 100] {
        assert_eq!(pages(store, None, limit).await, all, "pages of {limit}");
    }
    let last = all.last().unwrap().position;
    assert_eq!(store.last_position().await.unwrap(), last);
    assert_eq!(page(store, last, None, 0).await, []);
    assert_eq!(page(store, Position(u64::MAX), None, 0).await, []);
}

pub async fn the_events_of_one_run_page_without_the_others(store: &dyn Store) {
    interleaved(store).await;
    let all = page(store, Position::START, None, 0).await;
    for n in 1..=3 {
        let own: Vec<_> = all.iter().filter(|it| it.run == run_id(n)).cloned().collect();
        assert_eq!(own.len(), 7);
        for limit in [1, 2, 100] {
            assert_eq!(pages(store, Some(run_id(n)), limit).await, own, "run {n} by {limit}");
        }
    }
}

pub async fn the_events_of_one_run_page_backwards(store: &dyn Store) {
    interleaved(store).await;
    let all = page(store, Position::START, None, 0).await;
    for n in 1..=3 {
        let own = all.iter().rev().filter(|it| it.run == run_id(n));
        let own: Vec<StoredEvent> = own.cloned().collect();
        for limit in [1, 2, 100] {
            let mut events: Vec<StoredEvent> = Vec::new();
            loop {
                let before = events.last().map_or(Position(i64::MAX as u64), |it| it.position);
                let next = store.events_before(run_id(n), before, limit).await.unwrap();
                if next.is_empty() {
                    break;
                }
                events.extend(next);
            }
            assert_eq!(events, own, "run {n} by {limit}");
        }
    }
}

pub async fn what_is_shared_is_found_among_other_events(store: &dyn Store) {
    let start = start(1, "s-1");
    put(store, &start).await;
    let posted = |n: u32| MessageEvent::Unanswered { ask: n };
    let locked = DecisionEvent::Superseded { decision: 1, replaced_by: 2 };
    let handoff = hand_to(&start, "bea");
    put(store, &handoff).await;
    let added = then(&handoff, &[posted(1).into(), locked.into(), posted(2).into()]);
    put(store, &added).await;
    let names = async |of| {
        let events = store.shared_events(run_id(1), of).await.unwrap();
        events.into_iter().map(|it| it.name).collect::<Vec<_>>()
    };
    assert_eq!(names(SharedEvents::Decisions).await, ["decision.superseded"]);
    assert_eq!(names(SharedEvents::Asks).await, ["message.unanswered", "message.unanswered"]);
    assert_eq!(names(SharedEvents::ContextVersions).await, [""; 0]);
    assert_eq!(names(SharedEvents::Gates).await, [""; 0]);
    let other = store.shared_events(run_id(2), SharedEvents::Asks).await.unwrap();
    assert_eq!(other, []);
}

/// Three runs, an event of each in turn.
async fn interleaved(store: &dyn Store) {
    let tales: Vec<_> = (1..=3).map(|n| tale(n, &format!("s-{n}"))).collect();
    for index in 0..tales[0].len() {
        for tale in &tales {
            put(store, &tale[index]).await;
        }
    }
}

/// Everything there is, read in pages.
async fn pages(store: &dyn Store, run: Option<RunId>, limit: u32) -> Vec<StoredEvent> {
    let mut events: Vec<StoredEvent> = Vec::new();
    loop {
        let after = events.last().map_or(Position::START, |it| it.position);
        let next = page(store, after, run, limit).await;
        assert!(next.len() <= limit as usize);
        if next.is_empty() {
            return events;
        }
        events.extend(next);
    }
}

async fn page(
    store: &dyn Store,
    after: Position,
    run: Option<RunId>,
    limit: u32,
) -> Vec<StoredEvent> {
    store.events(&EventFilter { after, run, limit }).await.unwrap()
}
