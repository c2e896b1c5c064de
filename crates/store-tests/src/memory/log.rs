//! The log, and what follows from it.

use baton_core::content::ContentId;
use baton_core::event::Event;
use baton_core::run::RunId;
use baton_store::{HandoffFact, HandoffRow, Position};
use baton_wire::checkpoint::LogLink;
use baton_wire::event::decode;

use super::{MemoryTables, at};

impl MemoryTables {
    pub(super) fn last_position(&self) -> Position {
        self.events.last().map_or(Position::START, |it| it.position)
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

    /// The texts that events of a run say are redacted.
    pub(super) fn redacted(&self, run: RunId) -> Vec<ContentId> {
        let of_run = self.events.iter().filter(|it| it.run == run);
        let decoded = of_run.filter_map(|it| decode(&it.body).ok());
        let redacted = decoded.filter_map(|it| {
            if let Event::Content(event) = it { Some(event.redacted()) } else { None }
        });
        redacted.collect()
    }

    pub(super) fn fact(&self, row: &HandoffRow) -> Option<HandoffFact> {
        let run_number = *self.run_numbers.get(&row.run)?;
        Some(HandoffFact {
            number: row.number,
            run_number,
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
