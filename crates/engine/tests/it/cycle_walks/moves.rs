//! What an agent does next, so that the work goes round for as long as the rules let it.

use baton_core::command::{Accept, Command, Complete, Create, Record, Reject, Way};
use baton_core::contract::Profile;
use baton_core::evidence::Verdict;
use baton_core::gate::GateKind;
use baton_core::names::{AgentId, CheckName};
use baton_core::outcome::Outcome;
use baton_core::package::Package;
use baton_core::run::{Baton, Handoff, Run, State};
use baton_core::workflow::{Edge, Place, Target, Workflow};

use super::workflows::{AGENTS, CHECK};
use crate::gate_walks::dice::Dice;
use crate::world::{agent, package, reason};

pub(super) fn start(workflow: &Workflow) -> Create {
    let first = Workflow::target_place(&workflow.start.to);
    let to = workflow.agents_at(&first)[0].clone();
    create(AgentId::orchestrator(), to, package("{}"))
}

/// None where the run has ended, or waits for a person and nobody else.
pub(super) fn draw(dice: &mut Dice, workflow: &Workflow, run: &Run) -> Option<Command> {
    if run.is_finished() {
        return None;
    }
    let blocking = |branch: u16| {
        run.gates().find(|(row, gate)| row.branch == branch && gate.kind != GateKind::Advisory)
    };
    // A branch that waits for a person does not keep the others from moving.
    let waits = |it: &u16| blocking(*it).is_some_and(|(_, gate)| gate.kind == GateKind::Blocking);
    let movable: Vec<u16> = run.branches.iter().map(|it| it.no).filter(|it| !waits(it)).collect();
    let branch = match movable[..] {
        [only] => only,
        _ => *dice.one_of(&movable)?,
    };
    if let Some((row, _)) = blocking(branch) {
        // Another system's checks open such a gate: no person has to.
        let (handoff, check) = (row.no, CheckName::parse(CHECK).unwrap());
        let record = Record { handoff, check, verdict: Verdict::Passed, detail: None };
        return Some(Command::Record(record));
    }
    match (run.baton_in(branch), run.current_in(branch)) {
        (Baton::Loose { .. }, _) => Some(take_up(dice, workflow)),
        (_, Some(current)) => Some(act(dice, workflow, run, current)),
        (_, None) => None,
    }
}

/// Along any edge, by the agent of its step.
pub(super) fn take_up(dice: &mut Dice, workflow: &Workflow) -> Command {
    let edges: Vec<(Place, &Edge)> =
        workflow.edges().filter(|(place, _)| *place != Place::Orchestrator).collect();
    let (place, edge) = dice.one_of(&edges).unwrap();
    let from = one_at(dice, workflow, place);
    let to = one_along(dice, workflow, edge);
    Command::Create(Create { outcome: Some(edge.on), ..create(from, to, parcel(dice)) })
}

fn act(dice: &mut Dice, workflow: &Workflow, run: &Run, current: &Handoff) -> Command {
    let handoff = current.no;
    let is_pending = current.state == State::Pending;
    match dice.below(100) {
        0..15 if is_pending => {
            Command::Accept(Accept { handoff, by: None, acknowledgement: None, lease: None })
        }
        15..18 if is_pending => {
            let by = Some(current.from.agent.clone());
            Command::Cancel { handoff, by, reason: None }
        }
        18..22 if is_pending => {
            // The same sender thinks of another receiver.
            let edges = workflow.edges_from(&current.from.place);
            let edge = edges.get(dice.below(edges.len()));
            let to = edge.map(|it| one_along(dice, workflow, it));
            let to = to.unwrap_or_else(AgentId::orchestrator);
            // To say it better to the same one is no new handoff of the work.
            let supersedes = Some(handoff).filter(|_| to != current.to.agent);
            let from = current.from.agent.clone();
            Command::Create(Create { supersedes, ..create(from, to, parcel(dice)) })
        }
        22..32 => {
            Command::Reject(Reject { handoff, by: None, reason: reason("not so"), fence: None })
        }
        32..42 if run.frames_in(current.branch).count() < 2 => {
            let to = agent(AGENTS[dice.below(AGENTS.len())]);
            let part = create(current.to.agent.clone(), to, parcel(dice));
            Command::Create(Create { way: Some(Way::Delegation), ..part })
        }
        42..45 => finish(dice, current, Outcome::Failure, Some(AgentId::orchestrator())),
        45..70 => along(dice, workflow, current, Outcome::Failure),
        70..73 => along(dice, workflow, current, Outcome::Blocked),
        73..75 => along(dice, workflow, current, Outcome::Skipped),
        75..76 => along(dice, workflow, current, Outcome::NeedsClarification),
        _ => along(dice, workflow, current, Outcome::Success),
    }
}

/// To any receiver that the outcome leads to; more often not to the end.
pub(super) fn along(
    dice: &mut Dice,
    workflow: &Workflow,
    current: &Handoff,
    outcome: Outcome,
) -> Command {
    let edges: Vec<&Edge> =
        workflow.edges_from(&current.to.place).iter().filter(|it| it.on == outcome).collect();
    let mut edge = edges.get(dice.below(edges.len()));
    if edge.is_some_and(|it| it.to == Target::Complete) && dice.chance(60) {
        edge = edges.last();
    }
    let to = edge.map(|it| one_along(dice, workflow, it));
    finish(dice, current, outcome, to)
}

fn finish(dice: &mut Dice, current: &Handoff, outcome: Outcome, to: Option<AgentId>) -> Command {
    Command::Complete(Complete {
        handoff: current.no,
        by: None,
        outcome,
        package: parcel(dice),
        to: to.map(Into::into),
        reason: None,
        fence: None,
        profile: Profile::Lenient,
    })
}

/// A review that nearly always finds something new.
pub(super) fn parcel(dice: &mut Dice) -> Package {
    let line = if dice.chance(25) { 0 } else { dice.below(1_000_000) };
    package(&format!(r#"{{"findings": [{{"location": "a:{line}", "severity": "high"}}]}}"#))
}

pub(super) fn create(from: AgentId, to: AgentId, package: Package) -> Create {
    Create {
        from,
        to,
        package,
        outcome: None,
        reason: None,
        supersedes: None,
        hands_on: None,
        way: None,
        token: None,
        profile: Profile::Lenient,
    }
}

fn one_along(dice: &mut Dice, workflow: &Workflow, edge: &Edge) -> AgentId {
    let agents = workflow.agents_along(edge);
    agents[dice.below(agents.len())].clone()
}

fn one_at(dice: &mut Dice, workflow: &Workflow, place: &Place) -> AgentId {
    let agents = workflow.agents_at(place);
    agents[dice.below(agents.len())].clone()
}
