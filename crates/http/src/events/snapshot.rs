//! The first message to a subscriber: the position of the log, and how much is in progress.

use baton_core::document::Node;
use baton_core::run::RunId;
use baton_engine::{EngineError, Reader};
use baton_store::{EventFilter, OpenRunCounts, Position};
use tokio::sync::Mutex;

use super::batch::ResolvedEvent;
use super::id::EventId;
use super::names::Names;
use crate::recount::Recount;

/// Where a new subscriber begins, and the counts at that position or later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Snapshot {
    pub(super) id: EventId,
    pub(super) data: Node,
}

/// Counts what is open once for all subscribers that connect at the same time.
#[derive(Default)]
pub(super) struct Snapshots {
    newest: Mutex<Option<Snapshot>>,
    counts: Recount<OpenRunCounts>,
}

impl Snapshots {
    pub(super) async fn take(
        &self,
        reader: Reader<'_>,
        names: &Names,
    ) -> Result<Snapshot, EngineError> {
        let now = reader.last_position().await?;
        let mut newest = self.newest.lock().await;
        // The previous owner of the lock may have counted while we waited.
        if let Some(known) = newest.as_ref().filter(|it| it.id.position >= now) {
            return Ok(known.clone());
        }
        let taken = self.snapshot(reader, names).await?;
        *newest = Some(taken.clone());
        Ok(taken)
    }

    async fn snapshot(&self, reader: Reader<'_>, names: &Names) -> Result<Snapshot, EngineError> {
        // Read before the count, so that events committed meanwhile are sent afterwards, not lost.
        let id = end_of_log(reader, names).await?;
        let counts = self.counts.take(reader.open_run_counts()).await?;
        let members = [
            ("cursor", Node::text(id.to_string())),
            ("openRuns", Node::count(counts.n_open)),
            ("pausedRuns", Node::count(counts.n_paused)),
            ("offered", Node::count(counts.n_offered)),
            ("held", Node::count(counts.n_held)),
            ("waitingForPeople", Node::count(counts.n_waiting)),
            ("loose", Node::count(counts.n_loose)),
        ];
        Ok(Snapshot { id, data: Node::map(members) })
    }
}

/// The id of the last message of the newest event.
pub(super) async fn end_of_log(reader: Reader<'_>, names: &Names) -> Result<EventId, EngineError> {
    let epoch = names.epoch(reader).await?;
    let position = reader.last_position().await?;
    let n_parts = match event_at(reader, position).await? {
        Some(stored) => {
            let known = ResolvedEvent::look_up(reader, names, &stored).await?;
            known.n_parts()
        }
        None => 0,
    };
    Ok(EventId::end_of(epoch, position, n_parts))
}

/// The event at a position, if there is one.
pub(super) async fn event_at(
    reader: Reader<'_>,
    position: Position,
) -> Result<Option<baton_store::StoredEvent>, EngineError> {
    let Some(before) = position.0.checked_sub(1) else { return Ok(None) };
    let filter = EventFilter { after: Position(before), run: None::<RunId>, limit: 1 };
    let found = reader.events(&filter).await?.into_iter().next();
    Ok(found.filter(|it| it.position == position))
}
