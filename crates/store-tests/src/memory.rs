//! An in-memory store, for tests: the simplest one that passes the suite.

mod append;
mod due;
mod filters;
mod log;
mod lookup;
mod shared;
mod statistics;

pub use self::filters::{is_after, is_until};
pub use self::shared::SharedMemory;
pub use self::statistics::count_run;

use self::lookup::at;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use baton_core::content::{Content, ContentId};
use baton_core::hash::Hash;
use baton_core::look_alike;
use baton_core::names::StoryKey;
use baton_core::run::{HandoffId, HandoffNo, RunId, RunStatus};
use baton_core::story::Story;
use jiff::Timestamp;
use tokio::sync::watch;
use uuid::Uuid;

use baton_store::{
    Append, AppendError, Appended, CheckpointRow, Definition, DroppedText, DueRow, EventFilter,
    HandoffFact, HandoffFilter, HandoffRef, HandoffRow, IdempotencyRecord, Identity, LeaseRenewal,
    LookAgain, OpenRunCounts, Order, OutboxRow, Position, RunFilter, RunRef, RunRow, RunSchedule,
    SharedEvents, Statistics, Store, StoreCheck, StoreError, StoreLock, StoreResult, StoredContent,
    StoredEvent, StoryCounts, StoryFilter, StoryRow, TextOwner, TimerRow, UsageFact, refuse_nul,
    story_texts,
};

use baton_wire::checkpoint::LogLink;

#[derive(Debug, Default)]
pub struct MemoryStore {
    kept: Arc<Mutex<MemoryTables>>,
    /// The other nodes of a [`SharedMemory`] stay open.
    is_closed: AtomicBool,
    /// `None` where only this store has the tables.
    nodes: Option<Arc<shared::SharedLog>>,
}

/// More than a warning names.
const MOST_LOOK_ALIKES: usize = 8;

/// All data. Runs, handoffs and events are numbered from 1 by their index in the list.
#[derive(Debug, Default)]
struct MemoryTables {
    /// Several nodes have these tables: positions have gaps, and no lease is made shorter.
    is_shared: bool,
    runs: Vec<RunRow>,
    run_numbers: HashMap<RunId, u64>,
    /// The runs of a story, oldest first.
    story_runs: HashMap<StoryKey, Vec<u64>>,
    handoffs: Vec<HandoffRow>,
    handoff_numbers: HashMap<(RunId, HandoffNo), u64>,
    handoff_ids: HashMap<HandoffId, u64>,
    events: Vec<StoredEvent>,
    contents: HashMap<(RunId, ContentId), Content>,
    stories: BTreeMap<StoryKey, (Story, Timestamp)>,
    /// Keys of stories by outline.
    outlines: HashMap<String, BTreeSet<StoryKey>>,
    definitions: HashMap<Hash, Definition>,
    answered: HashMap<(String, String), IdempotencyRecord>,
    cursors: HashMap<String, Position>,
    outbox: BTreeMap<u64, OutboxRow>,
    /// Id of the last outbox row ever created, removed or not.
    last_outbox_id: u64,
    /// By run number, and the handoff in the run.
    timers: BTreeMap<(u64, HandoffNo), TimerRow>,
    /// The numbers of the runs that wait for a person.
    waiting: BTreeSet<u64>,
    /// The numbers of the blocked runs.
    blocked: BTreeSet<u64>,
    /// When a run has to be checked, by its number.
    due: BTreeMap<u64, Timestamp>,
    checkpoints: Vec<CheckpointRow>,
}

#[async_trait]
impl Store for MemoryStore {
    async fn append(&self, append: Arc<Append>) -> Result<Appended, AppendError> {
        self.let_others_work().await;
        let mut kept = self.open()?;
        let appended = kept.append(Arc::unwrap_or_clone(append));
        if let Some(nodes) = &self.nodes {
            nodes.settle(&kept);
        }
        appended
    }

    async fn run(&self, which: &RunRef) -> StoreResult<Option<RunRow>> {
        Ok(self.open()?.run(which).cloned())
    }

    async fn runs(&self, filter: &RunFilter) -> StoreResult<Vec<RunRow>> {
        let kept = self.open()?;
        let is_meant = |it: &&RunRow| {
            (!filter.only_waiting || kept.waiting.contains(&it.number))
                && (!filter.only_blocked || kept.blocked.contains(&it.number))
        };
        let matching = kept.runs.iter().filter(is_meant).filter(|it| filters::has_run(filter, it));
        Ok(filters::ordered(matching, filter.order, 0, filter.limit))
    }

    async fn run_numbers(&self, after: u64, limit: u32) -> StoreResult<Vec<u64>> {
        let kept = self.open()?;
        let later = kept.runs.iter().filter(|it| it.number > after).map(|it| &it.number);
        Ok(filters::page(later, limit))
    }

    async fn runs_moved_last(&self, limit: u32) -> StoreResult<Vec<RunRow>> {
        let kept = self.open()?;
        let mut open: Vec<&RunRow> = kept.runs.iter().filter(|it| !it.run.is_finished()).collect();
        let last_event = |run: RunId| kept.events.iter().rposition(|it| it.run == run);
        open.sort_by_cached_key(|it| Reverse(last_event(it.run.id)));
        Ok(filters::page(open.into_iter(), limit))
    }

    async fn open_runs_ending(&self, suffix: &str, limit: u32) -> StoreResult<(Vec<RunRow>, u64)> {
        let kept = self.open()?;
        let ends_so =
            |it: &&RunRow| !it.run.is_finished() && it.run.story.as_str().ends_with(suffix);
        let n_runs = kept.runs.iter().filter(ends_so).count() as u64;
        Ok((filters::page(kept.runs.iter().filter(ends_so), limit), n_runs))
    }

    async fn count_open_runs(&self) -> StoreResult<u64> {
        Ok(self.open()?.runs.iter().filter(|it| !it.run.is_finished()).count() as u64)
    }

    async fn open_run_counts(&self) -> StoreResult<OpenRunCounts> {
        let mut counts = OpenRunCounts::default();
        self.open()?.runs.iter().for_each(|it| count_run(&mut counts, &it.run));
        Ok(counts)
    }

    async fn handoff(&self, which: &HandoffRef) -> StoreResult<Option<HandoffRow>> {
        Ok(self.open()?.handoff(which).cloned())
    }

    async fn handoffs(&self, filter: &HandoffFilter) -> StoreResult<Vec<HandoffRow>> {
        let kept = self.open()?;
        Ok(filters::handoffs(&kept.handoffs, filter))
    }

    async fn count_handoffs(&self, filter: &HandoffFilter) -> StoreResult<u64> {
        let kept = self.open()?;
        Ok(kept.handoffs.iter().filter(|it| filters::has_handoff(filter, it)).count() as u64)
    }

    async fn usage_facts(
        &self,
        first_run: u64,
        last_run: u64,
        limit: u32,
    ) -> StoreResult<Vec<UsageFact>> {
        Ok(self.open()?.usage(first_run..=last_run, limit as usize))
    }

    async fn handoff_facts(&self, before: u64, limit: u32) -> StoreResult<Vec<HandoffFact>> {
        let kept = self.open()?;
        let before = if before == 0 { u64::MAX } else { before };
        let rows = kept.handoffs.iter().rev().filter(|it| it.number < before);
        let facts: Vec<HandoffFact> = rows.filter_map(|it| kept.fact(it)).collect();
        Ok(filters::page(facts.iter(), limit))
    }

    async fn statistics(&self, filter: &HandoffFilter) -> StoreResult<Statistics> {
        let kept = self.open()?;
        let all = HandoffFilter { order: Order::OldestFirst, after: 0, ..filter.clone() };
        let matching = kept.handoffs.iter().filter(|it| filters::has_handoff(&all, it));
        Ok(statistics::over(matching))
    }

    async fn contents(&self, run: RunId, ids: &[ContentId]) -> StoreResult<Vec<StoredContent>> {
        let kept = self.open()?;
        let found = ids.iter().filter_map(|id| kept.contents.get(&(run, *id)).cloned());
        Ok(found.map(|it| StoredContent::new(it, TextOwner::Run)).collect())
    }

    async fn lost_texts(&self, _: RunId) -> StoreResult<Vec<ContentId>> {
        // An in-memory store loses everything at once, and is never recovered.
        Ok(Vec::new())
    }

    async fn dropped_texts(&self, run: RunId) -> StoreResult<Vec<DroppedText>> {
        let kept = self.open()?;
        Ok(kept.dropped(run))
    }

    async fn count_contents(&self, run: RunId) -> StoreResult<u64> {
        let kept = self.open()?;
        Ok(kept.contents.keys().filter(|(of, _)| *of == run).count() as u64)
    }

    async fn events(&self, filter: &EventFilter) -> StoreResult<Vec<StoredEvent>> {
        let kept = self.open()?;
        let matching = kept.events.iter().filter(|it| filters::has_event(filter, it));
        let is_there = |it: &&StoredEvent| filter.run.is_some() || self.has_settled(it.position);
        Ok(filters::page(matching.filter(is_there), filter.limit))
    }

    async fn events_before(
        &self,
        run: RunId,
        before: Position,
        limit: u32,
    ) -> StoreResult<Vec<StoredEvent>> {
        let kept = self.open()?;
        let is_it = |it: &&StoredEvent| it.run == run && it.position < before;
        Ok(filters::page(kept.events.iter().rev().filter(is_it), limit))
    }

    async fn shared_events(&self, run: RunId, of: SharedEvents) -> StoreResult<Vec<StoredEvent>> {
        let kept = self.open()?;
        let is_it = |it: &&StoredEvent| it.run == run && of.names().contains(&it.name.as_str());
        Ok(filters::page(kept.events.iter().filter(is_it), 0))
    }

    async fn last_position(&self) -> StoreResult<Position> {
        let kept = self.open()?;
        let newest = kept.events.iter().rev().find(|it| self.has_settled(it.position));
        Ok(newest.map_or(Position::START, |it| it.position))
    }

    fn settled(&self) -> Option<watch::Receiver<Position>> {
        self.nodes.as_ref().map(|it| it.settled())
    }

    async fn lock(&self, name: &str) -> StoreResult<StoreLock> {
        drop(self.open()?);
        match &self.nodes {
            Some(nodes) => Ok(nodes.lock(name).await),
            None => Ok(StoreLock::unshared()),
        }
    }

    async fn log_links(&self, after: Position, limit: u32) -> StoreResult<Vec<LogLink>> {
        let kept = self.open()?;
        let links = kept.links(after);
        let is_there = |it: &&LogLink| self.has_settled(Position(it.position));
        Ok(filters::page(links.iter().filter(is_there), limit))
    }

    async fn checkpoints(&self, after: u64, limit: u32) -> StoreResult<Vec<CheckpointRow>> {
        let kept = self.open()?;
        Ok(filters::page(kept.checkpoints.iter().filter(|it| it.number > after), limit))
    }

    async fn last_checkpoint(&self) -> StoreResult<Option<CheckpointRow>> {
        Ok(self.open()?.checkpoints.last().cloned())
    }

    async fn add_checkpoint(&self, checkpoint: &CheckpointRow) -> StoreResult<bool> {
        let mut kept = self.open()?;
        let is_next = checkpoint.number == kept.checkpoints.len() as u64 + 1;
        if is_next {
            kept.checkpoints.push(checkpoint.clone());
        }
        Ok(is_next)
    }

    async fn add_story(&self, story: &Story, now: Timestamp) -> StoreResult<bool> {
        refuse_nul(story_texts(story))?;
        let mut kept = self.open()?;
        if kept.stories.contains_key(&story.key) {
            return Ok(false);
        }
        kept.keep_story(story.clone(), now);
        Ok(true)
    }

    async fn add_story_once(
        &self,
        story: &Story,
        answered: &IdempotencyRecord,
    ) -> Result<bool, AppendError> {
        refuse_nul(story_texts(story).chain(answered.texts()))?;
        let mut kept = self.open()?;
        let key = (answered.scope.clone(), answered.key.clone());
        if let Some(first) = kept.answered.get(&key) {
            return Err(AppendError::Repeated(Box::new(first.clone())));
        }
        if kept.stories.contains_key(&story.key) {
            return Ok(false);
        }
        kept.keep_story(story.clone(), answered.at);
        kept.answered.insert(key, answered.clone());
        Ok(true)
    }

    async fn save_story(&self, story: &Story, now: Timestamp) -> StoreResult<()> {
        refuse_nul(story_texts(story))?;
        let mut kept = self.open()?;
        let created_at = kept.stories.get(&story.key).map_or(now, |(_, created_at)| *created_at);
        kept.keep_story(story.clone(), created_at);
        Ok(())
    }

    async fn save_story_once(
        &self,
        story: &Story,
        answered: &IdempotencyRecord,
    ) -> Result<(), AppendError> {
        refuse_nul(story_texts(story).chain(answered.texts()))?;
        let mut kept = self.open()?;
        let key = (answered.scope.clone(), answered.key.clone());
        if let Some(first) = kept.answered.get(&key) {
            return Err(AppendError::Repeated(Box::new(first.clone())));
        }
        let there = kept.stories.get(&story.key);
        let created_at = there.map_or(answered.at, |(_, created_at)| *created_at);
        kept.keep_story(story.clone(), created_at);
        kept.answered.insert(key, answered.clone());
        Ok(())
    }

    async fn story(&self, key: &StoryKey) -> StoreResult<Option<StoryRow>> {
        let kept = self.open()?;
        Ok(kept.stories.get(key).map(|it| kept.story_row(it)))
    }

    async fn look_alikes(&self, key: &StoryKey) -> StoreResult<Vec<StoryKey>> {
        let kept = self.open()?;
        let alike = kept.outlines.get(&look_alike::outline(key.as_str()));
        let others = alike.into_iter().flatten().filter(|it| *it != key);
        Ok(others.take(MOST_LOOK_ALIKES).cloned().collect())
    }

    async fn stories(&self, filter: &StoryFilter) -> StoreResult<Vec<StoryRow>> {
        let kept = self.open()?;
        let later = kept.stories.iter().filter(|(key, _)| filters::has_key(filter, key));
        let rows: Vec<_> = later.map(|(_, it)| kept.story_row(it)).collect();
        Ok(filters::page(rows.iter(), filter.limit))
    }

    async fn stories_to_begin(
        &self,
        after: Option<&Story>,
        limit: u32,
    ) -> StoreResult<Vec<StoryRow>> {
        let kept = self.open()?;
        let place = |it: &Story| (Reverse(it.priority), it.key.clone());
        let rows = kept.stories.values().map(|it| kept.story_row(it));
        let mut rows: Vec<StoryRow> = rows
            .filter(|it| it.latest.is_none())
            .filter(|it| after.is_none_or(|after| place(&it.story) > place(after)))
            .collect();
        rows.sort_by_key(|it| place(&it.story));
        Ok(filters::page(rows.iter(), limit))
    }

    async fn count_stories(&self) -> StoreResult<StoryCounts> {
        let kept = self.open()?;
        let mut counts = StoryCounts::default();
        for row in kept.stories.values().map(|it| kept.story_row(it)) {
            counts.n_stories += 1;
            match row.latest {
                None => counts.n_to_begin += 1,
                Some((_, RunStatus::Completed)) => counts.n_completed += 1,
                Some((_, RunStatus::Open | RunStatus::Paused | RunStatus::Cancelled)) => {}
            }
        }
        Ok(counts)
    }

    async fn definition(&self, hash: &Hash) -> StoreResult<Option<Definition>> {
        Ok(self.open()?.definitions.get(hash).cloned())
    }

    async fn answered(&self, scope: &str, key: &str) -> StoreResult<Option<IdempotencyRecord>> {
        Ok(self.open()?.answered.get(&(scope.to_owned(), key.to_owned())).cloned())
    }

    async fn forget_answered(&self, before: Timestamp, limit: u32) -> StoreResult<u64> {
        let mut kept = self.open()?;
        let n_before = kept.answered.len();
        let mut n_left = limit;
        kept.answered.retain(|_, it| {
            let is_dropped = it.at < before && n_left > 0;
            n_left -= u32::from(is_dropped);
            !is_dropped
        });
        Ok((n_before - kept.answered.len()) as u64)
    }

    async fn cursor(&self, projector: &str) -> StoreResult<Position> {
        Ok(self.open()?.cursor(projector))
    }

    async fn advance(&self, projector: &str, from: Position, to: Position) -> StoreResult<bool> {
        refuse_nul([projector])?;
        let mut kept = self.open()?;
        if kept.cursor(projector) != from {
            return Ok(false);
        }
        kept.cursors.insert(projector.to_owned(), to);
        Ok(true)
    }

    async fn outbox(&self, after: u64, limit: u32) -> StoreResult<Vec<OutboxRow>> {
        let kept = self.open()?;
        let waiting = kept.outbox.values().filter(|it| it.id > after);
        Ok(filters::page(waiting, limit))
    }

    async fn settle(&self, outbox_id: u64) -> StoreResult<bool> {
        Ok(self.open()?.outbox.remove(&outbox_id).is_some())
    }

    async fn due(
        &self,
        due_by: Timestamp,
        after: Option<&DueRow>,
        limit: u32,
    ) -> StoreResult<Vec<DueRow>> {
        Ok(self.open()?.due_runs(due_by, after, limit))
    }

    async fn look_again(&self, runs: &[LookAgain]) -> StoreResult<u64> {
        let mut kept = self.open()?;
        Ok(runs.iter().filter(|it| kept.look_again(it)).count() as u64)
    }

    async fn schedule(&self, run: RunId) -> StoreResult<RunSchedule> {
        Ok(self.open()?.schedule(run))
    }

    async fn timers(&self, due_by: Option<Timestamp>, limit: u32) -> StoreResult<Vec<TimerRow>> {
        let kept = self.open()?;
        let is_due = |it: &&TimerRow| due_by.is_none_or(|due_by| it.due <= due_by);
        let mut timers: Vec<&TimerRow> = kept.timers.values().filter(is_due).collect();
        // Stable: at equal times, the older run is first.
        timers.sort_by_key(|it| it.due);
        Ok(filters::page(timers.into_iter(), limit))
    }

    async fn put_off(&self, leases: &[LeaseRenewal]) -> StoreResult<u64> {
        self.let_others_work().await;
        let mut kept = self.open()?;
        Ok(leases.iter().filter(|it| kept.put_off(it)).count() as u64)
    }

    async fn identity(&self) -> StoreResult<Identity> {
        drop(self.open()?);
        Ok(Identity { project: Uuid::nil(), epoch: "00000000".to_owned() })
    }

    async fn check(&self) -> StoreResult<StoreCheck> {
        self.open().map(|_| StoreCheck::default())
    }

    async fn close(&self) {
        self.is_closed.store(true, Ordering::Release);
    }
}

impl MemoryStore {
    fn open(&self) -> StoreResult<MutexGuard<'_, MemoryTables>> {
        if self.is_closed.load(Ordering::Acquire) {
            return Err(StoreError::Closed);
        }
        Ok(tables(&self.kept))
    }

    /// A database answers later, and other nodes read and write meanwhile.
    async fn let_others_work(&self) {
        if self.nodes.is_some() {
            tokio::task::yield_now().await;
        }
    }

    fn has_settled(&self, position: Position) -> bool {
        self.nodes.as_ref().is_none_or(|it| it.has_settled(position))
    }
}

/// Every change is made in one go after all checks, so a poisoned lock is still good.
fn tables(kept: &Mutex<MemoryTables>) -> MutexGuard<'_, MemoryTables> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}
