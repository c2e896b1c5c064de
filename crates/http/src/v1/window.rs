//! Lists without a fitting index: finished handoffs of a state, handoffs of a kind, runs of a
//! workflow. Filling a page of rare rows would mean reading everything, so a page scans only a
//! part, and may be short, or empty, and still have a next one.

use baton_api::Page;
use baton_engine::{EngineError, Reader};
use baton_store::{HandoffFilter, HandoffRow, Order, RunFilter, RunRow};

use super::answer::cut;

/// How many numbers are scanned at once.
const WINDOW: u64 = 2048;
/// How many windows a page scans, unless it is full before.
const MOST_WINDOWS: usize = 4;

/// The rows, as many as were asked for or all that were found, and where the scan stopped.
pub(super) struct WindowPage<R> {
    pub(super) rows: Vec<R>,
    given_up_at: Option<u64>,
}

/// As [`Reader::handoffs`] for one page, in bounded time.
pub(super) async fn handoffs(
    reader: Reader<'_>,
    filter: &HandoffFilter,
) -> Result<WindowPage<HandoffRow>, EngineError> {
    if has_index(filter) {
        return Ok(WindowPage { rows: reader.handoffs(filter).await?, given_up_at: None });
    }
    let newest = HandoffFilter { order: Order::NewestFirst, limit: 1, ..HandoffFilter::default() };
    let last = reader.handoffs(&newest).await?.first().map_or(0, |it| it.number);
    let mut search = Search::new(filter.order, filter.after, last, filter.limit);
    while let Some(Window { after, until, limit }) = search.next() {
        let window = HandoffFilter { after, until, limit, ..filter.clone() };
        search.found(reader.handoffs(&window).await?);
    }
    Ok(search.end())
}

/// As [`Reader::runs`] for one page, in bounded time.
pub(super) async fn runs(
    reader: Reader<'_>,
    filter: &RunFilter,
) -> Result<WindowPage<RunRow>, EngineError> {
    let has_status_index =
        filter.statuses.is_empty() || filter.statuses.iter().all(|it| it.is_open());
    if filter.story.is_some() || (has_status_index && filter.workflow.is_none()) {
        return Ok(WindowPage { rows: reader.runs(filter).await?, given_up_at: None });
    }
    let newest = RunFilter { order: Order::NewestFirst, limit: 1, ..RunFilter::default() };
    let last = reader.runs(&newest).await?.first().map_or(0, |it| it.number);
    let mut search = Search::new(filter.order, filter.after, last, filter.limit);
    while let Some(Window { after, until, limit }) = search.next() {
        let window = RunFilter { after, until, limit, ..filter.clone() };
        search.found(reader.runs(&window).await?);
    }
    Ok(search.end())
}

/// Whether the store has an index for this filter: handoffs of one run, and open ones by state or
/// agent.
fn has_index(filter: &HandoffFilter) -> bool {
    if filter.run.is_some() || filter.story.is_some() {
        return true;
    }
    let are_open = !filter.states.is_empty() && filter.states.iter().all(|it| it.is_open());
    let are_all = filter.states.is_empty() && filter.to.is_none() && filter.with.is_none();
    let is_timed = filter.created_from.is_some() || filter.created_before.is_some();
    (are_open || are_all) && filter.kind.is_none() && !is_timed
}

/// A range of numbers, and how many rows of it are wanted.
struct Window {
    after: u64,
    until: u64,
    limit: u32,
}

/// Scans window after window, until there are enough rows or the limit of windows is reached.
struct Search<R> {
    order: Order,
    after: u64,
    /// The number of the newest row.
    last: u64,
    limit: u32,
    n_windows: usize,
    is_over: bool,
    rows: Vec<R>,
}

impl<R> Search<R> {
    fn new(order: Order, after: u64, last: u64, limit: u32) -> Self {
        Self { order, after, last, limit, n_windows: 0, is_over: false, rows: Vec::new() }
    }

    fn next(&mut self) -> Option<Window> {
        if self.is_over || self.n_windows == MOST_WINDOWS {
            return None;
        }
        let after = self.after;
        let until = match self.order {
            Order::OldestFirst => after.saturating_add(WINDOW),
            Order::NewestFirst if after == 0 => (self.last + 1).saturating_sub(WINDOW).max(1),
            Order::NewestFirst => after.saturating_sub(WINDOW).max(1),
        };
        self.is_over = match self.order {
            Order::OldestFirst => until >= self.last,
            Order::NewestFirst => until == 1,
        };
        self.after = until;
        self.n_windows += 1;
        let n_found = u32::try_from(self.rows.len()).unwrap_or(self.limit);
        Some(Window { after, until, limit: self.limit - n_found })
    }

    fn found(&mut self, rows: Vec<R>) {
        self.rows.extend(rows);
        self.is_over |= self.rows.len() >= self.limit as usize;
    }

    fn end(self) -> WindowPage<R> {
        let given_up_at = (!self.is_over).then_some(self.after);
        WindowPage { rows: self.rows, given_up_at }
    }
}

impl<R> WindowPage<R> {
    pub(super) fn given_up_at(&self) -> Option<u64> {
        self.given_up_at
    }
}

/// Builds the page from numbered rows, one more than its size if there is a next page.
pub(super) fn page<T>(rows: Vec<(u64, T)>, given_up_at: Option<u64>, limit: u32) -> Page<T> {
    let page = cut(rows, limit, |(number, _)| number.to_string(), |(_, it)| it);
    let next = page.next.or_else(|| given_up_at.map(|it| it.to_string()));
    Page { next, ..page }
}

#[cfg(test)]
mod tests {
    use baton_store_tests::{is_after, is_until};

    use super::*;

    /// One number in every thousand matches.
    fn read_all(order: Order, last: u64, limit: u32) -> (Vec<u64>, u64) {
        let fitting: Vec<u64> = (1..=last).filter(|it| it % 1000 == 0).collect();
        let (mut all, mut after, mut n_pages) = (Vec::new(), 0, 0);
        loop {
            let mut search = Search::new(order, after, last, limit + 1);
            while let Some(Window { after, until, limit }) = search.next() {
                let is_in =
                    |it: &&u64| is_after(order, **it, after) && is_until(order, **it, until);
                let mut rows: Vec<u64> = fitting.iter().filter(is_in).copied().collect();
                if order == Order::NewestFirst {
                    rows.reverse();
                }
                rows.truncate(limit as usize);
                search.found(rows);
            }
            let found = search.end();
            let rows = found.rows.into_iter().map(|it| (it, it)).collect();
            let page = page(rows, found.given_up_at, limit);
            all.extend(page.items);
            n_pages += 1;
            match page.next {
                Some(next) => after = next.parse().unwrap(),
                None => return (all, n_pages),
            }
        }
    }

    #[test]
    fn pages_of_what_is_rare_have_all_of_it_and_each_looks_at_a_part() {
        for last in [0, 1, 999, 1000, 2048, 2049, 8192, 8193, 100_000, 100_001] {
            for limit in [1, 3, 50] {
                let expected: Vec<u64> = (1..=last).filter(|it| it % 1000 == 0).collect();
                let (all, n_pages) = read_all(Order::OldestFirst, last, limit);
                assert_eq!(all, expected, "{last} {limit}");
                assert!(n_pages >= last.div_ceil(WINDOW * MOST_WINDOWS as u64), "{last}");
                let (mut all, _) = read_all(Order::NewestFirst, last, limit);
                all.reverse();
                assert_eq!(all, expected, "{last} {limit}");
            }
        }
    }
}
