//! What a decision records, in words: for the tables of the tests.

use std::fmt::Write as _;

use super::Decision;
use super::fixture::Tester;
use crate::event::{
    BlockerEvent, Created, Event, FrameEvent, GateEvent, HandoffEvent, RunEvent, StepEntry,
    StepEvent,
};
use crate::gate::Gate;
use crate::names::StepId;
use crate::run::{EdgeKey, HandoffNo, Party};

/// One event; of a new handoff and a new gate, everything that it records.
#[expect(clippy::wildcard_enum_match_arm, reason = "the others are printed by their name")]
pub(super) fn line(table: &mut String, tester: &Tester, event: &Event) {
    let name = event.name();
    let _ = match event {
        Event::Handoff(HandoffEvent::Created(it)) => {
            writeln!(table, "  {name} {}", created(tester, it))
        }
        Event::Handoff(HandoffEvent::Completed { handoff, outcome, .. }) => {
            writeln!(table, "  {name} {handoff} {}", outcome.name())
        }
        Event::Gate(GateEvent::Opened { gate: it, .. }) => {
            writeln!(table, "  {name} {}", gate(tester, it))
        }
        Event::Gate(GateEvent::Answered { n_extra, comment, resets, .. }) => {
            let comment = comment.map(|it| format!("\"{}\"", tester.text(it)));
            let rounds = Some(*n_extra).filter(|it| *it > 0).map(|it| format!("{it} rounds more"));
            let resets: Vec<&str> = resets.iter().map(StepId::as_str).collect();
            let anew = Some(resets.join(", ")).filter(|it| !it.is_empty());
            let anew = anew.map(|it| format!("counted anew: {it}"));
            writeln!(table, "  {}", join(name.to_owned(), [comment, rounds, anew]))
        }
        Event::Blocker(BlockerEvent::Raised { blocker, about, .. }) => {
            writeln!(table, "  {name} {blocker} \"{}\"", tester.text(*about))
        }
        Event::Frame(FrameEvent::Opened { caller, is_delegation: true }) => {
            writeln!(table, "  {name} {caller} for a part")
        }
        Event::Run(RunEvent::BatonLoose { at, other, meant_for, .. }) => {
            let meant_for = meant_for.as_ref().map(|it| format!("meant for {it}"));
            writeln!(table, "  {}", join(format!("{name} at {at}, {other}"), [meant_for]))
        }
        Event::Frame(FrameEvent::Closed { caller, outcome }) => {
            writeln!(table, "  {name} {caller} {}", outcome.name())
        }
        Event::Step(StepEvent::Completed { step, outcome, .. }) => {
            writeln!(table, "  {name} {step} {}", outcome.name())
        }
        Event::Step(StepEvent::RoundCounted { forward, .. }) => {
            writeln!(table, "  {name} on {}", edge(forward))
        }
        _ => writeln!(table, "  {name}"),
    };
}

fn created(tester: &Tester, it: &Created) -> String {
    let (no, kind) = (it.handoff, it.kind.name());
    let mut words = format!("{no} {kind} {}→{}", it.from.agent, it.to.agent);
    let _ = write!(words, " \"{}\"", tester.text(it.reason));
    let own = EdgeKey { from: it.from.place.clone(), to: it.to.place.clone() };
    let held_back = it.held_back_until.map(|at| at.duration_since(tester.now).as_secs());
    let parts = [
        it.package.map(|id| format!("package {}", tester.text(id))),
        Some(&it.forward).filter(|it| **it != own).map(|it| format!("edge {}", edge(it))),
        it.reject_to.as_ref().map(|it| format!("if rejected to {}", party(it))),
        Some(it.attempt).filter(|it| *it != 1).map(|it| format!("attempt {it}")),
        it.follows.map(|it| format!("follows {it}")),
        it.approved_by.as_ref().map(|it| format!("approved by {it}")),
        Some(it.warnings.join(", ")).filter(|it| !it.is_empty()).map(|it| format!("warns {it}")),
        it.brings.map(|it| format!("brings {}", it.name())),
        held_back.map(|it| format!("held back for {it} s")),
        it.has_lost_lease.then(|| "a lease was lost".to_owned()),
        it.entry.map(|it| entry(it).to_owned()),
    ];
    join(words, parts)
}

fn entry(it: StepEntry) -> &'static str {
    match it {
        StepEntry::Onward => "enters",
        StepEntry::Rework { findings: None } => "enters again",
        StepEntry::Rework { findings: Some(_) } => "enters again with findings",
        StepEntry::Blocked => "enters to clear what blocks",
    }
}

fn gate(tester: &Tester, it: &Gate) -> String {
    let (kind, cause) = (it.kind.name(), it.cause.name());
    let words = format!("{kind} {cause} {}→{}", party(&it.asker), party(&it.worker));
    let evidence: Vec<String> =
        it.evidence.iter().map(|it| format!("{} {}", it.check, it.verdict.name())).collect();
    let on = it.edge.as_ref().map(|it| format!("on {}→{} {}", it.from, it.to, it.on.name()));
    let parts = [
        it.reason.map(|id| format!("\"{}\"", tester.text(id))),
        it.package.map(|id| format!("package {}", tester.text(id))),
        it.given.filter(|_| it.given != it.package).map(|id| format!("given {}", tester.text(id))),
        Some(format!("edge {}", edge(&it.forward))),
        it.sender.as_ref().map(|it| format!("sent by {}", party(it))),
        it.beside.map(|it| format!("beside {it}")),
        it.about.map(|it| format!("about {it}")),
        on,
        it.limit.map(|it| format!("{} of {}", it.n, it.most)),
        it.has_lost_lease.then(|| "a lease was lost".to_owned()),
        Some(evidence.join(", ")).filter(|it| !it.is_empty()),
        Some(it.warnings.join(", ")).filter(|it| !it.is_empty()).map(|it| format!("warns {it}")),
    ];
    join(words, parts)
}

/// What the caller gets back.
pub(super) fn push_events(table: &mut String, decision: &Decision) {
    let done = &decision.done;
    let name = |name: &str, no: Option<HandoffNo>| no.map(|no| format!("{name} {no}"));
    let warnings: Vec<String> =
        done.warnings.iter().map(|it| format!("{} {}", it.rule, it.path)).collect();
    let parts = [
        name("handoff", done.handoff),
        name("returned", done.returned),
        name("gate", done.gate),
        name("question", done.question),
        Some(warnings.join(", ")).filter(|it| !it.is_empty()).map(|it| format!("warns {it}")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let _ = writeln!(table, "  = {}", parts.join("; "));
}

fn join<const N: usize>(words: String, parts: [Option<String>; N]) -> String {
    parts.into_iter().flatten().fold(words, |words, part| format!("{words}; {part}"))
}

fn edge(it: &EdgeKey) -> String {
    format!("{}→{}", it.from, it.to)
}

fn party(it: &Party) -> String {
    format!("{}/{}", it.agent, it.place)
}
