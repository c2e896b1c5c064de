//! Log lines for what may happen very often, at most one in a period.

use std::time::Duration;

use tokio::time::Instant;

/// Counts occurrences, and has them logged at most once in ten seconds.
#[derive(Debug, Default)]
pub(super) struct LogThrottle {
    logged_at: Option<Instant>,
    n_unlogged: u64,
}

const EVERY: Duration = Duration::from_secs(10);

impl LogThrottle {
    /// Counts one. Where it is time to log, returns how many there were since the last log line.
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
