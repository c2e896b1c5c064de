//! Many at once: what must happen once happens once, and a loser changes nothing for the others.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use baton_core::run::{HandoffNo, RunStatus};
use baton_store::{
    Append, AppendError, Appended, EventFilter, HandoffFilter, LeaseRenewal, Position, RunFilter,
    RunRef, Store, StoreError, TimerChange,
};
use jiff::SignedDuration;
use tokio::task::JoinSet;

use crate::failures::{doomed, nothing_is_left_of};
use crate::outbox::telling;
use crate::sample::*;
use crate::timers::held_by_bea;

pub async fn of_fifty_appends_at_one_version_exactly_one_wins(store: Arc<dyn Store>) {
    let first = start(1, "s-1");
    put(&*store, &first).await;
    let rivals = (0..50).map(|n| hand_to(&first, &format!("agent-{n}"))).collect();
    let results = all_at_once(&store, rivals).await;
    let winners: Vec<_> = results.iter().filter(|(_, it)| it.is_ok()).collect();
    assert_eq!(winners.len(), 1);
    for (_, result) in &results {
        assert!(matches!(result, Ok(_) | Err(AppendError::Conflict)), "{result:?}");
    }
    let row = store.run(&RunRef::Number(1)).await.unwrap().unwrap();
    assert_eq!(row.run, winners[0].0.run);
    assert_eq!(store.handoffs(&HandoffFilter::default()).await.unwrap().len(), 1);
    assert_eq!(all_events(&*store).await.len(), 2);
}

pub async fn of_many_runs_started_for_one_story_exactly_one_is_open(store: Arc<dyn Store>) {
    let results = all_at_once(&store, (1..=50).map(|n| start(n, "s-1")).collect()).await;
    assert_eq!(results.iter().filter(|(_, it)| it.is_ok()).count(), 1);
    for (_, result) in &results {
        assert!(matches!(result, Ok(_) | Err(AppendError::OpenRunExists(_))), "{result:?}");
    }
    assert_eq!(store.runs(&RunFilter::default()).await.unwrap().len(), 1);
}

pub async fn equal_keys_sent_at_once_take_effect_once(store: Arc<dyn Store>) {
    let n_keys = 20;
    let rivals = (0..200)
        .map(|n| keyed(start(n + 1, &format!("s-{n}")), "scope", &format!("k-{}", n % n_keys)))
        .collect();
    let results = all_at_once(&store, rivals).await;
    let mut winners = BTreeMap::new();
    for (append, result) in &results {
        if result.is_ok() {
            let answered = append.answered.clone().unwrap();
            assert!(winners.insert(answered.key.clone(), answered).is_none());
        }
    }
    assert_eq!(winners.len(), n_keys as usize);
    for (append, result) in results {
        let key = append.answered.unwrap().key;
        match result {
            Ok(_) => {}
            Err(AppendError::Repeated(answered)) => assert_eq!(*answered, winners[&key]),
            Err(error) => panic!("{error:?}"),
        }
    }
    assert_eq!(store.runs(&RunFilter::default()).await.unwrap().len(), n_keys as usize);
}

pub async fn a_failing_append_spoils_none_of_its_neighbours(store: Arc<dyn Store>) {
    let good: Vec<_> = (1..=150).map(|n| with_handoff(n, &format!("s-{n}"))).collect();
    let bad: Vec<_> = (1001..=1050).map(|n| doomed(n, &format!("bad-{n}"))).collect();
    let mixed =
        good.chunks(3).zip(&bad).flat_map(|(good, bad)| [good, std::slice::from_ref(bad)].concat());
    let results = all_at_once(&store, mixed.collect()).await;
    for (append, result) in &results {
        let is_bad = append.run.id >= run_id(1001);
        match result {
            Ok(_) => assert!(!is_bad),
            Err(AppendError::Store(StoreError::Damaged { .. })) => assert!(is_bad),
            Err(error) => panic!("{error:?}"),
        }
    }
    for append in &bad {
        nothing_is_left_of(&*store, append).await;
    }
    let rows = store.runs(&RunFilter::default()).await.unwrap();
    let runs: BTreeSet<_> = rows.iter().map(|it| it.run.id).collect();
    assert_eq!(runs, good.iter().map(|it| it.run.id).collect());
    for append in &good {
        let ids: Vec<_> = append.contents.iter().map(|it| it.id).collect();
        let contents = whole_contents(&*store, append.run.id, &ids).await;
        assert_eq!(contents.len(), ids.len());
    }
    let n_events: usize = good.iter().map(|it| it.events.len()).sum();
    assert_eq!(all_events(&*store).await.len(), n_events);
    assert_eq!(store.check().await.unwrap().problems, Vec::<String>::new());
}

pub async fn a_reader_of_the_log_misses_nothing(store: Arc<dyn Store>) {
    let mut writers = JoinSet::new();
    for n in 1..=40 {
        let store = Arc::clone(&store);
        writers.spawn(async move { put_all(&*store, &tale(n, &format!("s-{n}"))).await });
    }
    let n_events = 40 * 7;
    let mut seen = Vec::new();
    while seen.len() < n_events {
        let after = seen.last().copied().unwrap_or(Position::START);
        let filter = EventFilter { after, run: None, limit: 50 };
        seen.extend(store.events(&filter).await.unwrap().iter().map(|it| it.position));
        tokio::task::yield_now().await;
    }
    while let Some(writer) = writers.join_next().await {
        writer.unwrap();
    }
    assert_eq!(seen, all_events(&*store).await);
    assert!(seen.is_sorted_by(|a, b| a < b));
}

pub async fn numbers_are_given_once(store: Arc<dyn Store>) {
    let appends = (1..=100).map(|n| with_handoff(n, &format!("s-{n}"))).collect();
    let results = all_at_once(&store, appends).await;
    let mut runs = BTreeSet::new();
    let mut handoffs = BTreeSet::new();
    let mut positions = BTreeSet::new();
    for (append, result) in results {
        let appended = result.unwrap();
        runs.insert(appended.run_number);
        handoffs.extend(appended.numbers.iter().map(|(_, number)| *number));
        positions.insert(appended.position);
        let row = store.run(&RunRef::Number(appended.run_number)).await.unwrap().unwrap();
        assert_eq!(row.run.id, append.run.id);
    }
    assert_eq!((runs.len(), handoffs.len(), positions.len()), (100, 100, 100));
}

pub async fn an_outbox_row_is_settled_by_one_alone(store: Arc<dyn Store>) {
    put(&*store, &telling(start(1, "s-1"), &["run.started"])).await;
    let mut tasks = JoinSet::new();
    for _ in 0..20 {
        let store = Arc::clone(&store);
        tasks.spawn(async move { store.settle(1).await.unwrap() });
    }
    let n_settled = tasks.join_all().await.into_iter().filter(|it| *it).count();
    assert_eq!(n_settled, 1);
}

pub async fn a_cursor_is_moved_by_one_alone(store: Arc<dyn Store>) {
    let mut tasks = JoinSet::new();
    for n in 1..=20 {
        let store = Arc::clone(&store);
        tasks.spawn(async move {
            store.advance("archive", Position::START, Position(n)).await.unwrap()
        });
    }
    let n_moved = tasks.join_all().await.into_iter().filter(|it| *it).count();
    assert_eq!(n_moved, 1);
    assert_ne!(store.cursor("archive").await.unwrap(), Position::START);
}

/// Holders are heard of while their leases end, in the same groups: an end is an end.
pub async fn a_lease_that_has_ended_is_never_put_off(store: Arc<dyn Store>) {
    let mut ends = Vec::new();
    let mut heard = Vec::new();
    for n in 1..=100 {
        let held = held_by_bea(&*store, n).await;
        heard.push(LeaseRenewal {
            run: run_id(n),
            no: HandoffNo(1),
            fence: 1,
            due: moment(900_000),
        });
        // Half of them are taken up again at once, with another fence.
        let end = complete(&held, 1);
        ends.push(match n % 2 {
            0 => leased(end, &[(1, 2)]),
            _ => Append { timers: vec![TimerChange::Clear { no: HandoffNo(1) }], ..end },
        });
    }
    let mut tasks = JoinSet::new();
    for lease in heard.iter().copied().chain(heard.iter().copied()) {
        let store = Arc::clone(&store);
        tasks.spawn(async move { store.put_off(&[lease]).await.unwrap() });
    }
    for (_, result) in all_at_once(&store, ends.clone()).await {
        result.unwrap();
    }
    tasks.join_all().await;
    assert_eq!(store.put_off(&heard).await.unwrap(), 0);
    let left = store.timers(None, 0).await.unwrap();
    assert_eq!(left.len(), 50);
    for (timer, append) in left.iter().zip(ends.iter().skip(1).step_by(2)) {
        let due = append.at + SignedDuration::from_secs(20);
        assert_eq!((timer.run, timer.due), (append.run.id, due));
    }
}

/// Sends every append from a task of its own.
async fn all_at_once(
    store: &Arc<dyn Store>,
    appends: Vec<Append>,
) -> Vec<(Append, Result<Appended, AppendError>)> {
    let mut tasks = JoinSet::new();
    for append in appends {
        let store = Arc::clone(store);
        tasks.spawn(async move { (append.clone(), store.append(append.into()).await) });
    }
    let results = tasks.join_all().await;
    let appended = results.iter().filter_map(|(_, result)| result.as_ref().ok());
    shown(&**store, appended.map(|it| it.position).max().unwrap_or(Position::START)).await;
    results
}

/// A run that starts with a handoff, ends, and has its texts, all as one command.
fn with_handoff(n: u32, story: &str) -> Append {
    let mut first = start(n, story);
    let second = hand_to(&first, "bea");
    let third = finish(&second, RunStatus::Cancelled);
    first.events.extend([second.events, third.events].concat());
    first.opened = second.opened;
    first.contents = second.contents;
    first.waiting = Append::change_of_waiting(None, &third.run);
    first.story_status = third.story_status;
    first.run = third.run;
    first
}

async fn all_events(store: &dyn Store) -> Vec<Position> {
    let filter = EventFilter { after: Position::START, run: None, limit: 0 };
    store.events(&filter).await.unwrap().iter().map(|it| it.position).collect()
}
