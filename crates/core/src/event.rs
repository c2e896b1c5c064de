//! What happened. An event is a fact: applying it cannot fail.
//!
//! Events hold ids, words, numbers and hashes. Free text is [`crate::content`], named by its id.
//! The names and fields here are stored for ever: `baton-wire` keeps samples of each that must
//! decode, so a rename fails a test before it fails a user.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::content::ContentId;
use crate::gate::{Answer, Gate, GateCause};
use crate::hash::Hash;
use crate::names::{AgentId, Principal, StepId, StoryKey, WorkflowName};
use crate::outcome::Outcome;
use crate::run::{
    Baton, Branch, EdgeKey, Given, Handoff, HandoffId, HandoffNo, Kind, Party, Rounds, Run, RunId,
    RunStatus, State, Wait,
};
use crate::workflow::Place;

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
    },
    /// Somebody took up a baton that nobody had handed them.
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
        /// The receiver never said so: it handed on, and that says it.
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
    /// Work was sent back without a handoff that could be rejected for it.
    #[serde(rename = "round.counted")]
    RoundCounted { forward: EdgeKey, findings: Option<Hash> },
    #[serde(rename = "handoff.completed")]
    HandoffCompleted { handoff: HandoffNo, outcome: Outcome, package: Option<ContentId> },
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
        /// Rounds that the answer allows on top.
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
    /// The person without whose word it would not be there.
    pub approved_by: Option<Principal>,
    /// What the edge's contract misses, as `rule path`.
    pub warnings: Vec<String>,
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

    /// The handoff it is about, if it is about one.
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
            | Event::BatonLoose { .. } => None,
        }
    }
}

/// The run that `events` tell of, or `None` where they do not begin with its start.
pub fn replay(id: RunId, events: impl IntoIterator<Item = (Event, Timestamp)>) -> Option<Run> {
    let mut events = events.into_iter();
    let (first, at) = events.next()?;
    let Event::RunStarted { story, workflow, pin, owner, start } = first else { return None };
    let mut run = Run::new(id, story, workflow, pin, owner, start, at);
    for (event, at) in events {
        evolve(&mut run, &event, at);
    }
    Some(run)
}

/// Changes `run` to what it is once `event` has happened.
pub fn evolve(run: &mut Run, event: &Event, at: Timestamp) {
    run.moved_at = at;
    match event {
        // `replay` and `decide` make the run from it.
        Event::RunStarted { .. } => {}
        Event::RunAdopted { by } => run.visit(&by.place),
        Event::RunPaused { .. } => run.status = RunStatus::Paused,
        Event::RunResumed => run.status = RunStatus::Open,
        Event::RunCancelled { .. } => run.end(RunStatus::Cancelled),
        Event::RunCompleted => run.end(RunStatus::Completed),
        Event::HandoffCreated(created) => run.open(created, at),
        Event::HandoffAccepted { handoff, .. } => run.take(*handoff, at),
        Event::HandoffRejected { handoff, forward, findings, .. } => {
            run.close(*handoff);
            run.count(forward, *findings);
        }
        Event::RoundCounted { forward, findings } => run.count(forward, *findings),
        Event::HandoffCompleted { handoff, .. }
        | Event::HandoffTimedOut { handoff, .. }
        | Event::HandoffCancelled { handoff, .. }
        | Event::HandoffSuperseded { handoff, .. } => run.close(*handoff),
        Event::HandoffStale { handoff } => {
            if let Some(handoff) = run.handoff_mut(*handoff) {
                handoff.is_stale = true;
            }
        }
        Event::StepStarted { step, .. } => run.visit(&Place::Step(step.clone())),
        Event::StepCompleted { .. } | Event::StepSkipped { .. } => {}
        Event::GateOpened { handoff, gate } => {
            run.set_baton(Baton::Parked { handoff: *handoff, on: Wait::Person });
            if let Some(handoff) = run.handoff_mut(*handoff) {
                handoff.gate = Some(gate.clone());
            }
        }
        Event::GateAnswered { handoff, n_extra, .. } => run.grant(*handoff, *n_extra),
        Event::BatonLoose { at, other } => {
            run.set_baton(Baton::Loose { at: at.clone(), other: other.clone() });
        }
    }
}

impl Run {
    fn open(&mut self, created: &Created, at: Timestamp) {
        self.n_handoffs = created.handoff.0;
        if created.package.is_some() {
            self.package = created.package;
        }
        self.give(created);
        self.handoffs.push(Handoff {
            no: created.handoff,
            id: created.id,
            branch: created.branch,
            kind: created.kind,
            from: created.from.clone(),
            to: created.to.clone(),
            state: State::Pending,
            package: created.package,
            forward: created.forward.clone(),
            reject_to: created.reject_to.clone(),
            attempt: created.attempt,
            fence: 0,
            created_at: at,
            accepted_at: None,
            is_stale: false,
            gate: None,
        });
        self.set_baton(Baton::Offered { handoff: created.handoff });
    }

    fn give(&mut self, created: &Created) {
        let Place::Step(step) = &created.to.place else { return };
        let given = Given {
            step: step.clone(),
            package: created.package,
            sender: created.reject_to.as_ref().unwrap_or(&created.from).clone(),
            forward: created.forward.clone(),
        };
        match self.given.iter_mut().find(|it| it.step == *step) {
            Some(before) => *before = given,
            None => self.given.push(given),
        }
    }

    fn take(&mut self, no: HandoffNo, at: Timestamp) {
        if let Some(handoff) = self.handoff_mut(no) {
            handoff.state = State::Accepted;
            handoff.fence += 1;
            handoff.accepted_at = Some(at);
            handoff.is_stale = false;
        }
        self.set_baton(Baton::Held { handoff: no });
    }

    /// A person's answer allows more rounds, and what was found before counts no more.
    fn grant(&mut self, no: HandoffNo, n_extra: u32) {
        let Some(gate) = self.handoff(no).and_then(|it| it.gate.clone()) else { return };
        match gate.cause {
            GateCause::Rounds | GateCause::SameFindings => {
                let rounds = self.rounds_mut(&gate.forward);
                rounds.n_extra += n_extra;
                rounds.findings = None;
            }
            GateCause::Failure
            | GateCause::Blocked
            | GateCause::NeedsClarification
            | GateCause::NeedsReview => {}
        }
    }

    fn count(&mut self, forward: &EdgeKey, findings: Option<Hash>) {
        let rounds = self.rounds_mut(forward);
        rounds.n_rejects += 1;
        rounds.findings = findings;
    }

    fn close(&mut self, no: HandoffNo) {
        self.handoffs.retain(|it| it.no != no);
    }

    fn end(&mut self, status: RunStatus) {
        self.status = status;
        self.handoffs.clear();
        self.branches = vec![Branch { no: 0, baton: Baton::Done }];
    }

    fn visit(&mut self, place: &Place) {
        if let Place::Step(step) = place
            && !self.visited.contains(step)
        {
            self.visited.push(step.clone());
        }
    }

    fn set_baton(&mut self, baton: Baton) {
        if let Some(branch) = self.branches.first_mut() {
            branch.baton = baton;
        }
    }

    fn handoff_mut(&mut self, no: HandoffNo) -> Option<&mut Handoff> {
        self.handoffs.iter_mut().find(|it| it.no == no)
    }

    fn rounds_mut(&mut self, edge: &EdgeKey) -> &mut Rounds {
        let index = self.rounds.iter().position(|it| it.edge == *edge).unwrap_or_else(|| {
            self.rounds.push(Rounds {
                edge: edge.clone(),
                n_rejects: 0,
                n_extra: 0,
                findings: None,
            });
            self.rounds.len() - 1
        });
        &mut self.rounds[index]
    }
}
