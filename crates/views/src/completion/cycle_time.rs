//! The duration of a run, in words.

use jiff::Timestamp;

const UNITS: [(&str, i64); 4] =
    [("day", 24 * 60 * 60), ("hour", 60 * 60), ("minute", 60), ("second", 1)];

/// The two largest units, as in `2 days 4 hours`. Smaller ones are cut off.
pub(super) fn cycle_time(from: Timestamp, to: Timestamp) -> String {
    let seconds = to.duration_since(from).as_secs().max(0);
    let largest = UNITS.iter().position(|(_, it)| seconds >= *it).unwrap_or(UNITS.len() - 1);
    let mut rest = seconds;
    let mut words = Vec::new();
    for (unit, in_seconds) in UNITS.iter().skip(largest).take(2) {
        let n = rest / in_seconds;
        rest %= in_seconds;
        if n > 0 || words.is_empty() {
            words.push(format!("{n} {unit}{}", if n == 1 { "" } else { "s" }));
        }
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;

    use super::*;

    #[test]
    fn the_two_largest_units_are_told() {
        const MINUTE: i64 = 60;
        const HOUR: i64 = 60 * MINUTE;
        const DAY: i64 = 24 * HOUR;
        for (seconds, expected) in [
            (-5, "0 seconds"),
            (0, "0 seconds"),
            (1, "1 second"),
            (59, "59 seconds"),
            (60, "1 minute"),
            (61, "1 minute 1 second"),
            (HOUR - 1, "59 minutes 59 seconds"),
            (HOUR + 59, "1 hour"),
            (3 * HOUR + 2 * MINUTE + 1, "3 hours 2 minutes"),
            (2 * DAY + 4 * HOUR + 59 * MINUTE, "2 days 4 hours"),
            (DAY + 59 * MINUTE, "1 day"),
            (400 * DAY + HOUR, "400 days 1 hour"),
        ] {
            let from = Timestamp::constant(1_750_000_000, 0);
            let to = from + SignedDuration::from_secs(seconds);
            assert_eq!(cycle_time(from, to), expected, "{seconds}");
        }
    }
}
