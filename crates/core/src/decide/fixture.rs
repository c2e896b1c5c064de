//! A pipeline, a clock and a few texts for the tests of the rules.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use jiff::{SignedDuration, Timestamp};
use uuid::Uuid;

use super::{AgentBudget, Decision, DecisionContext, First, IdSource, RunStart, decide, start};
use crate::agent::Agent;
use crate::budget::Budget;
use crate::command::{
    Accept, Clarify, Command, Complete, Create, GateAnswer, LeaseTime, LoseLease, Record, Reject,
    Release, Reply, Way,
};
use crate::content::{Content, ContentId};
use crate::contract::{Check, Contract, ContractRule, Profile, ValueKind};
use crate::document::Node;
use crate::event::{Event, evolve, replay};
use crate::evidence::Verdict;
use crate::gate::Answer;
use crate::hash::Hash;
use crate::lint::{FileFact, Settings};
use crate::names::{
    AgentId, CheckName, FreeText, Principal, Reason, StepId, StoryKey, WorkflowName,
};
use crate::outcome::Outcome;
use crate::package::{Format, Package};
use crate::refusal::Refusal;
use crate::registry::Agents;
use crate::run::{HandoffNo, Run, RunId};
use crate::view::FindingToAnswer;
use crate::workflow::{
    BlockerRouting, Delegate, Edge, Expiry, LazyGraph, Limits, Mode, OnExpire, RejectRule, Step,
    StepLimits, Target, Workflow,
};

pub(super) const START: Timestamp = Timestamp::constant(1_000_000, 0);

/// Sequential ids instead of random ones.
#[derive(Default)]
pub(super) struct Counter(AtomicU64);

impl IdSource for Counter {
    fn id(&self) -> Uuid {
        Uuid::from_u128(self.0.fetch_add(1, Ordering::Relaxed).into())
    }

    fn nonce(&self) -> [u8; 16] {
        u128::from(self.0.fetch_add(1, Ordering::Relaxed)).to_be_bytes()
    }
}

/// A run under test: every command goes through here, and the invariants are checked after each.
pub(super) struct Tester {
    pub(super) run: Run,
    pub(super) now: Timestamp,
    pub(super) profile: Profile,
    pub(super) workflow: Workflow,
    pub(super) agents: Agents,
    fresh: Counter,
    pub(super) lint: Settings,
    /// Contracts for the ways that the workflow does not declare.
    pub(super) implied: Vec<Contract>,
    /// What is known of the files that packages name.
    pub(super) files: BTreeMap<String, FileFact>,
    /// The findings in the work that the next sender holds.
    pub(super) to_answer: Vec<FindingToAnswer>,
    /// The checks that the project has commands for.
    pub(super) checks: Vec<CheckName>,
    pub(super) budgets: Vec<AgentBudget>,
    /// Who gives the commands.
    pub(super) caller: Principal,
    log: Vec<(Event, Timestamp)>,
    pub(super) contents: Vec<Content>,
}

impl Tester {
    /// A story that the orchestrator has just handed to the analyst: `HO-001`.
    pub(super) fn started() -> Self {
        Self::begun(&create("orchestrator", "analyst", story()))
    }

    /// A run that `first` starts.
    pub(super) fn begun(first: &Create) -> Self {
        Self::begun_in(pipeline(), first).unwrap()
    }

    pub(super) fn begun_in(workflow: Workflow, first: &Create) -> Result<Self, Refusal> {
        Self::begun_by(workflow, First::Handoff(first.clone()))
    }

    pub(super) fn begun_by(workflow: Workflow, first: First) -> Result<Self, Refusal> {
        let agents = agents();
        let fresh = Counter::default();
        let start_command = RunStart {
            run: RunId(Uuid::from_u128(1)),
            story: StoryKey::parse("s1").unwrap(),
            owner: Principal::parse("ada").unwrap(),
            mode: Mode::Autonomous,
            budget: Budget::default(),
            first,
        };
        let lint = Settings::default();
        let caller = Principal::parse("ada").unwrap();
        let ground = DecisionContext {
            workflow: &workflow,
            agents: &agents,
            now: START,
            caller: Some(&caller),
            fresh: &fresh,
            lint: &lint,
            visited: None,
            decision_salt: None,
            at: None,
            files: None,
            to_answer: None,
            checks: &[],
            budgets: &[],
            implied: &[],
        };
        let decision = start(&start_command, ground)?;
        let log = decision.events.iter().cloned().map(|it| (it, START)).collect();
        let Decision { run, contents, .. } = decision;
        Ok(Self {
            run,
            now: START,
            profile: Profile::Lenient,
            workflow,
            agents,
            fresh,
            lint,
            implied: Vec::new(),
            files: BTreeMap::new(),
            to_answer: Vec::new(),
            checks: Vec::new(),
            budgets: Vec::new(),
            caller,
            log,
            contents,
        })
    }

    /// Every event so far.
    pub(super) fn log(&self) -> &[(Event, Timestamp)] {
        &self.log
    }

    pub(super) fn wait(&mut self, minutes: i64) {
        self.now += SignedDuration::from_mins(minutes);
    }

    pub(super) fn wait_seconds(&mut self, seconds: i64) {
        self.now += SignedDuration::from_secs(seconds);
    }

    /// Decides, applies, and checks that replaying the events gives the same run.
    #[track_caller]
    pub(super) fn tries(&mut self, command: &Command) -> Result<Decision, Refusal> {
        let decision = self.would(command)?;
        let mut replayed = self.run.clone();
        for event in &decision.events {
            evolve(&mut replayed, event, self.now);
            self.log.push((event.clone(), self.now));
        }
        assert_eq!(replayed, decision.run, "{command:?}");
        assert_eq!(replay(replayed.id, self.log.iter().cloned()), Some(replayed), "{command:?}");
        self.contents.extend(decision.contents.iter().cloned());
        self.run = decision.run.clone();
        Ok(decision)
    }

    /// A text that some decision has stored.
    #[track_caller]
    pub(super) fn text(&self, id: ContentId) -> &str {
        &self.contents.iter().find(|it| it.id == id).unwrap().text
    }

    /// What a command would do.
    pub(super) fn would(&self, command: &Command) -> Result<Decision, Refusal> {
        decide(&self.run, command, self.ground())
    }

    pub(super) fn ground(&self) -> DecisionContext<'_> {
        DecisionContext {
            visited: None,
            decision_salt: self.run.decision_salt.map(|it| self.text(it)),
            at: None,
            files: Some(&self.files),
            to_answer: Some(&self.to_answer),
            checks: &self.checks,
            budgets: &self.budgets,
            implied: &self.implied,
            workflow: &self.workflow,
            agents: &self.agents,
            now: self.now,
            caller: Some(&self.caller),
            fresh: &self.fresh,
            lint: &self.lint,
        }
    }

    #[track_caller]
    pub(super) fn does(&mut self, command: &Command) -> Decision {
        self.tries(command).unwrap()
    }

    #[track_caller]
    pub(super) fn accepts(&mut self, no: u32) -> Decision {
        self.does(&accept(no))
    }

    #[track_caller]
    pub(super) fn hands(&mut self, from: &str, to: &str, package: Node) -> Decision {
        let create = Create { profile: self.profile, ..create(from, to, package) };
        self.does(&Command::Create(create))
    }

    #[track_caller]
    pub(super) fn rejects(&mut self, no: u32, why: &str) -> Decision {
        self.does(&reject(no, why))
    }

    #[track_caller]
    pub(super) fn completes(&mut self, no: u32, outcome: Outcome, package: Node) -> Decision {
        self.does(&complete(no, outcome, package))
    }

    #[track_caller]
    pub(super) fn answers(&mut self, no: u32, answer: Answer) -> Decision {
        self.does(&answer_gate(no, answer))
    }

    /// `HO-002 analyst→implementer pending; offered`
    pub(super) fn shows(&self) -> String {
        let open: Vec<String> = self
            .run
            .handoffs
            .iter()
            .map(|it| {
                let (no, from, to) = (it.no, &it.from.agent, &it.to.agent);
                format!("{no} {from}→{to} {}", it.state.name())
            })
            .collect();
        let open = if open.is_empty() { "nothing open".to_owned() } else { open.join(", ") };
        let batons: Vec<&str> = self.run.branches.iter().map(|it| it.baton.name()).collect();
        format!("{open}; {}", batons.join(" + "))
    }
}

pub(super) fn create(from: &str, to: &str, package: Node) -> Create {
    Create {
        from: agent(from),
        to: agent(to),
        package: sent(package),
        outcome: None,
        reason: None,
        supersedes: None,
        hands_on: None,
        way: None,
        token: None,
        profile: Profile::Lenient,
    }
}

pub(super) fn accept(no: u32) -> Command {
    Command::Accept(Accept { handoff: HandoffNo(no), by: None, acknowledgement: None, lease: None })
}

pub(super) fn reject(no: u32, why: &str) -> Command {
    let (handoff, reason) = (HandoffNo(no), reason(why));
    Command::Reject(Reject { handoff, by: None, reason, fence: None })
}

pub(super) fn complete(no: u32, outcome: Outcome, package: Node) -> Command {
    Command::Complete(Complete {
        handoff: HandoffNo(no),
        by: None,
        outcome,
        package: sent(package),
        to: None,
        reason: None,
        fence: None,
        profile: Profile::Lenient,
    })
}

pub(super) fn answer_gate(no: u32, answer: Answer) -> Command {
    let by = Principal::parse("grace").unwrap();
    let handoff = HandoffNo(no);
    Command::Answer(GateAnswer { handoff, answer, by, comment: None, package: None })
}

/// A person's answer with a comment.
pub(super) fn says(no: u32, answer: Answer, comment: &str) -> Command {
    let Command::Answer(said) = answer_gate(no, answer) else { unreachable!() };
    Command::Answer(GateAnswer { comment: Some(words(comment)), ..said })
}

pub(super) fn accept_with(no: u32, seconds: u32) -> Command {
    let Command::Accept(taken) = accept(no) else { unreachable!() };
    Command::Accept(Accept { lease: LeaseTime::from_seconds(seconds), ..taken })
}

pub(super) fn clarify(no: u32, question: &str) -> Command {
    let (handoff, question) = (HandoffNo(no), words(question));
    Command::Clarify(Clarify { handoff, by: None, question, fence: None })
}

pub(super) fn reply(no: u32, answer: &str) -> Command {
    let (handoff, answer) = (HandoffNo(no), words(answer));
    Command::Reply(Reply { handoff, by: None, answer, fence: None })
}

pub(super) fn release(no: u32) -> Command {
    Command::Release(Release { handoff: HandoffNo(no), by: None, reason: None, fence: None })
}

pub(super) fn record(no: u32, check: &str, verdict: Verdict) -> Command {
    let check = CheckName::parse(check).unwrap();
    Command::Record(Record { handoff: HandoffNo(no), check, verdict, detail: None })
}

pub(super) fn lose_until(no: u32, fence: u32, at: Timestamp) -> Command {
    let lost = LoseLease::unheard(HandoffNo(no), fence);
    Command::LoseLease(LoseLease { retry_at: Some(at), ..lost })
}

pub(super) fn lose(no: u32, fence: u32) -> Command {
    Command::LoseLease(LoseLease::unheard(HandoffNo(no), fence))
}

pub(super) fn way(way: Way, create: Create) -> Command {
    Command::Create(Create { way: Some(way), ..create })
}

pub(super) fn words(words: &str) -> FreeText {
    FreeText::parse(words).unwrap()
}

pub(super) fn cancel(no: u32) -> Command {
    Command::Cancel { handoff: HandoffNo(no), by: None, reason: None }
}

pub(super) fn time_out(no: u32) -> Command {
    Command::TimeOut { handoff: HandoffNo(no), reason: None }
}

pub(super) fn goto(step: &str) -> Command {
    Command::Goto {
        step: StepId::parse(step).unwrap(),
        reason: reason("again, please"),
        by: Principal::parse("ada").unwrap(),
    }
}

pub(super) fn skip() -> Command {
    Command::Skip { reason: reason("nothing to do") }
}

pub(super) fn agent(name: &str) -> AgentId {
    AgentId::parse(name).unwrap()
}

pub(super) fn reason(words: &str) -> Reason {
    Reason::parse(words).unwrap()
}

pub(super) fn sent(document: Node) -> Package {
    let text = crate::canonical::text(&document);
    Package::new(Format::Json, text, document)
}

pub(super) fn nothing() -> Node {
    Node::map([])
}

pub(super) fn story() -> Node {
    Node::map([("story", Node::text("s1"))])
}

pub(super) fn plan() -> Node {
    Node::map([("plan", Node::text("write it, then test it"))])
}

/// A review that found something at each of `locations`.
pub(super) fn findings(locations: &[&str]) -> Node {
    let finding = |it: &&str| {
        Node::map([("location", Node::text(*it)), ("severity", Node::text("critical"))])
    };
    let issues = locations.iter().map(finding).collect();
    Node::map([("feedback", Node::text("see the issues")), ("issues", Node::List(issues))])
}

/// The pipeline API's workflow, as small as it can be.
pub(super) fn pipeline() -> Workflow {
    let steps = vec![
        step("analyze", "analyst", vec![contract_edge(to("implement"), "plan")]),
        Step {
            delegates: vec![Delegate { agent: agent("helper"), contract: None, returns: None }],
            expiry: Some(Expiry { after: SignedDuration::from_mins(20), then: OnExpire::Loose }),
            ..step("implement", "implementer", vec![to("review")])
        },
        step(
            "review",
            "reviewer",
            vec![to("refactor"), Edge { on: Outcome::Failure, is_back: true, ..to("implement") }],
        ),
        Step { is_optional: true, ..step("refactor", "refactorer", vec![to("document")]) },
        step("document", "documenter", vec![Edge { to: Target::Complete, ..to("x") }]),
    ];
    let rule = |field: &str, check| ContractRule {
        field: field.to_owned(),
        others: Vec::new(),
        about: "for the test".to_owned(),
        check,
        when: Vec::new(),
    };
    let contracts = vec![
        Contract {
            name: "story".to_owned(),
            must: vec![rule("story", Check::Present)],
            should: Vec::new(),
        },
        Contract {
            name: "plan".to_owned(),
            must: vec![rule("plan", Check::Present)],
            should: vec![rule("files_to_modify", Check::Kind(ValueKind::List))],
        },
    ];
    Workflow {
        name: WorkflowName::parse("story-pipeline").unwrap(),
        title: String::new(),
        description: String::new(),
        hash: Hash::ZERO,
        profile: None,
        start: contract_edge(to("analyze"), "story"),
        steps,
        contracts,
        escalation: None,
        limits: Limits::default(),
        routing: BlockerRouting::default(),
        graph: LazyGraph::default(),
    }
}

fn contract_edge(edge: Edge, contract: &str) -> Edge {
    Edge { contract: Some(contract.to_owned()), ..edge }
}

pub(super) fn to(step: &str) -> Edge {
    Edge::plain(Outcome::Success, Target::Step(StepId::parse(step).unwrap()))
}

pub(super) fn step(id: &str, agent: &str, edges: Vec<Edge>) -> Step {
    Step {
        id: StepId::parse(id).unwrap(),
        title: id.to_owned(),
        agents: vec![AgentId::parse(agent).unwrap()],
        phase: id.to_owned(),
        reason: None,
        is_optional: false,
        work_within: SignedDuration::from_mins(30),
        expiry: None,
        reject: RejectRule::ToSender,
        delegates: Vec::new(),
        limits: StepLimits::default(),
        at_once: None,
        edges,
    }
}

fn agents() -> Agents {
    let names = [
        "analyst",
        "implementer",
        "reviewer",
        "refactorer",
        "documenter",
        "helper",
        "specification",
        "architecture",
        "security-check",
        "crypto-check",
        "estimation",
        "implementation",
    ];
    Agents::new(names.map(|it| Agent { name: it.to_uppercase(), ..Agent::unknown(agent(it)) }))
}
