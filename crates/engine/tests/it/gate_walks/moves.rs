//! What a walker does next: any command, by anybody, mostly about what is open.

use baton_core::acknowledgement::Acknowledgement;
use baton_core::budget::Usage;
use baton_core::collaboration::{Collaboration, DecisionText, RecordDecision, SetContext};
use baton_core::command::{
    Accept, AskPermission, ClaimChecks, Clarify, Command, Complete, Create, DelegateVote,
    GateAnswer, LeaseTime, LoseLease, RanCheck, Receivers, Record, RecordUsage, Reject, Release,
    Reply, ReportChecks, Signal, Token, Way,
};
use baton_core::contract::Profile;
use baton_core::evidence::{CheckRun, Verdict};
use baton_core::gate::Answer;
use baton_core::names::{AgentId, CheckName, ContextKey, FreeText, Principal, StepId};
use baton_core::outcome::Outcome;
use baton_core::package::Package;
use baton_core::run::{Baton, Handoff, HandoffNo, Run};
use baton_core::workflow::{Place, Workflow};

use super::dice::Dice;
use super::workflows::AGENTS;
use crate::flows::Parcel;
use crate::world::{agent, package, reason};

/// Who makes every package.
pub(super) const AUTHOR: &str = "olga";

#[derive(Debug, Clone)]
pub(super) enum Move {
    /// A create, on the open run or for a new one.
    Begin(Box<Create>),
    On(Command),
    Wait(i64),
}

pub(super) fn draw(dice: &mut Dice, workflow: &Workflow, run: Option<&Run>) -> Move {
    let Some(run) = run.filter(|it| !it.is_finished()) else {
        // Half of the runs begin as they should, the others somewhere.
        let mut first = create(dice, workflow, None);
        if dice.chance(50) {
            first.from = AgentId::orchestrator();
            first.to = workflow.agents_at(&Workflow::target_place(&workflow.start.to))[0].clone();
            first.package = full();
        }
        return Move::Begin(Box::new(Create { supersedes: None, token: None, way: None, ..first }));
    };
    if dice.chance(3) {
        return Move::Wait([2, 400, 1500][dice.below(3)]);
    }
    let is_loose = matches!(run.baton(), Baton::Loose { .. });
    if dice.chance(if is_loose { 70 } else { 12 }) {
        return Move::Begin(Box::new(create(dice, workflow, Some(run))));
    }
    Move::On(command(dice, workflow, run))
}

fn command(dice: &mut Dice, workflow: &Workflow, run: &Run) -> Command {
    let open = run.handoffs.get(dice.below(run.handoffs.len()));
    let handoff = match open.filter(|_| dice.chance(95)) {
        Some(it) => it.no,
        None => HandoffNo(1 + dice.below(run.n_handoffs as usize + 1) as u32),
    };
    if let Some(checks) = open.and_then(|it| it.checks.as_ref()).filter(|_| dice.chance(70)) {
        return about_checks(dice, handoff, open.map_or(1, |it| it.fence), &checks.checks);
    }
    let asked = open.and_then(|it| it.gate.as_ref()?.approval.as_ref());
    if asked.is_some() && dice.chance(60) {
        return of_approver(dice, handoff);
    }
    let by = dice.chance(30).then(|| anybody(dice, workflow));
    let fence = fence(dice, open);
    let why = dice.chance(30).then(|| reason("because"));
    match dice.below(62) {
        0..12 => Command::Accept(Accept {
            handoff,
            by,
            acknowledgement: dice.chance(20).then(|| Acknowledgement::words("understood")),
            lease: dice.chance(25).then_some(LeaseTime::USUAL),
        }),
        12..26 => Command::Complete(Complete {
            handoff,
            by,
            outcome: outcome(dice),
            package: parcel(dice),
            to: dice.chance(30).then(|| receivers(dice, workflow)),
            reason: why,
            fence,
            profile: profile(dice),
        }),
        26..31 => Command::Reject(Reject { handoff, by, reason: reason("not so"), fence }),
        31..34 => Command::Cancel { handoff, by, reason: why },
        34..38 => Command::TimeOut { handoff, reason: why },
        38..40 => Command::CleanUp { reason: why },
        40..43 => Command::Record(Record {
            handoff,
            check: CheckName::parse(["lint", "types", "tests", "build"][dice.below(4)]).unwrap(),
            verdict: if dice.chance(85) { Verdict::Passed } else { Verdict::Failed },
            detail: None,
        }),
        43..48 => Command::Answer(GateAnswer {
            handoff,
            answer: answer(dice),
            by: person(dice),
            comment: dice.chance(60).then(|| FreeText::parse("so be it").unwrap()),
            package: dice.chance(50).then(full),
        }),
        48 => Command::Clarify(Clarify { handoff, by, question: words(), fence }),
        49 => Command::Reply(Reply { handoff, by, answer: words(), fence }),
        50 => Command::Release(Release { handoff, by, reason: why, fence }),
        51 => Command::Skip { reason: reason("skip it") },
        52 => Command::Signal(Signal::Passed),
        53 => Command::Signal(Signal::Merged { commit: None }),
        54 => Command::LoseLease(LoseLease::unheard(handoff, fence.unwrap_or(1))),
        55 => Command::Wake { handoff },
        56 | 57 => Command::Expire { handoff },
        58 => match dice.below(3) {
            0 => Command::Pause { reason: why },
            1 => Command::Resume,
            _ => Command::MarkStale { handoff },
        },
        59 => Command::CancelRun { reason: why },
        60 => beside_the_work(dice, handoff, open, by),
        _ => Command::Collaborate(shared(dice, workflow)),
    }
}

/// What moves nothing, or nothing but a vote.
fn beside_the_work(
    dice: &mut Dice,
    handoff: HandoffNo,
    open: Option<&Handoff>,
    by: Option<AgentId>,
) -> Command {
    match dice.below(6) {
        0 => {
            let (gate, by, to, comment) = (handoff, person(dice), person(dice), None);
            Command::DelegateVote(DelegateVote { gate, by, to, comment })
        }
        1 => Command::Remind { gate: handoff },
        2 => Command::RecordUsage(usage(dice, handoff, open)),
        3 => {
            let (fence, question) = (open.map_or(1, |it| it.fence), words());
            Command::AskPermission(AskPermission { handoff, fence, question })
        }
        4 => Command::WithdrawPermission { gate: handoff },
        _ => Command::Post { by, words: words() },
    }
}

/// What people do at a gate that counts their approvals.
fn of_approver(dice: &mut Dice, gate: HandoffNo) -> Command {
    let by = person(dice);
    if dice.chance(25) {
        let (to, comment) = (person(dice), None);
        return Command::DelegateVote(DelegateVote { gate, by, to, comment });
    }
    let (handoff, comment, package) = (gate, None, None);
    Command::Answer(GateAnswer { handoff, answer: Answer::Approve, by, comment, package })
}

/// Some of them are named as approvers, some look like those, and one makes every package.
fn person(dice: &mut Dice) -> Principal {
    const PEOPLE: [&str; 8] = ["uma", "vic", "wes", "Uma", "grace", "bob", "cyd", AUTHOR];
    Principal::parse(PEOPLE[dice.below(PEOPLE.len())]).unwrap()
}

fn usage(dice: &mut Dice, handoff: HandoffNo, open: Option<&Handoff>) -> RecordUsage {
    RecordUsage {
        handoff,
        fence: open.map_or(1, |it| it.fence),
        agent: open.map_or_else(AgentId::orchestrator, |it| it.to.agent.clone()),
        place: open.map_or(Place::Orchestrator, |it| it.to.place.clone()),
        from: open.map_or(Place::Orchestrator, |it| it.from.place.clone()),
        executor: None,
        usage: Usage { input_tokens: dice.below(1000) as u64, work_ms: 1, ..Usage::default() },
    }
}

/// What a run shares: decisions, documents, and questions between its agents.
fn shared(dice: &mut Dice, workflow: &Workflow) -> Collaboration {
    let principal = person(dice);
    let by = dice.chance(50).then(|| anybody(dice, workflow));
    let no = 1 + dice.below(3) as u32;
    match dice.below(7) {
        0 => Collaboration::Decide(RecordDecision {
            by,
            principal,
            text: DecisionText { decision: "this one".to_owned(), ..DecisionText::default() },
            supersedes: dice.chance(30).then_some(no),
            depends_on: Vec::new(),
        }),
        1 => Collaboration::LockDecision { decision: no, by: principal, reason: None },
        2 => {
            let (key, expected) = (ContextKey::parse("api").unwrap(), no - 1);
            Collaboration::SetContext(SetContext {
                key,
                expected,
                text: reason("so"),
                by,
                principal,
            })
        }
        3 => Collaboration::ReadContext { by: anybody(dice, workflow), documents: Vec::new() },
        4 => Collaboration::Ask {
            by: anybody(dice, workflow),
            to: anybody(dice, workflow),
            question: words(),
        },
        5 => Collaboration::Reply { ask: no, by, answer: words() },
        _ => Collaboration::Lapse { ask: no },
    }
}

/// One, or two at once, which are sometimes those of a fan-out.
fn receivers(dice: &mut Dice, workflow: &Workflow) -> Receivers {
    let n = if dice.chance(80) { 1 } else { 2 + dice.below(2) };
    let fan_outs = workflow.fan_outs();
    let of_fan_out = dice.one_of(&fan_outs).filter(|_| n > 1 && dice.chance(50));
    let first = |step: &StepId| workflow.agents_at(&Place::Step(step.clone()))[0].clone();
    let named: Vec<AgentId> = match of_fan_out {
        Some(fan_out) => fan_out.branches.iter().map(first).collect(),
        None => (0..n).map(|_| anybody(dice, workflow)).collect(),
    };
    Receivers::of(named).unwrap()
}

/// What a runner, and others, do with the checks of parked work.
fn about_checks(dice: &mut Dice, handoff: HandoffNo, fence: u32, checks: &[CheckName]) -> Command {
    let verdict = if dice.chance(95) { Verdict::Passed } else { Verdict::Failed };
    let check = dice.one_of(checks).cloned().unwrap();
    match dice.below(4) {
        0 | 1 => Command::Record(Record { handoff, check, verdict, detail: None }),
        2 => {
            let (lease, can_run) = (LeaseTime::USUAL, vec![CheckName::parse("lint").unwrap()]);
            Command::ClaimChecks(ClaimChecks { handoff, lease, can_run })
        }
        _ => Command::ReportChecks(ReportChecks { handoff, fence, results: vec![ran(dice)] }),
    }
}

fn ran(dice: &mut Dice) -> RanCheck {
    RanCheck {
        check: CheckName::parse("lint").unwrap(),
        verdict: if dice.chance(85) { Verdict::Passed } else { Verdict::Failed },
        detail: words(),
        ran: CheckRun { exit_code: Some(0), millis: 1, commit: None, tree: None },
    }
}

fn create(dice: &mut Dice, workflow: &Workflow, run: Option<&Run>) -> Create {
    let (from, to) = pair(dice, workflow);
    let open = run.and_then(|it| it.handoffs.get(dice.below(it.handoffs.len())));
    let supersedes = open.filter(|_| dice.chance(25));
    let from = match supersedes {
        Some(it) if dice.chance(80) => it.from.agent.clone(),
        Some(_) | None => from,
    };
    let way = [Way::Sequential, Way::Delegation, Way::Escalation, Way::Return];
    Create {
        from,
        to,
        package: parcel(dice),
        outcome: dice.chance(40).then(|| outcome(dice)),
        reason: dice.chance(30).then(|| reason("onward")),
        supersedes: supersedes.map(|it| it.no),
        hands_on: None,
        way: dice.chance(15).then(|| way[dice.below(4)]),
        token: open.filter(|_| dice.chance(5)).map(|it| Token { handoff: it.no, fence: it.fence }),
        profile: profile(dice),
    }
}

/// The agents at the ends of an edge, mostly: others are refused anyway.
fn pair(dice: &mut Dice, workflow: &Workflow) -> (AgentId, AgentId) {
    let edges: Vec<(Place, Place)> =
        workflow.edges().map(|(from, edge)| (from, Workflow::target_place(&edge.to))).collect();
    match dice.below(10) {
        0 => (anybody(dice, workflow), anybody(dice, workflow)),
        1 | 2 => (AgentId::orchestrator(), anybody(dice, workflow)),
        _ => {
            let (from, to) = &edges[dice.below(edges.len())];
            let one = |place: &Place, dice: &mut Dice| {
                let agents = workflow.agents_at(place);
                agents[dice.below(agents.len())].clone()
            };
            (one(from, dice), one(to, dice))
        }
    }
}

fn anybody(dice: &mut Dice, workflow: &Workflow) -> AgentId {
    match dice.below(12) {
        0 => AgentId::orchestrator(),
        1 => AgentId::human(),
        2 => agent(AGENTS[dice.below(AGENTS.len())]),
        _ => {
            let step = &workflow.steps[dice.below(workflow.steps.len())];
            step.agents[dice.below(step.agents.len())].clone()
        }
    }
}

fn fence(dice: &mut Dice, open: Option<&Handoff>) -> Option<u32> {
    let own = open.map(|it| it.fence);
    if dice.chance(90) { own.filter(|_| dice.chance(70)) } else { Some(dice.below(3) as u32) }
}

fn outcome(dice: &mut Dice) -> Outcome {
    if dice.chance(50) {
        return Outcome::Success;
    }
    Outcome::CLAIMABLE[dice.below(Outcome::CLAIMABLE.len())]
}

fn profile(dice: &mut Dice) -> Profile {
    if dice.chance(75) { Profile::Lenient } else { Profile::Strict }
}

fn answer(dice: &mut Dice) -> Answer {
    match dice.below(8) {
        0..4 => Answer::Approve,
        4 => Answer::Reject,
        5 => Answer::Question,
        6 => Answer::Modify,
        _ => Answer::Reply,
    }
}

fn words() -> FreeText {
    FreeText::parse("Which one?").unwrap()
}

fn full() -> Package {
    thread_local! {
        static FULL: Package = package(
            r#"{"story": "s", "plan": "p", "summary": "3 pages",
                "context": {"summary": "3 pages, 12 tests, 1 decision"}}"#,
        );
    }
    FULL.with(Clone::clone)
}

fn parcel(dice: &mut Dice) -> Package {
    match dice.below(10) {
        0 => package(&Parcel::Nothing.text(0)),
        1 => package(&Parcel::Error.text(1)),
        2 => package(&Parcel::Findings(&[1]).text(2)),
        3 => package(&Parcel::Gate.text(3)),
        _ => full(),
    }
}
