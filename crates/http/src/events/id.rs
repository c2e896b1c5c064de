//! What a listener says that it has heard: `POS.K`, the K-th thing told about the event at POS.

use std::fmt;

use baton_store::Position;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EventId {
    pub(super) position: Position,
    /// From 0.
    pub(super) part: usize,
}

impl EventId {
    /// Where a listener stands who has heard all `n_parts` about an event. An event about which
    /// nothing is told still has a place.
    pub(super) fn end_of(position: Position, n_parts: usize) -> Self {
        Self { position, part: n_parts.saturating_sub(1) }
    }

    /// Reads only what we write: no signs, no blanks, no zeros in front.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (position, part) = text.split_once('.')?;
        let id = Self { position: Position(position.parse().ok()?), part: part.parse().ok()? };
        (id.to_string() == text).then_some(id)
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.position.0, self.part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_reads_back_and_nothing_else_does() {
        for good in ["0.0", "1.0", "12.2", "18446744073709551615.0"] {
            assert_eq!(EventId::parse(good).map(|it| it.to_string()).as_deref(), Some(good));
        }
        for bad in ["", "1", "1.", ".1", "+1.0", "1.0 ", "01.0", "1.00", "1.-1", "1.0.0", "x.0"] {
            assert_eq!(EventId::parse(bad), None, "{bad:?}");
        }
    }
}
