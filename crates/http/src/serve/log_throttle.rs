//! Throttled log lines for frequent events: at most one in a period.

use std::time::Duration;

use tokio::time::Instant;

/// Counts occurrences, to be logged at most once in ten seconds.
#[derive(Debug, Default)]
pub(super) struct LogThrottle {
    logged_at: Option<Instant>,
    n_unlogged: u64,
}

const EVERY: Duration = Duration::from_secs(10);

impl LogThrottle {
    /// Counts one. If it is time to log, returns the count since the last log line.
    pub(super) fn note(&mut self) -> Option<u64> {
        self.n_unlogged += 1;
        let now = Instant::now();
        if self.logged_at.is_some_and(|it| now < it + EVERY) {
            return None;
        }
        self.logged_at = Some(now);
        Some(std::mem::take(&mut self.n_unlogged))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_first_is_logged_at_once_and_the_rest_together() {
        let mut throttle = LogThrottle::default();
        assert_eq!(throttle.note(), Some(1));
        assert_eq!(throttle.note(), None);
        assert_eq!(throttle.note(), None);
        tokio::time::advance(EVERY).await;
        assert_eq!(throttle.note(), Some(3));
    }
}
