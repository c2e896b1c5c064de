//! Waiting for work: what a runner asks for is looked for again with every commit.

use std::time::Duration;

use baton_engine::{CommandResult, EngineError};
use tokio::time::{Instant, sleep_until};

use super::handoffs::document::refused;
use crate::problem::ApiProblem;
use crate::scope::RequestScope;

/// Clients and what is between them give up after a minute.
const MOST_WAIT_SECONDS: u32 = 50;

/// How long a request may wait.
#[derive(Clone, Copy)]
pub(super) struct PollWait(Duration);

impl PollWait {
    /// Of the request's `waitSeconds`.
    pub(super) fn of(seconds: Option<u32>) -> Result<Self, ApiProblem> {
        let seconds = seconds.unwrap_or(0);
        if seconds > MOST_WAIT_SECONDS {
            let message = format!("`waitSeconds` is a number from 0 to {MOST_WAIT_SECONDS}");
            return Err(ApiProblem::malformed("wrong_type", message));
        }
        Ok(Self(Duration::from_secs(seconds.into())))
    }

    /// Looks until something is found; `None` if nothing came in time, or the server stops.
    pub(super) async fn until_found<F>(
        self,
        app: &RequestScope,
        look: impl Fn() -> F,
    ) -> Result<Option<CommandResult>, ApiProblem>
    where
        F: Future<Output = Result<Option<CommandResult>, EngineError>>,
    {
        let until = Instant::now() + self.0;
        let mut news = app.caller().news();
        loop {
            // Before the look, so that what comes during it is seen at the next one.
            news.borrow_and_update();
            match look().await {
                Ok(None) => {}
                Ok(found) => return Ok(found),
                Err(error) => return Err(refused(app, error).await),
            }
            let has_news = tokio::select! {
                it = news.changed() => it.is_ok(),
                () = sleep_until(until) => false,
                () = app.live.closed() => false,
            };
            if !has_news {
                return Ok(None);
            }
        }
    }
}
