//! Events as sentences: one for each, the same everywhere.

use baton_api::HandoffSummary;
use baton_core::event::{Created, Event};
use baton_core::gate::GateEdge;
use baton_core::names::AgentId;
use baton_core::run::Kind;

use super::{bold, dim, good, shortened, visible, warn};

/// How much of a quoted text fits into a line.
const MOST_WORDS: usize = 80;

/// An event with the names that it refers to.
pub(crate) struct Telling<'a> {
    pub(crate) event: &'a Event,
    /// The handoff of the event.
    pub(crate) row: Option<&'a HandoffSummary>,
    /// The display name of an agent.
    pub(crate) name: &'a dyn Fn(&AgentId) -> String,
}

impl Telling<'_> {
    #[expect(clippy::too_many_lines, reason = "a sentence for each kind of event")]
    pub(crate) fn words(&self) -> String {
        let agent = |id: &AgentId| bold(&(self.name)(id));
        let handoff = self.handoff();
        match self.event {
            Event::RunStarted { workflow, owner, .. } => {
                format!("{} starts the run, by {workflow}", bold(&visible(owner.as_str())))
            }
            Event::RunAdopted { by } => format!("{} takes the run up", agent(&by.agent)),
            Event::RunPaused { .. } => warn("the run is paused"),
            Event::RunResumed => "the run goes on".to_owned(),
            Event::RunCancelled { .. } => warn("the run is cancelled"),
            Event::RunCompleted => good("the story is complete"),
            Event::HandoffCreated(created) => self.created(created),
            Event::HandoffAccepted { by, is_implicit, .. } => {
                let how = if *is_implicit { " by handing on" } else { "" };
                format!("{} accepts {handoff}{how}", agent(by))
            }
            Event::HandoffRejected { by, .. } => {
                format!("{} {} {handoff}{}", agent(by), warn("rejects"), self.why())
            }
            Event::RoundCounted { forward, .. } => {
                format!("work from {} to {} went back", forward.from, forward.to)
            }
            Event::HandoffCompleted { outcome, .. } => {
                format!("{} completes {handoff}: {}", self.receiver(), outcome.name())
            }
            Event::HandoffClarified { by, .. } => format!("{} asks about {handoff}", agent(by)),
            Event::HandoffAnswered { .. } => format!("{handoff} is answered, and offered again"),
            Event::HandoffReleased { by, .. } => {
                format!("{} gives {handoff} back undone", agent(by))
            }
            Event::HandoffWoken { .. } => format!("{handoff} is offered now"),
            Event::FrameOpened { .. } => format!("{} waits with {handoff}", self.receiver()),
            Event::FrameClosed { outcome, .. } => {
                let outcome = outcome.name();
                format!("{} goes on with {handoff}: {outcome}", self.receiver())
            }
            Event::LeaseGranted { fence, seconds, .. } => {
                format!("{handoff} is held with fence {fence}, for {seconds} s at a time")
            }
            Event::LeaseLost { .. } => {
                format!("{} {} with {handoff}", self.receiver(), warn("has fallen silent"))
            }
            Event::LeaseReleased { .. } => format!("the lease of {handoff} is over"),
            Event::GatePassed { edge, evidence, .. } => {
                let checks: Vec<&str> = evidence.iter().map(|it| it.check.as_str()).collect();
                format!("the gate to {} is passed by {}", edge.to, checks.join(", "))
            }
            Event::GateWaived { gates, by, .. } => {
                let by = bold(&visible(by.as_str()));
                format!("{by} {} {}", warn("waives"), gate_ends(gates))
            }
            Event::GateLost { gates } => {
                format!("the work is back before {}, and has to pass again", gate_ends(gates))
            }
            Event::GateCarried { gates } => {
                format!("the run counts as past {}", gate_ends(gates))
            }
            Event::EvidenceRecorded { check, verdict, .. } => {
                format!("{check} {} for {handoff}", verdict.name())
            }
            Event::SignalPassed => "the story passes".to_owned(),
            Event::SignalMerged { .. } => "the story is merged".to_owned(),
            Event::MessagePosted { by: Some(by), .. } => format!("{} says something", agent(by)),
            Event::MessagePosted { by: None, .. } => "somebody says something".to_owned(),
            Event::BlockerRaised { blocker, by, .. } => {
                format!("{} is blocked at {handoff} (blocker {blocker})", agent(by))
            }
            Event::BlockerResolved { blocker, by, .. } => {
                format!("{} resolves blocker {blocker}", bold(&visible(by.as_str())))
            }
            Event::BlockerWaived { blocker, by, .. } => {
                format!("{} waives blocker {blocker}", bold(&visible(by.as_str())))
            }
            Event::HandoffTimedOut { .. } => {
                format!("{handoff} {}{}", warn("times out"), self.why())
            }
            Event::HandoffCancelled { .. } => format!("{handoff} is cancelled{}", self.why()),
            Event::HandoffSuperseded { .. } => format!("{handoff} is superseded{}", self.why()),
            Event::HandoffStale { .. } => {
                format!("{handoff} {}", warn("has not moved for long"))
            }
            Event::StepStarted { step, agent: by } => {
                format!("{} begins the step {step}", agent(by))
            }
            Event::StepCompleted { step, agent: by, outcome } => {
                format!("{} ends the step {step}: {}", agent(by), outcome.name())
            }
            Event::StepSkipped { step, .. } => format!("the step {step} is passed over"),
            Event::GateOpened { gate, .. } => {
                let asked = warn("a person is asked");
                format!("{asked} with {handoff}: {}", gate.cause.sentence())
            }
            Event::GateAnswered { answer, by, .. } => {
                let by = bold(&visible(by.as_str()));
                format!("{by} answers {handoff}: {}", good(answer.name()))
            }
            Event::BatonLoose { at, .. } => format!("{} at {at}", warn("the baton lies loose")),
        }
    }

    /// The most important sentence of Baton: a handoff between two agents.
    fn created(&self, created: &Created) -> String {
        let what = match created.kind {
            Kind::Sequential if created.to.agent.is_orchestrator() => "given back",
            Kind::Sequential | Kind::Delegation | Kind::Escalation => "offered",
            Kind::Return => "sent back",
            Kind::Question => "asks",
        };
        let from = bold(&(self.name)(&created.from.agent));
        let to = bold(&(self.name)(&created.to.agent));
        let handoff = self.handoff();
        let reason = self.row.and_then(|it| it.reason.as_deref()).map(said).unwrap_or_default();
        format!("{from} → {to}  {handoff} {what}{reason}")
    }

    fn handoff(&self) -> String {
        match (self.row, self.event.handoff()) {
            (Some(row), _) => format!("handoff {}", row.number),
            (None, Some(no)) => no.label(),
            (None, None) => String::new(),
        }
    }

    fn receiver(&self) -> String {
        let id = self.row.and_then(|it| AgentId::parse(&it.to_agent).ok());
        id.map_or_else(|| "its holder".to_owned(), |it| bold(&(self.name)(&it)))
    }

    /// Why it ended, where a reason was given.
    fn why(&self) -> String {
        self.row.and_then(|it| it.ended_reason.as_deref()).map(said).unwrap_or_default()
    }
}

fn said(words: &str) -> String {
    format!(": {}", dim(&format!("\"{}\"", shortened(words, MOST_WORDS))))
}

/// `the gate specification → architecture`, for each.
fn gate_ends(gates: &[GateEdge]) -> String {
    if gates.is_empty() {
        return "no gate".to_owned();
    }
    let gate = |it: &GateEdge| format!("the gate {} → {}", it.from, it.to);
    gates.iter().map(gate).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use baton_core::outcome::Outcome;
    use baton_core::run::HandoffNo;
    use baton_wire::event;

    use super::*;

    fn plain(event: &Event) -> String {
        let name = |id: &AgentId| id.to_string();
        let words = Telling { event, row: None, name: &name }.words();
        anstream::adapter::strip_str(&words).to_string()
    }

    #[test]
    fn every_event_that_was_ever_written_has_a_sentence() {
        let samples = include_str!("../../../wire/tests/events-v1.jsonl");
        let mut n_told = 0;
        for sample in samples.lines().filter(|it| !it.trim().is_empty()) {
            let event = event::decode(sample).unwrap();
            let words = plain(&event);
            assert!(words.len() > 8 && !words.contains("  is"), "{}: {words}", event.name());
            n_told += 1;
        }
        assert!(n_told > 30, "{n_told}");
    }

    #[test]
    fn a_sentence_says_who_did_what() {
        let (handoff, by) = (HandoffNo(2), AgentId::parse("reviewer").unwrap());
        let accepted =
            Event::HandoffAccepted { handoff, by, is_implicit: false, acknowledgement: None };
        assert_eq!(plain(&accepted), "reviewer accepts HO-002");
        let package = None;
        let completed =
            Event::HandoffCompleted { handoff, outcome: Outcome::Success, package, answer: None };
        assert_eq!(plain(&completed), "its holder completes HO-002: success");
    }
}
