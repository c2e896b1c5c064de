//! What goes to the log when a request fails for a reason that is not its own: a line a second at
//! most, with how many there were. A thousand clients of one full disk are one fact.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use baton_engine::EngineError;
use baton_store::StoreError;

const EVERY: Duration = Duration::from_secs(1);

/// The log is the process's, and so is this.
static FAILURES: Mutex<FailureLog> = Mutex::new(FailureLog { told_at: None, n_untold: 0 });

struct FailureLog {
    told_at: Option<Instant>,
    n_untold: u64,
}

pub(crate) fn tell(error: &EngineError) {
    // The store has said so when it began, and says when it is over.
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
    /// How many there were besides this one since the last line; none, if it is too early for
    /// another line.
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
