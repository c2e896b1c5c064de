//! Which texts of a run were dropped for good: it follows from the events, and is stored nowhere else.

use baton_core::event::{ContentEvent, Event, expiring_text};
use baton_wire::event::decode;

use crate::{DropCause, DroppedText, StoredEvent};

/// The names of the events that say so.
pub const DROPPING_EVENTS: [&str; 2] = ["content.redacted", "content.expired"];

/// The names of the events whose texts may be dropped by age.
pub const EXPIRING_EVENTS: [&str; 4] =
    ["message.posted", "message.asked", "message.replied", "file.sent"];

/// The texts that events of a run say are dropped. `events` has those of [`DROPPING_EVENTS`], and those of
/// [`EXPIRING_EVENTS`], by position; others are ignored.
pub fn dropped_texts(events: &[StoredEvent]) -> Vec<DroppedText> {
    let mut dropped = Vec::new();
    // Messages up to here are dropped already.
    let mut expired_to = 0;
    for stored in events {
        let Ok(Event::Content(event)) = decode(&stored.body) else { continue };
        let as_dropped =
            |id, cause| DroppedText { id, cause, at: stored.at, by: stored.by.clone() };
        match event {
            ContentEvent::Redacted { text, .. } => {
                dropped.push(as_dropped(text, DropCause::Redacted));
            }
            ContentEvent::Expired { up_to, .. } => {
                let is_meant = |it: &&StoredEvent| (expired_to + 1..=up_to).contains(&it.version.0);
                let messages = events.iter().filter(is_meant);
                let texts = messages.filter_map(|it| expiring_text(&decode(&it.body).ok()?));
                dropped.extend(texts.map(|it| as_dropped(it, DropCause::Expired)));
                expired_to = up_to.max(expired_to);
            }
        }
    }
    dropped
}
