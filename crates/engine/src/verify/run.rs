//! Verifies one run: its hash chain, its replayed state, and the rows that follow from its events.

use std::collections::BTreeMap;

use baton_core::event::{Event, HandoffEvent, evolve, replay};
use baton_core::hash::Hash;
use baton_core::plural::{counted, counted_as};
use baton_core::run::{HandoffNo, Run, RunStatus};
use baton_store::{
    EventFilter, HandoffFilter, HandoffRef, HandoffRow, Position, RunRow, Store, StoreError,
    StoredEvent,
};
use baton_wire::event;
use jiff::Timestamp;

use super::texts::TextCheck;
use super::{PAGE, Verified};
use crate::handoff_rows;

/// Replays a run from its first event to its last.
pub(super) async fn verify(
    store: &dyn Store,
    row: &RunRow,
    verified: &mut Verified,
) -> Result<(), StoreError> {
    let mut walk = RunWalk::of(row, TextCheck::of(store, row).await?);
    let mut after = Position::START;
    loop {
        let filter = EventFilter { after, run: Some(row.run.id), limit: PAGE };
        let page = store.events(&filter).await?;
        for stored in &page {
            walk.link(stored, verified);
            match event::decode(&stored.body) {
                Ok(event) => walk.happen(store, &event, stored.at, verified).await?,
                Err(error) => {
                    let version = stored.version.0;
                    verified
                        .in_run(row.number, &format!("event {version} cannot be read: {error}"));
                }
            }
        }
        verified.n_events += page.len() as u64;
        match page.last() {
            Some(last) if page.len() == PAGE as usize => after = last.position,
            Some(_) | None => return walk.end(store, verified).await,
        }
    }
}

/// The progress of a replay.
struct RunWalk<'a> {
    row: &'a RunRow,
    head: Hash,
    n_events: u64,
    /// The state after the events so far.
    run: Option<Run>,
    /// The rows of the handoffs that are open so far, as the events imply them. The store assigns
    /// the numbers.
    open: BTreeMap<HandoffNo, HandoffRow>,
    n_handoffs: u64,
    texts: TextCheck,
}

impl<'a> RunWalk<'a> {
    fn of(row: &'a RunRow, texts: TextCheck) -> Self {
        Self {
            row,
            head: Hash::ZERO,
            n_events: 0,
            run: None,
            open: BTreeMap::new(),
            n_handoffs: 0,
            texts,
        }
    }

    fn link(&mut self, stored: &StoredEvent, verified: &mut Verified) {
        self.n_events += 1;
        let version = self.n_events;
        let mut problem = |what: String| verified.in_run(self.row.number, &what);
        if stored.version.0 != version {
            problem(format!("event {version} is missing, {} stands there", stored.version.0));
        }
        let by = &stored.by;
        self.head = event::link(&self.head, self.row.run.id, version, stored.at, by, &stored.body);
        if self.head != stored.hash {
            problem(format!("event {version} does not fit the chain"));
            self.head = stored.hash;
        }
    }

    async fn happen(
        &mut self,
        store: &dyn Store,
        event: &Event,
        at: Timestamp,
        verified: &mut Verified,
    ) -> Result<(), StoreError> {
        match &mut self.run {
            Some(run) => evolve(run, event, at),
            None => self.run = replay(self.row.run.id, [(event.clone(), at)]),
        }
        self.texts.name(store, event, verified).await?;
        if let Event::Handoff(HandoffEvent::Created(created)) = event {
            let expected = HandoffRow::opened(&self.row.run, created, at);
            self.n_handoffs += 1;
            self.open.insert(created.handoff, expected);
        }
        let Some(no) = event.handoff() else { return Ok(()) };
        let Some(expected) = self.open.get_mut(&no) else { return Ok(()) };
        handoff_rows::apply(expected, event, at);
        // An ended handoff never changes again.
        if !expected.state.is_open()
            && let Some(expected) = self.open.remove(&no)
        {
            check_row(store, self.row, expected, verified).await?;
        }
        Ok(())
    }

    /// Compares the remaining rows with the stored ones.
    async fn end(mut self, store: &dyn Store, verified: &mut Verified) -> Result<(), StoreError> {
        let row = self.row;
        let mut problem = |what: String| verified.in_run(row.number, &what);
        if row.version.0 != self.n_events {
            let events = counted(self.n_events, "event");
            problem(format!("it has {events}, and its row says {}", row.version.0));
        }
        if row.head != self.head {
            problem("its row does not name the last event".to_owned());
        }
        if self.run.as_ref() != Some(&row.run) {
            problem("its events tell another state than its row".to_owned());
        }
        let is_done = matches!(row.run.status, RunStatus::Completed | RunStatus::Cancelled);
        if is_done != (row.run.baton() == &baton_core::run::Baton::Done) {
            let (status, baton) = (row.run.status.name(), row.run.baton().name());
            problem(format!("it is {status} and its baton {baton}"));
        }
        for expected in std::mem::take(&mut self.open).into_values() {
            check_row(store, row, expected, verified).await?;
        }
        let filter = HandoffFilter { run: Some(row.run.id), ..HandoffFilter::default() };
        let n_rows = store.count_handoffs(&filter).await?;
        if n_rows != self.n_handoffs {
            let rows = counted_as(n_rows, "handoff is", "handoffs are");
            let what = format!("{rows} there of {}", self.n_handoffs);
            verified.in_run(row.number, &what);
        }
        self.texts.end(store, verified).await
    }
}

/// The stored row of a handoff equals the one that the events imply.
async fn check_row(
    store: &dyn Store,
    row: &RunRow,
    expected: HandoffRow,
    verified: &mut Verified,
) -> Result<(), StoreError> {
    let no = expected.no;
    let what = match super::readable(store.handoff(&HandoffRef::InRun(row.run.id, no)).await)? {
        Ok(Some(stored)) if stored == (HandoffRow { number: stored.number, ..expected }) => {
            return Ok(());
        }
        Ok(Some(_)) => format!("the row of {no} is not what its events tell"),
        Ok(None) => format!("{no} is missing"),
        Err(what) => format!("{no} cannot be read: {what}"),
    };
    verified.in_run(row.number, &what);
    Ok(())
}
