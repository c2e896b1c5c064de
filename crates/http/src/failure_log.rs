//! The log of requests that failed through no fault of their own: at most one line a second, with a
//! count. A thousand clients of one full disk are one fact.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use baton_engine::EngineError;
use baton_store::StoreError;

const EVERY: Duration = Duration::from_secs(1);

/// The log is per process, and so is this.
static FAILURES: Mutex<FailureLog> = Mutex::new(FailureLog { told_at: None, n_untold: 0 });

struct FailureLog {
    told_at: Option<Instant>,
    n_untold: u64,
}

pub(crate) fn tell(error: &EngineError) {
    // The store logs when this state begins and when it ends.
    if matches!(error, EngineError::Store(StoreError::Unwritable(_))) {
        return;
    }
    let mut failures = FAILURES.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(n_more) = failures.count(Instant::now()) else { return };
    drop(failures);
    let error: &(dyn std::error::Error + 'static) = error;
    if n_more == 0 {
        tracing::error!(error, "a request could not be served");
    } else {
        tracing::error!(error, n_more, "requests could not be served; this is the newest");
    }
}

impl FailureLog {
    /// How many failures there were besides this one since the last line; none if it is too early
    /// for another line.
    fn count(&mut self, now: Instant) -> Option<u64> {
        if self.told_at.is_some_and(|it| now.saturating_duration_since(it) < EVERY) {
            self.n_untold += 1;
            return None;
        }
        self.told_at = Some(now);
        Some(std::mem::take(&mut self.n_untold))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_has_one_line_and_no_failure_is_left_out() {
        let mut failures = FailureLog { told_at: None, n_untold: 0 };
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let counted: Vec<_> = [0, 1, 999, 1000, 1500, 2500].map(|ms| failures.count(at(ms))).into();
        assert_eq!(counted, [Some(0), None, None, Some(2), None, Some(1)]);
    }
}
