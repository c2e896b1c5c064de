//! The two ends of a range of time in a query: days in UTC or instants, both included.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::problem::ApiProblem;

const DAY: &str = "2024-01-31";

/// The first instant of the range. A day out of range is no bound.
pub(super) fn first_instant(
    text: Option<&str>,
    name: &str,
) -> Result<Option<Timestamp>, ApiProblem> {
    let Some(text) = text else { return Ok(None) };
    match range_end(text, name)? {
        RangeEnd::Day(day) => Ok(midnight(day)),
        RangeEnd::Instant(instant) => Ok(Some(instant)),
    }
}

/// The first instant after the range. A day out of range is no bound.
pub(super) fn instant_after(
    text: Option<&str>,
    name: &str,
) -> Result<Option<Timestamp>, ApiProblem> {
    let Some(text) = text else { return Ok(None) };
    match range_end(text, name)? {
        RangeEnd::Day(day) => Ok(day.tomorrow().ok().and_then(midnight)),
        RangeEnd::Instant(instant) => Ok(instant.checked_add(SignedDuration::from_nanos(1)).ok()),
    }
}

enum RangeEnd {
    Day(Date),
    Instant(Timestamp),
}

fn range_end(text: &str, name: &str) -> Result<RangeEnd, ApiProblem> {
    let wrong = || {
        let message = format!(
            "`{name}` is a day, such as {DAY}, or an instant, such as {DAY}T12:00:00Z; it was `{text}`"
        );
        ApiProblem::malformed("wrong_type", message)
    };
    if text.len() == DAY.len() {
        return text.parse().map(RangeEnd::Day).map_err(|_| wrong());
    }
    if !matches!(text.as_bytes().get(DAY.len()), Some(b'T' | b't')) {
        return Err(wrong());
    }
    // In a query, the `+` of an offset that is not percent-encoded is read as a blank.
    text.replace(' ', "+").parse().map(RangeEnd::Instant).map_err(|_| wrong())
}

fn midnight(day: Date) -> Option<Timestamp> {
    day.to_zoned(TimeZone::UTC).ok().map(|it| it.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(from: &str, to: &str) -> [String; 2] {
        let text = |it: Option<Timestamp>| it.map_or("none".to_owned(), |it| it.to_string());
        let first = first_instant(Some(from), "fromDate").ok().flatten();
        let after = instant_after(Some(to), "toDate").ok().flatten();
        [text(first), text(after)]
    }

    #[test]
    fn both_ends_are_included() {
        let day = range("2024-02-28", "2024-02-29");
        assert_eq!(day, ["2024-02-28T00:00:00Z", "2024-03-01T00:00:00Z"]);
        let instant = range("2024-02-28T12:00:00Z", "2024-02-28T12:00:00Z");
        assert_eq!(instant, ["2024-02-28T12:00:00Z", "2024-02-28T12:00:00.000000001Z"]);
        let offset = range("2024-02-28T12:00:00+02:00", "2024-02-28T12:00:00 02:00");
        assert_eq!(offset, ["2024-02-28T10:00:00Z", "2024-02-28T10:00:00.000000001Z"]);
        assert_eq!(range("-009999-01-01", "9999-12-31"), ["none", "none"]);
    }

    #[test]
    fn what_is_neither_a_day_nor_an_instant_is_refused() {
        for bad in ["", "today", "2024-2-1", "2024-02-30", "2024-02-01 12:00", "2024-02-01T12:00"] {
            assert!(first_instant(Some(bad), "fromDate").is_err(), "{bad}");
        }
    }
}
