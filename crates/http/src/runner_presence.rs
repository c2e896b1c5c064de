//! Whether a runner is there: it is heard of when it claims work, and while it has some.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use baton_api::pipeline::PipelineRunner;
use baton_core::names::AgentId;
use tokio::time::Instant;

/// A claim waits up to 50 seconds, and the next one follows it.
const HEARD_WITHIN: Duration = Duration::from_secs(60);

#[derive(Default)]
pub(crate) struct RunnerPresence {
    last: Mutex<LastHeard>,
}

#[derive(Default)]
struct LastHeard {
    at: Option<Instant>,
    /// Those of the last claim.
    agents: Vec<AgentId>,
}

impl RunnerPresence {
    /// A runner has sent a request.
    pub(crate) fn hear(&self) {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).at = Some(Instant::now());
    }

    /// A runner asks for the work of these agents.
    pub(crate) fn hear_claim(&self, agents: &[AgentId]) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.agents = agents.to_vec();
    }

    pub(crate) fn document(&self) -> PipelineRunner {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let is_there = last.at.is_some_and(|it| it.elapsed() < HEARD_WITHIN);
        let agents = last.agents.iter().filter(|_| is_there).map(ToString::to_string);
        PipelineRunner { is_there, agents: agents.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_runner_that_is_not_heard_of_for_a_minute_is_not_there() {
        let presence = RunnerPresence::default();
        assert_eq!(presence.document(), PipelineRunner::default());
        presence.hear();
        presence.hear_claim(&[AgentId::parse("analyst").unwrap()]);
        let agents = vec!["analyst".to_owned()];
        assert_eq!(presence.document(), PipelineRunner { is_there: true, agents });
        tokio::time::advance(Duration::from_secs(61)).await;
        assert_eq!(presence.document(), PipelineRunner::default());
    }
}
