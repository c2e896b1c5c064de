//! Saying what happens very often only now and then.

use std::time::Duration;

use tokio::time::Instant;

/// Says how often something happened, at most once in ten seconds.
#[derive(Debug, Default)]
pub(super) struct Rarely {
    said_at: Option<Instant>,
    n_unsaid: u64,
}

const EVERY: Duration = Duration::from_secs(10);

impl Rarely {
    /// Counts once more; how often since it was said last, where it is time to say so.
    pub(super) fn note(&mut self) -> Option<u64> {
        self.n_unsaid += 1;
        let now = Instant::now();
        if self.said_at.is_some_and(|it| now < it + EVERY) {
            return None;
        }
        self.said_at = Some(now);
        Some(std::mem::take(&mut self.n_unsaid))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_first_is_said_at_once_and_the_rest_together() {
        let mut rarely = Rarely::default();
        assert_eq!(rarely.note(), Some(1));
        assert_eq!(rarely.note(), None);
        assert_eq!(rarely.note(), None);
        tokio::time::advance(EVERY).await;
        assert_eq!(rarely.note(), Some(3));
    }
}
