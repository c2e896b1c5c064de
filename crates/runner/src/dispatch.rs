//! The runner's loop: claims work while there is room for it, and waits for what is under way.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use baton_core::names::AgentId;
use tokio::sync::watch;
use tokio::task::{self, JoinSet};
use tokio::time::{Instant, timeout};

use crate::attempt::{self, LeftAttempt};
use crate::client::ApiFailure;
use crate::process::end_orphans;
use crate::record::{self, AttemptRecord, AttemptStage};
use crate::supervise::is_unknown_runner;
use crate::{RunnerContext, RunnerError, RunnerMode};

/// How long a claim waits: long while every agent is asked for, short while some are at their limit.
const LONG_WAIT_SECONDS: u32 = 20;
const SHORT_WAIT_SECONDS: u32 = 1;
/// How often the agents of the project are looked for: their files may change.
const LOOKED_EVERY: Duration = Duration::from_secs(5);
/// After a claim that failed.
const PAUSE: Duration = Duration::from_millis(500);
/// How long the end of agents that were ended is waited for: their records say where they are.
const MOST_ENDING: Duration = Duration::from_secs(20);
/// Attempts at work and those that wait for their turn in a workspace.
const MOST_UNDER_WAY: usize = 200;
/// A claim names at most so many agents.
const MOST_CLAIMED: usize = 200;

/// The agents at work.
struct Dispatch {
    context: Arc<RunnerContext>,
    /// Every agent that has an executor, and when they were looked for.
    agents: Vec<String>,
    looked_at: Option<Instant>,
    under_way: JoinSet<()>,
    /// The agent of each.
    agent_of: HashMap<task::Id, String>,
    is_told_untrusted: bool,
    /// A claim was answered.
    has_claimed: bool,
    /// True once the attempts have to end.
    end: watch::Sender<bool>,
}

pub(crate) async fn run(
    context: Arc<RunnerContext>,
    mode: RunnerMode,
    stop: impl Future<Output = ()>,
) -> Result<(), RunnerError> {
    let (end, _) = watch::channel(false);
    let (agents, looked_at) = (Vec::new(), None);
    let (under_way, agent_of) = (JoinSet::new(), HashMap::new());
    let (is_told_untrusted, has_claimed) = (false, false);
    let mut dispatch = Dispatch {
        context,
        agents,
        looked_at,
        under_way,
        agent_of,
        is_told_untrusted,
        has_claimed,
        end,
    };
    tokio::pin!(stop);
    tokio::select! {
        ended = dispatch.go_on(mode) => return ended,
        () = &mut stop => dispatch.drain().await,
    }
    Ok(())
}

impl Dispatch {
    /// Takes up what an earlier runner left, and then claims; returns only in [`RunnerMode::Once`], or if
    /// the server does not know this runner.
    async fn go_on(&mut self, mode: RunnerMode) -> Result<(), RunnerError> {
        self.take_up();
        loop {
            self.reap();
            if let Err(error) = self.find_agents().await {
                self.check_known(&error)?;
                tracing::warn!(%error, "the agents of the project cannot be listed");
                tokio::time::sleep(PAUSE).await;
                continue;
            }
            let free = self.free_agents();
            let slot = match free.is_empty() || !self.is_trusted() {
                true => None,
                false => self.context.slots.try_begin(),
            };
            let Some(slot) = slot else {
                if mode == RunnerMode::Once && self.under_way.is_empty() {
                    return Ok(());
                }
                self.wait_for_one(!free.is_empty()).await;
                continue;
            };
            let wait = match mode {
                RunnerMode::Once => 0,
                RunnerMode::Forever if free.len() == self.agents.len() => LONG_WAIT_SECONDS,
                RunnerMode::Forever => SHORT_WAIT_SECONDS,
            };
            let lease = u32::try_from(self.context.settings.lease.as_secs()).unwrap_or(20);
            let claimed =
                self.context.client.claim((&free, &self.context.capabilities), lease, wait).await;
            self.has_claimed |= claimed.is_ok();
            match claimed {
                Ok(Some(claim)) => {
                    let agent = claim.agent.clone();
                    let (context, end) = (self.context.clone(), self.end.subscribe());
                    self.start(agent, attempt::work(context, claim, slot, end));
                }
                Ok(None) if mode == RunnerMode::Once && self.under_way.is_empty() => return Ok(()),
                Ok(None) if mode == RunnerMode::Once => {
                    drop(slot);
                    self.wait_for_one(false).await;
                }
                Ok(None) => {}
                Err(error) => {
                    self.check_known(&error)?;
                    // An agent's file may be gone.
                    self.looked_at = None;
                    match &error {
                        ApiFailure::Unreachable(_) => tracing::debug!(%error, "cannot claim"),
                        ApiFailure::Refused(_) => tracing::warn!(%error, "cannot claim"),
                    }
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
    }

    /// A server that does not know this runner will not know it later either.
    fn check_known(&self, error: &ApiFailure) -> Result<(), RunnerError> {
        match error {
            ApiFailure::Refused(problem) if is_unknown_runner(&problem.code) => {
                let url = self.context.url();
                Err(RunnerError::CredentialRefused { url, why: problem.detail.clone() })
            }
            // Later an agent's file may have lost it for a while.
            ApiFailure::Refused(problem)
                if problem.code == "unknown_capability" && !self.has_claimed =>
            {
                Err(RunnerError::UnknownCapability(problem.detail.clone()))
            }
            ApiFailure::Refused(_) | ApiFailure::Unreachable(_) => Ok(()),
        }
    }

    /// Whether agents may be started; the log says once where they may not.
    fn is_trusted(&mut self) -> bool {
        let is_trusted = self.context.is_trusted();
        if !is_trusted && !self.is_told_untrusted {
            tracing::warn!(
                "no more agents are started: what would be started has changed. `baton trust` shows the \
                 difference, and allows it; where `baton.toml` has changed, start this program again after that"
            );
        }
        self.is_told_untrusted = !is_trusted;
        is_trusted
    }

    /// Attempts that are not over in the records are of a runner that was killed. Their processes are ended
    /// before anything is claimed.
    fn take_up(&mut self) {
        let records = match record::all(&self.context.state) {
            Ok(records) => records,
            Err(error) => {
                let error: &(dyn std::error::Error + 'static) = &error;
                tracing::warn!(error, "the attempts of earlier runners cannot be read");
                return;
            }
        };
        let open: Vec<&AttemptRecord> =
            records.iter().filter(|it| it.stage != AttemptStage::HandedOff).collect();
        for record in open {
            let of_same = |it: &&AttemptRecord| it.key.handoff == record.key.handoff;
            let n_before = records.iter().filter(of_same).count();
            let n_ended = end_orphans(record.process, &record.key.token);
            let left = LeftAttempt { record: record.clone(), n_before, n_ended };
            let work = attempt::take_up(self.context.clone(), left, self.end.subscribe());
            self.start(record.agent.clone(), work);
        }
        if let Err(error) = record::forget_old(&self.context.state, &records) {
            let error: &(dyn std::error::Error + 'static) = &error;
            tracing::warn!(error, "old attempts cannot be removed");
        }
    }

    fn start(&mut self, agent: String, work: impl Future<Output = ()> + Send + 'static) {
        let task = self.under_way.spawn(work);
        self.agent_of.insert(task.id(), agent);
    }

    /// The agents of the project that have an executor.
    async fn find_agents(&mut self) -> Result<(), ApiFailure> {
        if self.looked_at.is_some_and(|it| it.elapsed() < LOOKED_EVERY) {
            return Ok(());
        }
        let all = self.context.client.agents().await?;
        self.agents = all.into_iter().filter(|it| self.context.runs(it)).collect();
        self.looked_at = Some(Instant::now());
        Ok(())
    }

    /// Those that may be started now: below their own limit and an executor's.
    fn free_agents(&mut self) -> Vec<String> {
        if self.under_way.len() >= MOST_UNDER_WAY {
            return Vec::new();
        }
        let first_of = |agent: &str| self.context.executors_of(agent).into_iter().next();
        let (mut by_agent, mut by_executor) = (HashMap::new(), HashMap::new());
        for agent in self.agent_of.values() {
            *by_agent.entry(agent.as_str()).or_insert(0) += 1;
            let executor = first_of(agent).map(|it| it.name).unwrap_or_default();
            *by_executor.entry(executor).or_insert(0) += 1;
        }
        let is_free = |agent: &&String| {
            let own = AgentId::parse(agent).ok();
            let own = own.and_then(|it| self.context.settings.agent(&it)?.at_once);
            let n = by_agent.get(agent.as_str()).copied().unwrap_or(0);
            let executor = first_of(agent).and_then(|it| Some((it.at_once?, it.name)));
            let n_of = |name: &String| by_executor.get(name).copied().unwrap_or(0);
            own.is_none_or(|most| n < most)
                && executor.is_none_or(|(most, name)| n_of(&name) < most)
        };
        let mut free: Vec<String> = self.agents.iter().filter(is_free).cloned().collect();
        if free.len() > MOST_CLAIMED {
            free.truncate(MOST_CLAIMED);
            // The others come first the next time.
            self.agents.rotate_left(MOST_CLAIMED);
        }
        free
    }

    fn reap(&mut self) {
        while let Some(ended) = self.under_way.try_join_next_with_id() {
            self.forget(ended);
        }
    }

    /// Waits for an attempt to end, for a slot if that is what was missing, or a little.
    async fn wait_for_one(&mut self, is_full: bool) {
        tokio::select! {
            Some(ended) = self.under_way.join_next_with_id() => self.forget(ended),
            () = self.context.slots.is_one_free(), if is_full => {}
            () = tokio::time::sleep(PAUSE) => {}
        }
    }

    fn forget(&mut self, ended: Result<(task::Id, ()), task::JoinError>) {
        let id = match ended {
            Ok((id, ())) => id,
            Err(error) => {
                let id = error.id();
                let error: &(dyn std::error::Error + 'static) = &error;
                tracing::error!(error, "an attempt failed over a bug");
                id
            }
        };
        self.agent_of.remove(&id);
    }

    /// Claims nothing more. Agents may finish for a while; then they are ended, and their work is given
    /// back.
    async fn drain(&mut self) {
        let most = Duration::try_from(self.context.settings.drain).unwrap_or_default();
        let all = async { while self.under_way.join_next().await.is_some() {} };
        if timeout(most, all).await.is_ok() {
            return;
        }
        let _ = self.end.send(true);
        let all = async { while self.under_way.join_next().await.is_some() {} };
        // Where the server is gone too, the next runner goes on with the records.
        let _ = timeout(MOST_ENDING, all).await;
    }
}
