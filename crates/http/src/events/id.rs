//! The id that a subscriber has received last: `EPOCH-POS.K`, the K-th message of the event at POS.
//! A restore reuses positions for other events, and therefore changes the epoch.

use std::fmt;
use std::sync::Arc;

use baton_store::Position;

/// The id that a subscriber sends to get everything, in any epoch. It has received nothing, so
/// nothing that it received can be wrong.
pub(super) const BEGINNING: &str = "0.0";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct EventId {
    pub(super) epoch: Arc<str>,
    pub(super) position: Position,
    /// From 0.
    pub(super) part: usize,
}

impl EventId {
    /// The cursor of a subscriber that has received all `n_parts` of an event. An event without
    /// messages still has a position.
    pub(super) fn end_of(epoch: Arc<str>, position: Position, n_parts: usize) -> Self {
        Self { epoch, position, part: n_parts.saturating_sub(1) }
    }

    /// Accepts only what we write: no signs, no blanks, no leading zeros.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (epoch, place) = text.split_once('-')?;
        let (position, part) = place.split_once('.')?;
        let position = Position(position.parse().ok()?);
        let id = Self { epoch: epoch.into(), position, part: part.parse().ok()? };
        (!epoch.is_empty() && id.to_string() == text).then_some(id)
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}.{}", self.epoch, self.position.0, self.part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_reads_back_and_nothing_else_does() {
        for good in ["ab12-0.0", "e-1.0", "abcdefgh-12.2", "e-18446744073709551615.0"] {
            assert_eq!(EventId::parse(good).map(|it| it.to_string()).as_deref(), Some(good));
        }
        for bad in [
            "", "0.0", "1.0", "-1.0", "e-1", "e-1.", "e-.1", "e-+1.0", "e-1.0 ", "e-01.0",
            "e-1.00", "e-1.-1", "e-1.0.0", "e-x.0",
        ] {
            assert_eq!(EventId::parse(bad), None, "{bad:?}");
        }
    }
}
