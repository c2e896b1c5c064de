//! Times: stored in UTC, shown in the reader's time zone.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

/// The time zone of this machine.
pub(crate) struct TimeFormat(TimeZone);

impl TimeFormat {
    pub(crate) fn local() -> Self {
        Self(TimeZone::system())
    }

    /// `2026-11-15 14:03:21 CET`, in the reader's zone.
    pub(crate) fn show(&self, at: Timestamp) -> String {
        at.to_zoned(self.0.clone()).strftime("%Y-%m-%d %H:%M:%S %Z").to_string()
    }

    /// `14:03:21 CET`, for live events.
    pub(crate) fn clock(&self, at: Timestamp) -> String {
        at.to_zoned(self.0.clone()).strftime("%H:%M:%S %Z").to_string()
    }

    pub(crate) fn show_some(&self, at: Option<Timestamp>) -> String {
        at.map_or_else(|| "–".to_owned(), |it| self.show(it))
    }
}

/// `3 min ago`: the length of a wait matters more than its start.
pub(crate) fn ago(at: Timestamp, now: Timestamp) -> String {
    let passed = now.duration_since(at).max(SignedDuration::ZERO);
    let (n, unit) = match passed.as_secs() {
        0..60 => (passed.as_secs(), "s"),
        60..3600 => (passed.as_mins(), "min"),
        3600..172_800 => (passed.as_hours(), "h"),
        _ => (passed.as_hours() / 24, "days"),
    };
    format!("{n} {unit} ago")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_its_zone() {
        let at = Timestamp::constant(1_750_000_000, 0);
        assert_eq!(TimeFormat(TimeZone::UTC).show(at), "2025-06-15 15:06:40 UTC");
        assert_eq!(TimeFormat(TimeZone::UTC).clock(at), "15:06:40 UTC");
    }

    #[test]
    fn waiting_is_told_in_the_unit_that_matters() {
        let now = Timestamp::constant(1_000_000, 0);
        for (secs, expected) in [
            (-5, "0 s ago"),
            (0, "0 s ago"),
            (59, "59 s ago"),
            (60, "1 min ago"),
            (3599, "59 min ago"),
            (7200, "2 h ago"),
            (172_800, "2 days ago"),
        ] {
            assert_eq!(ago(now - SignedDuration::from_secs(secs), now), expected);
        }
    }
}
