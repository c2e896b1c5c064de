//! Lists: which rows come, in which order, and page by page.

use baton_core::names::WorkflowName;
use baton_core::run::{Ended, HandoffState, Kind, RunStatus, State};
use baton_store::{AgentStatistics, Append, HandoffFilter, Order, RunFilter, Statistics, Store};
use jiff::{SignedDuration, Timestamp};

use crate::sample::*;

pub async fn runs_are_filtered(store: &dyn Store) {
    put_all(store, &tale(1, "s-1")).await;
    put(store, &start(2, "s-1")).await;
    let third = start(3, "s-3");
    put_all(store, &[third.clone(), finish(&third, RunStatus::Paused)]).await;
    let fourth = start(4, "s-4");
    put_all(store, &[fourth.clone(), finish(&fourth, RunStatus::Cancelled)]).await;

    let check = async |filter: RunFilter, expected: &[u64]| {
        let rows = store.runs(&filter).await.unwrap();
        let numbers: Vec<_> = rows.iter().map(|it| it.number).collect();
        assert_eq!(numbers, expected, "{filter:?}");
    };
    let statuses =
        |statuses: &[RunStatus]| RunFilter { statuses: statuses.to_vec(), ..RunFilter::default() };
    let story = |key: &str| RunFilter { story: Some(story_key(key)), ..RunFilter::default() };
    check(RunFilter::default(), &[1, 2, 3, 4]).await;
    check(story("s-1"), &[1, 2]).await;
    check(story("s-9"), &[]).await;
    check(statuses(&[RunStatus::Open]), &[2]).await;
    check(statuses(&[RunStatus::Open, RunStatus::Paused]), &[2, 3]).await;
    check(statuses(&[RunStatus::Completed, RunStatus::Cancelled]), &[1, 4]).await;
    check(statuses(&[RunStatus::Paused, RunStatus::Cancelled]), &[3, 4]).await;
    check(RunFilter { story: Some(story_key("s-1")), ..statuses(&[RunStatus::Open]) }, &[2]).await;
    check(RunFilter { after: 2, ..RunFilter::default() }, &[3, 4]).await;
    check(RunFilter { after: u64::MAX, ..RunFilter::default() }, &[]).await;
    check(RunFilter { after: 1, limit: 2, ..RunFilter::default() }, &[2, 3]).await;

    let workflow = |name: &str| RunFilter {
        workflow: Some(WorkflowName::parse(name).unwrap()),
        ..RunFilter::default()
    };
    check(workflow("story-pipeline"), &[1, 2, 3, 4]).await;
    check(RunFilter { story: Some(story_key("s-3")), ..workflow("story-pipeline") }, &[3]).await;
    check(workflow("gated-project"), &[]).await;

    let newest = || RunFilter { order: Order::NewestFirst, ..RunFilter::default() };
    check(newest(), &[4, 3, 2, 1]).await;
    check(RunFilter { limit: 2, ..newest() }, &[4, 3]).await;
    check(RunFilter { after: 3, ..newest() }, &[2, 1]).await;
    check(RunFilter { after: 1, ..newest() }, &[]).await;
    check(RunFilter { after: 100, limit: 1, ..newest() }, &[4]).await;
    check(RunFilter { statuses: vec![RunStatus::Open, RunStatus::Paused], ..newest() }, &[3, 2])
        .await;
    check(RunFilter { story: Some(story_key("s-1")), after: 2, ..newest() }, &[1]).await;
}

/// A run that waits for a person is listed from the append that opens the gate to the one that closes it.
pub async fn waiting_runs_are_listed(store: &dyn Store) {
    let check = async |filter: RunFilter, expected: &[u64]| {
        let rows = store.runs(&filter).await.unwrap();
        let numbers: Vec<_> = rows.iter().map(|it| it.number).collect();
        assert_eq!(numbers, expected, "{filter:?}");
    };
    let waiting = || RunFilter { only_waiting: true, ..RunFilter::default() };
    let not_said = |append: Append| Append { waiting: None, ..append };
    let (first, second, third) = (start(1, "s-1"), start(2, "s-2"), start(3, "s-3"));
    put(store, &not_said(first.clone())).await;
    check(waiting(), &[]).await;
    put_all(store, &[second.clone(), third.clone()]).await;
    check(waiting(), &[2, 3]).await;
    check(RunFilter { after: 2, ..waiting() }, &[3]).await;
    check(RunFilter { order: Order::NewestFirst, limit: 1, ..waiting() }, &[3]).await;
    check(RunFilter { story: Some(story_key("s-2")), ..waiting() }, &[2]).await;
    // Nothing said is nothing changed.
    let (first, second) = (hand_to(&first, "bea"), hand_to(&second, "bea"));
    put_all(store, &[not_said(first), not_said(second.clone())]).await;
    check(waiting(), &[2, 3]).await;
    let second = finish(&second, RunStatus::Completed);
    put(store, &Append { waiting: Some(false), ..second }).await;
    check(waiting(), &[3]).await;
    put(store, &finish(&third, RunStatus::Cancelled)).await;
    check(waiting(), &[]).await;
}

pub async fn blocked_runs_are_listed(store: &dyn Store) {
    let blocked = RunFilter { only_blocked: true, ..RunFilter::default() };
    let listed = async || {
        let rows = store.runs(&blocked).await.unwrap();
        rows.iter().map(|it| it.number).collect::<Vec<_>>()
    };
    let second = Append { blocked: Some(true), ..start(2, "s-2") };
    put_all(store, &[start(1, "s-1"), second.clone()]).await;
    assert_eq!(listed().await, [2]);
    let third = hand_to(&second, "bea");
    put(store, &Append { blocked: None, ..third.clone() }).await;
    assert_eq!(listed().await, [2], "nothing said is nothing changed");
    put(store, &Append { blocked: Some(false), ..accept(&third, 1) }).await;
    assert_eq!(listed().await, Vec::<u64>::new());
}

pub async fn runs_that_moved_last_come_first(store: &dyn Store) {
    let moved_last = async |limit| {
        let rows = store.runs_moved_last(limit).await.unwrap();
        rows.iter().map(|it| it.number).collect::<Vec<_>>()
    };
    assert_eq!(moved_last(9).await, Vec::<u64>::new());
    let runs: Vec<Append> = (1..=4).map(|n| start(n, &format!("s-{n}"))).collect();
    put_all(store, &runs).await;
    assert_eq!(moved_last(9).await, [4, 3, 2, 1]);
    put(store, &hand_to(&runs[1], "bea")).await;
    put(store, &finish(&runs[2], RunStatus::Completed)).await;
    assert_eq!(moved_last(9).await, [2, 4, 1]);
    assert_eq!(moved_last(2).await, [2, 4]);
    assert_eq!(moved_last(0).await, [2, 4, 1]);
    assert_eq!(store.count_open_runs().await.unwrap(), 3);
}

pub async fn open_runs_are_found_by_the_end_of_their_key(store: &dyn Store) {
    for (n, key) in [(1, "z#12"), (2, "a#12"), (3, "a#1"), (4, "b#12"), (5, "ä#ö"), (6, "12")] {
        put(store, &start(n, key)).await;
    }
    put(store, &finish(&start(4, "b#12"), RunStatus::Completed)).await;
    for (suffix, limit, expected, n_runs) in [
        ("#12", 0, vec![1, 2], 2),
        ("#12", 1, vec![1], 2),
        ("#1", 9, vec![3], 1),
        ("12", 9, vec![1, 2, 6], 3),
        ("ö", 9, vec![5], 1),
        ("x#12345", 9, vec![], 0),
        ("", 2, vec![1, 2], 5),
    ] {
        let (rows, n_found) = store.open_runs_ending(suffix, limit).await.unwrap();
        let numbers: Vec<u64> = rows.iter().map(|it| it.number).collect();
        assert_eq!((numbers, n_found), (expected, n_runs), "{suffix}");
    }
}

pub async fn a_list_ends_where_it_is_asked_to(store: &dyn Store) {
    for n in 1..=5 {
        let first = start(n, &format!("s-{n}"));
        put_all(store, &[first.clone(), hand_to(&first, "bea")]).await;
    }
    let open = [vec![], vec![HandoffState::Open(State::Pending)]];
    for (order, after, until, expected) in [
        (Order::OldestFirst, 0, 2, vec![1, 2]),
        (Order::OldestFirst, 1, 3, vec![2, 3]),
        (Order::OldestFirst, 3, 0, vec![4, 5]),
        (Order::OldestFirst, 3, 3, vec![]),
        (Order::NewestFirst, 0, 4, vec![5, 4]),
        (Order::NewestFirst, 4, 2, vec![3, 2]),
        (Order::NewestFirst, 3, 0, vec![2, 1]),
    ] {
        let filter = RunFilter { order, after, until, ..RunFilter::default() };
        let rows = store.runs(&filter).await.unwrap();
        assert_eq!(rows.iter().map(|it| it.number).collect::<Vec<_>>(), expected, "{filter:?}");
        for states in open.clone() {
            let filter = HandoffFilter { states, order, after, until, ..HandoffFilter::default() };
            assert_eq!(numbers(store, &filter).await, expected, "{filter:?}");
        }
    }
}

pub async fn handoffs_are_filtered(store: &dyn Store) {
    some_handoffs(store).await;
    let check = async |filter: HandoffFilter, expected: &[u64]| {
        assert_eq!(numbers(store, &filter).await, expected, "{filter:?}");
    };
    let all = HandoffFilter::default;
    let (pending, accepted) =
        (HandoffState::Open(State::Pending), HandoffState::Open(State::Accepted));
    let rejected = HandoffState::Ended(Ended::Rejected);
    let completed = HandoffState::Ended(Ended::Completed);
    let to = |name: &str| Some(agent(name));

    check(all(), &[1, 2, 3, 4, 5]).await;
    check(HandoffFilter { run: Some(run_id(1)), ..all() }, &[1, 2]).await;
    check(HandoffFilter { run: Some(run_id(9)), ..all() }, &[]).await;
    check(HandoffFilter { story: Some(story_key("s-1")), ..all() }, &[1, 2, 3]).await;
    check(HandoffFilter { story: Some(story_key("s-9")), ..all() }, &[]).await;
    check(HandoffFilter { to: to("bea"), ..all() }, &[1, 3, 5]).await;
    check(HandoffFilter { to: to("bea"), states: vec![pending], ..all() }, &[3]).await;
    check(HandoffFilter { to: to("bea"), states: vec![pending, accepted], ..all() }, &[3, 5]).await;
    check(HandoffFilter { to: to("bea"), states: vec![pending, rejected], ..all() }, &[1, 3]).await;
    check(HandoffFilter { states: vec![pending, accepted], ..all() }, &[3, 4, 5]).await;
    check(HandoffFilter { states: vec![rejected, completed], ..all() }, &[1, 2]).await;
    check(HandoffFilter { states: HandoffState::ALL.to_vec(), ..all() }, &[1, 2, 3, 4, 5]).await;
    check(HandoffFilter { is_stale: Some(true), ..all() }, &[4]).await;
    check(HandoffFilter { is_stale: Some(false), ..all() }, &[1, 2, 3, 5]).await;
    check(HandoffFilter { is_stale: Some(true), states: vec![accepted], ..all() }, &[]).await;
    check(HandoffFilter { after: 3, ..all() }, &[4, 5]).await;
    check(HandoffFilter { after: u64::MAX, ..all() }, &[]).await;
    check(HandoffFilter { limit: 2, ..all() }, &[1, 2]).await;
    check(HandoffFilter { to: to("bea"), after: 1, limit: 1, ..all() }, &[3]).await;
    let (run, story) = (Some(run_id(2)), Some(story_key("s-1")));
    check(HandoffFilter { run, story, to: to("bea"), states: vec![pending], ..all() }, &[3]).await;
}

pub async fn handoffs_are_filtered_by_who_has_to_do_with_them(store: &dyn Store) {
    some_handoffs(store).await;
    let check = async |filter: HandoffFilter, expected: &[u64]| {
        assert_eq!(numbers(store, &filter).await, expected, "{filter:?}");
        let n = store.count_handoffs(&HandoffFilter { limit: 1, ..filter.clone() }).await.unwrap();
        assert_eq!(n, expected.len() as u64, "{filter:?}");
    };
    let all = HandoffFilter::default;
    // Every one of them is from ada.
    check(HandoffFilter { with: Some(agent("ada")), ..all() }, &[1, 2, 3, 4, 5]).await;
    check(HandoffFilter { with: Some(agent("cid")), ..all() }, &[2, 4]).await;
    let (run, with) = (Some(run_id(1)), Some(agent("cid")));
    check(HandoffFilter { run, with, ..all() }, &[2]).await;
    check(HandoffFilter { with: Some(agent("dan")), ..all() }, &[]).await;
    check(HandoffFilter { kind: Some(Kind::Sequential), ..all() }, &[1, 2, 3, 4, 5]).await;
    check(HandoffFilter { kind: Some(Kind::Question), ..all() }, &[]).await;
    check(HandoffFilter { only_moves: true, ..all() }, &[1, 2, 3, 4, 5]).await;
    let (story, kind) = (Some(story_key("s-1")), Some(Kind::Sequential));
    check(HandoffFilter { story, kind, ..all() }, &[1, 2, 3]).await;
}

pub async fn handoffs_are_filtered_by_when_they_were_made(store: &dyn Store) {
    some_handoffs(store).await;
    let rows = store.handoffs(&HandoffFilter::default()).await.unwrap();
    let (second, third) = (rows[1].created_at, rows[2].created_at);
    let a_bit = SignedDuration::from_nanos(1);
    let check = async |from, before, expected: &[u64]| {
        let filter = HandoffFilter {
            created_from: from,
            created_before: before,
            ..HandoffFilter::default()
        };
        assert_eq!(numbers(store, &filter).await, expected, "{filter:?}");
        assert_eq!(store.count_handoffs(&filter).await.unwrap(), expected.len() as u64);
    };
    check(Some(third), None, &[3, 4, 5]).await;
    check(Some(third + a_bit), None, &[4, 5]).await;
    check(None, Some(third), &[1, 2]).await;
    check(None, Some(third + a_bit), &[1, 2, 3]).await;
    check(Some(second), Some(third), &[2]).await;
    check(Some(third), Some(second), &[]).await;
    check(Some(Timestamp::MIN), Some(Timestamp::MAX), &[1, 2, 3, 4, 5]).await;
}

pub async fn handoffs_come_newest_first_or_from_the_middle(store: &dyn Store) {
    some_handoffs(store).await;
    let check = async |filter: HandoffFilter, expected: &[u64]| {
        assert_eq!(numbers(store, &filter).await, expected, "{filter:?}");
    };
    let newest = || HandoffFilter { order: Order::NewestFirst, ..HandoffFilter::default() };
    check(newest(), &[5, 4, 3, 2, 1]).await;
    check(HandoffFilter { limit: 2, ..newest() }, &[5, 4]).await;
    check(HandoffFilter { after: 4, limit: 2, ..newest() }, &[3, 2]).await;
    check(HandoffFilter { skip: 3, ..newest() }, &[2, 1]).await;
    check(HandoffFilter { to: Some(agent("bea")), after: 5, ..newest() }, &[3, 1]).await;
    check(HandoffFilter { story: Some(story_key("s-1")), ..newest() }, &[3, 2, 1]).await;
    let pending = vec![HandoffState::Open(State::Pending)];
    check(HandoffFilter { states: pending, ..newest() }, &[4, 3]).await;
    let oldest = HandoffFilter::default;
    check(HandoffFilter { skip: 1, limit: 2, ..oldest() }, &[2, 3]).await;
    check(HandoffFilter { skip: 4, limit: 2, ..oldest() }, &[5]).await;
    check(HandoffFilter { skip: u64::MAX, ..oldest() }, &[]).await;
}

pub async fn handoffs_are_counted_by_state_and_by_agent(store: &dyn Store) {
    assert_eq!(store.statistics(&HandoffFilter::default()).await.unwrap(), Statistics::default());
    some_handoffs(store).await;
    let of = |name: &str, n_handoffs, n_open, n_completed, n_rejected| AgentStatistics {
        agent: agent(name),
        n_handoffs,
        n_open,
        n_completed,
        n_rejected,
        mean_ms_to_accept: Some(1000),
        mean_ms_to_complete: Some(n_completed).filter(|it| *it > 0).map(|_| 1000),
    };
    let expected = Statistics {
        by_state: vec![
            (HandoffState::Open(State::Pending), 2),
            (HandoffState::Open(State::Accepted), 1),
            (HandoffState::Ended(Ended::Completed), 1),
            (HandoffState::Ended(Ended::Rejected), 1),
        ],
        by_agent: vec![of("bea", 3, 2, 0, 1), of("cid", 2, 1, 1, 0)],
    };
    // Order, place and limit are about lists.
    for filter in [
        HandoffFilter::default(),
        HandoffFilter { order: Order::NewestFirst, after: 2, limit: 1, ..HandoffFilter::default() },
    ] {
        assert_eq!(store.statistics(&filter).await.unwrap(), expected, "{filter:?}");
    }
    let of_run = HandoffFilter { run: Some(run_id(2)), ..HandoffFilter::default() };
    let waiting = AgentStatistics { mean_ms_to_accept: None, ..of("bea", 1, 1, 0, 0) };
    let found = store.statistics(&of_run).await.unwrap();
    assert_eq!(found.by_state, [(HandoffState::Open(State::Pending), 1)]);
    assert_eq!(found.by_agent, [waiting]);
}

pub async fn handoffs_are_filtered_by_their_last_move(store: &dyn Store) {
    let first = start(1, "s-1");
    let second = hand_to(&first, "bea");
    let third = accept(&second, 1);
    put_all(store, &[first, second.clone()]).await;
    let check = async |since, is_stale, expected: &[u64]| {
        let open = HandoffState::ALL.into_iter().filter(|it| it.is_open()).collect();
        let filter = HandoffFilter {
            states: open,
            is_stale,
            unmoved_since: Some(since),
            ..HandoffFilter::default()
        };
        assert_eq!(numbers(store, &filter).await, expected, "{filter:?}");
    };
    let a_bit = SignedDuration::from_nanos(1);
    check(second.at - a_bit, Some(false), &[]).await;
    check(second.at, Some(false), &[1]).await;
    check(second.at, None, &[1]).await;
    check(second.at, Some(true), &[]).await;

    put(store, &third).await;
    check(second.at, Some(false), &[]).await;
    check(third.at - a_bit, None, &[]).await;
    check(third.at, None, &[1]).await;

    let fourth = mark_stale(&third, 1);
    put(store, &fourth).await;
    check(third.at, Some(false), &[]).await;
    check(third.at, Some(true), &[1]).await;

    put(store, &complete(&fourth, 1)).await;
    check(moment(1_000_000), None, &[]).await;
}

pub async fn runs_page_without_gap_or_duplicate(store: &dyn Store) {
    for n in 1..=7 {
        put(store, &start(n, &format!("s-{n}"))).await;
    }
    for limit in [1, 2, 3, 100] {
        for statuses in [vec![], vec![RunStatus::Open]] {
            let mut seen: Vec<u64> = Vec::new();
            loop {
                let after = seen.last().copied().unwrap_or(0);
                let statuses = statuses.clone();
                let filter = RunFilter { statuses, after, limit, ..RunFilter::default() };
                let rows = store.runs(&filter).await.unwrap();
                if rows.is_empty() {
                    break;
                }
                seen.extend(rows.iter().map(|it| it.number));
            }
            assert_eq!(seen, [1, 2, 3, 4, 5, 6, 7], "pages of {limit} of {statuses:?}");
        }
    }
}

pub async fn handoffs_page_without_gap_or_duplicate(store: &dyn Store) {
    some_handoffs(store).await;
    let (pending, rejected) =
        (HandoffState::Open(State::Pending), HandoffState::Ended(Ended::Rejected));
    for filter in [
        HandoffFilter::default(),
        HandoffFilter { states: vec![pending], ..HandoffFilter::default() },
        HandoffFilter { states: vec![pending, rejected], ..HandoffFilter::default() },
        HandoffFilter { story: Some(story_key("s-1")), ..HandoffFilter::default() },
        HandoffFilter { run: Some(run_id(1)), ..HandoffFilter::default() },
        HandoffFilter { to: Some(agent("bea")), ..HandoffFilter::default() },
        HandoffFilter { unmoved_since: Some(moment(9000)), ..HandoffFilter::default() },
    ] {
        let all = numbers(store, &filter).await;
        assert!(all.is_sorted_by(|a, b| a < b));
        for limit in [1, 2, 100] {
            let mut seen: Vec<u64> = Vec::new();
            loop {
                let after = seen.last().copied().unwrap_or(0);
                let next = numbers(store, &HandoffFilter { after, limit, ..filter.clone() }).await;
                if next.is_empty() {
                    break;
                }
                seen.extend(next);
            }
            assert_eq!(seen, all, "pages of {limit} of {filter:?}");
        }
    }
}

/// 1 rejected by bea and 2 completed by cid in a finished run of `s-1`; 3 pending for bea in its
/// second run; 4 pending and stale for cid in `s-3`; 5 accepted by bea in `s-4`.
async fn some_handoffs(store: &dyn Store) {
    put_all(store, &tale(1, "s-1")).await;
    let first = start(2, "s-1");
    put_all(store, &[first.clone(), hand_to(&first, "bea")]).await;
    let pending = opened(3, "s-3", "cid");
    put_all(store, &pending).await;
    put(store, &mark_stale(&pending[1], 1)).await;
    let pending = opened(4, "s-4", "bea");
    put_all(store, &pending).await;
    put(store, &accept(&pending[1], 1)).await;
}

fn opened(n: u32, story: &str, to: &str) -> [Append; 2] {
    let first = start(n, story);
    let second = hand_to(&first, to);
    [first, second]
}

async fn numbers(store: &dyn Store, filter: &HandoffFilter) -> Vec<u64> {
    store.handoffs(filter).await.unwrap().iter().map(|it| it.number).collect()
}
