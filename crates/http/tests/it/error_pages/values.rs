//! A value of each error, with the names that its page uses.

use baton_core::document::Node;
use baton_core::hash::Hash;
use baton_core::names::{AgentId, ContextKey, Principal, StepId, StoryKey, WorkflowName};
use baton_core::outcome::Outcome;
use baton_core::package::Format;
use baton_core::problem::Problem;
use baton_core::refusal::Refusal;
use baton_core::run::{HandoffNo, RunStatus};
use baton_core::workflow::Mode;
use baton_engine::EngineError;
use baton_store::{StoreError, Version, WriteFault};
use baton_wire::{extract, formats, json};

use super::Samples;

pub(super) fn samples() -> Samples {
    let mut samples = Samples::new();
    let mut add = |code: &str, message: String| {
        samples.entry(code.to_owned()).or_default().push(message);
    };
    for refusal in moves().into_iter().chain(ways()).chain(gates()).chain(clock()).chain(shared()) {
        let code = refusal.code();
        let numbers = refusal.mentioned().into_iter().map(|no| (no, 10 + u64::from(no.0)));
        let numbers = numbers.collect();
        let error = EngineError::Refused { refusal: refusal.clone(), handoff: None, numbers };
        add(code, error.to_string());
        if let Refusal::Contract { problems, .. } = refusal {
            problems.iter().for_each(|it| add(code, it.to_string()));
        }
    }
    for error in names().into_iter().chain(engine()).chain(store()) {
        add(error.code(), error.to_string());
    }
    for (format, text) in documents() {
        let error = formats::decode_bytes(format, &text).unwrap_err();
        add(error.code(), error.to_string());
    }
    for text in json_texts() {
        let error = json::parse(&text).unwrap_err();
        add(error.code(), error.to_string());
    }
    let error = extract::extract_one("All tests pass now.").unwrap_err();
    add(error.code(), error.to_string());
    samples
}

fn agent(name: &str) -> AgentId {
    AgentId::parse(name).unwrap()
}

fn step(name: &str) -> StepId {
    StepId::parse(name).unwrap()
}

fn story(key: &str) -> StoryKey {
    StoryKey::parse(key).unwrap()
}

fn person(name: &str) -> Principal {
    Principal::typed(name).unwrap()
}

fn text(text: &str) -> String {
    text.to_owned()
}

const HO_1: HandoffNo = HandoffNo(1);
const HO_2: HandoffNo = HandoffNo(2);
const HO_3: HandoffNo = HandoffNo(3);
const HO_4: HandoffNo = HandoffNo(4);
const HO_10: HandoffNo = HandoffNo(10);

fn moves() -> Vec<Refusal> {
    vec![
        Refusal::RunFinished { status: "completed" },
        Refusal::Finished { handoff: HO_3 },
        Refusal::WrongState {
            command: "cancel",
            handoff: HO_2,
            state: "accepted",
            hint: "its holder may reject it, the operator may time it out",
        },
        Refusal::AlreadyAccepted { handoff: HO_2, holder: agent("implementer") },
        Refusal::NotYours {
            command: "accept",
            handoff: HO_1,
            allowed: agent("analyst"),
            by: agent("reviewer"),
        },
        Refusal::NotHolder {
            by: agent("implementer"),
            whereabouts: text("`analyst` holds it with HO-001"),
        },
        Refusal::NotTheSender {
            handoff: HO_2,
            sender: agent("specification"),
            said: agent("estimation"),
        },
        Refusal::AcceptFirst { handoff: HO_2 },
        Refusal::Duplicate { handoff: HO_2, from: agent("analyst"), to: agent("implementer") },
        Refusal::RejectNever { step: step("implement") },
        Refusal::Paused,
        Refusal::NotPaused,
        Refusal::FrameOpen {
            handoff: HO_3,
            whereabouts: text("HO-004 offers it to `security-check`"),
        },
        Refusal::NotInFrame { handoff: HO_3 },
        Refusal::TooDeep { depth: 8 },
    ]
}

fn ways() -> Vec<Refusal> {
    let missing = Problem::new(
        "plan",
        "missing",
        "is missing: the steps to take, in order; one text or a list",
    );
    let vague = Problem::new(
        "summary",
        "vague_summary",
        "says nothing about this work in particular; name what was made or changed, with numbers, names or paths",
    );
    vec![
        Refusal::NotTheReceivers {
            from: text("fix"),
            to: text("`reviewer-quality`, `closer-agent`"),
            known: text("on success it goes to `reviewer-quality`, `reviewer-security` at once"),
        },
        Refusal::NotAnEdge {
            from: text("analyze"),
            to: agent("documenter"),
            outcome: Some(Outcome::Success),
            known: text("from there it may go to `implementer` on success"),
        },
        Refusal::ChooseReceiver {
            step: step("analyze"),
            outcome: "success",
            choices: vec![agent("implementer"), agent("helper")],
        },
        Refusal::WhichHandoff {
            what: text("`worker` has the work of several branches"),
            choices: vec![(HO_2, step("api")), (HO_3, step("page"))],
        },
        Refusal::WrongPhase {
            field: "handoff.next_phase",
            phase: text("testing"),
            why: text("`frontend-developer` comes next at `implementation`"),
        },
        Refusal::NotOptional { step: step("review") },
        Refusal::Contract {
            contract: Some(text("plan")),
            problems: vec![missing],
            skeleton: Box::new(Node::Null),
        },
        Refusal::Contract { contract: None, problems: vec![vague], skeleton: Box::new(Node::Null) },
        Refusal::NotVisited { step: step("document"), visited: text("analyze, implement, review") },
        Refusal::NoSuchStep {
            step: step("implementer"),
            known: text(
                "did you mean `implement`? it has: analyze, implement, review, refactor, document",
            ),
        },
        Refusal::NothingToSkip {
            whereabouts: text("it lies loose at `orchestrator`, for `orchestrator` to take up"),
        },
        Refusal::NoDetour { whereabouts: text("`implementer` holds it with HO-002") },
        Refusal::UnknownAgent { agent: agent("reviwer") },
    ]
}

fn gates() -> Vec<Refusal> {
    let choices = || text("continue, accept, hand_to, abort");
    vec![
        Refusal::GateOpen { handoff: HO_10, choices: choices() },
        Refusal::NotAGate { handoff: HO_1 },
        Refusal::NotAChoice { handoff: HO_10, answer: "approve", choices: choices() },
        Refusal::BehindGate {
            place: text("implementation"),
            gates: text(
                "`Specification validated` (specification → architecture), then `Budget approved` (estimation → implementation)",
            ),
            first: text("specification"),
            instead: Some(text("baton run start --at implementation --reason TEXT s1")),
        },
        Refusal::NotAPerson { by: Principal::typed("specification").unwrap() },
        Refusal::NotAnApprover {
            handoff: HO_2,
            by: person("dora"),
            approvers: text("`ana`, `ben`"),
            instead: text("one of them may pass the vote on with `baton delegate`"),
        },
        Refusal::OwnWork { handoff: HO_2, by: person("ana") },
        Refusal::UnnamedCaller { handoff: HO_2, by: person("local") },
        Refusal::AlreadyApproved { handoff: HO_2, by: person("ana"), before: person("ana") },
        Refusal::AlreadyApproved { handoff: HO_2, by: person("Ana"), before: person("ana") },
        Refusal::BadDelegate {
            handoff: HO_2,
            by: person("carl"),
            to: person("ana"),
            why: text("it came from them, and goes to no person twice"),
        },
        Refusal::NoVote { handoff: HO_2 },
        Refusal::PackageChanged {
            handoff: HO_4,
            expected: Hash([0xab; 32]),
            actual: Hash([0xcd; 32]).to_string(),
        },
        Refusal::QuestionOpen { handoff: HO_4 },
        Refusal::NotAQuestion { handoff: HO_3 },
        Refusal::CommentRequired { handoff: HandoffNo(6), answer: "answer" },
        Refusal::PackageRequired { handoff: HO_2 },
        Refusal::TooManyChecks { handoff: HO_3, n: 64 },
        Refusal::ChecksOpen { handoff: HO_4, checks: text("tests") },
        Refusal::NoChecks { handoff: HO_4 },
        Refusal::OutsideBranch {
            step: step("review-security"),
            hint: "it is a step of a branch, which `implement` fans out to, and which is not under way; go to \
                   `implement`, or to the join `review`"
                .to_owned(),
        },
    ]
}

fn clock() -> Vec<Refusal> {
    let at = |time: &str| time.parse().unwrap();
    vec![
        Refusal::NotDue { handoff: HO_1, due: Some(at("2026-01-31T10:30:00Z")) },
        Refusal::AlreadyStale { handoff: HO_1 },
        Refusal::StaleFence { handoff: HO_3, fence: 1, current: Some(3) },
        Refusal::FilesFull { handoff: HO_3, n_files: 50, n_bytes: 81_920 },
        Refusal::FenceRequired { handoff: HO_4 },
        Refusal::NoLease { handoff: HO_3 },
        Refusal::NotYet { handoff: HO_4, until: at("2026-01-31T10:30:01Z") },
        Refusal::NotHeldBack { handoff: HO_4 },
    ]
}

fn shared() -> Vec<Refusal> {
    let key = || ContextKey::parse("api-design").unwrap();
    let due = "2026-01-31T10:30:30Z".parse().unwrap();
    let (by, to) = (agent("architect"), agent("developer"));
    vec![
        Refusal::NoSuchDecision { decision: 9, n: 4 },
        Refusal::DecisionSuperseded { decision: 2 },
        Refusal::DecisionLocked { decision: 2 },
        Refusal::TooManyDecisions { n: 500 },
        Refusal::ContextChanged { key: key(), expected: 3, actual: 4, by: text("architect") },
        Refusal::ContextChanged { key: key(), expected: 0, actual: 4, by: text("architect") },
        Refusal::ContextChanged { key: key(), expected: 3, actual: 0, by: text("") },
        Refusal::ContextFull { n_bytes: 212_300, n_documents: 14 },
        Refusal::AskCycle {
            by: by.clone(),
            to: to.clone(),
            path: text("`developer` waits for `architect`"),
        },
        Refusal::TooManyAsks { n: 50 },
        Refusal::NoOpenAsk { ask: 3, n: 3 },
        Refusal::NotAsked { ask: 1, to: by, by: to },
        Refusal::AskNotDue { ask: 1, due },
    ]
}

fn names() -> Vec<EngineError> {
    let too_long = Problem::new("title", "too_long", "has 612 bytes; the most is 500");
    vec![
        EngineError::NoSuchHandoff { which: text("2000") },
        EngineError::NoSuchRun { which: text("2000") },
        EngineError::StoryWithoutRun { key: story("login") },
        EngineError::NoSuchStory { key: story("v0.1:1.1.1"), near: Some(story("v0.1:1.1.2")) },
        EngineError::AmbiguousName {
            name: text("2"),
            what: text("run 2 (of story `1`) and story `2`"),
            spellings: text("`run:2` or `story:2`"),
        },
        EngineError::NoServer,
        EngineError::WhichRun { label: text("HO-002"), candidates: vec![(text("1"), 3)] },
        EngineError::BadName(StoryKey::typed("lo\u{fe0f}gin").unwrap_err()),
        EngineError::BadName(StoryKey::typed("run:2").unwrap_err()),
        EngineError::StoryTooLarge { key: story("v0.1:1.1.1"), problems: vec![too_long] },
        EngineError::NoSuchWorkflow {
            name: WorkflowName::parse("storypipeline").unwrap(),
            known: text("did you mean `story-pipeline`?"),
        },
        EngineError::NoSuchMode {
            workflow: WorkflowName::parse("story-pipeline").unwrap(),
            mode: Mode::Supervised,
            known: text("autonomous"),
        },
        EngineError::WorkflowUnclear { known: text("hotfix, story-pipeline"), why: None },
    ]
}

fn engine() -> Vec<EngineError> {
    vec![
        EngineError::AlreadyOpen { story: story("login"), number: 7 },
        EngineError::DependsOnOthers { story: story("checkout"), open: vec![story("login")] },
        EngineError::RunOpen { number: 7 },
        EngineError::NoArchive,
        EngineError::NothingReady { why: text("there is none; `baton story add` makes one") },
        EngineError::NothingReady { why: text("every story is under way, finished or cancelled") },
        EngineError::BadDocument {
            why: text(
                "its status `success|failure|blocked` is none of success, failure, blocked, needs_review, needs_clarification, skipped",
            ),
        },
        EngineError::RunUnknown { candidates: text("1 (login), 2 (v0.1:1.1.1)") },
        EngineError::SenderUnknown,
        EngineError::NothingAtHand { number: 3, status: RunStatus::Open },
        EngineError::NothingAtHand { number: 3, status: RunStatus::Completed },
        EngineError::NoPrompt { handoff: HO_3, number: 13, to: agent("human") },
        EngineError::UnknownVariable {
            agent: agent("on-call"),
            unknown: text("`{{TICKET}}`"),
            known: text("DASHBOARD_URL, STORY_ID, BRANCH, HANDOFF_ID, ..."),
        },
        EngineError::Outdated { expected: vec![Version(12)], actual: Version(14) },
        EngineError::KeyReused,
        EngineError::OtherAttempt {
            agent: agent("implementer"),
            handoff: Some(HO_2),
            command: "accept",
        },
        EngineError::Contended,
        EngineError::Closing,
    ]
}

fn store() -> Vec<EngineError> {
    let cause = || std::io::Error::other("a cause that is only logged").into();
    let replaced = WriteFault::Replaced {
        what: text("`baton.db` was deleted while Baton had it open"),
        advice: text("restart Baton"),
    };
    vec![
        EngineError::Store(StoreError::Unavailable(cause())),
        EngineError::Store(StoreError::Unwritable(WriteFault::Failing)),
        EngineError::Store(StoreError::Unwritable(WriteFault::DiskFull)),
        EngineError::Store(StoreError::Unwritable(WriteFault::ReadOnly)),
        EngineError::Store(StoreError::Unwritable(replaced)),
        EngineError::Store(StoreError::Damaged { what: text("event 12 has another hash") }),
        EngineError::Store(StoreError::Nul),
    ]
}

fn documents() -> Vec<(Format, Vec<u8>)> {
    let deep = format!("{}1{}", "<a>".repeat(80), "</a>".repeat(80));
    let metadata = "# Done\n\n## Metadata\n\n```json\n{\"status\": ...}\n```\n";
    vec![
        (Format::Yaml, b"status: success\nsummary: done\nstatus: failure\n".to_vec()),
        (Format::Yaml, b"summary: done\nname: caf\xe9\n".to_vec()),
        (Format::Yaml, b"summary: \0\n".to_vec()),
        (Format::Yaml, "x".repeat(2 << 20).into_bytes()),
        (Format::Xml, deep.into_bytes()),
        (Format::Xml, b"<handoff><summary>a & b</summary></handoff>".to_vec()),
        (Format::Xml, b"<!DOCTYPE handoff><handoff/>".to_vec()),
        (Format::Xml, b"<handoff><n baton-type=\"number\">x</n></handoff>".to_vec()),
        (Format::Yaml, b"a: b: c\n".to_vec()),
        (Format::Yaml, b"a: &name b\n".to_vec()),
        (Format::Markdown, b"# Done\n\nAll tests pass.\n".to_vec()),
        (Format::Markdown, metadata.as_bytes().to_vec()),
    ]
}

fn json_texts() -> Vec<String> {
    vec![
        text("{\n  \"approved\": true,\n  \"approved\": false\n}"),
        text("{\"text\": \"\\ud83d\"}"),
        text("{\"text\": \"a\\u0000\"}"),
        text("{\n  \"plan\": [],\n}"),
        "[".repeat(80),
        " ".repeat(3 << 20),
    ]
}
