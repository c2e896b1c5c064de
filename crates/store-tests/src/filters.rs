//! Lists: which rows come, in which order, and page by page.

use baton_core::run::{Ended, RunStatus, State};
use baton_store::{Append, HandoffFilter, HandoffState, RunFilter, Store};
use jiff::SignedDuration;

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
                let filter = RunFilter { story: None, statuses: statuses.clone(), after, limit };
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
