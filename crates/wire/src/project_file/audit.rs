//! `[audit]` of a `baton.toml`: how often a server signs a checkpoint of its log.

use std::time::Duration;

use crate::fields::{FieldAt, Fields};
use crate::file_problem::Problems;

pub(crate) const KEYS: &[&str] = &["checkpoint_events", "checkpoint_every"];

const MOST_EVENTS: i64 = 1_000_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditSettings {
    /// A checkpoint after this many events; 0 for never.
    pub checkpoint_events: u64,
    /// A checkpoint after this long, if there was an event.
    pub checkpoint_every: Duration,
}

impl Default for AuditSettings {
    fn default() -> Self {
        Self { checkpoint_events: 10_000, checkpoint_every: Duration::from_secs(3600) }
    }
}

pub(super) fn settings(field: &FieldAt<'_>, problems: &mut Problems) -> AuditSettings {
    let mut settings = AuditSettings::default();
    let Some(fields) = Fields::open(field, KEYS, problems) else { return settings };
    let events = fields.get("checkpoint_events");
    if let Some(n) = events.and_then(|it| it.whole_number(0..=MOST_EVENTS, problems)) {
        settings.checkpoint_events = n.unsigned_abs();
    }
    let every = fields.get("checkpoint_every").and_then(|it| it.duration(problems));
    if let Some(every) = every.and_then(|it| Duration::try_from(it).ok()) {
        settings.checkpoint_every = every;
    }
    settings
}
