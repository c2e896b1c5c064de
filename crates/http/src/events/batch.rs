//! Events as the bytes of a stream: encoded once, sent to all subscribers.

use std::ops::Range;
use std::sync::Arc;

use baton_core::document::Node;
use baton_core::event::{DecisionEvent, Event, HandoffEvent};
use baton_core::run::{HandoffState, RunId};
use baton_engine::{EngineError, Reader};
use baton_store::{Position, StoredEvent};
use baton_views::Cast;
use baton_wire::{event, json};
use bytes::Bytes;

use super::id::EventId;
use super::message::{Dialect, EventMessage, EventToSend, MOST_BYTES};
use super::names::{HandoffNames, Names, RunNames, state_of};

/// Consecutive events of all runs, encoded for both APIs.
pub(super) struct Batch {
    /// No event is missing between this position and the batch's first event.
    pub(super) after: Position,
    pub(super) upto: Position,
    pipeline: Frames,
    native: Frames,
}

/// The messages of some events, encoded for one API.
#[derive(Default)]
struct Frames {
    bytes: Bytes,
    /// The byte range of each event's messages.
    parts: Vec<BatchPart>,
}

struct BatchPart {
    position: Position,
    run: RunId,
    range: Range<usize>,
}

/// An event with everything that its messages need. `None` if it was written by a newer Baton; it
/// is left to clients that can read it.
pub(super) struct ResolvedEvent<'a> {
    stored: &'a StoredEvent,
    epoch: Arc<str>,
    event: Option<(Event, Arc<RunNames>)>,
    handoff: Option<HandoffNames>,
    state: Option<HandoffState>,
    cast: Arc<Cast>,
}

impl Batch {
    /// An empty batch, which says only how far the log has been read.
    pub(super) fn here(position: Position) -> Self {
        let (pipeline, native) = (Frames::default(), Frames::default());
        Self { after: position, upto: position, pipeline, native }
    }

    pub(super) async fn of(
        reader: Reader<'_>,
        names: &Names,
        after: Position,
        events: &[StoredEvent],
    ) -> Result<Self, EngineError> {
        let upto = events.last().map_or(after, |it| it.position);
        let mut known = Vec::with_capacity(events.len());
        for stored in events {
            known.push(ResolvedEvent::look_up(reader, names, stored).await?);
        }
        let frames = |face| Frames::of(face, &known);
        Ok(Self {
            after,
            upto,
            pipeline: frames(Dialect::Pipeline),
            native: frames(Dialect::Native),
        })
    }

    /// The bytes for a subscriber to `run`, or to all runs, that has received everything up to
    /// `cursor`.
    pub(super) fn frames_after(
        &self,
        face: Dialect,
        run: Option<RunId>,
        cursor: Position,
    ) -> Bytes {
        let frames = match face {
            Dialect::Pipeline => &self.pipeline,
            Dialect::Native => &self.native,
        };
        if run.is_none() && cursor <= self.after {
            // The usual case: all subscribers share the same bytes.
            return frames.bytes.clone();
        }
        frames.only(|part| part.position > cursor && run.is_none_or(|it| it == part.run))
    }
}

impl Frames {
    fn of(face: Dialect, events: &[ResolvedEvent<'_>]) -> Self {
        let mut text = String::new();
        let mut parts = Vec::with_capacity(events.len());
        for known in events {
            let begin = text.len();
            text += &known.frames(face, 0);
            let (position, run) = (known.stored.position, known.stored.run);
            parts.push(BatchPart { position, run, range: begin..text.len() });
        }
        Self { bytes: text.into(), parts }
    }

    fn only(&self, is_wanted: impl Fn(&BatchPart) -> bool) -> Bytes {
        let wanted = self.parts.iter().filter(|it| is_wanted(it));
        let wanted: Vec<&[u8]> = wanted.map(|it| &self.bytes[it.range.clone()]).collect();
        wanted.concat().into()
    }
}

impl<'a> ResolvedEvent<'a> {
    pub(super) async fn look_up(
        reader: Reader<'_>,
        names: &Names,
        stored: &'a StoredEvent,
    ) -> Result<Self, EngineError> {
        let epoch = names.epoch(reader).await?;
        // Most messages name no agent.
        let today = || Arc::new(Cast::of_today(reader.catalog()));
        let Ok(event) = event::decode(&stored.body) else {
            tracing::warn!(position = stored.position.0, "an event of a newer Baton is not sent");
            let (handoff, state, cast) = (None, None, today());
            return Ok(Self { stored, epoch, event: None, handoff, state, cast });
        };
        let run = names.run(reader, stored.run).await?;
        let handoff = match event.handoff() {
            Some(no) => Some(names.handoff(reader, stored.run, no).await?),
            None => None,
        };
        let state = if let Event::Handoff(HandoffEvent::Stale { handoff, .. }) = &event {
            Some(state_of(reader, stored.run, *handoff).await?)
        } else {
            None
        };
        let cast = match names_agents(&event) {
            true => names.cast(reader, stored.run, stored.version).await?,
            false => today(),
        };
        Ok(Self { stored, epoch, event: Some((event, run)), handoff, state, cast })
    }

    /// The event's messages, from the `first` part on.
    pub(super) fn frames(&self, face: Dialect, first: usize) -> String {
        let messages = self.messages(face);
        let frame = |(part, message): (usize, &EventMessage)| {
            let id = EventId { epoch: self.epoch.clone(), position: self.stored.position, part };
            frame(face, &id, message.name, &message.data)
        };
        messages.iter().enumerate().skip(first).map(frame).collect()
    }

    pub(super) fn n_parts(&self) -> usize {
        self.messages(Dialect::Native).len()
    }

    fn messages(&self, face: Dialect) -> Vec<EventMessage> {
        let Some((event, names)) = &self.event else { return Vec::new() };
        let StoredEvent { run, at, by, .. } = self.stored;
        let (run, at, handoff, state) = (*run, *at, self.handoff, self.state);
        EventToSend { run, at, by, event, names, handoff, state, cast: &self.cast }.messages(face)
    }
}

/// Whether a message of the event has the name of an agent.
fn names_agents(event: &Event) -> bool {
    let is_handed = matches!(event, Event::Handoff(HandoffEvent::Created(_)));
    is_handed || matches!(event, Event::Decision(DecisionEvent::Recorded { .. }))
}

/// One message of a stream.
pub(super) fn frame(face: Dialect, id: &EventId, name: &str, data: &Node) -> String {
    let frame = match face {
        Dialect::Pipeline => {
            let data = Node::map([("type", Node::text(name)), ("data", data.clone())]);
            format!("id: {id}\ndata: {}\n\n", json::print(&data))
        }
        Dialect::Native => format!("id: {id}\nevent: {name}\ndata: {}\n\n", json::print(data)),
    };
    debug_assert!(frame.len() < MOST_BYTES, "every member has a bound: {frame}");
    frame
}
