//! An engine on a store of either kind, with a clock that is set by hand, and short words for
//! what is done to it.

use std::sync::{Arc, LazyLock};

use baton_core::agent::Agent;
use baton_core::command::{
    Accept, AskPermission, ClaimChecks, Clarify, Command, Complete, Create, DelegateVote,
    GateAnswer, LeaseTime, LoseLease, Record, RecordUsage, Reject, Release, Reply, ReportChecks,
    SendFile,
};
use baton_core::contract::Profile;
use baton_core::gate::Answer;
use baton_core::hash::Hash;
use baton_core::names::{AgentId, Principal, Reason, StoryKey, WorkflowName};
use baton_core::outcome::Outcome as Ended;
use baton_core::package::{Format, Package};
use baton_core::registry::Agents;
use baton_core::run::{HandoffNo, RunId};
use baton_engine::{
    Caller, Catalog, CommandMode, CommandResult, Engine, EngineError, Entry, FixedClock, Key,
    RunTarget, StartRun, verify_all,
};
use baton_store::{HandoffRef, HandoffRow, RunRef, RunRow, Store};
use baton_store_postgres::{PostgresSettings, PostgresStore};
use baton_store_sqlite::SqliteStore;
use baton_store_tests::MemoryStore;
use baton_test_postgres::TestSchema;
use baton_views::Views;
use baton_wire::{builtin, json, workflow_file};
use jiff::Timestamp;
use tempfile::TempDir;

use crate::flows::{AGENTS, GATED_FILE, SIDE_ROADS_FILE};

pub(crate) const BEGINNING: Timestamp = Timestamp::constant(1_750_000_000, 0);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Backend {
    Memory,
    Sqlite,
    Postgres,
}

/// Where a store keeps what it keeps.
enum StorePlace {
    Folder(TempDir),
    Schema(TestSchema),
}

pub(crate) struct World {
    pub(crate) engine: Arc<Engine>,
    pub(crate) clock: Arc<FixedClock>,
    pub(crate) store: Arc<dyn Store>,
    backend: Backend,
    place: StorePlace,
}

impl Backend {
    /// In memory, and the one that remembers in this run.
    pub(crate) fn all() -> [Self; 2] {
        [Self::Memory, Self::remembering()]
    }

    /// SQLite, or PostgreSQL with `BATON_TEST_BACKEND=postgres`.
    pub(crate) fn remembering() -> Self {
        match std::env::var_os("BATON_TEST_BACKEND").is_some_and(|it| it == "postgres") {
            true => Self::Postgres,
            false => Self::Sqlite,
        }
    }

    pub(crate) async fn world(self) -> World {
        self.world_with(catalog()).await
    }

    pub(crate) async fn world_with(self, catalog: Catalog) -> World {
        let place = match self {
            Self::Memory | Self::Sqlite => StorePlace::Folder(tempfile::tempdir().unwrap()),
            Self::Postgres => StorePlace::Schema(TestSchema::fresh()),
        };
        let store = self.store(&place).await;
        let clock = Arc::new(FixedClock::at(BEGINNING));
        let engine = open(&store, &clock, catalog).await;
        World { engine, clock, store, backend: self, place }
    }

    async fn store(self, place: &StorePlace) -> Arc<dyn Store> {
        match (self, place) {
            (Self::Memory, _) => Arc::new(MemoryStore::default()),
            (_, StorePlace::Folder(dir)) => Arc::new(SqliteStore::open(dir.path()).unwrap()),
            (_, StorePlace::Schema(schema)) => {
                let settings = PostgresSettings::parse(&format!("{}&pool=4", schema.url()));
                Arc::new(PostgresStore::open(&settings.unwrap()).await.unwrap())
            }
        }
    }
}

async fn open(store: &Arc<dyn Store>, clock: &Arc<FixedClock>, catalog: Catalog) -> Arc<Engine> {
    Arc::new(Engine::open(store.clone(), clock.clone(), catalog).await.unwrap())
}

impl World {
    /// A node on a store that other nodes use too.
    pub(crate) async fn node(
        store: Arc<dyn Store>,
        clock: &Arc<FixedClock>,
        catalog: Catalog,
    ) -> Self {
        let engine = open(&store, clock, catalog).await;
        let place = StorePlace::Folder(tempfile::tempdir().unwrap());
        Self { engine, clock: clock.clone(), store, backend: Backend::Memory, place }
    }

    pub(crate) fn reads(&self) -> Views<'_> {
        static READER: LazyLock<Caller> = LazyLock::new(|| caller("ada"));
        Views::new(&self.engine, &READER)
    }

    /// The same store under a new engine, which remembers nothing.
    pub(crate) async fn reopened(self, catalog: Catalog) -> Self {
        let Self { engine, clock, store, backend, place } = self;
        let store = match backend {
            // It would forget.
            Backend::Memory => store,
            Backend::Sqlite | Backend::Postgres => {
                engine.shutdown().await;
                drop((engine, store));
                backend.store(&place).await
            }
        };
        let engine = open(&store, &clock, catalog).await;
        Self { engine, clock, store, backend, place }
    }

    /// The database, closed, as one file.
    pub(crate) async fn into_file(self) -> Vec<u8> {
        self.engine.shutdown().await;
        let Self { engine, store, place, .. } = self;
        drop((engine, store));
        let StorePlace::Folder(dir) = place else { panic!("not in a file") };
        std::fs::read(dir.path().join(baton_store_sqlite::DATABASE_FILE)).unwrap()
    }

    pub(crate) async fn starts(&self, story: &str) -> Result<CommandResult, EngineError> {
        self.engine.start(&caller("ada"), start(story)).await
    }

    pub(crate) async fn hands(
        &self,
        story: &str,
        from: &str,
        to: &str,
        document: &str,
    ) -> Result<CommandResult, EngineError> {
        self.engine.create(&caller(from), of_story(story), create(from, to, document)).await
    }

    /// Carries out a command on a handoff of a story's newest run.
    pub(crate) async fn on(
        &self,
        story: &str,
        command: Command,
    ) -> Result<CommandResult, EngineError> {
        let run = self.run(story).await.run.id;
        match handoff_of(&command) {
            Some(no) => {
                let which = HandoffRef::InRun(run, no);
                self.engine.on_handoff(&caller("ada"), &which, |_| command).await
            }
            None => self.engine.on_run(&caller("ada"), run, command).await,
        }
    }

    pub(crate) async fn run(&self, story: &str) -> RunRow {
        self.reads().run(&RunRef::LatestOf(key(story))).await.unwrap()
    }

    pub(crate) async fn row(&self, run: RunId, no: u32) -> HandoffRow {
        self.reads().handoff(&HandoffRef::InRun(run, HandoffNo(no))).await.unwrap()
    }

    /// `open; offered; HO-002 analyst→implementer pending`
    pub(crate) async fn shows(&self, story: &str) -> String {
        let run = self.run(story).await.run;
        let open: Vec<String> = run
            .handoffs
            .iter()
            .map(|it| format!("{} {}→{} {}", it.no, it.from.agent, it.to.agent, it.state.name()))
            .collect();
        format!("{}; {}; {}", run.status.name(), run.baton().name(), open.join(", "))
    }

    /// Every chain holds, every run is what its events say, every text is what was written.
    pub(crate) async fn is_sound(&self) {
        assert_eq!(verify_all(self.store.as_ref()).await.unwrap().problems, [""; 0]);
    }
}

/// The built-in pipeline, which is the default, the side roads, and the gates.
pub(crate) fn catalog() -> Catalog {
    let (_, pipeline) = builtin::workflows()[0];
    catalog_of(&[pipeline, SIDE_ROADS_FILE, GATED_FILE], Some("story-pipeline"))
}

pub(crate) fn catalog_of(files: &[&str], default: Option<&str>) -> Catalog {
    let entries = files.iter().map(|text| Entry {
        workflow: Arc::new(workflow_file::parse(text).unwrap()),
        text: (*text).to_owned(),
    });
    let agents = Agents::new(AGENTS.map(|it| Agent::unknown(agent(it))));
    Catalog::new(entries, agents, default.map(|it| WorkflowName::parse(it).unwrap()))
}

pub(crate) fn caller(name: &str) -> Caller {
    Caller::new(Principal::parse(name).unwrap())
}

pub(crate) fn dry(name: &str) -> Caller {
    Caller { mode: CommandMode::DryRun, ..caller(name) }
}

/// Somebody who may send the same twice.
pub(crate) fn keyed(key: &str, request: u8) -> Caller {
    let key = Key {
        scope: "ada /api/handoffs".to_owned(),
        key: key.to_owned(),
        request: Hash([request; 32]),
    };
    Caller { key: Some(key), ..caller("ada") }
}

pub(crate) fn key(story: &str) -> StoryKey {
    StoryKey::parse(story).unwrap()
}

pub(crate) fn agent(name: &str) -> AgentId {
    AgentId::parse(name).unwrap()
}

pub(crate) fn reason(words: &str) -> Reason {
    Reason::parse(words).unwrap()
}

pub(crate) fn package(document: &str) -> Package {
    Package::new(Format::Json, document, json::parse(document).unwrap())
}

pub(crate) fn start(story: &str) -> StartRun {
    StartRun::of(key(story))
}

pub(crate) fn of_story(story: &str) -> RunTarget {
    RunTarget::Story { key: key(story), workflow: None, mode: None }
}

pub(crate) fn create(from: &str, to: &str, document: &str) -> Create {
    Create {
        from: agent(from),
        to: agent(to),
        package: package(document),
        outcome: None,
        reason: None,
        supersedes: None,
        hands_on: None,
        way: None,
        token: None,
        profile: Profile::Lenient,
    }
}

pub(crate) fn accept(no: u32) -> Command {
    Command::Accept(Accept { handoff: HandoffNo(no), by: None, acknowledgement: None, lease: None })
}

/// Accepts, and promises to be heard of.
pub(crate) fn lease(no: u32, seconds: u32) -> Command {
    Command::Accept(Accept {
        handoff: HandoffNo(no),
        by: None,
        acknowledgement: None,
        lease: LeaseTime::from_seconds(seconds),
    })
}

pub(crate) fn reject(no: u32, why: &str) -> Command {
    let reason = reason(why);
    Command::Reject(Reject { handoff: HandoffNo(no), by: None, reason, fence: None })
}

pub(crate) fn complete(no: u32, outcome: Ended, document: &str) -> Command {
    Command::Complete(Complete {
        handoff: HandoffNo(no),
        by: None,
        outcome,
        package: package(document),
        to: None,
        reason: None,
        fence: None,
        profile: Profile::Lenient,
    })
}

pub(crate) fn answer(no: u32, answer: Answer) -> Command {
    let by = Principal::parse("grace").unwrap();
    let (comment, package) = (None, None);
    Command::Answer(GateAnswer { handoff: HandoffNo(no), answer, by, comment, package })
}

pub(crate) fn time_out(no: u32) -> Command {
    Command::TimeOut { handoff: HandoffNo(no), reason: None }
}

fn handoff_of(command: &Command) -> Option<HandoffNo> {
    match command {
        Command::Accept(Accept { handoff, .. })
        | Command::Reject(Reject { handoff, .. })
        | Command::Complete(Complete { handoff, .. })
        | Command::Answer(GateAnswer { handoff, .. })
        | Command::Cancel { handoff, .. }
        | Command::TimeOut { handoff, .. }
        | Command::Clarify(Clarify { handoff, .. })
        | Command::Reply(Reply { handoff, .. })
        | Command::Release(Release { handoff, .. })
        | Command::Record(Record { handoff, .. })
        | Command::RecordUsage(RecordUsage { handoff, .. })
        | Command::SendFile(SendFile { handoff, .. })
        | Command::LoseLease(LoseLease { handoff, .. })
        | Command::Wake { handoff }
        | Command::Expire { handoff }
        | Command::ClaimChecks(ClaimChecks { handoff, .. })
        | Command::ReportChecks(ReportChecks { handoff, .. })
        | Command::AskPermission(AskPermission { handoff, .. })
        | Command::WithdrawPermission { gate: handoff }
        | Command::DelegateVote(DelegateVote { gate: handoff, .. })
        | Command::Remind { gate: handoff }
        | Command::MarkStale { handoff } => Some(*handoff),
        Command::Create(_)
        | Command::CleanUp { .. }
        | Command::Signal(_)
        | Command::Post { .. }
        | Command::Collaborate(_)
        | Command::Pause { .. }
        | Command::Resume
        | Command::CancelRun { .. }
        | Command::Goto { .. }
        | Command::StartAt(_)
        | Command::Reroute(_)
        | Command::Skip { .. } => None,
    }
}
