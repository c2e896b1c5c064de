//! Callers that take stories through the built-in pipeline as fast as possible.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use baton_core::command::{Accept, Command, Complete, LeaseTime};
use baton_core::contract::Profile;
use baton_core::hash::Hash;
use baton_core::names::{FreeText, Principal, StoryKey, WorkflowName};
use baton_core::outcome::Outcome;
use baton_core::package::{Format, Package};
use baton_core::registry::Agents;
use baton_core::run::{HandoffNo, RunId};
use baton_engine::{
    Caller, Catalog, CheckpointKeys, CommandMode, Engine, Entry, Key, StartRun, SystemClock,
};
use baton_store::{HandoffRef, Store};
use baton_store_sqlite::SqliteStore;
use baton_wire::{agent_file, builtin, json, workflow_file};

/// Commands that take one story from its start to its end: a start, and for each of five agents
/// an accept and a complete.
pub(crate) const PER_STORY: usize = 11;
/// Handoffs of such a story, the last one to the orchestrator included.
pub(crate) const HANDOFFS_PER_STORY: usize = 6;

/// A package of about a kilobyte, which satisfies every contract of the pipeline.
pub(crate) const PACKAGE: &str = r#"{"plan":"1. Add a session table. 2. Check the password. 3. Issue a token. 4. Test each refusal.","files_to_modify":["src/session.rs","src/login.rs","tests/login.rs"],"approach":"Tokens in a table rather than signed ones: they can be revoked.","risks":["Clock skew between nodes"],"questions_resolved":true,"files_changed":["src/session.rs","src/login.rs","tests/login.rs"],"summary":"Login issues a token from a table; 9 tests cover success and every refusal.","tests_added":true,"build_passes":true,"approved":true,"refactored":true,"refactor_summary":"One function instead of two.","review_notes":"Ran the tests, tried an expired and a forged token.","discoveries":{"learnings":["The test clock can be moved by hand"],"gotchas":["Tokens are compared in constant time"],"decisions":["A table instead of signed tokens"]},"learnings_added":1,"gotchas_added":1,"docs_updated":true,"notes":"docs/login.md says how sessions are revoked."}"#;

/// The beginning of a package that decides.
const DECIDING: &str = r#"{"decisions":[{"id":"D-1","decision":"Tokens are rows of a table","rationale":"They can be revoked"},{"id":"D-2","decision":"No cache","rationale":"It is fast enough"}],"#;

pub(crate) fn catalog() -> Result<Catalog> {
    let problem = |problems: Vec<baton_wire::file_problem::FileProblem>| {
        anyhow::anyhow!("a built-in file is broken: {problems:?}")
    };
    let mut entries = Vec::new();
    for (_, text) in builtin::workflows() {
        let workflow = workflow_file::parse(text).map_err(problem)?;
        entries.push(Entry { workflow: Arc::new(workflow), text: (*text).to_owned() });
    }
    let mut agents = Vec::new();
    for (_, text) in builtin::agents() {
        agents.push(agent_file::parse(text).map_err(problem)?.agent);
    }
    let default = WorkflowName::parse("story-pipeline")?;
    Ok(Catalog::new(entries, Agents::new(agents), Some(default)))
}

/// What is recorded beside the handoffs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CrewRecords {
    /// No file describes an agent, and packages decide nothing.
    None,
    /// Attribution, two decisions in each package, and a message in each story.
    All,
}

/// As [`engine_over`], with a key for checkpoints; without records no agent is described.
pub(crate) async fn engine_recording(
    store: Arc<dyn Store>,
    records: CrewRecords,
    keys: Arc<dyn CheckpointKeys>,
) -> Result<Arc<Engine>> {
    let catalog = match records {
        CrewRecords::All => catalog()?,
        CrewRecords::None => {
            let all = catalog()?;
            let default = WorkflowName::parse("story-pipeline")?;
            Catalog::new(all.workflows().cloned(), Agents::default(), Some(default))
        }
    };
    let engine = Engine::open(store, Arc::new(SystemClock), catalog).await?;
    Ok(Arc::new(engine.with_checkpoint_keys(keys)))
}

pub(crate) async fn engine_over(store: Arc<dyn Store>) -> Result<Arc<Engine>> {
    Ok(Arc::new(Engine::open(store, Arc::new(SystemClock), catalog()?).await?))
}

pub(crate) fn sqlite(dir: &Path) -> Result<Arc<dyn Store>> {
    Ok(Arc::new(SqliteStore::open(dir).context("open the store")?))
}

/// One caller: stories of its own, one command after the other.
pub(crate) struct Hand {
    engine: Arc<Engine>,
    caller: Caller,
    name: String,
    n_stories: usize,
    package: Package,
    keys: Keys,
    lease: Option<LeaseTime>,
    /// What is said in each story.
    words: Option<FreeText>,
}

/// Whether every command carries an idempotency key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keys {
    None,
    Every,
}

/// A command that was acknowledged.
pub(crate) struct Acked {
    pub(crate) key: Option<String>,
    pub(crate) run: RunId,
    pub(crate) version: u64,
    pub(crate) took: Duration,
}

impl Hand {
    pub(crate) fn new(engine: Arc<Engine>, name: String, keys: Keys) -> Result<Self> {
        let document = json::parse(PACKAGE)?;
        let package = Package::new(Format::Json, PACKAGE, document);
        let caller = Caller::new(Principal::parse(&name)?);
        Ok(Self { engine, caller, name, n_stories: 0, package, keys, lease: None, words: None })
    }

    /// The same caller, with more in its packages and a message in each story.
    pub(crate) fn recording(self, records: CrewRecords) -> Result<Self> {
        match records {
            CrewRecords::None => Ok(self),
            CrewRecords::All => {
                let text = PACKAGE.replacen('{', DECIDING, 1);
                let package = Package::new(Format::Json, text.as_str(), json::parse(&text)?);
                let words = Some(FreeText::parse("the token table needs an index")?);
                Ok(Self { package, words, ..self })
            }
        }
    }

    /// The same caller, with a lease on whatever it accepts.
    pub(crate) fn leasing(self) -> Self {
        Self { lease: Some(LeaseTime::USUAL), ..self }
    }

    /// Takes one story to its end, and reports every acknowledged command. Stops early where `ack`
    /// says so.
    pub(crate) async fn tell_story(&mut self, mut ack: impl FnMut(Acked) -> Go) -> Result<Go> {
        self.n_stories += 1;
        let story = StoryKey::parse(&format!("{}:{}", self.name, self.n_stories))?;
        let start = StartRun::of(story);
        let (caller, key) = self.keyed(0);
        let began = Instant::now();
        let outcome = self.engine.start(&caller, start).await?;
        let run = outcome.run;
        let acked = Acked { key, run, version: outcome.version.0, took: began.elapsed() };
        if ack(acked) == Go::Stop {
            return Ok(Go::Stop);
        }
        if let Some(words) = &self.words {
            let post = Command::Post { by: None, words: words.clone() };
            self.engine.on_run(&self.caller, run, post).await?;
        }
        for no in 1..=5 {
            for step in [CrewStep::Accept, CrewStep::Complete] {
                let (caller, key) = self.keyed(no as usize * 2 + step as usize);
                let which = HandoffRef::InRun(run, HandoffNo(no));
                let command = |handoff| self.command(handoff, step);
                let began = Instant::now();
                let outcome = self.engine.on_handoff(&caller, &which, command).await?;
                let took = began.elapsed();
                let acked = Acked { key, run, version: outcome.version.0, took };
                if ack(acked) == Go::Stop {
                    return Ok(Go::Stop);
                }
            }
        }
        Ok(Go::On)
    }

    fn keyed(&self, n: usize) -> (Caller, Option<String>) {
        match self.keys {
            Keys::None => (self.caller.clone(), None),
            Keys::Every => {
                let key = format!("{}:{}:{n}", self.name, self.n_stories);
                let request = Hash::ZERO;
                let with_key = Key { scope: SCOPE.to_owned(), key: key.clone(), request };
                let caller = Caller {
                    key: Some(with_key),
                    mode: CommandMode::Commit,
                    ..self.caller.clone()
                };
                (caller, Some(key))
            }
        }
    }

    fn command(&self, handoff: HandoffNo, step: CrewStep) -> Command {
        match step {
            CrewStep::Accept => Command::Accept(Accept {
                handoff,
                by: None,
                acknowledgement: None,
                lease: self.lease,
            }),
            CrewStep::Complete => Command::Complete(Complete {
                handoff,
                by: None,
                outcome: Outcome::Success,
                package: self.package.clone(),
                to: None,
                reason: None,
                fence: None,
                profile: Profile::Strict,
            }),
        }
    }
}

/// The scope of every key here.
pub(crate) const SCOPE: &str = "load";

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Go {
    On,
    Stop,
}

#[derive(Clone, Copy)]
enum CrewStep {
    Accept,
    Complete,
}
