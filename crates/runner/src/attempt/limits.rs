//! Rate limits of an attempt's programs, and those that the runner knows of.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use baton_wire::project_file::runner::{ExecutorSettings, OnRateLimit};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::{AttemptRun, Unavailable};
use crate::rate_limit::{believed, reset_time};

/// Where a program does not say when its rate limit ends.
const USUAL_LIMIT: SignedDuration = SignedDuration::from_mins(10);
/// How long a rate limit is waited for whose end is over when it is read.
const LEAST_LIMIT: SignedDuration = SignedDuration::from_mins(1);

/// Until when each executor is at its rate limit, as far as this runner has heard: the next step does not
/// start it to hear the same again.
#[derive(Debug, Default)]
pub(crate) struct KnownLimits(Mutex<HashMap<String, Timestamp>>);

impl KnownLimits {
    fn keep(&self, executor: &str, until: Timestamp) {
        let mut limits = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        limits.insert(executor.to_owned(), until);
    }

    fn until(&self, executor: &str, now: Timestamp) -> Option<Timestamp> {
        let limits = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        limits.get(executor).copied().filter(|until| *until > now)
    }
}

impl AttemptRun {
    /// The executors of the agent, beginning with the one whose turn it is.
    pub(super) fn executors(&self) -> Vec<ExecutorSettings> {
        let mut all = self.context.executors_of(&self.record.agent);
        let own = self.context.agent_settings(&self.record.agent).and_then(|it| it.timeout);
        if let Some(own) = own {
            all.iter_mut().for_each(|it| it.timeout = it.timeout.min(own));
        }
        let first =
            (self.record.attempt.saturating_sub(1) as usize).min(all.len().saturating_sub(1));
        all.into_iter().skip(first).collect()
    }

    /// Whether the program ended because its provider refused further requests.
    pub(super) fn limited(&self, settings: &ExecutorSettings) -> Option<Unavailable> {
        let limit = self.record.report.rate_limit.as_ref()?;
        let now = (self.context.now)();
        // That of the program, too: it gets our `TZ`.
        let said = || reset_time(&limit.message, now, &TimeZone::system());
        let until = match limit.until {
            Some(until) if until > now => believed(until, now),
            // A limit that is over already: it may be tried again soon, and not at once.
            Some(_) => said().unwrap_or(now + LEAST_LIMIT),
            None => said().unwrap_or(now + USUAL_LIMIT),
        };
        match self.context.settings.on_rate_limit {
            OnRateLimit::Wait => self.context.limits.keep(&settings.name, until),
            // A person who says `continue` wants it to be tried.
            OnRateLimit::Ask => {}
        }
        let why = format!("is at its rate limit until {until}: {}", limit.message);
        Some(Unavailable { why, limited_until: Some(until) })
    }

    /// Whether the provider has refused requests of this executor, and still does.
    pub(super) fn known_limit(&self, settings: &ExecutorSettings) -> Option<Unavailable> {
        let until = self.context.limits.until(&settings.name, (self.context.now)())?;
        let why = format!("is at its rate limit until {until}");
        Some(Unavailable { why, limited_until: Some(until) })
    }
}
