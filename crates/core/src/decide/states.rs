//! Runs in every state that a command may find them in: for the tables, and for the page that is
//! generated from them.

use super::approval_scenarios::{answers_as, asked};
use super::fixture::*;
use super::fork_scenarios::{fanned, forked, forked_in};
use crate::budget::Usage;
use crate::collaboration::{Collaboration, DecisionText, RecordDecision, SetContext};
use crate::command::{
    AskPermission, ClaimChecks, Command, DelegateVote, LeaseTime, RecordUsage, SendFile, Way,
};
use crate::evidence::Verdict;
use crate::gate::{Answer, GateKind};
use crate::names::{CheckName, ContextKey, Principal, StepId};
use crate::outcome::Outcome;
use crate::run::{Baton, HandoffNo, RunStatus, State};
use crate::sent_file::{FileBytes, HoldingEnd, SentFile, SentFileKind};
use crate::workflow::{EdgeGate, JoinNeed, Place};

/// A run, and the handoff under test.
pub(super) struct Stand {
    pub(super) name: &'static str,
    pub(super) tester: Tester,
    pub(super) no: u32,
}

pub(super) type MakeCommand = (&'static str, fn(&Tester, u32) -> Command);

/// Every command on one handoff.
pub(super) const ON_HANDOFF: [MakeCommand; 22] = [
    ("accept", |_, no| accept(no)),
    ("clarify", |_, no| clarify(no, "Which one?")),
    ("answer", |_, no| reply(no, "That one.")),
    ("reject", |_, no| reject(no, "no")),
    ("complete", |_, no| complete(no, Outcome::Success, nothing())),
    ("release", |_, no| release(no)),
    ("cancel", |_, no| cancel(no)),
    ("time_out", |_, no| time_out(no)),
    ("record", |_, no| record(no, "lint", Verdict::Passed)),
    ("lose_lease", |tester, no| lose(no, fence_of(tester, no))),
    ("wake", |_, no| Command::Wake { handoff: HandoffNo(no) }),
    ("expire", |_, no| Command::Expire { handoff: HandoffNo(no) }),
    ("mark_stale", |_, no| Command::MarkStale { handoff: HandoffNo(no) }),
    ("continue", |_, no| answer_gate(no, Answer::Continue)),
    ("approve", |_, no| answer_gate(no, Answer::Approve)),
    ("delegate_vote", |_, no| delegate_vote(no)),
    ("remind", |_, no| Command::Remind { gate: HandoffNo(no) }),
    ("ask_permission", |tester, no| ask_permission(no, fence_of(tester, no))),
    ("withdraw_permission", |_, no| Command::WithdrawPermission { gate: HandoffNo(no) }),
    ("record_usage", |tester, no| record_usage(tester, no)),
    ("send_file", |tester, no| send_file(tester, no)),
    ("claim_checks", |_, no| claim_checks(no)),
];

pub(super) type MakeRunCommand = (&'static str, fn() -> Command);

/// Every command on a run as a whole.
pub(super) const ON_RUN: [MakeRunCommand; 14] = [
    ("clean_up", || Command::CleanUp { reason: None }),
    ("pause", || Command::Pause { reason: None }),
    ("resume", || Command::Resume),
    ("cancel_run", || Command::CancelRun { reason: None }),
    ("goto", || goto("analyze")),
    ("skip", skip),
    ("post", || Command::Post { by: None, words: words("Well done.") }),
    ("decide", || collaborate(Collaboration::Decide(decision()))),
    ("lock_decision", || {
        let (decision, by, reason) = (1, Principal::parse("grace").unwrap(), None);
        collaborate(Collaboration::LockDecision { decision, by, reason })
    }),
    ("set_context", || collaborate(Collaboration::SetContext(context()))),
    ("read_context", || {
        let (by, documents) = (agent("analyst"), Vec::new());
        collaborate(Collaboration::ReadContext { by, documents })
    }),
    ("ask", || {
        let (by, to) = (agent("implementer"), agent("analyst"));
        collaborate(Collaboration::Ask { by, to, question: words("Which one?") })
    }),
    ("reply_to_question", || {
        let (ask, by, answer) = (1, None, words("That one."));
        collaborate(Collaboration::Reply { ask, by, answer })
    }),
    ("lapse", || collaborate(Collaboration::Lapse { ask: 1 })),
];

/// The handoff goes from the analyst to the implementer, unless stated otherwise.
pub(super) fn stands() -> Vec<Stand> {
    let stand = |name, tester, no| Stand { name, tester, no };
    vec![
        stand("pending", in_state(State::Pending), 2),
        stand("held back", held_back(), 3),
        stand("clarification", in_state(State::Clarification), 2),
        stand("accepted", in_state(State::Accepted), 2),
        stand("leased", leased(), 2),
        stand("parked", in_state(State::Parked), 2),
        stand("delegation", in_state(State::Parked), 3),
        stand("return", returned(), 4),
        stand("question", in_state(State::Clarification), 3),
        stand("gate", gated(), 2),
        stand("approvers", approvers(), 3),
        stand("permission", permitted(), 3),
        stand("escalation", escalated(), 3),
        stand("advisory", advised(), 3),
        stand("automatic", checked(), 3),
        stand("checks", on_checks(), 3),
        stand("branch", branched(), 3),
        stand("last branch", in_last_branch(), 2),
        stand("finished", finished(), 2),
    ]
}

pub(super) fn batons() -> Vec<(&'static str, Tester)> {
    vec![
        ("offered", in_state(State::Pending)),
        ("asked", in_state(State::Clarification)),
        ("held", in_state(State::Accepted)),
        ("delegated", in_state(State::Parked)),
        ("held back", held_back()),
        ("parked", gated()),
        ("loose", loose()),
        ("branches", partly_arrived()),
        ("paused", paused()),
        ("completed", completed()),
        ("cancelled", cancelled()),
    ]
}

fn fence_of(tester: &Tester, no: u32) -> u32 {
    tester.run.handoff(HandoffNo(no)).map_or(0, |it| it.fence)
}

fn delegate_vote(no: u32) -> Command {
    let (by, to) = (Principal::parse("grace").unwrap(), Principal::parse("ben").unwrap());
    Command::DelegateVote(DelegateVote { gate: HandoffNo(no), by, to, comment: None })
}

fn ask_permission(no: u32, fence: u32) -> Command {
    let (handoff, question) = (HandoffNo(no), words("May I delete it?"));
    Command::AskPermission(AskPermission { handoff, fence, question })
}

fn record_usage(tester: &Tester, no: u32) -> Command {
    let open = tester.run.handoff(HandoffNo(no));
    let step = Place::Step(StepId::parse("implement").unwrap());
    Command::RecordUsage(RecordUsage {
        handoff: HandoffNo(no),
        fence: open.map_or(1, |it| it.fence),
        agent: open.map_or_else(|| agent("implementer"), |it| it.to.agent.clone()),
        place: open.map_or(step, |it| it.to.place.clone()),
        from: Place::Orchestrator,
        executor: None,
        usage: Usage { input_tokens: 1, ..Usage::default() },
    })
}

fn send_file(tester: &Tester, no: u32) -> Command {
    let open = tester.run.handoff(HandoffNo(no));
    let file = SentFile {
        kind: SentFileKind::Log,
        record: r#"{"name":"output.txt"}"#.into(),
        bytes: FileBytes::New { text: "hello".into(), n_bytes: 5 },
    };
    Command::SendFile(SendFile {
        handoff: HandoffNo(no),
        fence: open.map_or(1, |it| it.fence),
        end: HoldingEnd::Unknown,
        file,
    })
}

fn claim_checks(no: u32) -> Command {
    let can_run = vec![CheckName::parse("tests").unwrap()];
    Command::ClaimChecks(ClaimChecks { handoff: HandoffNo(no), lease: LeaseTime::USUAL, can_run })
}

fn collaborate(it: Collaboration) -> Command {
    Command::Collaborate(it)
}

fn decision() -> RecordDecision {
    RecordDecision {
        by: None,
        principal: Principal::parse("grace").unwrap(),
        text: DecisionText { decision: "SQLite".to_owned(), ..DecisionText::default() },
        supersedes: None,
        depends_on: Vec::new(),
    }
}

fn context() -> SetContext {
    SetContext {
        key: ContextKey::parse("api").unwrap(),
        expected: 0,
        text: reason("one endpoint"),
        by: None,
        principal: Principal::parse("grace").unwrap(),
    }
}

/// The gate before the review asks for two of three people; one has approved.
fn approvers() -> Tester {
    let mut tester = asked(2, &["grace", "ana", "carl"]);
    tester.does(&answers_as("ana", Answer::Approve));
    tester.wait(24 * 60);
    tester
}

/// The program of the implementer asks for permission, and waits.
fn permitted() -> Tester {
    let mut tester = in_state(State::Accepted);
    tester.does(&ask_permission(2, 1));
    tester
}

/// Three branches are under way; the second is offered.
fn branched() -> Tester {
    let mut tester = forked(JoinNeed::All);
    tester.accepts(2);
    tester.wait(31);
    tester
}

/// Of three branches, one has arrived at the join.
fn partly_arrived() -> Tester {
    let mut tester = forked(JoinNeed::All);
    tester.accepts(2);
    tester.completes(3, Outcome::Success, nothing());
    tester
}

/// The first branch is held at its last step, and the join needs it alone.
fn in_last_branch() -> Tester {
    let mut workflow = fanned(JoinNeed::All);
    workflow.steps[1].edges = vec![to("review")];
    workflow.steps.remove(2);
    let mut tester = forked_in(workflow);
    tester.accepts(2);
    tester.completes(3, Outcome::Success, nothing());
    tester.completes(4, Outcome::Success, nothing());
    tester.wait(31);
    tester
}

/// Accepted with a lease: the holder promised heartbeats.
fn leased() -> Tester {
    let mut tester = in_state(State::Pending);
    tester.does(&accept_with(2, 20));
    tester.wait(31);
    tester
}

/// Its holder's lease was lost, and it is not offered again yet.
fn held_back() -> Tester {
    let mut tester = leased();
    tester.does(&lose(2, 1));
    tester
}

/// The delegate has returned its part.
fn returned() -> Tester {
    let mut tester = in_state(State::Parked);
    tester.accepts(3);
    tester.completes(3, Outcome::Success, nothing());
    tester.wait(31);
    tester
}

fn escalated() -> Tester {
    let mut tester = in_state(State::Accepted);
    tester.does(&way(Way::Escalation, create("implementer", "human", nothing())));
    tester.wait(31);
    tester
}

/// The analyst's work met an advisory gate: `HO-003` informs a person, `HO-004` goes on.
pub(super) fn advised() -> Tester {
    let mut tester = in_state(State::Accepted);
    gate_on(&mut tester, GateKind::Advisory);
    tester.completes(2, Outcome::Success, nothing());
    tester.wait(31);
    tester
}

/// The implementer's work met a gate that waits for `lint`.
fn checked() -> Tester {
    let mut tester = in_state(State::Accepted);
    gate_on(&mut tester, GateKind::Automatic);
    tester.completes(2, Outcome::Success, nothing());
    tester.wait(31);
    tester
}

/// The implementer's work waits for a runner that runs `tests`.
fn on_checks() -> Tester {
    let mut tester = in_state(State::Accepted);
    let tests = CheckName::parse("tests").unwrap();
    let step = tester.workflow.steps.iter_mut().find(|it| it.id.as_str() == "implement").unwrap();
    step.edges[0].checks = vec![tests.clone()];
    tester.checks = vec![tests];
    tester.completes(2, Outcome::Success, nothing());
    tester.wait(31);
    tester
}

/// Puts a gate on the edge from the implementer to the reviewer.
pub(super) fn gate_on(tester: &mut Tester, kind: GateKind) {
    let checks = match kind {
        GateKind::Automatic => vec![CheckName::parse("lint").unwrap()],
        GateKind::Blocking | GateKind::Advisory => Vec::new(),
    };
    let gate = EdgeGate { checks, ..EdgeGate::plain(kind, "Before the review") };
    let step = tester.workflow.steps.iter_mut().find(|it| it.id.as_str() == "implement").unwrap();
    step.edges[0].gate = Some(gate);
}

pub(super) fn in_state(state: State) -> Tester {
    let mut tester = Tester::started();
    tester.accepts(1);
    tester.hands("analyst", "implementer", plan());
    match state {
        State::Pending => {}
        State::Accepted => {
            tester.accepts(2);
        }
        State::Clarification => {
            tester.does(&clarify(2, "Which database?"));
        }
        State::Parked => {
            tester.accepts(2);
            tester.hands("implementer", "helper", nothing());
        }
    }
    tester.wait(31);
    tester
}

/// `HO-002` asks a person.
pub(super) fn gated() -> Tester {
    let mut tester = Tester::started();
    tester.accepts(1);
    tester.completes(1, Outcome::Blocked, nothing());
    tester.wait(31);
    tester
}

pub(super) fn loose() -> Tester {
    let mut tester = in_state(State::Pending);
    tester.does(&cancel(2));
    tester
}

pub(super) fn finished() -> Tester {
    let mut tester = in_state(State::Accepted);
    tester.hands("implementer", "reviewer", nothing());
    tester
}

pub(super) fn paused() -> Tester {
    let mut tester = in_state(State::Pending);
    tester.does(&Command::Pause { reason: None });
    tester
}

pub(super) fn completed() -> Tester {
    let mut tester = finished();
    tester.hands("reviewer", "refactorer", nothing());
    tester.hands("refactorer", "documenter", nothing());
    tester.hands("documenter", "orchestrator", nothing());
    assert_eq!((tester.run.status, tester.run.baton()), (RunStatus::Completed, &Baton::Done));
    tester
}

pub(super) fn cancelled() -> Tester {
    let mut tester = in_state(State::Accepted);
    tester.does(&Command::CancelRun { reason: None });
    tester
}
