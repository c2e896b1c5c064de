//! Events in words: one sentence for each event of a log.

use baton_core::content::ContentId;
use baton_core::event::{Created, Event};
use baton_core::gate::GateEdge;
use baton_core::names::Principal;
use baton_core::run::EdgeKey;
use baton_core::workflow::Place;

use super::escaped::escaped;
use crate::history::{History, Logged};
use baton_engine::LOST_TEXT;

/// The sentence, and the user text that belongs to it.
type Sentence = (String, Option<ContentId>);

/// `HO-002 was accepted by reviewer (ada): text of others, escaped`.
pub(super) fn words(history: &History, logged: &Logged) -> String {
    let Logged { by, event, .. } = logged;
    let (sentence, text) = on_handoff(event).unwrap_or_else(|| on_run(event));
    let text = text.map(|it| history.text(it).map_or(LOST_TEXT.to_owned(), escaped));
    let text = text.map(|it| format!(": {it}")).unwrap_or_default();
    format!("{sentence} ({}){text}", escaped(by.as_str()))
}

/// None where the event is about the run as a whole.
fn on_handoff(event: &Event) -> Option<Sentence> {
    Some(match event {
        Event::HandoffCreated(created) => created_words(created),
        Event::HandoffAccepted { handoff, by, is_implicit, .. } => {
            let how = if *is_implicit { " by going on with it" } else { "" };
            (format!("{handoff} was accepted by {by}{how}"), None)
        }
        Event::HandoffRejected { handoff, by, reason, .. } => {
            (format!("{handoff} was rejected by {by}"), Some(*reason))
        }
        Event::HandoffCompleted { handoff, outcome, answer, .. } => {
            (format!("{handoff} was completed: {}", outcome.name()), *answer)
        }
        Event::HandoffClarified { handoff, question, by } => {
            (format!("{by} asked about {handoff} in {question}"), None)
        }
        Event::HandoffAnswered { handoff, question, answer } => {
            (format!("{question} about {handoff} was answered"), Some(*answer))
        }
        Event::HandoffReleased { handoff, by, reason } => {
            (format!("{handoff} was given back undone by {by}"), *reason)
        }
        Event::HandoffWoken { handoff } => (format!("{handoff} was offered"), None),
        Event::FrameOpened { caller } => (format!("the holder of {caller} began to wait"), None),
        Event::FrameClosed { caller, outcome } => {
            (format!("the holder of {caller} went on: {}", outcome.name()), None)
        }
        Event::LeaseGranted { handoff, seconds, .. } => {
            (format!("{handoff} was leased for {seconds} seconds"), None)
        }
        Event::LeaseLost { handoff, .. } => (format!("the lease of {handoff} was lost"), None),
        Event::LeaseReleased { handoff, .. } => {
            (format!("the lease of {handoff} was given back"), None)
        }
        Event::EvidenceRecorded { handoff, check, verdict, detail, .. } => {
            (format!("the check {check} of {handoff} {}", verdict.name()), *detail)
        }
        Event::BlockerRaised { blocker, handoff, by, about } => {
            (format!("{by} was blocked at {handoff} (blocker {blocker})"), Some(*about))
        }
        Event::HandoffTimedOut { handoff, reason } => (format!("{handoff} timed out"), *reason),
        Event::HandoffCancelled { handoff, reason } => {
            (format!("{handoff} was cancelled"), *reason)
        }
        Event::HandoffSuperseded { handoff, reason } => {
            (format!("{handoff} was superseded"), *reason)
        }
        Event::HandoffStale { handoff } => (format!("{handoff} became stale"), None),
        Event::GateOpened { handoff, gate } => {
            (format!("{handoff} asked a person, {}", gate.cause.name()), gate.reason)
        }
        Event::GateAnswered { handoff, answer, by, comment, .. } => {
            (format!("{handoff} was answered by {}: {}", person(by), answer.name()), *comment)
        }
        Event::RunStarted { .. }
        | Event::RunAdopted { .. }
        | Event::RunPaused { .. }
        | Event::RunResumed
        | Event::RunCancelled { .. }
        | Event::RunCompleted
        | Event::RoundCounted { .. }
        | Event::GatePassed { .. }
        | Event::GateWaived { .. }
        | Event::GateLost { .. }
        | Event::GateCarried { .. }
        | Event::SignalPassed
        | Event::SignalMerged { .. }
        | Event::MessagePosted { .. }
        | Event::BlockerResolved { .. }
        | Event::BlockerWaived { .. }
        | Event::StepStarted { .. }
        | Event::StepCompleted { .. }
        | Event::StepSkipped { .. }
        | Event::BatonLoose { .. } => return None,
    })
}

fn on_run(event: &Event) -> Sentence {
    match event {
        Event::RunStarted { start, .. } => {
            (format!("the run was started towards {}", place(start)), None)
        }
        Event::RunAdopted { by } => (format!("{} took up the baton", by.agent), None),
        Event::RunPaused { reason } => ("the run was paused".to_owned(), *reason),
        Event::RunResumed => ("the run was resumed".to_owned(), None),
        Event::RunCancelled { reason } => ("the run was cancelled".to_owned(), *reason),
        Event::RunCompleted => ("the run was completed".to_owned(), None),
        Event::RoundCounted { forward, .. } => {
            (format!("work went back that had gone {}", edge(forward)), None)
        }
        Event::GatePassed { edge: passed, .. } => {
            (format!("the checks {} passed", edge(passed)), None)
        }
        Event::GateWaived { gates, by, reason } => {
            (format!("{} waived {}", person(by), gates_in_words(gates)), *reason)
        }
        Event::GateLost { gates } => {
            (format!("the work went back before {}", gates_in_words(gates)), None)
        }
        Event::GateCarried { gates } => {
            (format!("the work is taken to have passed {}", gates_in_words(gates)), None)
        }
        Event::SignalPassed => ("somebody said that the work is good".to_owned(), None),
        Event::SignalMerged { commit } => {
            let commit = commit.as_ref().map(|it| format!(" as {}", escaped(it.as_str())));
            (format!("somebody said that the work was merged{}", commit.unwrap_or_default()), None)
        }
        Event::MessagePosted { by, text } => {
            let by = by.as_ref().map(|it| format!("{it} said")).unwrap_or("somebody said".into());
            (by, Some(*text))
        }
        Event::BlockerResolved { blocker, by, how } => {
            (format!("blocker {blocker} was resolved by {}", person(by)), *how)
        }
        Event::BlockerWaived { blocker, by, why } => {
            (format!("blocker {blocker} was waived by {}", person(by)), *why)
        }
        Event::StepStarted { step, agent } => (format!("{agent} began the step {step}"), None),
        Event::StepCompleted { step, agent, outcome } => {
            (format!("{agent} ended the step {step}: {}", outcome.name()), None)
        }
        Event::StepSkipped { step, reason } => (format!("the step {step} was skipped"), *reason),
        Event::BatonLoose { at, .. } => (format!("the baton lay loose at {}", place(at)), None),
        Event::HandoffCreated(_)
        | Event::HandoffAccepted { .. }
        | Event::HandoffRejected { .. }
        | Event::HandoffCompleted { .. }
        | Event::HandoffClarified { .. }
        | Event::HandoffAnswered { .. }
        | Event::HandoffReleased { .. }
        | Event::HandoffWoken { .. }
        | Event::FrameOpened { .. }
        | Event::FrameClosed { .. }
        | Event::LeaseGranted { .. }
        | Event::LeaseLost { .. }
        | Event::LeaseReleased { .. }
        | Event::EvidenceRecorded { .. }
        | Event::BlockerRaised { .. }
        | Event::HandoffTimedOut { .. }
        | Event::HandoffCancelled { .. }
        | Event::HandoffSuperseded { .. }
        | Event::HandoffStale { .. }
        | Event::GateOpened { .. }
        | Event::GateAnswered { .. } => (event.name().to_owned(), None),
    }
}

fn created_words(created: &Created) -> Sentence {
    let Created { handoff, kind, from, to, attempt, .. } = created;
    let again = if *attempt > 1 { format!(", attempt {attempt}") } else { String::new() };
    let sentence =
        format!("{handoff} was made: {} → {} ({}{again})", from.agent, to.agent, kind.name());
    (sentence, Some(created.reason))
}

fn gates_in_words(gates: &[GateEdge]) -> String {
    if gates.is_empty() {
        return "no gate".to_owned();
    }
    let gate = |it: &GateEdge| format!("the gate from {} to {}", place(&it.from), place(&it.to));
    gates.iter().map(gate).collect::<Vec<_>>().join(", ")
}

fn edge(edge: &EdgeKey) -> String {
    format!("from {} to {}", place(&edge.from), place(&edge.to))
}

fn place(place: &Place) -> String {
    match place {
        Place::Orchestrator => "the orchestrator".to_owned(),
        Place::Human => "a person".to_owned(),
        Place::Step(step) => format!("the step {step}"),
        Place::Delegate(agent) => agent.to_string(),
    }
}

fn person(by: &Principal) -> String {
    escaped(by.as_str())
}
