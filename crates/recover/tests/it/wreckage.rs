//! What a killed process leaves: a database, a log that is still needed, and what both tell.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use baton_core::command::{Accept, Command, Complete, LeaseTime};
use baton_core::contract::Profile;
use baton_core::hash::Hash;
use baton_core::names::{Principal, StoryKey, WorkflowName};
use baton_core::outcome::Outcome;
use baton_core::package::{Format, Package};
use baton_core::registry::Agents;
use baton_core::run::HandoffNo;
use baton_engine::{Caller, Catalog, Engine, Entry, FixedClock, Key, StartRun, verify_all};
use baton_files::{Dir, FileMode};
use baton_recover::{OpenArchive, RESULT, RecoverJob, RecoveryReport, recover};
use baton_store::{Definition, HandoffRef, Store};
use baton_store_sqlite::SqliteStore;
use baton_store_tests::dump;
use baton_views::{Archive, ArchivePlaces};
use baton_wire::{agent_file, builtin, json, workflow_file};
use jiff::{SignedDuration, Timestamp};
use tempfile::TempDir;

pub(crate) const DATABASE: &str = "baton.db";
pub(crate) const LOG: &str = "baton.db-wal";
pub(crate) const MARK: &str = "baton.mark";
/// The mark first: it may not tell of more than the others have when they are copied.
const FILES: [&str; 3] = [MARK, DATABASE, LOG];

pub(crate) struct Wreckage {
    pub(crate) dir: TempDir,
    /// A project with an archive of it.
    pub(crate) project: TempDir,
    /// Everything that was acknowledged, as the store itself told it.
    pub(crate) told: String,
}

/// Where the newest part of the data is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Newest {
    /// In the database: it was closed.
    InTheDatabase,
    /// In the log alone.
    InTheLog,
}

impl Wreckage {
    pub(crate) async fn make(newest: Newest) -> Self {
        let (dir, clock) = (tempfile::tempdir().unwrap(), clock());
        let (store, engine) = open(dir.path(), &clock).await;
        for n in 1..=6 {
            work(&engine, &clock, &format!("early-{n}"), n).await;
        }
        engine.shutdown().await;
        drop((engine, store));
        let (store, engine) = open(dir.path(), &clock).await;
        for n in 1..=6 {
            work(&engine, &clock, &format!("late-{n}"), n).await;
        }
        let told = dump(store.as_ref()).await;
        let project = tempfile::tempdir().unwrap();
        let places = ArchivePlaces {
            root: project.path().to_owned(),
            state: "state".into(),
            sessions: "sessions".into(),
        };
        // Whoever writes it remembers how far it is, and that is a write of its own.
        if newest == Newest::InTheDatabase {
            Archive::new(engine.clone(), places).catch_up().await.unwrap();
        }
        if newest == Newest::InTheDatabase {
            engine.shutdown().await;
        }
        let left = tempfile::tempdir().unwrap();
        copy_in_use(dir.path(), left.path());
        engine.shutdown().await;
        Self { dir: left, project, told }
    }

    /// One whose log ends with what no run proves: remembered answers, leases, promises.
    pub(crate) async fn with_answers() -> Self {
        let (dir, clock) = (tempfile::tempdir().unwrap(), clock());
        let (store, engine) = open(dir.path(), &clock).await;
        for n in 1..=4 {
            work(&engine, &clock, &format!("early-{n}"), n).await;
        }
        engine.shutdown().await;
        drop((engine, store));
        let (store, engine) = open(dir.path(), &clock).await;
        // Runs that end: the world is told of that.
        for n in 1..=2 {
            work(&engine, &clock, &format!("ended-{n}"), 6).await;
        }
        for n in 1..=40 {
            take_up(&engine, &format!("late-{n}")).await;
        }
        let told = dump(store.as_ref()).await;
        let left = tempfile::tempdir().unwrap();
        copy_in_use(dir.path(), left.path());
        engine.shutdown().await;
        Self { dir: left, project: tempfile::tempdir().unwrap(), told }
    }

    /// The same once more, to be damaged.
    pub(crate) fn copied(&self) -> TempDir {
        let copied = tempfile::tempdir().unwrap();
        copy(self.dir.path(), copied.path());
        copied
    }
}

/// What was brought back from a folder.
pub(crate) struct Recovered {
    pub(crate) report: RecoveryReport,
    /// The new database, closed.
    pub(crate) dir: TempDir,
    /// Everything that is in the new database.
    pub(crate) told: String,
}

/// Nothing is missing, but for what may be missing in tables that no run proves.
pub(crate) fn is_all_there(it: &Recovered) -> bool {
    !it.report.lines().iter().any(|line| line.starts_with("missing"))
}

/// Recovers, and checks what holds whatever the damage: the old files are as they were, and the
/// new database is whole.
pub(crate) async fn recovered(from: &Path) -> Recovered {
    recovered_with(from, None).await
}

/// The same, with the archive of a project.
pub(crate) async fn recovered_with(from: &Path, project: Option<&Path>) -> Recovered {
    let folder = |path: &Path, name| Dir::open(&path.join(name)).ok();
    let archive = project
        .map(|it| OpenArchive { sessions: folder(it, "sessions"), state: folder(it, "state") });
    let before = bytes(from);
    let scratch = tempfile::tempdir().unwrap();
    let job = RecoverJob {
        from: &Dir::open(from).unwrap(),
        scratch: &Dir::open_or_make(scratch.path(), FileMode::Private).unwrap(),
        definitions: definitions(),
        archive,
        archived: None,
        is_mark_expected: false,
        now: Timestamp::constant(1_760_000_000, 0),
    };
    let report = recover(&job).await.unwrap();
    assert_eq!(bytes(from), before, "the old files are as they were");
    let store = SqliteStore::open(&scratch.path().join(RESULT)).unwrap();
    assert_eq!(verify_all(&store).await.unwrap().problems, Vec::<String>::new());
    let told = dump(&store).await;
    store.close().await;
    Recovered { report, dir: scratch, told }
}

pub(crate) fn bytes(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files: Vec<_> = std::fs::read_dir(dir)
        .unwrap()
        .map(|it| it.unwrap().path())
        .map(|path| (path.clone(), std::fs::read(&path).unwrap()))
        .collect();
    files.sort();
    files
}

/// Copies a database that may be open: while another connection reads, the log is not cut.
fn copy_in_use(from: &Path, to: &Path) {
    let reader = rusqlite::Connection::open(from.join(DATABASE)).unwrap();
    reader.execute_batch("begin; select count(*) from runs").unwrap();
    copy(from, to);
}

pub(crate) fn copy(from: &Path, to: &Path) {
    for name in FILES {
        if from.join(name).exists() {
            std::fs::copy(from.join(name), to.join(name)).unwrap();
        }
    }
}

/// What the world is to be told without the numbers that this has, which mean nothing.
pub(crate) fn numbered_freely(told: &str) -> String {
    let line = |line: &str| match line.split_once("OutboxRow { id: ") {
        Some((_, rest)) => rest.split_once(", ").unwrap().1.to_owned(),
        None => line.to_owned(),
    };
    let mut lines: Vec<String> = told.lines().map(line).collect();
    lines.sort();
    lines.join("\n")
}

fn clock() -> Arc<FixedClock> {
    Arc::new(FixedClock::at(Timestamp::constant(1_750_000_000, 0)))
}

async fn open(dir: &Path, clock: &Arc<FixedClock>) -> (Arc<dyn Store>, Arc<Engine>) {
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open(dir).unwrap());
    let engine = Engine::open(store.clone(), clock.clone(), catalog()).await.unwrap();
    (store, Arc::new(engine))
}

/// As a project has them, besides its database.
fn definitions() -> Vec<Definition> {
    let definition = |(_, text): &(&str, &str)| {
        let workflow = workflow_file::parse(text).unwrap();
        Definition { hash: workflow.hash, name: workflow.name, text: (*text).to_owned() }
    };
    builtin::workflows().iter().map(definition).collect()
}

fn catalog() -> Catalog {
    let entry = |(_, text): &(&str, &str)| Entry {
        workflow: Arc::new(workflow_file::parse(text).unwrap()),
        text: (*text).to_owned(),
    };
    let entries: Vec<Entry> = builtin::workflows().iter().map(entry).collect();
    let agents = builtin::agents().iter().map(|(_, text)| agent_file::parse(text).unwrap().agent);
    let default = WorkflowName::parse("story-pipeline").unwrap();
    Catalog::new(entries, Agents::new(agents), Some(default))
}

/// Takes a story along so many steps. Packages are long, so that some flow over their page.
async fn work(engine: &Engine, clock: &FixedClock, story: &str, n_steps: u32) {
    let caller = Caller::new(Principal::parse("ada").unwrap());
    let story = StoryKey::parse(story).unwrap();
    let start = StartRun::of(story);
    let run = engine.start(&caller, start).await.unwrap().run;
    for no in (1..=5).take(n_steps as usize) {
        let which = HandoffRef::InRun(run, HandoffNo(no));
        clock.advance(SignedDuration::from_secs(1));
        let accept = |handoff| {
            Command::Accept(Accept { handoff, by: None, acknowledgement: None, lease: None })
        };
        engine.on_handoff(&caller, &which, accept).await.unwrap();
        clock.advance(SignedDuration::from_secs(1));
        let complete = |handoff| {
            Command::Complete(Complete {
                handoff,
                by: None,
                outcome: Outcome::Success,
                package: package(no),
                to: None,
                reason: None,
                fence: None,
                profile: Profile::Lenient,
            })
        };
        engine.on_handoff(&caller, &which, complete).await.unwrap();
    }
}

/// Starts a run and accepts its first handoff, each with an idempotency key and the latter with a
/// lease.
async fn take_up(engine: &Engine, story: &str) {
    let key = |what: &str| Key {
        scope: "tests".to_owned(),
        key: format!("{what}-{story}"),
        request: Hash::ZERO,
    };
    let caller = |what: &str| Caller {
        key: Some(key(what)),
        ..Caller::new(Principal::parse("ada").unwrap())
    };
    let named = StoryKey::parse(story).unwrap();
    let start = StartRun::of(named);
    let run = engine.start(&caller("start"), start).await.unwrap().run;
    let accept = |handoff| {
        let lease = Some(LeaseTime::from_seconds(60).unwrap());
        Command::Accept(Accept { handoff, by: None, acknowledgement: None, lease })
    };
    let which = HandoffRef::InRun(run, HandoffNo(1));
    engine.on_handoff(&caller("accept"), &which, accept).await.unwrap();
}

/// What every contract of the pipeline asks for.
const PACKAGE: &str = r#""plan":"1. Add a session table. 2. Check the password.","files_to_modify":["src/session.rs"],"approach":"Tokens in a table, which can be revoked.","risks":["Clock skew"],"questions_resolved":true,"files_changed":["src/session.rs"],"summary":"Login issues a token from a table; 9 tests cover every refusal.","tests_added":true,"build_passes":true,"approved":true,"refactored":true,"refactor_summary":"One function instead of two.","review_notes":"Ran the tests, tried an expired token.","discoveries":{"learnings":["The clock can be moved"],"gotchas":["Compared in constant time"],"decisions":["A table"]},"learnings_added":1,"gotchas_added":1,"docs_updated":true"#;

fn package(no: u32) -> Package {
    let notes =
        "The work is done, and this is what there is to say of it. ".repeat(40 * no as usize);
    let text = format!(r#"{{{PACKAGE},"notes":"{notes}"}}"#);
    let document = json::parse(&text).unwrap();
    Package::new(Format::Json, text, document)
}
