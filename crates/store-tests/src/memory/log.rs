//! The log, and what follows from it.

use std::cmp::Reverse;
use std::ops::RangeInclusive;

use baton_core::event::{Event, UsageEvent};
use baton_core::run::RunId;
use baton_store::{
    DroppedText, HandoffFact, HandoffRow, Position, StoredEvent, UsageFact, dropped_texts,
};
use baton_wire::checkpoint::LogLink;
use baton_wire::event::decode;

use super::{MemoryTables, at};

/// Where several processes append, positions grow and are not dense.
const POSITIONS_OF_AN_APPEND: u64 = 4096;

impl MemoryTables {
    pub(super) fn last_position(&self) -> Position {
        self.events.last().map_or(Position::START, |it| it.position)
    }

    /// The position of the next append's first event.
    pub(super) fn next_position(&self) -> Position {
        let apart = if self.is_shared { POSITIONS_OF_AN_APPEND } else { 1 };
        Position((self.last_position().0 / apart + 1) * apart)
    }

    pub(super) fn links(&self, after: Position) -> Vec<LogLink> {
        let later = self.events.iter().filter(|it| it.position > after);
        let link = |it: &baton_store::StoredEvent| LogLink {
            position: it.position.0,
            run: it.run,
            version: it.version.0,
            name: it.name.clone(),
            hash: it.hash,
        };
        later.map(link).collect()
    }

    /// The texts that events of a run say are dropped.
    pub(super) fn dropped(&self, run: RunId) -> Vec<DroppedText> {
        let of_run: Vec<StoredEvent> =
            self.events.iter().filter(|it| it.run == run).cloned().collect();
        dropped_texts(&of_run)
    }

    /// What agents used in some runs, newest runs first.
    pub(super) fn usage(&self, runs: RangeInclusive<u64>, most: usize) -> Vec<UsageFact> {
        let fact = |it: &StoredEvent| {
            let run_number = *self.run_numbers.get(&it.run).filter(|it| runs.contains(it))?;
            let Ok(Event::Usage(UsageEvent::Recorded { handoff, usage, .. })) = decode(&it.body)
            else {
                return None;
            };
            Some(UsageFact { run_number, handoff, usage })
        };
        let mut found: Vec<UsageFact> = self.events.iter().filter_map(fact).collect();
        found.sort_by_key(|it| Reverse(it.run_number));
        found.truncate(most);
        found
    }

    pub(super) fn fact(&self, row: &HandoffRow) -> Option<HandoffFact> {
        let run_number = *self.run_numbers.get(&row.run)?;
        Some(HandoffFact {
            number: row.number,
            run_number,
            no: row.no,
            score: row.score,
            workflow: at(&self.runs, run_number)?.run.workflow.clone(),
            kind: row.kind,
            from: row.from.clone(),
            to: row.to.clone(),
            state: row.state,
            n_warnings: u32::try_from(row.warnings.len()).unwrap_or(u32::MAX),
            created_at: row.created_at,
            accepted_at: row.accepted_at,
            ended_at: row.ended_at,
        })
    }
}
