//! Spreads what several nodes do at intervals, so that they do not all do it at once.

use std::time::Duration;

use crate::Clock;

/// Between nothing and the whole of a duration.
pub(crate) fn part_of(whole: Duration, clock: &dyn Clock) -> Duration {
    let [high, low, ..] = clock.as_fresh().nonce();
    whole * u32::from(u16::from_be_bytes([high, low])) / u32::from(u16::MAX)
}

/// Between three quarters and five quarters of a duration.
pub(crate) fn around(mean: Duration, clock: &dyn Clock) -> Duration {
    mean * 3 / 4 + part_of(mean / 2, clock)
}
