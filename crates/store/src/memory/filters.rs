//! Which rows a filter lets through.

use baton_core::names::StoryKey;

use crate::{EventFilter, HandoffFilter, HandoffRow, RunFilter, RunRow, StoredEvent, StoryFilter};

/// The first `limit` of them; all, where that is 0.
pub(super) fn page<'a, T: Clone + 'a>(rows: impl Iterator<Item = &'a T>, limit: u32) -> Vec<T> {
    let most = if limit == 0 { usize::MAX } else { limit as usize };
    rows.take(most).cloned().collect()
}

pub(super) fn has_run(filter: &RunFilter, row: &RunRow) -> bool {
    row.number > filter.after
        && filter.story.as_ref().is_none_or(|it| *it == row.run.story)
        && (filter.statuses.is_empty() || filter.statuses.contains(&row.run.status))
}

pub(super) fn has_handoff(filter: &HandoffFilter, row: &HandoffRow) -> bool {
    let moved_at = row.accepted_at.unwrap_or(row.created_at);
    row.number > filter.after
        && filter.run.is_none_or(|it| it == row.run)
        && filter.story.as_ref().is_none_or(|it| *it == row.story)
        && filter.to.as_ref().is_none_or(|it| *it == row.to.agent)
        && (filter.states.is_empty() || filter.states.contains(&row.state))
        && filter.is_stale.is_none_or(|it| it == row.is_stale)
        && filter.unmoved_since.is_none_or(|it| moved_at <= it)
}

pub(super) fn has_event(filter: &EventFilter, event: &StoredEvent) -> bool {
    event.position > filter.after && filter.run.is_none_or(|it| it == event.run)
}

pub(super) fn has_key(filter: &StoryFilter, key: &StoryKey) -> bool {
    filter.after.as_ref().is_none_or(|it| key > it)
}
