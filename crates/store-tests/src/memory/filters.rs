//! Applies filters to rows.

use baton_core::names::{AgentId, StoryKey};
use baton_core::run::Kind;

use baton_store::{
    EventFilter, HandoffFilter, HandoffRow, Order, RunFilter, RunRow, StoredEvent, StoryFilter,
};

/// The first `limit` rows; all, where it is 0.
pub(super) fn page<'a, T: Clone + 'a>(rows: impl Iterator<Item = &'a T>, limit: u32) -> Vec<T> {
    let most = if limit == 0 { usize::MAX } else { limit as usize };
    rows.take(most).cloned().collect()
}

/// As [`page`], for rows that are stored oldest first.
pub(super) fn ordered<'a, T: Clone + 'a>(
    rows: impl DoubleEndedIterator<Item = &'a T>,
    order: Order,
    skip: u64,
    limit: u32,
) -> Vec<T> {
    let skip = usize::try_from(skip).unwrap_or(usize::MAX);
    match order {
        Order::OldestFirst => page(rows.skip(skip), limit),
        Order::NewestFirst => page(rows.rev().skip(skip), limit),
    }
}

pub(super) fn has_run(filter: &RunFilter, row: &RunRow) -> bool {
    is_after(filter.order, row.number, filter.after)
        && is_until(filter.order, row.number, filter.until)
        && filter.story.as_ref().is_none_or(|it| *it == row.run.story)
        && filter.workflow.as_ref().is_none_or(|it| *it == row.run.workflow)
        && (filter.statuses.is_empty() || filter.statuses.contains(&row.run.status))
}

pub(super) fn handoffs(rows: &[HandoffRow], filter: &HandoffFilter) -> Vec<HandoffRow> {
    let mut matching: Vec<&HandoffRow> = rows.iter().filter(|it| has_handoff(filter, it)).collect();
    if filter.by_time {
        matching.sort_by_key(|it| (it.created_at, it.id));
    }
    ordered(matching.into_iter(), filter.order, filter.skip, filter.limit)
}

pub(super) fn has_handoff(filter: &HandoffFilter, row: &HandoffRow) -> bool {
    let moved_at = row.accepted_at.unwrap_or(row.created_at);
    let is_with = |it: &AgentId| *it == row.from.agent || *it == row.to.agent;
    is_after(filter.order, row.number, filter.after)
        && is_until(filter.order, row.number, filter.until)
        && filter.run.is_none_or(|it| it == row.run)
        && filter.story.as_ref().is_none_or(|it| *it == row.story)
        && filter.to.as_ref().is_none_or(|it| *it == row.to.agent)
        && filter.with.as_ref().is_none_or(is_with)
        && filter.kind.is_none_or(|it| it == row.kind)
        && (!filter.only_moves || row.kind != Kind::Question)
        && (filter.states.is_empty() || filter.states.contains(&row.state))
        && filter.created_from.is_none_or(|it| row.created_at >= it)
        && filter.created_before.is_none_or(|it| row.created_at < it)
        && filter.is_stale.is_none_or(|it| it == row.is_stale)
        && filter.unmoved_since.is_none_or(|it| moved_at <= it)
}

pub(super) fn has_event(filter: &EventFilter, event: &StoredEvent) -> bool {
    event.position > filter.after && filter.run.is_none_or(|it| it == event.run)
}

pub(super) fn has_key(filter: &StoryFilter, key: &StoryKey) -> bool {
    filter.after.as_ref().is_none_or(|it| key > it)
}

/// Whether a row comes after the one with number `after`.
pub fn is_after(order: Order, number: u64, after: u64) -> bool {
    match order {
        Order::OldestFirst => number > after,
        Order::NewestFirst => after == 0 || number < after,
    }
}

/// Whether a row comes no later than the one with number `until`.
pub fn is_until(order: Order, number: u64, until: u64) -> bool {
    match order {
        Order::OldestFirst => until == 0 || number <= until,
        Order::NewestFirst => number >= until,
    }
}
