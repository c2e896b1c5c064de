//! Does the store tell the truth? Every chain is walked, every run replayed, every text hashed.

mod due;

use std::collections::{BTreeMap, BTreeSet};

use baton_core::event::{Event, replay};
use baton_core::hash::Hash;
use baton_core::run::{RunId, RunStatus};
use baton_store::{
    EventFilter, HandoffChange, HandoffRow, Position, RunFilter, RunRef, RunRow, Store, StoreError,
    TimerRow,
};
use baton_wire::{event, workflow_file};
use jiff::Timestamp;

use self::due::DueTimes;
use crate::timers::timer;

const PAGE: u32 = 500;

/// What was looked at, and what is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Verified {
    pub n_runs: u64,
    pub n_events: u64,
    /// Each names the run and what is wrong with it.
    pub problems: Vec<String>,
}

/// Verifies every run of a store, and the store itself.
pub async fn verify_all(store: &dyn Store) -> Result<Verified, StoreError> {
    let mut verified = Verified { problems: store.check().await?, ..Verified::default() };
    let timers = timers_by_run(store).await?;
    let mut due = DueTimes::load(store).await?;
    let mut sound = BTreeSet::new();
    let mut after = 0;
    loop {
        let filter = RunFilter { after, limit: PAGE, ..RunFilter::default() };
        let page = store.runs(&filter).await?;
        for row in &page {
            verify_row(store, row, &mut sound, &mut verified).await?;
            check_timers(row, timers.get(&row.run.id), &mut verified);
            verified.problems.extend(due.problem(store, row).await?);
        }
        match page.last() {
            Some(last) => after = last.number,
            None => return Ok(verified),
        }
    }
}

/// Verifies one run.
pub async fn verify_run(store: &dyn Store, run: RunId) -> Result<Verified, StoreError> {
    let mut verified = Verified::default();
    if let Some(row) = store.run(&RunRef::Id(run)).await? {
        verify_row(store, &row, &mut BTreeSet::new(), &mut verified).await?;
        check_timers(&row, timers_by_run(store).await?.get(&run), &mut verified);
        let mut due = DueTimes::load(store).await?;
        verified.problems.extend(due.problem(store, &row).await?);
    }
    Ok(verified)
}

async fn verify_row(
    store: &dyn Store,
    row: &RunRow,
    sound: &mut BTreeSet<Hash>,
    verified: &mut Verified,
) -> Result<(), StoreError> {
    let id = row.run.id;
    verified.n_runs += 1;
    let mut events = Vec::new();
    let mut head = Hash::ZERO;
    let mut after = Position::START;
    let mut problem = |what: String| verified.problems.push(format!("run {}: {what}", row.number));
    loop {
        let filter = EventFilter { after, run: Some(id), limit: PAGE };
        let page = store.events(&filter).await?;
        for it in &page {
            let version = events.len() as u64 + 1;
            if it.version.0 != version {
                problem(format!("event {version} is missing, {} stands there", it.version.0));
            }
            head = event::link(&head, id, version, it.at, &it.by, &it.body);
            if head != it.hash {
                problem(format!("event {version} does not fit the chain"));
                head = it.hash;
            }
            match event::decode(&it.body) {
                Ok(event) => events.push((event, it.at)),
                Err(error) => problem(format!("event {version} cannot be read: {error}")),
            }
        }
        match page.last() {
            Some(last) => after = last.position,
            None => break,
        }
    }
    if row.version.0 != events.len() as u64 {
        problem(format!("it has {} events, and its row says {}", events.len(), row.version.0));
    }
    if row.head != head {
        problem("its row does not name the last event".to_owned());
    }
    verified.n_events += events.len() as u64;
    let told = rows_told(row, &events);
    if replay(id, events).as_ref() != Some(&row.run) {
        verified
            .problems
            .push(format!("run {}: its events tell another state than its row", row.number));
    }
    check_workflow(store, row, sound, verified).await?;
    check_rows(store, row, told, verified).await
}

async fn timers_by_run(store: &dyn Store) -> Result<BTreeMap<RunId, Vec<TimerRow>>, StoreError> {
    let mut by_run: BTreeMap<RunId, Vec<TimerRow>> = BTreeMap::new();
    for timer in store.timers(None, 0).await? {
        by_run.entry(timer.run).or_default().push(timer);
    }
    Ok(by_run)
}

/// Every handoff has the timer that its state asks for, and no other has one. When a lease ends
/// is the one thing that no event tells.
fn check_timers(row: &RunRow, stored: Option<&Vec<TimerRow>>, verified: &mut Verified) {
    let stored = stored.map_or(&[][..], Vec::as_slice);
    let told: Vec<_> = row.run.handoffs.iter().filter_map(|it| Some((it.no, timer(it)?))).collect();
    let is_told =
        |it: &TimerRow| told.iter().any(|(no, timer)| *no == it.no && timer.is(it.what, it.due));
    let n_told = stored.iter().filter(|it| is_told(it)).count();
    if (n_told, n_told) != (stored.len(), told.len()) {
        let what = "what has to happen at a time is not what its events tell";
        verified.problems.push(format!("run {}: {what}", row.number));
    }
}

/// The workflow that the run is pinned to is there, and is the one. Many runs share a few of
/// them: those that were found sound are not read again.
async fn check_workflow(
    store: &dyn Store,
    row: &RunRow,
    sound: &mut BTreeSet<Hash>,
    verified: &mut Verified,
) -> Result<(), StoreError> {
    if sound.contains(&row.run.pin) {
        return Ok(());
    }
    let definition = store.definition(&row.run.pin).await?;
    let workflow = definition.and_then(|it| workflow_file::parse(&it.text).ok());
    if workflow.is_none_or(|it| it.hash != row.run.pin) {
        let what = "the workflow that it began with is not there as it was";
        verified.problems.push(format!("run {}: {what}", row.number));
    } else {
        sound.insert(row.run.pin);
    }
    Ok(())
}

/// The rows of the handoffs as the events tell them. Numbers are the store's to give.
fn rows_told(row: &RunRow, events: &[(Event, Timestamp)]) -> Vec<HandoffRow> {
    let mut rows: Vec<HandoffRow> = Vec::new();
    for (event, at) in events {
        if let Event::HandoffCreated(created) = event {
            rows.push(HandoffRow::opened(0, &row.run, created, *at));
        }
        let told = event.handoff().and_then(|no| rows.iter_mut().find(|it| it.no == no));
        let Some(told) = told else { continue };
        if let Event::HandoffStale { .. } = event {
            // A mark on the state of that moment, which is not the state of today.
            told.is_stale = true;
        } else if let Some(HandoffChange::Moved(moved)) = crate::append::change(event, &row.run) {
            told.make_move(&moved, *at);
        }
    }
    rows
}

/// The rows are those that the events tell, and the texts are those that are named.
async fn check_rows(
    store: &dyn Store,
    row: &RunRow,
    told: Vec<HandoffRow>,
    verified: &mut Verified,
) -> Result<(), StoreError> {
    let filter = baton_store::HandoffFilter {
        run: Some(row.run.id),
        ..baton_store::HandoffFilter::default()
    };
    let rows = store.handoffs(&filter).await?;
    let mut problem = |what: String| verified.problems.push(format!("run {}: {what}", row.number));
    if rows.len() != told.len() {
        problem(format!("{} handoffs are there of {}", rows.len(), told.len()));
    }
    for (stored, told) in rows.iter().zip(&told) {
        if *stored != (HandoffRow { number: stored.number, ..told.clone() }) {
            problem(format!("the row of {} is not what its events tell", stored.no));
        }
    }
    let is_done = matches!(row.run.status, RunStatus::Completed | RunStatus::Cancelled);
    if is_done != (row.run.baton() == &baton_core::run::Baton::Done) {
        problem(format!(
            "it is {} and its baton {}",
            row.run.status.name(),
            row.run.baton().name()
        ));
    }
    let ids: Vec<_> = rows
        .iter()
        .flat_map(|it| [Some(it.reason), it.package, it.ended_reason, it.acknowledgement])
        .flatten()
        .collect();
    let contents = store.contents(row.run.id, &ids).await?;
    for content in contents.iter().filter(|it| !it.is_intact()) {
        problem(format!("the text {} is not the one that was written", content.id.0));
    }
    let n_missing = ids.iter().filter(|id| !contents.iter().any(|it| it.id == **id)).count();
    if n_missing > 0 {
        problem(format!("{n_missing} texts that its handoffs name are not there"));
    }
    Ok(())
}
