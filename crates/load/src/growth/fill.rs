//! Creates open runs through the engine, so that every chain is valid: ten handoffs each, ending in
//! all the ways in which a run can stand still.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context as _, Result};
use baton_core::command::{Accept, Command, Complete, Create, LeaseTime};
use baton_core::contract::Profile;
use baton_core::names::{AgentId, Principal, StoryKey};
use baton_core::outcome::Outcome;
use baton_core::package::{Format, Package};
use baton_core::run::{HandoffNo, RunId};
use baton_engine::{Caller, Engine, Reader, StartRun};
use baton_store::{HandoffRef, Order, RunFilter};
use baton_wire::json;

use crate::crew::{self, PACKAGE};

/// They share commits.
const N_CALLERS: u64 = 128;
/// How often the first handoff of a run is replaced by its sender.
const N_REPLACED: u32 = 5;
/// The handoff that a run stands still at.
const LAST: u32 = 10;
/// The lease of a holder without heartbeats: longer than the measurement takes.
const LEASE: u32 = LeaseTime::MOST_SECONDS;

pub(crate) struct Filled {
    pub(crate) n_runs: u64,
    pub(crate) n_handoffs: u64,
    /// Of those, how many were not there before.
    pub(crate) n_new: u64,
}

/// Adds runs until there are `n_runs`.
pub(crate) async fn up_to(data: &Path, n_runs: u64) -> Result<Filled> {
    let engine = crew::engine_over(crew::sqlite(data)?).await?;
    let caller = Caller::of_baton("baton:load");
    let reader = engine.read_as(&caller);
    let n_before = last_handoff(reader).await?;
    let next = Arc::new(AtomicU64::new(last_run(reader).await?));
    let mut tasks = Vec::new();
    for _ in 0..N_CALLERS {
        let (engine, next) = (engine.clone(), next.clone());
        tasks.push(tokio::spawn(async move {
            let filler = Filler::new(engine)?;
            loop {
                let n = next.fetch_add(1, Ordering::Relaxed);
                if n >= n_runs {
                    return anyhow::Ok(());
                }
                filler.add_run(n).await?;
            }
        }));
    }
    for task in tasks {
        task.await??;
    }
    let n_handoffs = last_handoff(reader).await?;
    let n_runs = reader.count_open_runs().await?;
    engine.shutdown().await;
    Ok(Filled { n_runs, n_handoffs, n_new: n_handoffs - n_before })
}

async fn last_run(reader: Reader<'_>) -> Result<u64> {
    let newest = RunFilter { order: Order::NewestFirst, limit: 1, ..RunFilter::default() };
    Ok(reader.runs(&newest).await?.first().map_or(0, |it| it.number))
}

async fn last_handoff(reader: Reader<'_>) -> Result<u64> {
    let newest = baton_store::HandoffFilter {
        order: Order::NewestFirst,
        limit: 1,
        ..baton_store::HandoffFilter::default()
    };
    Ok(reader.handoffs(&newest).await?.first().map_or(0, |it| it.number))
}

struct Filler {
    engine: Arc<Engine>,
    caller: Caller,
    package: Package,
    /// What the first agent is given.
    story: Package,
}

impl Filler {
    fn new(engine: Arc<Engine>) -> Result<Self> {
        let package = |text: &str| anyhow::Ok(Package::new(Format::Json, text, json::parse(text)?));
        let caller = Caller::new(Principal::parse("growth")?);
        let story =
            package(r#"{"story_id":"growth","title":"One of many","acceptance":["It is there"]}"#)?;
        Ok(Self { engine, caller, package: package(PACKAGE)?, story })
    }

    /// Of ten runs, six are offered, two are held, one is held with a lease, and one waits for a
    /// person.
    async fn add_run(&self, n: u64) -> Result<()> {
        let story = StoryKey::parse(&format!("growth:{n:06}"))?;
        let start = StartRun::of(story);
        let run = self.engine.start(&self.caller, start).await?.run;
        for no in 1..=N_REPLACED {
            self.replace(run, HandoffNo(no)).await?;
        }
        for no in N_REPLACED + 1..LAST {
            self.accept(run, no, None).await?;
            self.complete(run, no, Outcome::Success).await?;
        }
        match n % 10 {
            0 => {
                self.accept(run, LAST, None).await?;
                self.complete(run, LAST, Outcome::Blocked).await
            }
            1 => self.accept(run, LAST, LeaseTime::from_seconds(LEASE)).await,
            2 | 3 => self.accept(run, LAST, None).await,
            _ => Ok(()),
        }
    }

    async fn replace(&self, run: RunId, no: HandoffNo) -> Result<()> {
        let create = Command::Create(Create {
            from: AgentId::orchestrator(),
            to: AgentId::parse("analyst")?,
            package: self.story.clone(),
            outcome: None,
            reason: None,
            supersedes: Some(no),
            hands_on: None,
            way: None,
            token: None,
            profile: Profile::Lenient,
        });
        self.engine.on_run(&self.caller, run, create).await.context("replace a handoff")?;
        Ok(())
    }

    async fn accept(&self, run: RunId, no: u32, lease: Option<LeaseTime>) -> Result<()> {
        let accept =
            |handoff| Command::Accept(Accept { handoff, by: None, acknowledgement: None, lease });
        let which = HandoffRef::InRun(run, HandoffNo(no));
        self.engine.on_handoff(&self.caller, &which, accept).await.context("accept")?;
        Ok(())
    }

    async fn complete(&self, run: RunId, no: u32, outcome: Outcome) -> Result<()> {
        let complete = |handoff| {
            Command::Complete(Complete {
                handoff,
                by: None,
                outcome,
                package: self.package.clone(),
                to: None,
                reason: None,
                fence: None,
                profile: Profile::Lenient,
            })
        };
        let which = HandoffRef::InRun(run, HandoffNo(no));
        self.engine.on_handoff(&self.caller, &which, complete).await.context("complete")?;
        Ok(())
    }
}
