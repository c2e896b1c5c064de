//! Branches: work fans out to several steps, each branch goes its own way, and the join goes on once
//! enough of them have arrived.

use super::draft::Draft;
use super::gate::{open_gate_from, orchestrator};
use super::lease::lose_step;
use super::limit;
use super::offer::{AtOrchestrator, Offer, hand_over, offer};
use crate::canonical;
use crate::command::{Command, Create};
use crate::content::ContentId;
use crate::document::Node;
use crate::event::{BlockerEvent, BranchEvent, HandoffEvent, StepEntry};
use crate::names::{AgentId, Principal, StepId};
use crate::outcome::Outcome;
use crate::package::{Format, Package};
use crate::refusal::Refusal;
use crate::run::{
    Arrival, Baton, Branch, EdgeKey, Fork, Handoff, HandoffNo, Kind, Party, Run, State,
};
use crate::workflow::{FanOut, Place, Workflow};

/// The branch that a command is about.
pub(super) fn branch_of(run: &Run, workflow: &Workflow, command: &Command) -> u16 {
    if run.fork.is_none() {
        return run.first_branch();
    }
    let of_handoff = |no: HandoffNo| run.handoff(no).map(|it| it.branch);
    let named = match command {
        Command::Create(create) => Some(branch_of_create(run, workflow, create)),
        Command::Accept(it) => of_handoff(it.handoff),
        Command::Reject(it) => of_handoff(it.handoff),
        Command::Complete(it) => of_handoff(it.handoff),
        Command::Answer(it) => of_handoff(it.handoff),
        Command::DelegateVote(it) => of_handoff(it.gate),
        Command::Remind { gate } => of_handoff(*gate),
        Command::Clarify(it) => of_handoff(it.handoff),
        Command::Reply(it) => of_handoff(it.handoff),
        Command::Release(it) => of_handoff(it.handoff),
        Command::Record(it) => of_handoff(it.handoff),
        Command::ClaimChecks(it) => of_handoff(it.handoff),
        Command::ReportChecks(it) => of_handoff(it.handoff),
        Command::LoseLease(it) => of_handoff(it.handoff),
        Command::AskPermission(it) => of_handoff(it.handoff),
        Command::WithdrawPermission { gate } => of_handoff(*gate),
        Command::Cancel { handoff, .. }
        | Command::TimeOut { handoff, .. }
        | Command::MarkStale { handoff }
        | Command::Wake { handoff }
        | Command::Expire { handoff } => of_handoff(*handoff),
        Command::StartAt(start) => {
            let own = workflow.branch_of(&start.step).map(|(_, branch)| branch);
            own.filter(|it| run.branch(*it).is_some()).or_else(|| run.loose_branch())
        }
        Command::Reroute(it) => it.handoff.and_then(of_handoff).or_else(|| {
            let is_detour = |it: &&Branch| {
                run.current_in(it.no).is_some_and(|handoff| handoff.detour.is_some())
            };
            run.branches.iter().find(is_detour).map(|it| it.no)
        }),
        Command::Skip { .. } => {
            let is_optional = |it: &&Branch| {
                let place = run.current_place_in(it.no).and_then(Place::as_step);
                place.and_then(|it| workflow.step(it)).is_some_and(|it| it.is_optional)
            };
            run.branches.iter().find(is_optional).map(|it| it.no)
        }
        Command::CleanUp { .. }
        | Command::Signal(_)
        | Command::Post { .. }
        | Command::Collaborate(_)
        | Command::RecordUsage(_)
        | Command::SendFile(_)
        | Command::Pause { .. }
        | Command::Resume
        | Command::CancelRun { .. }
        | Command::Goto { .. } => None,
    };
    named.unwrap_or_else(|| run.first_branch())
}

/// The branch in which an agent hands off: where it has the work, best along an edge to the receiver
/// that it names; else where it may take up a loose baton.
fn branch_of_create(run: &Run, workflow: &Workflow, create: &Create) -> u16 {
    if let Some(handoff) = named_by(create).and_then(|it| run.handoff(it)) {
        return handoff.branch;
    }
    let mut best = (0, run.first_branch());
    for branch in &run.branches {
        let fit = fit(run, workflow, create, branch);
        if fit > best.0 {
            best = (fit, branch.no);
        }
    }
    best.1
}

fn named_by(create: &Create) -> Option<HandoffNo> {
    create.supersedes.or(create.token.map(|it| it.handoff)).or(create.hands_on)
}

/// From here on the agent has the work of the branch.
const HAS_THE_WORK: u8 = 7;

/// How well a branch fits the agent that hands off.
fn fit(run: &Run, workflow: &Workflow, create: &Create, branch: &Branch) -> u8 {
    let leads_on = |place: &Place| {
        let own = run.fork.as_ref().and_then(|it| it.first(branch.no));
        let is_source = run.fork.as_ref().is_some_and(|it| it.from.place == *place);
        match own.filter(|_| is_source) {
            Some(first) => workflow.agents_at(&Place::Step(first.clone())).contains(&create.to),
            None => {
                let edges = workflow.edges_from(place).iter();
                edges.into_iter().any(|it| workflow.agents_along(it).contains(&create.to))
            }
        }
    };
    match (&branch.baton, run.current_in(branch.no)) {
        (Baton::Held { .. }, Some(it)) if it.to.agent == create.from => {
            HAS_THE_WORK + if leads_on(&it.to.place) { 3 } else { 2 }
        }
        (Baton::Offered { .. } | Baton::Parked { .. }, Some(it))
            if it.to.agent == create.from && it.state == State::Pending =>
        {
            HAS_THE_WORK + u8::from(leads_on(&it.to.place))
        }
        (Baton::Offered { .. } | Baton::Parked { .. }, Some(it))
            if it.from.agent == create.from && it.to.agent == create.to =>
        {
            4
        }
        (Baton::Loose { at, other, .. }, _) => {
            let concerns = |agent: &AgentId| {
                [at, other].into_iter().any(|it| workflow.agents_at(it).contains(agent))
            };
            let is_again = create.from.is_orchestrator() && concerns(&create.to);
            let is_own = is_again || (!create.from.is_orchestrator() && concerns(&create.from));
            let leads = is_again || leads_on(at) || leads_on(other);
            match (is_own, leads) {
                (true, true) => 6,
                (true, false) => 5,
                (false, _) => 2,
            }
        }
        _ => {
            let frames = run.frames_in(branch.no);
            let mut callers = frames.filter_map(|it| run.handoff(it.caller));
            if callers.any(|it| it.to.agent == create.from) { 3 } else { 1 }
        }
    }
}

/// An agent that has the work of several branches says which of them it hands on, where the receiver
/// does not.
pub(super) fn check_sender(draft: &Draft<'_>, create: &Create) -> Result<(), Refusal> {
    let Some(fork) = &draft.run.fork else { return Ok(()) };
    if named_by(create).is_some() {
        return Ok(());
    }
    let fits = |it: &Branch| fit(&draft.run, draft.workflow(), create, it);
    let best = draft.run.branches.iter().map(fits).max().unwrap_or(0);
    let own = draft.run.branches.iter().filter(|it| best >= HAS_THE_WORK && fits(it) == best);
    let own: Vec<&Handoff> = own.filter_map(|it| draft.run.current_in(it.no)).collect();
    which_of_several(fork, &own, format!("`{}` has the work of several branches", create.from))
}

/// Refused where there is more than one.
pub fn which_of_several(fork: &Fork, own: &[&Handoff], what: String) -> Result<(), Refusal> {
    if own.len() < 2 {
        return Ok(());
    }
    let choice = |it: &&Handoff| (it.no, fork.first(it.branch).unwrap_or(&fork.join).clone());
    Err(Refusal::WhichHandoff { what, choices: own.iter().map(choice).collect() })
}

/// Invariant of every command: work of a branch is in that branch, or with the party that fanned it
/// out; no other work is in a branch.
pub(super) fn check_decision(draft: &Draft<'_>) -> Result<(), Refusal> {
    let is_work = |it: &&Handoff| it.kind != Kind::Question;
    for handoff in draft.run.handoffs.iter().filter(is_work) {
        check_place(draft, handoff.branch, &handoff.to.place)?;
    }
    Ok(())
}

/// Whether work of a branch may be at a place.
pub(super) fn is_in_reach(draft: &Draft<'_>, branch: u16, place: &Place) -> bool {
    let Some(step) = place.as_step() else { return true };
    let own = draft.workflow().branch_of(step);
    match (&draft.run.fork, own) {
        (None, None) => true,
        (None, Some(_)) => false,
        (Some(fork), None) => branch == 0 || fork.from.place == *place,
        (Some(fork), Some((fan_out, no))) => no == branch && fan_out.branches == fork.firsts,
    }
}

pub(super) fn check_place(draft: &Draft<'_>, branch: u16, place: &Place) -> Result<(), Refusal> {
    let Some(step) = place.as_step().filter(|_| !is_in_reach(draft, branch, place)) else {
        return Ok(());
    };
    Err(outside(draft, step))
}

fn outside(draft: &Draft<'_>, step: &StepId) -> Refusal {
    let workflow = draft.workflow();
    let sources = |fan_out: &FanOut| {
        let edges = workflow.edges().filter(|(_, it)| it.fan_out.as_ref() == Some(fan_out));
        let names: Vec<String> = edges.map(|(from, _)| format!("`{from}`")).collect();
        names.join(" or ")
    };
    let hint = match (workflow.branch_of(step), &draft.run.fork) {
        (Some((fan_out, _)), _) => format!(
            "it is a step of a branch, which {} fans out to, and which is not under way; go to {}, \
             or to the join `{}`",
            sources(fan_out),
            sources(fan_out),
            fan_out.join
        ),
        (None, Some(fork)) => {
            format!("the work is in a branch, and stays there until it joins at `{}`", fork.join)
        }
        (None, None) => "no branch is under way".to_owned(),
    };
    Refusal::OutsideBranch { step: step.clone(), hint }
}

/// The offer as its branch has it: the party whose work fanned out sends to the first step of the
/// branch in which it got the work back, and to no other.
pub(super) fn in_own_branch(draft: &Draft<'_>, it: Offer) -> Offer {
    let Some(fork) = draft.run.fork.as_ref().filter(|_| draft.branch != 0) else { return it };
    let is_first = it.to.place.as_step().is_some_and(|step| fork.firsts.contains(step));
    let Some(own) = fork.first(draft.branch).filter(|_| is_first) else { return it };
    if it.to.place.as_step() == Some(own) && agents_at(draft, own).contains(&it.to.agent) {
        return it;
    }
    let to = first_party(draft, own, &it);
    let forward = EdgeKey { from: it.forward.from.clone(), to: to.place.clone() };
    Offer { to, forward, ..it }
}

fn agents_at(draft: &Draft<'_>, step: &StepId) -> Vec<AgentId> {
    draft.workflow().agents_at(&Place::Step(step.clone()))
}

/// The receivers of a fan-out, in the order of its branches, where the sender names one of them.
pub(super) fn receivers(
    draft: &Draft<'_>,
    fan_out: &FanOut,
    sender: &Party,
    named: &AgentId,
) -> Vec<AgentId> {
    let first = Place::Step(fan_out.branches[0].clone());
    let to = Party { agent: named.clone(), place: first };
    let offer = Offer::new(sender.clone(), to, None);
    fan_out.branches.iter().map(|it| first_party(draft, it, &offer).agent).collect()
}

/// The receiver at the first step of a branch: the one that the sender named, else one of the
/// sender's domain, else the first.
fn first_party(draft: &Draft<'_>, step: &StepId, it: &Offer) -> Party {
    let place = Place::Step(step.clone());
    let agents = agents_at(draft, step);
    let fan_out = draft.workflow().branch_of(step).map(|(it, _)| it);
    let others = fan_out.into_iter().flat_map(|it| it.branches.iter().chain([&it.join]));
    let is_of_another =
        others.into_iter().any(|other| agents_at(draft, other).contains(&it.to.agent));
    let is_named = agents.contains(&it.to.agent) || (it.to.place == place && !is_of_another);
    let named = is_named.then(|| it.to.agent.clone());
    let alike = || draft.workflow().agent_like(&agents, &it.from.agent);
    let agent = named.or_else(alike).or_else(|| agents.first().cloned());
    Party { agent: agent.unwrap_or_else(AgentId::orchestrator), place }
}

/// The fan-out that an offer leads into.
pub(super) fn fan_out_of<'a>(draft: &Draft<'a>, it: &Offer) -> Option<&'a FanOut> {
    if draft.run.fork.is_some() {
        return None;
    }
    let step = it.to.place.as_step()?;
    let (fan_out, _) = draft.workflow().branch_of(step)?;
    fan_out.branches.contains(step).then_some(fan_out)
}

/// As [`offer`], where the receiver may be the first of several branches.
pub(super) fn send(draft: &mut Draft<'_>, it: Offer) -> HandoffNo {
    let it = in_own_branch(draft, it);
    match fan_out_of(draft, &it) {
        Some(fan_out) => fan_out_to(draft, it, fan_out),
        None => offer(draft, it),
    }
}

/// Hands the work to every branch, or opens the gate of a step that was entered too often.
pub(super) fn hand_to_branches(draft: &mut Draft<'_>, it: Offer, fan_out: &FanOut) -> HandoffNo {
    for first in &fan_out.branches {
        let to = first_party(draft, first, &it);
        let forward = EdgeKey { from: it.forward.from.clone(), to: to.place.clone() };
        let part = Offer { to, forward, ..it.clone() };
        if let Some(gate) = limit::gate_instead(draft, &part) {
            draft.done.warnings.extend(it.warnings);
            return open_gate_from(draft, it.from, gate, it.follows);
        }
    }
    fan_out_to(draft, it, fan_out)
}

/// Returns the first of the handoffs.
fn fan_out_to(draft: &mut Draft<'_>, it: Offer, fan_out: &FanOut) -> HandoffNo {
    let from = it.reject_to.as_ref().unwrap_or(&it.from).clone();
    let need = u16::try_from(fan_out.n_needed()).unwrap_or(u16::MAX);
    draft.emit(BranchEvent::Forked {
        from,
        firsts: fan_out.branches.clone(),
        join: fan_out.join.clone(),
        need,
        package: it.package,
        entry: it.entry,
    });
    let mut made = Vec::new();
    for (first, branch) in fan_out.branches.iter().zip(1..) {
        draft.branch = branch;
        let to = first_party(draft, first, &it);
        let forward = EdgeKey { from: it.forward.from.clone(), to: to.place.clone() };
        let part = Offer { kind: Kind::Sequential, to, forward, ..it.clone() };
        // Warnings are about the package: the caller is given them once.
        let part = match made.is_empty() {
            true => part,
            false => Offer { warnings: Vec::new(), told_warnings: it.warning_words(), ..part },
        };
        made.push(offer(draft, part));
    }
    draft.branch = 1;
    made[0]
}

/// Whether an offer brings the work of a branch to its join.
pub(super) fn is_arrival(draft: &Draft<'_>, it: &Offer) -> bool {
    let fork = draft.run.fork.as_ref().filter(|_| draft.branch != 0);
    fork.is_some_and(|fork| it.to.place.as_step() == Some(&fork.join))
}

/// The branch is at its end: the orchestrator keeps what it brings until enough have arrived.
pub(super) fn arrive(draft: &mut Draft<'_>, it: Offer) -> HandoffNo {
    let (branch, to) = (draft.branch, it.to.clone());
    let outcome = it.on.unwrap_or(Outcome::Success);
    let (from, package) = (it.from.clone(), it.package);
    let reason = match it.reason {
        Some(reason) => reason,
        None => draft.keep(&format!("The branch has come to the join, `{}`", to.place)),
    };
    let orchestrator = orchestrator();
    let by = orchestrator.agent.clone();
    let kept = Offer { to: orchestrator, reason: Some(reason), entry: None, ..it };
    let handoff = offer(draft, kept);
    draft.emit(HandoffEvent::Accepted {
        handoff,
        by,
        is_implicit: true,
        acknowledgement: None,
        holder: None,
    });
    draft.complete(handoff, Outcome::Success, None);
    // An advisory gate of the branch has nothing beside it any more.
    draft.end_advice();
    draft.emit(BranchEvent::Arrived { branch, handoff, from, outcome, package });
    if let Some(fork) = draft.run.fork.clone().filter(|it| it.is_enough()) {
        join(draft, &fork, to, handoff);
    }
    handoff
}

/// Enough branches have arrived: the others end, and the work goes on as one.
fn join(draft: &mut Draft<'_>, fork: &Fork, to: Party, follows: HandoffNo) {
    let left: Vec<u16> = draft.run.branches.iter().map(|it| it.no).collect();
    if !left.is_empty() {
        // Kept only where an event names it.
        let reason = draft.keep(&format!("The join, `{}`, goes on without it", fork.join));
        for branch in &left {
            cancel_branch(draft, fork, *branch, reason);
        }
    }
    let mut arrived: Vec<&Arrival> = fork.arrived.iter().collect();
    arrived.sort_by_key(|it| it.branch);
    let branches = arrived.iter().map(|it| it.branch).collect();
    draft.emit(BranchEvent::Joined { at: fork.join.clone(), branches });
    draft.branch = 0;
    let package = draft.keep_package(&joined_package(draft, fork, &arrived, &left));
    let brought = |it: &&Arrival| format!("{} ({})", it.from.place, it.outcome.name());
    let brought: Vec<String> = arrived.iter().map(brought).collect();
    let (n_arrived, n_branches) = (arrived.len(), fork.firsts.len());
    let words =
        format!("{n_arrived} of {n_branches} branches have arrived: {}", brought.join(", "));
    let forward = EdgeKey { from: fork.from.place.clone(), to: to.place.clone() };
    let joined = Offer {
        reason: Some(draft.keep(&words)),
        forward,
        reject_to: Some(fork.from.clone()).filter(|it| it.place != Place::Orchestrator),
        follows: Some(follows),
        entry: Some(StepEntry::Onward),
        ..Offer::new(orchestrator(), to, Some(package))
    };
    hand_over(draft, joined, AtOrchestrator::LiesLoose);
}

/// Ends a branch that has not arrived. Its holder's fence is dead from now on.
fn cancel_branch(draft: &mut Draft<'_>, fork: &Fork, branch: u16, reason: ContentId) {
    let is_own = |it: &&Handoff| it.branch == branch;
    let open: Vec<Handoff> = draft.run.handoffs.iter().filter(is_own).cloned().collect();
    // The innermost first, so that no holder is left waiting for a handoff that has ended.
    for handoff in open.iter().rev() {
        draft.emit(HandoffEvent::Cancelled { handoff: handoff.no, reason: Some(reason) });
        draft.done.cancelled.push(handoff.no);
        lose_step(draft, handoff);
    }
    waive_blockers(draft, branch, reason);
    let first = fork.first(branch).unwrap_or(&fork.join).clone();
    draft.emit(BranchEvent::Cancelled { branch, first, reason });
}

fn waive_blockers(draft: &mut Draft<'_>, branch: u16, why: ContentId) {
    let by = Principal::of_agent(&AgentId::orchestrator());
    let is_own = |it: &&crate::run::Blocker| it.branch == branch;
    let open: Vec<u32> = draft.run.blockers.iter().filter(is_own).map(|it| it.no).collect();
    for blocker in open {
        draft.emit(BlockerEvent::Waived { blocker, by: by.clone(), why: Some(why) });
    }
}

/// An operator moves the run out of the fan-out: its open handoffs have ended.
pub(super) fn leave(draft: &mut Draft<'_>, at: &StepId, reason: ContentId) {
    for branch in draft.run.branches.clone() {
        waive_blockers(draft, branch.no, reason);
    }
    draft.emit(BranchEvent::Joined { at: at.clone(), branches: Vec::new() });
    draft.branch = 0;
}

/// What the join's step is given: which handoffs brought which packages, how each branch ended, and
/// which were cancelled. The packages themselves are those handoffs'.
fn joined_package(
    draft: &Draft<'_>,
    fork: &Fork,
    arrived: &[&Arrival],
    cancelled: &[u16],
) -> Package {
    let first = |branch: u16| fork.first(branch).map_or_else(String::new, ToString::to_string);
    let branch = |it: &&Arrival| {
        Node::map([
            ("branch", Node::text(first(it.branch))),
            ("step", Node::text(it.from.place.to_string())),
            ("agent", Node::text(it.from.agent.to_string())),
            ("outcome", Node::text(it.outcome.name())),
            ("handoff", Node::text(it.handoff.label())),
        ])
    };
    let names: Vec<String> = arrived
        .iter()
        .map(|it| format!("{} by {} in {}", it.outcome.name(), it.from.agent, it.handoff.label()))
        .collect();
    let summary = format!(
        "Joined at {}: {} of {} branches of the work of {} have arrived: {}.",
        fork.join,
        arrived.len(),
        fork.firsts.len(),
        fork.from.agent,
        names.join("; ")
    );
    let mut joined = vec![
        ("at", Node::text(fork.join.to_string())),
        ("from", Node::text(fork.from.place.to_string())),
        ("branches", Node::List(arrived.iter().map(branch).collect())),
    ];
    if !cancelled.is_empty() {
        let names = cancelled.iter().map(|it| Node::text(first(*it))).collect();
        joined.push(("cancelled", Node::List(names)));
    }
    let document = Node::map([
        ("story_id", Node::text(draft.run.story.to_string())),
        ("summary", Node::text(summary)),
        ("joined", Node::map(joined)),
    ]);
    Package::new(Format::Json, canonical::text(&document), document)
}
