//! Assembles the parts of a run: the state from its events, its original numbers, and its texts.

use std::collections::{BTreeMap, BTreeSet};

use baton_core::content::{Content, ContentId};
use baton_core::event::Event;
use baton_engine::rebuild_run;
use baton_store::{Position, StoreError, StoredEvent};
use baton_store_sqlite::{RecoveredRun, SalvageDatabase};
use jiff::Timestamp;

use crate::RecoverError;
use crate::numbers::GivenNumbers;
use crate::prove::{ProvenEvent, ProvenRun};
use crate::report::{LostText, RecoveryReport};
use crate::survey::Positions;
use crate::texts::proven_text;

/// Assembles the parts of a run.
pub(crate) struct RunAssembler {
    pub(crate) now: Timestamp,
    pub(crate) numbers: GivenNumbers,
    pub(crate) positions: Positions,
    pub(crate) last: u64,
    /// Outbox entries, by position. Which were delivered is not known: delivering twice is better
    /// than never.
    pub(crate) promises: BTreeMap<u64, (u64, &'static str, Timestamp)>,
}

impl RunAssembler {
    pub(crate) fn assemble(
        &mut self,
        salvaged: &SalvageDatabase,
        run: &ProvenRun,
        number: u64,
        report: &mut RecoveryReport,
    ) -> Result<RecoveredRun, RecoverError> {
        let Some(rebuilt) = rebuilt(run, number, self.now) else {
            unreachable!("a run is only planned once it has been rebuilt");
        };
        let mut handoffs = rebuilt.handoffs;
        for it in &mut handoffs {
            it.number = self.numbers.of(it.id).unwrap_or_default();
        }
        let (contents, lost) = texts(salvaged, run, number, report)?;
        let events = self.events(run);
        for (it, stored) in
            run.events.iter().zip(&events).filter(|(it, _)| it.event.needs_notification())
        {
            self.promises.insert(stored.position.0, (number, it.event.name(), stored.at));
        }
        report.saved.n_runs += 1;
        report.saved.n_handoffs += handoffs.len() as u64;
        report.saved.n_events += events.len() as u64;
        let last = events.last().map_or(0, |it| it.position.0);
        report.saved.last_position = report.saved.last_position.max(last);
        let (row, timers) = (rebuilt.row, rebuilt.timers);
        Ok(RecoveredRun { row, events, handoffs, contents, timers, lost })
    }

    /// Nothing proves a position: one that is taken, or that does not grow with the run, is
    /// assigned anew.
    fn events(&mut self, run: &ProvenRun) -> Vec<StoredEvent> {
        let mut before = 0;
        let stored = |ProvenEvent { stored: it, event }: &ProvenEvent| {
            let mut position = it.position.0;
            if position <= before || !self.positions.insert(position) {
                self.last = self.last.saturating_add(1);
                position = self.last;
                self.positions.insert(position);
            }
            before = position;
            StoredEvent {
                position: Position(position),
                run: run.id,
                version: it.version,
                at: it.at,
                name: event.name().to_owned(),
                by: it.by.clone(),
                body: it.body.clone(),
                hash: it.hash,
            }
        };
        run.events.iter().map(stored).collect()
    }
}

pub(crate) fn rebuilt(
    run: &ProvenRun,
    number: u64,
    now: Timestamp,
) -> Option<baton_engine::RebuiltRun> {
    let head = run.events.last()?.stored.hash;
    let events: Vec<(Event, Timestamp)> =
        run.events.iter().map(|it| (it.event.clone(), it.stored.at)).collect();
    rebuild_run(run.id, number, head, &events, now)
}

/// The texts that the events of a run name, and the names of the missing ones.
fn texts(
    salvaged: &SalvageDatabase,
    run: &ProvenRun,
    run_number: u64,
    report: &mut RecoveryReport,
) -> Result<(Vec<Content>, Vec<ContentId>), StoreError> {
    let mut seen = BTreeSet::new();
    let (mut contents, mut lost) = (Vec::new(), Vec::new());
    for ProvenEvent { event, .. } in &run.events {
        for (id, named_as) in event.texts().iter() {
            if !seen.insert(id) {
                continue;
            }
            match proven_text(salvaged, id, named_as)? {
                Some(content) => contents.push(content),
                None => {
                    lost.push(id);
                    let (handoff, event) = (event.handoff(), event.name());
                    report.lost_texts.push(LostText { run_number, handoff, event });
                }
            }
        }
    }
    Ok((contents, lost))
}
