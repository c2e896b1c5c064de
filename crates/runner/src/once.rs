//! A runner that works until nothing is left to do: which work comes back by itself, and when.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::sync::watch;

use crate::client::ApiFailure;
use crate::{RunnerContext, is_told};

/// Work that is offered again later than this is left: a rate limit may last for hours.
const MOST_WAIT: SignedDuration = SignedDuration::from_mins(1);
/// The server offers work again within this time after it says, and clocks differ a little.
const SLACK: SignedDuration = SignedDuration::from_secs(2);
const LEAST_WAIT: Duration = Duration::from_millis(300);

/// Waits until work of this runner's agents is offered again; false if that is not soon.
pub(crate) async fn wait_for_retry(
    context: &Arc<RunnerContext>,
    stopped: &watch::Receiver<bool>,
) -> bool {
    if !context.is_trusted() {
        return false;
    }
    let now = (context.now)();
    let at = match next_retry(context, now).await {
        Ok(Some(at)) => at,
        Ok(None) => return false,
        Err(error) => {
            tracing::warn!(%error, "cannot ask which work is offered again");
            return false;
        }
    };
    let wait = at.duration_since(now);
    if wait > MOST_WAIT {
        tracing::warn!(%at, "work is left: it is offered again then, and this runner does not wait for it");
        return false;
    }
    let wait = Duration::try_from(wait).unwrap_or_default().max(LEAST_WAIT);
    tokio::select! {
        () = tokio::time::sleep(wait) => true,
        () = is_told(stopped.clone()) => false,
    }
}

async fn next_retry(
    context: &RunnerContext,
    now: Timestamp,
) -> Result<Option<Timestamp>, ApiFailure> {
    let runs = context.client.open_runs().await?;
    let own = runs.into_iter().filter(|it| {
        let agents = it.current_agents.iter().chain(&it.current_agent);
        agents.into_iter().any(|agent| context.runs(agent))
    });
    let times = own.filter_map(|it| it.held_back_until);
    Ok(times.filter(|it| now.duration_since(*it) < SLACK).min())
}
