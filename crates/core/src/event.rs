//! What happened. An event is a fact: applying it cannot fail.
//!
//! Events hold ids, words, numbers and hashes. Free text is [`crate::content`], named by its id.
//! The names and fields here are stored for ever: `baton-wire` keeps samples of each that must
//! decode, so a rename fails a test before it fails a user.

mod evolve;
mod passed;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::content::ContentId;
use crate::evidence::{Evidence, Verdict};
use crate::gate::{Answer, Gate, GateEdge};
use crate::hash::Hash;
use crate::names::{AgentId, CheckName, CommitId, Principal, StepId, StoryKey, WorkflowName};
use crate::outcome::Outcome;
use crate::run::{EdgeKey, HandoffId, HandoffNo, Kind, Party, is_false};
use crate::workflow::Place;

pub use evolve::{evolve, replay};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type")]
pub enum Event {
    #[serde(rename = "run.started")]
    RunStarted {
        story: StoryKey,
        workflow: WorkflowName,
        pin: Hash,
        owner: Principal,
        start: Place,
        /// The workflow has blocking or automatic gates; the run records which it has passed.
        #[serde(default, skip_serializing_if = "is_false")]
        has_gates: bool,
    },
    /// An agent took up a baton that was not handed to it.
    #[serde(rename = "run.adopted")]
    RunAdopted { by: Party },
    #[serde(rename = "run.paused")]
    RunPaused { reason: Option<ContentId> },
    #[serde(rename = "run.resumed")]
    RunResumed,
    #[serde(rename = "run.cancelled")]
    RunCancelled { reason: Option<ContentId> },
    #[serde(rename = "run.completed")]
    RunCompleted,
    #[serde(rename = "handoff.created")]
    HandoffCreated(Created),
    #[serde(rename = "handoff.accepted")]
    HandoffAccepted {
        handoff: HandoffNo,
        by: AgentId,
        /// The receiver did not send an accept: it handed the work on, which implies one.
        is_implicit: bool,
        acknowledgement: Option<ContentId>,
    },
    #[serde(rename = "handoff.rejected")]
    HandoffRejected {
        handoff: HandoffNo,
        by: AgentId,
        reason: ContentId,
        forward: EdgeKey,
        findings: Option<Hash>,
    },
    /// Work was sent back where no handoff was rejected: the round is counted by this event.
    #[serde(rename = "round.counted")]
    RoundCounted { forward: EdgeKey, findings: Option<Hash> },
    #[serde(rename = "handoff.completed")]
    HandoffCompleted {
        handoff: HandoffNo,
        outcome: Outcome,
        package: Option<ContentId>,
        /// The answer's text, where the handoff was a question.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answer: Option<ContentId>,
    },
    /// The receiver asked a question, which is a handoff of its own.
    #[serde(rename = "handoff.clarified")]
    HandoffClarified { handoff: HandoffNo, question: HandoffNo, by: AgentId },
    #[serde(rename = "handoff.answered")]
    HandoffAnswered { handoff: HandoffNo, question: HandoffNo, answer: ContentId },
    #[serde(rename = "handoff.released")]
    HandoffReleased { handoff: HandoffNo, by: AgentId, reason: Option<ContentId> },
    /// The handoff was held back, and may be accepted now.
    #[serde(rename = "handoff.woken")]
    HandoffWoken { handoff: HandoffNo },
    /// The holder waits for a delegate or a person.
    #[serde(rename = "frame.opened")]
    FrameOpened { caller: HandoffNo },
    /// What the holder waited for has arrived or will not come: the holder goes on.
    #[serde(rename = "frame.closed")]
    FrameClosed { caller: HandoffNo, outcome: Outcome },
    #[serde(rename = "lease.granted")]
    LeaseGranted { handoff: HandoffNo, fence: u32, seconds: u32 },
    #[serde(rename = "lease.lost")]
    LeaseLost { handoff: HandoffNo, fence: u32 },
    #[serde(rename = "lease.released")]
    LeaseReleased { handoff: HandoffNo, fence: u32 },
    /// The checks of an automatic gate have all passed.
    #[serde(rename = "gate.passed")]
    GatePassed {
        edge: EdgeKey,
        evidence: Vec<Evidence>,
        /// Identifies the edge, where several connect the same two places.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        on: Option<Outcome>,
    },
    /// An operator moved the run past these gates, or a person's answer at another gate led past
    /// them: they count as passed.
    #[serde(rename = "gate.waived")]
    GateWaived { gates: Vec<GateEdge>, by: Principal, reason: Option<ContentId> },
    /// The work went back to or before these gates, and must pass them again.
    #[serde(rename = "gate.lost")]
    GateLost { gates: Vec<GateEdge> },
    /// The run is older than the record of passed gates: it is assumed to have passed the gates
    /// before its current place.
    #[serde(rename = "gate.carried")]
    GateCarried { gates: Vec<GateEdge> },
    #[serde(rename = "evidence.recorded")]
    EvidenceRecorded {
        handoff: HandoffNo,
        check: CheckName,
        verdict: Verdict,
        detail: Option<ContentId>,
        /// The recording holder's fencing token; the result does not count for a later holder.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fence: Option<u32>,
    },
    /// An external system reported how far the story has come.
    #[serde(rename = "signal.passed")]
    SignalPassed,
    #[serde(rename = "signal.merged")]
    SignalMerged { commit: Option<CommitId> },
    #[serde(rename = "message.posted")]
    MessagePosted { by: Option<AgentId>, text: ContentId },
    #[serde(rename = "blocker.raised")]
    BlockerRaised { blocker: u32, handoff: HandoffNo, by: AgentId, about: ContentId },
    #[serde(rename = "blocker.resolved")]
    BlockerResolved { blocker: u32, by: Principal, how: Option<ContentId> },
    /// The blocker was not resolved; the run goes on another way.
    #[serde(rename = "blocker.waived")]
    BlockerWaived { blocker: u32, by: Principal, why: Option<ContentId> },
    #[serde(rename = "handoff.timed_out")]
    HandoffTimedOut { handoff: HandoffNo, reason: Option<ContentId> },
    #[serde(rename = "handoff.cancelled")]
    HandoffCancelled { handoff: HandoffNo, reason: Option<ContentId> },
    #[serde(rename = "handoff.superseded")]
    HandoffSuperseded { handoff: HandoffNo, reason: Option<ContentId> },
    #[serde(rename = "handoff.stale")]
    HandoffStale { handoff: HandoffNo },
    #[serde(rename = "step.started")]
    StepStarted { step: StepId, agent: AgentId },
    #[serde(rename = "step.completed")]
    StepCompleted { step: StepId, agent: AgentId, outcome: Outcome },
    #[serde(rename = "step.skipped")]
    StepSkipped { step: StepId, reason: Option<ContentId> },
    #[serde(rename = "gate.opened")]
    GateOpened { handoff: HandoffNo, gate: Gate },
    #[serde(rename = "gate.answered")]
    GateAnswered {
        handoff: HandoffNo,
        answer: Answer,
        by: Principal,
        comment: Option<ContentId>,
        /// Rounds that the answer grants in addition.
        n_extra: u32,
    },
    #[serde(rename = "baton.loose")]
    BatonLoose { at: Place, other: Place },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Created {
    pub handoff: HandoffNo,
    pub id: HandoffId,
    pub branch: u16,
    pub kind: Kind,
    pub from: Party,
    pub to: Party,
    pub package: Option<ContentId>,
    pub reason: ContentId,
    pub forward: EdgeKey,
    /// Who gets it back if it is rejected, where that is not the sender.
    pub reject_to: Option<Party>,
    pub attempt: u32,
    /// The handoff that this one answers, retries or replaces.
    pub follows: Option<HandoffNo>,
    /// The person whose approval created this handoff.
    pub approved_by: Option<Principal>,
    /// Broken rules of the edge's contract, as `rule path`.
    pub warnings: Vec<String>,
    /// How the delegate's work ended, where this handoff returns it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub brings: Option<Outcome>,
    /// Not to be accepted before this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_back_until: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "is_false")]
    pub has_lost_lease: bool,
}

impl Event {
    /// The name that the log, the feed and the docs use.
    pub fn name(&self) -> &'static str {
        match self {
            Event::RunStarted { .. } => "run.started",
            Event::RunAdopted { .. } => "run.adopted",
            Event::RunPaused { .. } => "run.paused",
            Event::RunResumed => "run.resumed",
            Event::RunCancelled { .. } => "run.cancelled",
            Event::RunCompleted => "run.completed",
            Event::HandoffCreated(_) => "handoff.created",
            Event::HandoffAccepted { .. } => "handoff.accepted",
            Event::HandoffRejected { .. } => "handoff.rejected",
            Event::RoundCounted { .. } => "round.counted",
            Event::HandoffCompleted { .. } => "handoff.completed",
            Event::HandoffClarified { .. } => "handoff.clarified",
            Event::HandoffAnswered { .. } => "handoff.answered",
            Event::HandoffReleased { .. } => "handoff.released",
            Event::HandoffWoken { .. } => "handoff.woken",
            Event::FrameOpened { .. } => "frame.opened",
            Event::FrameClosed { .. } => "frame.closed",
            Event::LeaseGranted { .. } => "lease.granted",
            Event::LeaseLost { .. } => "lease.lost",
            Event::LeaseReleased { .. } => "lease.released",
            Event::GatePassed { .. } => "gate.passed",
            Event::GateWaived { .. } => "gate.waived",
            Event::GateLost { .. } => "gate.lost",
            Event::GateCarried { .. } => "gate.carried",
            Event::EvidenceRecorded { .. } => "evidence.recorded",
            Event::SignalPassed => "signal.passed",
            Event::SignalMerged { .. } => "signal.merged",
            Event::MessagePosted { .. } => "message.posted",
            Event::BlockerRaised { .. } => "blocker.raised",
            Event::BlockerResolved { .. } => "blocker.resolved",
            Event::BlockerWaived { .. } => "blocker.waived",
            Event::HandoffTimedOut { .. } => "handoff.timed_out",
            Event::HandoffCancelled { .. } => "handoff.cancelled",
            Event::HandoffSuperseded { .. } => "handoff.superseded",
            Event::HandoffStale { .. } => "handoff.stale",
            Event::StepStarted { .. } => "step.started",
            Event::StepCompleted { .. } => "step.completed",
            Event::StepSkipped { .. } => "step.skipped",
            Event::GateOpened { .. } => "gate.opened",
            Event::GateAnswered { .. } => "gate.answered",
            Event::BatonLoose { .. } => "baton.loose",
        }
    }

    /// The handoff that the event is about, if any.
    pub fn handoff(&self) -> Option<HandoffNo> {
        match self {
            Event::HandoffCreated(created) => Some(created.handoff),
            Event::HandoffAccepted { handoff, .. }
            | Event::HandoffRejected { handoff, .. }
            | Event::HandoffCompleted { handoff, .. }
            | Event::HandoffTimedOut { handoff, .. }
            | Event::HandoffCancelled { handoff, .. }
            | Event::HandoffSuperseded { handoff, .. }
            | Event::HandoffStale { handoff }
            | Event::HandoffClarified { handoff, .. }
            | Event::HandoffAnswered { handoff, .. }
            | Event::HandoffReleased { handoff, .. }
            | Event::HandoffWoken { handoff }
            | Event::FrameOpened { caller: handoff }
            | Event::FrameClosed { caller: handoff, .. }
            | Event::LeaseGranted { handoff, .. }
            | Event::LeaseLost { handoff, .. }
            | Event::LeaseReleased { handoff, .. }
            | Event::EvidenceRecorded { handoff, .. }
            | Event::BlockerRaised { handoff, .. }
            | Event::GateOpened { handoff, .. }
            | Event::GateAnswered { handoff, .. } => Some(*handoff),
            Event::RunStarted { .. }
            | Event::RunAdopted { .. }
            | Event::RunPaused { .. }
            | Event::RunResumed
            | Event::RunCancelled { .. }
            | Event::RunCompleted
            | Event::StepStarted { .. }
            | Event::StepCompleted { .. }
            | Event::StepSkipped { .. }
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
            | Event::BatonLoose { .. } => None,
        }
    }
}
