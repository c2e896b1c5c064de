//! The runner's loop: claims work while there is room for it, and waits for what is under way.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use baton_core::names::AgentId;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

use crate::attempt;
use crate::client::ApiFailure;
use crate::record::{self, AttemptRecord, AttemptStage};
use crate::{RunnerContext, RunnerMode};

/// How long a claim waits: long while every agent is asked for, short while some are at their limit.
const LONG_WAIT_SECONDS: u32 = 20;
const SHORT_WAIT_SECONDS: u32 = 1;
/// How often the agents of the project are looked for: their files may change.
const LOOKED_EVERY: Duration = Duration::from_secs(5);
/// After a claim that failed.
const PAUSE: Duration = Duration::from_millis(500);
/// How long agents may go on once the runner is told to stop.
const DRAIN: Duration = Duration::from_secs(30);

/// The agents at work.
struct Dispatch {
    context: Arc<RunnerContext>,
    /// Every agent that has an executor, and when they were looked for.
    agents: Vec<String>,
    looked_at: Option<Instant>,
    under_way: JoinSet<String>,
    n_by_agent: HashMap<String, usize>,
    /// Told to the attempts when they have to end.
    end: watch::Sender<bool>,
}

pub(crate) async fn run(
    context: Arc<RunnerContext>,
    mode: RunnerMode,
    stop: impl Future<Output = ()>,
) {
    let (end, _) = watch::channel(false);
    let (agents, looked_at) = (Vec::new(), None);
    let (under_way, n_by_agent) = (JoinSet::new(), HashMap::new());
    let mut dispatch = Dispatch { context, agents, looked_at, under_way, n_by_agent, end };
    tokio::pin!(stop);
    tokio::select! {
        () = dispatch.go_on(mode) => {}
        () = &mut stop => dispatch.drain().await,
    }
}

impl Dispatch {
    /// Takes up what an earlier runner left, and then claims; returns only in [`RunnerMode::Once`].
    async fn go_on(&mut self, mode: RunnerMode) {
        self.take_up();
        loop {
            self.reap();
            if let Err(error) = self.find_agents().await {
                tracing::warn!(%error, "the agents of the project cannot be listed");
                tokio::time::sleep(PAUSE).await;
                continue;
            }
            let free = self.free_agents();
            if (free.is_empty() || !self.context.is_trusted())
                && mode == RunnerMode::Once
                && self.under_way.is_empty()
            {
                return;
            }
            if free.is_empty() || !self.context.is_trusted() {
                self.wait_for_one().await;
                continue;
            }
            let wait = match mode {
                RunnerMode::Once => 0,
                RunnerMode::Forever if free.len() == self.agents.len() => LONG_WAIT_SECONDS,
                RunnerMode::Forever => SHORT_WAIT_SECONDS,
            };
            let lease = u32::try_from(self.context.settings.lease.as_secs()).unwrap_or(20);
            match self.context.client.claim(&free, lease, wait).await {
                Ok(Some(claim)) => {
                    let agent = claim.agent.clone();
                    let work = attempt::work(self.context.clone(), claim, self.end.subscribe());
                    self.start(agent, work);
                }
                Ok(None) if mode == RunnerMode::Once && self.under_way.is_empty() => return,
                Ok(None) if mode == RunnerMode::Once => self.wait_for_one().await,
                Ok(None) => {}
                Err(error) => {
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

    /// Attempts that are not over in the records are of a runner that was killed.
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
            let (context, stop) = (self.context.clone(), self.end.subscribe());
            let work = attempt::take_up(context, record.clone(), n_before, stop);
            self.start(record.agent.clone(), work);
        }
        if let Err(error) = record::forget_old(&self.context.state, &records) {
            let error: &(dyn std::error::Error + 'static) = &error;
            tracing::warn!(error, "old attempts cannot be removed");
        }
    }

    fn start(&mut self, agent: String, work: impl Future<Output = ()> + Send + 'static) {
        *self.n_by_agent.entry(agent.clone()).or_default() += 1;
        self.under_way.spawn(async move {
            work.await;
            agent
        });
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

    /// Those that may be started now: below their own limit, an executor's and that of all.
    fn free_agents(&self) -> Vec<String> {
        let most = self.context.workspaces.most_at_once().min(self.context.settings.at_once);
        if self.under_way.len() >= most {
            return Vec::new();
        }
        let n_by_executor = |name: &str| {
            let uses = |agent: &String| {
                self.context.executors_of(agent).first().is_some_and(|it| it.name == name)
            };
            self.n_by_agent.iter().filter(|(agent, _)| uses(agent)).map(|(_, n)| n).sum::<usize>()
        };
        let is_free = |agent: &&String| {
            let n = self.n_by_agent.get(*agent).copied().unwrap_or(0);
            let own = AgentId::parse(agent).ok();
            let own = own.and_then(|it| self.context.settings.agent(&it)?.at_once);
            let first = self.context.executors_of(agent).into_iter().next();
            let executor = first.and_then(|it| Some((it.at_once?, n_by_executor(&it.name))));
            own.is_none_or(|most| n < most) && executor.is_none_or(|(most, n)| n < most)
        };
        self.agents.iter().filter(is_free).cloned().collect()
    }

    fn reap(&mut self) {
        while let Some(ended) = self.under_way.try_join_next() {
            self.forget(ended);
        }
    }

    /// Waits for an attempt to end, or a little.
    async fn wait_for_one(&mut self) {
        if let Ok(Some(ended)) = timeout(PAUSE, self.under_way.join_next()).await {
            self.forget(ended);
        } else if self.under_way.is_empty() {
            tokio::time::sleep(PAUSE).await;
        }
    }

    fn forget(&mut self, ended: Result<String, tokio::task::JoinError>) {
        match ended {
            Ok(agent) => {
                let n = self.n_by_agent.entry(agent).or_default();
                *n = n.saturating_sub(1);
            }
            Err(error) => {
                let error: &(dyn std::error::Error + 'static) = &error;
                tracing::error!(error, "an attempt failed over a bug");
                // Which agent's it was is not known: count anew once all have ended.
                if self.under_way.is_empty() {
                    self.n_by_agent.clear();
                }
            }
        }
    }

    /// Claims nothing more. Agents may finish for a while; then they are ended, and their work is given
    /// back.
    async fn drain(&mut self) {
        let all = async { while self.under_way.join_next().await.is_some() {} };
        if timeout(DRAIN, all).await.is_err() {
            let _ = self.end.send(true);
            while self.under_way.join_next().await.is_some() {}
        }
    }
}
