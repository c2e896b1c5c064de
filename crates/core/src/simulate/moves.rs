//! What happens next in a simulated run: drawn, or read from a script.

use super::dice::Dice;
use super::{ScriptedMove, ScriptedOutcome, SimulatedWalk, Simulation, create};
use crate::approval::GateApproval;
use crate::canonical;
use crate::command::{Command, Complete, GateAnswer, Record, Reject};
use crate::contract::{Contract, Profile};
use crate::document::{Node, Number};
use crate::evidence::{Evidence, Verdict};
use crate::gate::{AnswerKind, Gate, GateKind};
use crate::lint::{Facts, Parties};
use crate::names::{AgentId, CheckName, FreeText, Principal, Reason};
use crate::outcome::Outcome;
use crate::package::{Format, Package};
use crate::run::{Baton, Handoff, State, Wait};
use crate::skeleton::{self, PackageRules};
use crate::workflow::{Edge, Step, Target, Workflow};

/// Of a hundred gates, those that the person leaves unanswered, and those at which they end the run.
const LEFT_ALONE: usize = 4;
const ENDED: usize = 6;
/// Of a hundred packages that say how sure their sender is, those that say too little.
const UNSURE: usize = 10;
/// Of a hundred checks, those that fail, and those that no runner runs.
const FAILED: usize = 15;
const NEVER_RUN: usize = 3;
/// Of a hundred results that an automatic gate waits for, those before which a person answers.
const ANSWERED_FIRST: usize = 25;

/// A command, and how the path tells it.
type Drawn = (Command, String);

/// `None` where the run waits for a person who does not answer.
pub(super) fn draw(dice: &mut Dice, walk: &SimulatedWalk<'_>) -> Option<Drawn> {
    // Any branch may be the next to move; without a fan-out there is one.
    let branches: Vec<u16> = walk.run.branches.iter().map(|it| it.no).collect();
    let branch = match branches[..] {
        [only] => only,
        _ => *dice.one_of(&branches)?,
    };
    let is_own = |row: &Handoff| row.branch == branch;
    let is_blocking = |gate: &Gate| gate.kind != GateKind::Advisory;
    let mut gates = walk.run.gates().filter(|(row, gate)| is_own(row) && is_blocking(gate));
    if let Some((row, gate)) = gates.next() {
        return evidence(dice, walk, row, gate).or_else(|| answer(dice, walk, row, gate));
    }
    match (walk.run.baton_in(branch), walk.run.current_in(branch)) {
        (Baton::Loose { .. }, _) => Some(hand_in_again(walk)),
        (Baton::Parked { on: Wait::Checks, .. }, Some(waiting)) => check(dice, waiting),
        (_, Some(current)) => {
            let asked = current.question.and_then(|it| walk.run.handoff(it));
            Some(match asked {
                Some(question) => reply(question),
                None => work(dice, walk, current),
            })
        }
        (_, None) => None,
    }
}

/// A check of parked work passes or fails; sometimes no runner comes.
fn check(dice: &mut Dice, waiting: &Handoff) -> Option<Drawn> {
    if dice.below(100) < NEVER_RUN {
        let line = "no runner came".to_owned();
        return Some((Command::Wake { handoff: waiting.no }, line));
    }
    let verdict = match dice.below(100) < FAILED {
        true => Verdict::Failed,
        false => Verdict::Passed,
    };
    next_check(waiting).map(|it| record(waiting, it, verdict))
}

/// The first check of parked work whose result is not known yet.
fn next_check(waiting: &Handoff) -> Option<&CheckName> {
    not_seen(&waiting.checks.as_ref()?.checks, &waiting.evidence)
}

fn not_seen<'a>(checks: &'a [CheckName], evidence: &[Evidence]) -> Option<&'a CheckName> {
    checks.iter().find(|it| !evidence.iter().any(|seen| seen.check == **it))
}

/// What an automatic gate waits for comes in, while no person has answered.
fn evidence(
    dice: &mut Dice,
    walk: &SimulatedWalk<'_>,
    row: &Handoff,
    gate: &Gate,
) -> Option<Drawn> {
    let declared = gate.edge_in(walk.simulation.workflow)?.gate.as_ref()?;
    let check = not_seen(&declared.checks, &gate.evidence)?;
    let is_late = gate.kind != GateKind::Automatic || dice.below(100) < ANSWERED_FIRST;
    (!is_late).then(|| record(row, check, Verdict::Passed))
}

fn record(waiting: &Handoff, check: &CheckName, verdict: Verdict) -> Drawn {
    let line = format!("{check} {}", verdict.name());
    let (handoff, check) = (waiting.no, check.clone());
    (Command::Record(Record { handoff, check, verdict, detail: None }), line)
}

/// For a script: the next check of any work that waits for one passes.
pub(super) fn pass_checks(walk: &SimulatedWalk<'_>) -> Option<Drawn> {
    let waits = |it: &&Handoff| it.checks.is_some();
    let waiting = walk.run.handoffs.iter().find(waits)?;
    next_check(waiting).map(|it| record(waiting, it, Verdict::Passed))
}

fn answer(dice: &mut Dice, walk: &SimulatedWalk<'_>, row: &Handoff, gate: &Gate) -> Option<Drawn> {
    let draw = dice.below(100);
    if draw < LEFT_ALONE {
        return None;
    }
    let choices: Vec<AnswerKind> = gate
        .choices()
        .iter()
        .filter_map(|it| AnswerKind::from_name(it))
        .filter(|it| match it {
            AnswerKind::Abort => draw < LEFT_ALONE + ENDED,
            AnswerKind::Question | AnswerKind::Modify => false,
            AnswerKind::Approve
            | AnswerKind::Reject
            | AnswerKind::Reply
            | AnswerKind::Continue
            | AnswerKind::Accept
            | AnswerKind::HandTo => draw >= LEFT_ALONE + ENDED,
        })
        .collect();
    let choice = *dice.one_of(&choices)?;
    let to = dice.one_of(&walk.simulation.workflow.agents_at(&gate.worker.place)).cloned();
    said(row, choice, to.or_else(|| Some(gate.worker.agent.clone())))
}

fn said(row: &Handoff, choice: AnswerKind, to: Option<AgentId>) -> Option<Drawn> {
    let answer = choice.answer(to)?;
    let line = format!("human {}", answer.name());
    let comment = FreeText::parse("a person's word").ok();
    let by = answering(row)?;
    let given = GateAnswer { handoff: row.no, answer, by, comment, package: None };
    Some((Command::Answer(given), line))
}

/// A person whose answer the gate takes: one who has not approved yet.
fn answering(row: &Handoff) -> Option<Principal> {
    let asked = row.gate.as_ref().and_then(|it| it.approval.as_ref());
    let named = asked.and_then(|it| it.open().next()).cloned();
    named.or_else(|| match asked.map_or(0, GateApproval::n_given) {
        0 => Principal::parse("a person").ok(),
        n => Principal::parse(&format!("person {}", n + 1)).ok(),
    })
}

/// The orchestrator offers a loose baton again, as an operator would.
fn hand_in_again(walk: &SimulatedWalk<'_>) -> Drawn {
    let to = walk.run.restarts_with(walk.simulation.workflow);
    let to = to.unwrap_or_else(AgentId::orchestrator);
    let package = package(Node::map([]));
    (Command::Create(create(AgentId::orchestrator(), to, package)), "orchestrator again".to_owned())
}

fn reply(question: &Handoff) -> Drawn {
    let line = format!("{} answers", question.to.agent);
    let answer = FreeText::parse("the answer").ok();
    let command = answer.map(|answer| {
        Command::Reply(crate::command::Reply {
            handoff: question.no,
            by: None,
            answer,
            fence: None,
        })
    });
    (command.unwrap_or(Command::Resume), line)
}

/// An agent ends its work in one way or another.
fn work(dice: &mut Dice, walk: &SimulatedWalk<'_>, current: &Handoff) -> Drawn {
    let step = step_of(walk, current);
    let outcome = match dice.below(100) {
        0..66 => Outcome::Success,
        66..80 => Outcome::Failure,
        80..87 => Outcome::Blocked,
        87..91 => Outcome::NeedsReview,
        91..94 => Outcome::NeedsClarification,
        94..97 if step.is_some_and(|it| it.is_optional) => Outcome::Skipped,
        94..97 => Outcome::Success,
        _ => return reject(current),
    };
    let edges: Vec<&Edge> = step.map_or_else(Vec::new, |it| it.edges_on(outcome).collect());
    let workflow = walk.simulation.workflow;
    let to =
        dice.one_of(&edges).and_then(|edge| dice.one_of(&workflow.agents_along(edge)).cloned());
    let document = document(dice, walk, current, outcome, to.as_ref());
    ended(current, outcome, to, package(document))
}

fn step_of<'a>(walk: &SimulatedWalk<'a>, current: &Handoff) -> Option<&'a Step> {
    let place = match frame_caller(walk, current) {
        // A return to the caller: its own step goes on.
        Some(caller) if current.to == caller.to => &caller.to.place,
        _ => &current.to.place,
    };
    place.as_step().and_then(|it| walk.simulation.workflow.step(it))
}

fn frame_caller<'a>(walk: &'a SimulatedWalk<'_>, current: &Handoff) -> Option<&'a Handoff> {
    walk.run.caller_of(current)
}

fn reject(current: &Handoff) -> Drawn {
    let line = format!("{} reject", current.to.place);
    let reason = Reason::shortened("not so");
    let command = reason.map(|reason| {
        Command::Reject(Reject { handoff: current.no, by: None, reason, fence: None })
    });
    (command.unwrap_or(Command::Resume), line)
}

fn ended(current: &Handoff, outcome: Outcome, to: Option<AgentId>, package: Package) -> Drawn {
    let line = format!("{} {}", current.to.place, outcome.name());
    let complete = Complete {
        handoff: current.no,
        by: None,
        outcome,
        package,
        to: to.map(Into::into),
        reason: None,
        fence: None,
        profile: Profile::Lenient,
    };
    (Command::Complete(complete), line)
}

/// A package that the way takes: samples of what its contract asks for, and by chance a blocker's
/// reason, a finding, or doubt.
fn document(
    dice: &mut Dice,
    walk: &SimulatedWalk<'_>,
    current: &Handoff,
    outcome: Outcome,
    to: Option<&AgentId>,
) -> Node {
    let workflow = walk.simulation.workflow;
    let edges = workflow.edges_from(&current.to.place).iter();
    let leads = |edge: &&Edge| {
        let agents = workflow.agents_along(edge);
        edge.on == outcome && to.is_none_or(|it| agents.contains(it))
    };
    let as_success = matches!(outcome, Outcome::NeedsReview | Outcome::Skipped);
    let edge = edges
        .clone()
        .find(leads)
        .or_else(|| edges.clone().find(|it| as_success && it.on == Outcome::Success));
    let contract = edge.and_then(|it| workflow.contract(it.contract.as_ref()?));
    let mut document = sample(walk.simulation, contract, Some(outcome));
    name_phases(&mut document, workflow, current, edge);
    match outcome {
        Outcome::Failure => add(&mut document, "findings", finding(dice)),
        Outcome::Blocked => {
            let reasons: Vec<&str> =
                workflow.routing.rows.iter().map(|it| it.reason.as_str()).collect();
            let reason = dice.one_of(&reasons).copied().unwrap_or("unknown");
            add(&mut document, "blocked_reason", Node::text(reason));
        }
        Outcome::Success
        | Outcome::NeedsReview
        | Outcome::NeedsClarification
        | Outcome::Skipped
        | Outcome::Unknown => {}
    }
    if let Some(threshold) = edge.and_then(|it| it.threshold.as_ref()) {
        let is_sure = dice.below(100) >= UNSURE;
        let number = if is_sure { Some(threshold.below.clone()) } else { Number::parse("-1") };
        add(&mut document, &threshold.field, number.map_or(Node::Null, Node::Number));
    }
    document
}

/// Where the package names its own phase and the next one, they are those of the workflow.
fn name_phases(document: &mut Node, workflow: &Workflow, current: &Handoff, edge: Option<&Edge>) {
    const NEXT: &str = "handoff.next_phase";
    let step = current.to.place.as_step().and_then(|it| workflow.step(it));
    if let (Some(_), Some(step)) = (document.at("phase"), step) {
        add(document, "phase", Node::text(&step.phase));
    }
    if let (Some(_), Some(edge)) = (document.at(NEXT), edge) {
        let next = match &edge.to {
            Target::Step(id) => id.as_str(),
            Target::Complete => "complete",
        };
        add(document, NEXT, Node::text(next));
    }
}

/// Nearly always another one: the same twice in a row asks a person.
fn finding(dice: &mut Dice) -> Node {
    let location = Node::text(format!("file:{}", dice.below(10_000)));
    Node::List(vec![Node::map([("location", location), ("severity", Node::text("high"))])])
}

/// Puts a member at a path of keys, in the place of the one that is there.
fn add(document: &mut Node, path: &str, value: Node) {
    let (key, rest) = path.split_once('.').map_or((path, None), |(key, rest)| (key, Some(rest)));
    let Node::Map(members) = document else { return };
    let index = members.iter().position(|(it, _)| it == key).unwrap_or_else(|| {
        members.push((key.to_owned(), Node::Map(Vec::new())));
        members.len() - 1
    });
    match rest {
        Some(rest) => add(&mut members[index].1, rest, value),
        None => members[index].1 = value,
    }
}

fn sample(
    simulation: &Simulation<'_>,
    contract: Option<&Contract>,
    outcome: Option<Outcome>,
) -> Node {
    let facts = Facts { parties: Parties::Known, ..Facts::default() };
    let rules = PackageRules {
        contract,
        facts: &facts,
        settings: simulation.lint,
        profile: Profile::Lenient,
        min_score: None,
        outcome,
    };
    skeleton::sample_of(&rules)
}

fn package(document: Node) -> Package {
    Package::new(Format::Json, canonical::text(&document), document)
}

/// What the orchestrator hands in: what the start's contract asks for.
pub(super) fn start_package(simulation: &Simulation<'_>) -> Package {
    let contract = simulation.workflow.start.contract.as_ref();
    let contract = contract.and_then(|it| simulation.workflow.contract(it));
    let mut document = sample(simulation, contract, None);
    add(&mut document, "story_id", Node::text("simulated"));
    package(document)
}

fn is_at(handoff: &Handoff, at: &str) -> bool {
    handoff.to.place.to_string() == at || handoff.to.agent.as_str() == at
}

/// What a line of a script does at the place where the run is, or why it cannot.
pub(super) fn scripted(walk: &SimulatedWalk<'_>, line: &ScriptedMove) -> Result<Drawn, String> {
    // Where several branches are under way, the line is for the one that is at its place.
    let is_there =
        |it: &&crate::run::Branch| walk.run.current_in(it.no).is_some_and(|it| is_at(it, &line.at));
    let branch = walk.run.branches.iter().find(is_there);
    let branch = branch.map_or_else(|| walk.run.first_branch(), |it| it.no);
    if let (ScriptedOutcome::Answers(word), Some((row, gate))) = (&line.what, walk.run.gate()) {
        let kind = AnswerKind::from_name(word).filter(|_| gate.choices().contains(&word.as_str()));
        let known = || format!("this gate takes {}", gate.choices().join(", "));
        let kind = kind.ok_or_else(known)?;
        let drawn = said(row, kind, line.to.clone());
        return drawn
            .ok_or_else(|| "`hand_to` needs an agent: `human: hand_to -> AGENT`".to_owned());
    }
    let Some(current) = walk.run.current_in(branch) else {
        return Ok(hand_in_again(walk));
    };
    if !is_at(current, &line.at) || current.gate.is_some() {
        let waits = walk.waits_for().unwrap_or_default();
        return Err(format!("this line is for `{}`, but {waits}", line.at));
    }
    if current.state == State::Clarification {
        return Ok(current
            .question
            .and_then(|it| walk.run.handoff(it))
            .map_or_else(|| reject(current), reply));
    }
    match &line.what {
        ScriptedOutcome::Rejects => Ok(reject(current)),
        ScriptedOutcome::Answers(word) => {
            Err(format!("`{word}` is an answer of a person, and no person is asked here"))
        }
        ScriptedOutcome::Ends(outcome) => {
            // The same samples every time; a script says what else there is to say.
            let mut dice = Dice::new(line.line as u64);
            let document = document(&mut dice, walk, current, *outcome, line.to.as_ref());
            Ok(ended(current, *outcome, line.to.clone(), package(document)))
        }
    }
}
