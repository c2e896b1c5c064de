//! An engine on a store in memory, with a clock that is set by hand, and short words for what is
//! done to it.

use std::sync::{Arc, LazyLock};

use baton_core::agent::Agent;
use baton_core::command::{
    Accept, Clarify, Command, Complete, Create, GateAnswer, LeaseTime, Record, Reject, Reply, Way,
};
use baton_core::contract::Profile;
use baton_core::evidence::Verdict;
use baton_core::gate::Answer;
use baton_core::names::{AgentId, CheckName, FreeText, Principal, Reason, StoryKey, WorkflowName};
use baton_core::outcome::Outcome as Ended;
use baton_core::package::{Format, Package};
use baton_core::registry::Agents;
use baton_core::run::HandoffNo;
use baton_core::story::Story;
use baton_core::workflow::Workflow;
use baton_engine::{
    Caller, Catalog, CommandResult, Engine, EngineError, Entry, FixedClock, RunTarget, StartRun,
};
use baton_store::{HandoffRef, RunRef};
use baton_store_tests::MemoryStore;
use baton_views::{AgentInterface, DashboardUrl, Prompt, PromptOptions, Views};
use baton_wire::{agent_file, builtin, json, workflow_file};
use jiff::Timestamp;

pub(crate) const STORY: &str = "v0.1:1.1.1";

pub(crate) struct World {
    pub(crate) engine: Engine,
    story: StoryKey,
}

/// Whose prompts the agents of a world have.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Prompts {
    /// A line each, so that what stands around it can be read.
    Short,
    BuiltIn,
}

impl World {
    /// The story is handed in to the first agent as HO-001.
    pub(crate) async fn started(workflow: &str, prompts: Prompts) -> Self {
        let story = Story {
            title: "Sessions expire".to_owned(),
            description: "People share machines, so a session must not last for ever.".to_owned(),
            acceptance: vec![
                "A session ends after 24 hours".to_owned(),
                "Old sessions count as expired".to_owned(),
            ],
            ..Story::named(key(STORY))
        };
        Self::started_with(workflow, agents(prompts), story).await
    }

    pub(crate) async fn started_with(workflow: &str, agents: Agents, story: Story) -> Self {
        let clock = Arc::new(FixedClock::at(Timestamp::constant(1_750_000_000, 0)));
        let entries = builtin::workflows().iter().map(|(name, text)| Entry {
            workflow: Arc::new(self::workflow(name)),
            text: (*text).to_owned(),
        });
        let catalog = Catalog::new(entries, agents, WorkflowName::parse(workflow).ok());
        let store = Arc::new(MemoryStore::default());
        let engine = Engine::open(store, clock, catalog).await.unwrap();
        engine.add_story(&caller(), &story).await.unwrap();
        let world = Self { engine, story: story.key };
        let start = StartRun::of(world.story.clone());
        world.engine.start(&caller(), start).await.unwrap();
        world
    }

    pub(crate) fn reads(&self) -> Views<'_> {
        static READER: LazyLock<Caller> = LazyLock::new(caller);
        Views::new(&self.engine, &READER)
    }

    pub(crate) async fn tries(&self, command: Command) -> Result<CommandResult, EngineError> {
        let run = self.reads().run(&RunRef::LatestOf(self.story.clone())).await?.run.id;
        self.engine.on_run(&caller(), run, command).await
    }

    pub(crate) async fn on(&self, command: Command) {
        self.tries(command).await.unwrap();
    }

    pub(crate) async fn accepts(&self, no: u32) {
        self.on(accept(no, None)).await;
    }

    /// Finishes a held handoff along the only edge of its outcome.
    pub(crate) async fn completes(&self, no: u32, outcome: Ended, document: &str) {
        let command = Command::Complete(Complete {
            handoff: HandoffNo(no),
            by: None,
            outcome,
            package: package(document),
            to: None,
            reason: None,
            fence: None,
            profile: Profile::Lenient,
        });
        self.on(command).await;
    }

    /// Finishes a held handoff in strict, to the receiver that a command line names.
    pub(crate) async fn completes_as(&self, no: u32, outcome: Ended, line: &str, document: &str) {
        let to = line.split_once("--to ").map(|(_, it)| agent(it.split(' ').next().unwrap()));
        let command = Command::Complete(Complete {
            handoff: HandoffNo(no),
            by: None,
            outcome,
            package: package(document),
            to: to.map(Into::into),
            reason: None,
            fence: None,
            profile: Profile::Strict,
        });
        self.tries(command).await.unwrap_or_else(|error| panic!("{line}\n{document}\n{error:?}"));
    }

    /// Who has to move the run; `none` at its end.
    pub(crate) async fn current_agent(&self) -> String {
        let row = self.reads().run(&RunRef::LatestOf(self.story.clone())).await.unwrap();
        row.run.current_agent().map_or_else(|| "none".to_owned(), ToString::to_string)
    }

    /// Takes a handoff and finishes it.
    pub(crate) async fn does(&self, no: u32, document: &str) {
        self.accepts(no).await;
        self.completes(no, Ended::Success, document).await;
    }

    pub(crate) async fn rejects(&self, no: u32, why: &str) {
        self.accepts(no).await;
        let reason = Reason::parse(why).unwrap();
        let handoff = HandoffNo(no);
        self.on(Command::Reject(Reject { handoff, by: None, reason, fence: None })).await;
    }

    pub(crate) async fn asks(&self, no: u32, question: &str) {
        let question = FreeText::parse(question).unwrap();
        let handoff = HandoffNo(no);
        self.on(Command::Clarify(Clarify { handoff, by: None, question, fence: None })).await;
    }

    pub(crate) async fn replies(&self, no: u32, answer: &str) {
        let answer = FreeText::parse(answer).unwrap();
        let handoff = HandoffNo(no);
        self.on(Command::Reply(Reply { handoff, by: None, answer, fence: None })).await;
    }

    /// A person answers a gate.
    pub(crate) async fn says(&self, no: u32, answer: Answer, comment: &str) {
        let by = Principal::parse("grace").unwrap();
        let comment = FreeText::parse(comment).ok();
        let handoff = HandoffNo(no);
        let command = Command::Answer(GateAnswer { handoff, answer, by, comment, package: None });
        self.on(command).await;
    }

    pub(crate) async fn records(&self, no: u32, check: &str, verdict: Verdict) {
        let check = CheckName::parse(check).unwrap();
        let handoff = HandoffNo(no);
        self.on(Command::Record(Record { handoff, check, verdict, detail: None })).await;
    }

    pub(crate) async fn hands(&self, from: &str, to: &str, way: Way, document: &str) {
        let create = Create {
            from: agent(from),
            to: agent(to),
            package: package(document),
            outcome: None,
            reason: None,
            supersedes: None,
            hands_on: None,
            way: Some(way),
            token: None,
            profile: Profile::Lenient,
        };
        self.creates(create).await;
    }

    pub(crate) async fn creates(&self, create: Create) {
        let within = RunTarget::Story { key: self.story.clone(), workflow: None, mode: None };
        self.engine.create(&caller(), within, create).await.unwrap();
    }

    pub(crate) async fn tells(
        &self,
        no: u32,
        options: &PromptOptions,
    ) -> Result<Prompt, EngineError> {
        let run = self.reads().run(&RunRef::LatestOf(self.story.clone())).await?.run.id;
        self.reads().prompt(&HandoffRef::InRun(run, HandoffNo(no)), options).await
    }

    pub(crate) async fn prompt(&self, no: u32, face: AgentInterface) -> String {
        self.tells(no, &options(face)).await.unwrap().text
    }
}

pub(crate) fn options(face: AgentInterface) -> PromptOptions {
    let dashboard_url = Some(DashboardUrl::parse("http://localhost:3000").unwrap());
    PromptOptions { dashboard_url, token: None, budget_tokens: None, face }
}

pub(crate) fn workflow(name: &str) -> Workflow {
    let (_, text) = builtin::workflows().iter().find(|(it, _)| *it == name).unwrap();
    workflow_file::parse(text).unwrap()
}

pub(crate) fn agents(prompts: Prompts) -> Agents {
    Agents::new(builtin::agents().iter().map(|(_, text)| {
        let agent = agent_file::parse(text).unwrap().agent;
        match prompts {
            Prompts::BuiltIn => agent,
            Prompts::Short => Agent {
                prompt: format!("# {}\n\nYou work on {{{{BRANCH}}}}, in $PWD.", agent.name),
                ..agent
            },
        }
    }))
}

pub(crate) fn accept(no: u32, lease: Option<u32>) -> Command {
    let lease = lease.and_then(LeaseTime::from_seconds);
    Command::Accept(Accept { handoff: HandoffNo(no), by: None, acknowledgement: None, lease })
}

pub(crate) fn agent(name: &str) -> AgentId {
    AgentId::parse(name).unwrap()
}

pub(crate) fn key(story: &str) -> StoryKey {
    StoryKey::parse(story).unwrap()
}

pub(crate) fn package(document: &str) -> Package {
    Package::new(Format::Json, document, json::parse(document).unwrap())
}

fn caller() -> Caller {
    Caller::new(Principal::parse("ada").unwrap())
}
