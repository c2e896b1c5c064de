//! Load, decide, append, announce: how a command becomes an event.
//!
//! Nothing is announced before it is durable; a response to a caller means: on disk. The rules are
//! `baton_core`'s, the storage is `baton_store`'s; the engine combines them with a clock, and every
//! face of Baton goes through it.

mod append;
mod attempts;
mod background;
mod cache;
mod caller;
mod can;
mod catalog;
mod catalog_source;
mod checkpoints;
mod clock;
mod commands;
mod cursors;
mod error;
mod feed;
mod files;
mod handoff_rows;
mod health;
mod heartbeat;
mod jitter;
mod leases;
mod look_alikes;
mod mistyped;
mod names;
mod nodes;
mod outcome;
mod pinned;
mod queries;
mod reader;
mod rebuild;
mod receive;
mod redact;
mod repository;
mod request;
mod retention;
mod starts;
mod step_limits;
pub mod stored;
mod stories;
mod sweeper;
mod template;
mod texts;
mod timekeeper;
mod timers;
mod tip;
mod verify;
mod workspace;

use std::sync::Arc;

use baton_core::decide::{Decision, DecisionContext};
use baton_core::event::{Event, HandoffEvent};
use baton_core::refusal::Refusal;
use baton_core::run::{HandoffNo, RunId};
use baton_core::story::Story;
use baton_core::workflow::Workflow;
use baton_store::{
    Append, AppendError, Definition, HandoffRef, HandoffRow, IdempotencyRecord, Position, RunRef,
    Store, StoreError, Version,
};
use baton_wire::builtin;
use jiff::Timestamp;
use tokio::sync::{Mutex, RwLock, RwLockReadGuard, Semaphore, watch};

pub use crate::attempts::Attempt;
pub use crate::background::BackgroundTask;
use crate::cache::{Cache, Loaded};
pub use crate::caller::{Caller, CommandMode, Key};
pub use crate::can::Can;
pub use crate::catalog::{Catalog, Entry, LeftOutFile};
use crate::catalog_source::CurrentCatalog;
pub use crate::catalog_source::{CatalogKeeper, CatalogSource};
pub use crate::checkpoints::{
    CheckpointEvery, CheckpointKeeper, CheckpointKeys, CheckpointTrust, CheckpointWalk,
    SignedPrefix, sign_checkpoint, verify_checkpoints,
};
pub use crate::clock::{Clock, FixedClock, ShiftedClock, SystemClock};
pub use crate::commands::RunTarget;
pub use crate::error::{EngineError, ErrorClass};
pub use crate::feed::Feed;
pub use crate::files::{KeptFile, KeptState, NewBytes, NewFile, SentFileResult};
pub use crate::health::{CheckProgress, DataCheck, DataChecker};
use crate::leases::Leases;
pub use crate::look_alikes::LookAlikes;
use crate::nodes::Nodes;
pub use crate::outcome::CommandResult;
pub use crate::reader::Reader;
pub use crate::rebuild::{RebuiltRun, rebuild_run};
pub use crate::receive::{DocumentHints, ReceiveResult};
pub use crate::redact::{EXPIRED_TEXT, REDACTED_TEXT};
pub use crate::repository::{BranchName, GitBranch, GitRefs, Repository};
pub use crate::retention::{RetainedRun, RetentionKeeper, RetentionPass};
pub use crate::starts::{Dependencies, StartRun, StartingPoint};
pub use crate::stories::{SavedStory, branch_of, story_package};
pub use crate::sweeper::{Sweeper, Swept};
pub use crate::texts::{DAMAGED_TEXT, LOST_TEXT, Text, Texts, WholeTexts};
pub use crate::timekeeper::{Ticked, Timekeeper};
use crate::tip::LogTip;
pub use crate::verify::{Verified, readable, verify_all, verify_all_with, verify_run};
pub use crate::workspace::Workspace;
pub use baton_core::shell::shell_word;

/// Each may read files of many megabytes.
const MOST_LOOKS: usize = 2;

/// How often a decision is retried because another command moved the run first.
const MOST_TRIES: usize = 100;

/// Carries out commands. Cheap to share: faces hold it in an [`Arc`].
pub struct Engine {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    catalog: CurrentCatalog,
    cache: Cache,
    leases: Leases,
    /// `None` where only this process uses the store.
    nodes: Option<Box<Nodes>>,
    workspace: Option<Arc<dyn Workspace>>,
    /// Bounds how many packages are compared with the workspace's files at once.
    looks: Semaphore,
    /// Held while a claim at a step with `at_once` counts and accepts.
    limited_claims: Mutex<()>,
    tip: LogTip,
    health: health::DataHealth,
    checkpoint_keys: Option<Arc<dyn CheckpointKeys>>,
    /// Commands hold it for reading, the shutdown for writing: so the shutdown waits for them.
    is_open: RwLock<bool>,
}

/// Where a run was loaded from.
#[derive(Clone, Copy)]
enum RunSource {
    Memory,
    Store,
}

/// What the first append of a run needs besides the decision.
#[derive(Default)]
struct NewRun {
    story: Option<Story>,
    definition: Option<Definition>,
    /// The story is created with the run.
    is_new_story: bool,
}

impl Engine {
    pub async fn open(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        catalog: Catalog,
    ) -> Result<Self, EngineError> {
        let tip = LogTip::of(store.as_ref()).await?;
        let nodes = store.settled().map(|_| Box::default());
        let leases = Leases::new(clock.now());
        let (cache, is_open) = (Cache::default(), RwLock::new(true));
        let (workspace, health) = (None, health::DataHealth::default());
        let (looks, limited_claims) = (Semaphore::new(MOST_LOOKS), Mutex::new(()));
        let catalog = CurrentCatalog::new(catalog);
        let checkpoint_keys = None;
        Ok(Self {
            store,
            clock,
            catalog,
            cache,
            leases,
            nodes,
            workspace,
            looks,
            limited_claims,
            tip,
            health,
            checkpoint_keys,
            is_open,
        })
    }

    pub fn clock(&self) -> &dyn Clock {
        self.clock.as_ref()
    }

    /// Reads from the store, for a probe.
    pub async fn check_readable(&self) -> Result<(), StoreError> {
        self.store.last_position().await.map(|_| ())
    }

    /// Up to where the log is complete, now and as it grows. Positions need not be dense.
    pub fn tip(&self) -> watch::Receiver<Position> {
        self.tip.subscribe()
    }

    /// Changes with every commit, and whenever another process may have committed: for a caller that
    /// waits for a row to change.
    pub fn news(&self) -> watch::Receiver<()> {
        self.tip.news()
    }

    /// Whether other processes may use the store at the same time.
    pub fn is_shared(&self) -> bool {
        self.nodes.is_some()
    }

    /// Refuses new commands, waits for those in progress, writes the last lease renewals, closes
    /// the store, and ends the feeds.
    pub async fn shutdown(&self) {
        *self.is_open.write().await = false;
        let unwritten = self.leases.take_all_unwritten(self.clock.now());
        match self.write_heartbeats(unwritten).await {
            Ok(_) | Err(EngineError::Closing) => {}
            Err(error) => {
                let error: &(dyn std::error::Error + 'static) = &error;
                tracing::warn!(error, "the last heartbeats could not be written");
            }
        }
        self.store.close().await;
        self.tip.wake_all();
    }

    /// Admits a command, unless Baton is closing; the shutdown waits until the guard is dropped.
    async fn admit(&self) -> Result<RwLockReadGuard<'_, bool>, EngineError> {
        let is_open = self.is_open.read().await;
        if *is_open { Ok(is_open) } else { Err(EngineError::Closing) }
    }

    /// Decides on the current run and appends; retries if another command was first.
    async fn carry_out(
        &self,
        caller: &Caller,
        run: RunId,
        decide: impl Fn(&Loaded, DecisionContext<'_>) -> Result<Decision, Refusal>,
    ) -> Result<CommandResult, EngineError> {
        let _admitted = self.admit().await?;
        if let Some(outcome) = self.repeated(caller).await? {
            return Ok(outcome);
        }
        self.health.refuse_damaged(run)?;
        for _ in 0..MOST_TRIES {
            let (loaded, source) = self.load(run).await?;
            match (caller.still_meant(loaded.version), source) {
                (Ok(()), _) => {}
                (Err(_), RunSource::Memory) => {
                    self.cache.forget(run);
                    continue;
                }
                (Err(outdated), RunSource::Store) => {
                    return self.or_repeated(caller, Err(outdated)).await;
                }
            }
            let catalog = self.catalog();
            let salt = self.decision_salt(&loaded.run).await?;
            let ground = DecisionContext {
                decision_salt: salt.as_deref(),
                ..self.ground(caller, &catalog, &loaded.workflow)
            };
            let decision = match (decide(&loaded, ground), source) {
                (Ok(decision), _) => decision,
                // Another node may have moved the run since: refuse only after a fresh read.
                (Err(_), RunSource::Memory) => {
                    self.cache.forget(run);
                    continue;
                }
                (Err(refusal), RunSource::Store) => {
                    return self.or_repeated(caller, Err(EngineError::refused(refusal))).await;
                }
            };
            // Nothing is compared with the store where nothing is appended.
            let is_compared = !decision.events.is_empty() && caller.mode == CommandMode::Commit;
            if self.is_shared() && matches!(source, RunSource::Memory) && !is_compared {
                self.cache.forget(run);
                continue;
            }
            let at = ground.now;
            match self.commit(caller, &loaded, decision, NewRun::default(), at).await {
                Ok(outcome) => return Ok(outcome),
                Err(AppendError::Conflict) => self.cache.forget(run),
                Err(AppendError::OpenRunExists(story)) => {
                    return Err(EngineError::AlreadyOpen { story, number: loaded.number });
                }
                Err(AppendError::Repeated(answered)) => {
                    return self.repeat(caller, &answered).await;
                }
                Err(AppendError::Store(error)) => return Err(error.into()),
            }
        }
        Err(EngineError::Contended)
    }

    /// Commits a decision and wakes the subscribers.
    async fn commit(
        &self,
        caller: &Caller,
        loaded: &Loaded,
        mut decision: Decision,
        birth: NewRun,
        at: Timestamp,
    ) -> Result<CommandResult, AppendError> {
        let done = std::mem::take(&mut decision.done);
        let run = decision.run.id;
        let before = match loaded.version {
            Version::NONE => None,
            Version(_) => Some(&loaded.run),
        };
        let (expected, head) = (loaded.version, loaded.head);
        let workflow = &loaded.workflow;
        let rows = self.rows_after(loaded, &decision, at).await?;
        let version = Version(loaded.version.0 + decision.events.len() as u64);
        let adopted = birth.is_new_story;
        let outcome = CommandResult { run, version, done, rows, at, adopted, is_repeat: false };
        if caller.mode == CommandMode::DryRun || decision.events.is_empty() {
            return Ok(outcome);
        }
        let answered = caller.key.as_ref().map(|key| outcome.to_answered(key));
        let touched: Vec<HandoffNo> = outcome.rows.iter().map(|it| it.no).collect();
        let (opened, changed) = outcome.rows.into_iter().partition(|it| it.number == 0);
        let append =
            append::append(decision, before, workflow, expected, head, &caller.principal, at);
        let head = append.events.last().map_or(loaded.head, |it| it.hash);
        let append = Arc::new(Append {
            number: before.map(|_| loaded.number),
            opened,
            changed,
            story: birth.story,
            definition: birth.definition,
            answered,
            ..append
        });
        // Where the store is shared, the timers are there, and not in memory.
        let timers = if self.is_shared() { &[][..] } else { &append.timers };
        let pending = self.leases.expect_changes(run, timers);
        let appended = match self.store.append(append.clone()).await {
            Ok(appended) => appended,
            // The append may have reached the disk all the same.
            Err(error @ AppendError::Store(_)) => return Err(error),
            Err(
                error @ (AppendError::Conflict
                | AppendError::OpenRunExists(_)
                | AppendError::Repeated(_)),
            ) => {
                pending.not_appended();
                return Err(error);
            }
        };
        pending.appended(version);
        if let Some(nodes) = &self.nodes {
            nodes.leases.change(run, &append.timers);
        }
        // The store has dropped its reference by now, so this does not clone.
        let Append { run, opened, changed, contents, .. } = Arc::unwrap_or_clone(append);
        let number = |no| appended.numbers.iter().find(|(it, _)| *it == no).map_or(0, |it| it.1);
        let opened = opened.into_iter().map(|it| HandoffRow { number: number(it.no), ..it });
        let mut rows: Vec<HandoffRow> = changed.into_iter().chain(opened).collect();
        rows.sort_by_key(|it| touched.iter().position(|no| *no == it.no));
        let kept = loaded.rows.iter().filter(|it| !touched.contains(&it.no));
        let open = kept.chain(&rows).filter(|it| it.state.is_open()).cloned().collect();
        let outcome = CommandResult { rows, ..outcome };
        self.cache.remember_texts(contents);
        let workflow = loaded.workflow.clone();
        let number = appended.run_number;
        let loaded = Loaded { run, version, head, number, workflow, rows: open };
        self.cache.remember(loaded, &appended.numbers);
        self.tip.appended(appended.position);
        Ok(outcome)
    }

    /// The rows of the handoffs that a decision creates or changes, after it, in the order of their
    /// first event. New ones have no number yet.
    async fn rows_after(
        &self,
        loaded: &Loaded,
        decision: &Decision,
        at: Timestamp,
    ) -> Result<Vec<HandoffRow>, StoreError> {
        let mut rows: Vec<HandoffRow> = Vec::new();
        for event in &decision.events {
            let Some(no) = handoff_rows::changed_by(event) else { continue };
            let index = match rows.iter().position(|it| it.no == no) {
                Some(index) => index,
                None => {
                    rows.push(self.row_before(loaded, decision, event, no, at).await?);
                    rows.len() - 1
                }
            };
            handoff_rows::apply(&mut rows[index], event, at);
        }
        Ok(rows)
    }

    /// The row of a handoff before the first event of a decision that changes it.
    async fn row_before(
        &self,
        loaded: &Loaded,
        decision: &Decision,
        first: &Event,
        no: HandoffNo,
        at: Timestamp,
    ) -> Result<HandoffRow, StoreError> {
        if let Event::Handoff(HandoffEvent::Created(created)) = first {
            return Ok(HandoffRow::opened(&decision.run, created, at));
        }
        if let Some(row) = loaded.rows.iter().find(|it| it.no == no) {
            return Ok(row.clone());
        }
        let stored = self.store.handoff(&HandoffRef::InRun(loaded.run.id, no)).await?;
        stored.ok_or_else(|| StoreError::Damaged { what: format!("{no} is not there") })
    }

    /// The stored answer of this idempotency key, if there is one.
    async fn repeated(&self, caller: &Caller) -> Result<Option<CommandResult>, EngineError> {
        let Some(key) = &caller.key else { return Ok(None) };
        match self.store.answered(&key.scope, &key.key).await? {
            Some(answered) => self.repeat(caller, &answered).await.map(Some),
            None => Ok(None),
        }
    }

    /// The answer that was given to the same request before.
    async fn repeat(
        &self,
        caller: &Caller,
        answered: &IdempotencyRecord,
    ) -> Result<CommandResult, EngineError> {
        let is_same = caller.key.as_ref().is_some_and(|it| it.request == answered.request);
        if !is_same {
            return Err(EngineError::KeyReused);
        }
        let (outcome, nos) = CommandResult::from_answered(answered).ok_or_else(|| {
            let what = "an answer that was given before".to_owned();
            StoreError::Damaged { what }
        })?;
        let rows = self.rows_at(outcome.run, outcome.version, &nos).await?;
        Ok(CommandResult { rows, ..outcome })
    }

    /// The outcome; for a refusal of a request that took effect before, its stored answer.
    async fn or_repeated(
        &self,
        caller: &Caller,
        outcome: Result<CommandResult, EngineError>,
    ) -> Result<CommandResult, EngineError> {
        let Err(error) = outcome else { return outcome };
        self.repeated(caller).await?.ok_or(error)
    }

    fn ground<'a>(
        &'a self,
        caller: &'a Caller,
        catalog: &'a Catalog,
        workflow: &'a Workflow,
    ) -> DecisionContext<'a> {
        DecisionContext {
            visited: None,
            decision_salt: None,
            at: None,
            files: None,
            to_answer: None,
            implied: builtin::contracts(),
            workflow,
            agents: catalog.agents(),
            now: self.clock.now(),
            caller: Some(&caller.principal),
            fresh: self.clock.as_fresh(),
            lint: catalog.lint(),
            checks: catalog.checks(),
            budgets: catalog.budgets(),
        }
    }

    /// As [`Engine::load`], for a caller that neither appends nor refuses: never older than the store
    /// where others may have moved the run.
    async fn load_current(&self, run: RunId) -> Result<(Arc<Loaded>, RunSource), EngineError> {
        if self.is_shared() {
            self.cache.forget(run);
        }
        self.load(run).await
    }

    async fn load(&self, run: RunId) -> Result<(Arc<Loaded>, RunSource), EngineError> {
        if let Some(loaded) = self.cache.run(run) {
            return Ok((loaded, RunSource::Memory));
        }
        let row = self.store.run(&RunRef::Id(run)).await?;
        let row = row.ok_or_else(|| EngineError::NoSuchRun { which: run.to_string() })?;
        let workflow = self.pinned(&row.run).await?;
        let loaded = Loaded {
            run: row.run,
            version: row.version,
            head: row.head,
            number: row.number,
            workflow,
            rows: Vec::new(),
        };
        Ok((self.cache.remember(loaded, &[]), RunSource::Store))
    }
}
