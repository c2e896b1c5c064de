//! One story going through one workflow: what a decision needs to know of it, and no more.
//!
//! Everything here is bounded: finished handoffs are in the store, not in the run.

mod state_names;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::content::ContentId;
use crate::evidence::Evidence;
use crate::gate::{Gate, GateEdge, GateKind};
use crate::hash::Hash;
use crate::names::{AgentId, CommitId, Principal, StepId, StoryKey, WorkflowName};
use crate::outcome::Outcome;
use crate::workflow::{Place, Workflow};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    pub id: RunId,
    pub story: StoryKey,
    pub workflow: WorkflowName,
    /// The workflow as it was when the run began.
    pub pin: Hash,
    pub owner: Principal,
    pub status: RunStatus,
    /// One, until a step fans out; each has a baton of its own.
    pub branches: Vec<Branch>,
    /// The open handoffs, oldest first.
    pub handoffs: Vec<Handoff>,
    /// How often work went back, by forward edge. Survives everything but a person's answer.
    pub rounds: Vec<Rounds>,
    /// Steps that somebody has worked at or sent from, in the order of the first time.
    pub visited: Vec<StepId>,
    /// The newest package of the run: what a skip hands on.
    pub package: Option<ContentId>,
    /// What each step was last given, so that it can be given again.
    pub given: Vec<Given>,
    /// Who waits for a part of the work, outermost first. What the baton rests on is in the last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<Frame>,
    /// What keeps blocked steps from going on; the settled ones are in the log.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blockers: Vec<Blocker>,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub n_blockers: u32,
    /// Somebody said that the work is good, or that it has been merged.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_passed: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_merged: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merge_commit: Option<CommitId>,
    /// How many handoffs the run has had.
    pub n_handoffs: u32,
    pub started_at: Timestamp,
    pub moved_at: Timestamp,
}

/// A holder that waits for a delegate or a person: its handoff is parked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    pub caller: HandoffNo,
}

/// What keeps a step from going on, until somebody settles it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blocker {
    /// Counted within its run, from 1.
    pub no: u32,
    /// Whose work it stops.
    pub handoff: HandoffNo,
    pub by: AgentId,
    pub about: ContentId,
}

/// What a step was last given, and by whom.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Given {
    pub step: StepId,
    pub package: Option<ContentId>,
    /// Who gets it back if it is rejected.
    pub sender: Party,
    /// See [`Given::forward`]; none where the edge goes from the sender to the step, which is nearly
    /// always so. A run's state is written at every command, and each step has one of these in it.
    #[serde(rename = "forward", default, skip_serializing_if = "Option::is_none")]
    other_forward: Option<EdgeKey>,
    /// A lease on it was lost: whoever had it may still be alive.
    #[serde(default, skip_serializing_if = "is_false")]
    pub has_lost_lease: bool,
}

impl Given {
    pub(crate) fn new(
        step: StepId,
        package: Option<ContentId>,
        sender: Party,
        forward: &EdgeKey,
        has_lost_lease: bool,
    ) -> Self {
        let given = Self { step, package, sender, other_forward: None, has_lost_lease };
        let other_forward = (given.forward() != *forward).then(|| forward.clone());
        Self { other_forward, ..given }
    }

    /// The edge that counts what goes back and forth over it.
    pub(crate) fn forward(&self) -> EdgeKey {
        self.other_forward.clone().unwrap_or_else(|| EdgeKey {
            from: self.sender.place.clone(),
            to: Place::Step(self.step.clone()),
        })
    }
}

/// An older Baton wrote every edge: it is the same one, however it was written.
impl PartialEq for Given {
    fn eq(&self, other: &Self) -> bool {
        let Self { step, package, sender, other_forward: _, has_lost_lease } = self;
        *step == other.step
            && *package == other.package
            && *sender == other.sender
            && *has_lost_lease == other.has_lost_lease
            && self.forward() == other.forward()
    }
}

impl Eq for Given {}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RunId(pub Uuid);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    Open,
    /// Held work may finish; nothing may be taken up.
    Paused,
    Completed,
    Cancelled,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Branch {
    pub no: u16,
    pub baton: Baton,
    /// The gates that its work has passed and not gone back before. `None` where nothing is
    /// recorded: the workflow has none, or the run is older than the record and has not moved since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passed: Option<Vec<GateEdge>>,
}

/// Where a branch's responsibility sits, and so who must move.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Baton {
    /// The receiver must answer.
    Offered { handoff: HandoffNo },
    /// The agent that accepted must finish.
    Held { handoff: HandoffNo },
    /// Whatever it waits for must come.
    Parked { handoff: HandoffNo, on: Wait },
    /// The orchestrator, or the agent of either place, must hand off again.
    Loose { at: Place, other: Place },
    /// The branch is at its end.
    Done,
}

/// What a parked baton waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wait {
    Person,
    /// The time at which it is offered again.
    Timer,
}

/// Counted within its run, from 1. Shown as `HO-001`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct HandoffNo(pub u32);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct HandoffId(pub Uuid);

/// An open handoff.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Handoff {
    pub no: HandoffNo,
    pub id: HandoffId,
    pub branch: u16,
    pub kind: Kind,
    pub from: Party,
    pub to: Party,
    pub state: State,
    pub package: Option<ContentId>,
    /// The edge on which rounds are counted when this one is rejected.
    pub forward: EdgeKey,
    /// Who gets it back if it is rejected, where that is not the sender: the orchestrator only
    /// offers again what somebody else had sent.
    pub reject_to: Option<Party>,
    /// 1, and one more for each retry of the same work.
    pub attempt: u32,
    /// How often it has been accepted; a holder with an older fence is refused.
    pub fence: u32,
    pub created_at: Timestamp,
    pub accepted_at: Option<Timestamp>,
    pub is_stale: bool,
    /// What a person is asked, where the receiver is one.
    pub gate: Option<Gate>,
    /// Since when it waits for its receiver, where that is not since it was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting_since: Option<Timestamp>,
    /// Not to be taken before: the last attempt died.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_back_until: Option<Timestamp>,
    /// For how many seconds its holder may be silent, where the holder promised not to be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<u32>,
    /// A lease on this work was lost: whoever had it may still be alive, and must be told apart.
    #[serde(default, skip_serializing_if = "is_false")]
    pub has_lost_lease: bool,
    /// The open question about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<HandoffNo>,
    /// What it asks about, where it is a question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<HandoffNo>,
    /// The question itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asks: Option<ContentId>,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub n_questions: u32,
    /// How the delegate's work ended, where this gives it back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub brings: Option<Outcome>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_zero(n: &u32) -> bool {
    *n == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
pub(crate) fn is_false(it: &bool) -> bool {
    !*it
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Along an edge of the workflow.
    Sequential,
    /// To a specialist, who gives it back.
    Delegation,
    /// To a person.
    Escalation,
    /// Back to whoever sent it.
    Return,
    /// About another handoff, to whoever sent that.
    Question,
}

/// One side of a handoff.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Party {
    pub agent: AgentId,
    pub place: Place,
}

/// Where an open handoff stands. How it ended is [`Ended`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Waits for the receiver.
    Pending,
    /// Waits for the sender's answer to a question.
    Clarification,
    /// The receiver is working on it.
    Accepted,
    /// Accepted, and waiting for a delegate or a person.
    Parked,
}

/// How a handoff ended. None of these ever changes again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    Completed,
    Rejected,
    TimedOut,
    Cancelled,
    Superseded,
}

/// An edge by its ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EdgeKey {
    pub from: Place,
    pub to: Place,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rounds {
    pub edge: EdgeKey,
    pub n_rejects: u32,
    /// What people have allowed beyond the workflow's limit.
    pub n_extra: u32,
    /// Of the last reject; the same twice in a row is a circle.
    pub findings: Option<Hash>,
}

impl Run {
    pub fn new(
        id: RunId,
        story: StoryKey,
        workflow: WorkflowName,
        pin: Hash,
        owner: Principal,
        start: Place,
        now: Timestamp,
    ) -> Self {
        let baton = Baton::Loose { at: Place::Orchestrator, other: start };
        Self {
            id,
            story,
            workflow,
            pin,
            owner,
            status: RunStatus::Open,
            branches: vec![Branch { no: 0, baton, passed: None }],
            handoffs: Vec::new(),
            rounds: Vec::new(),
            visited: Vec::new(),
            package: None,
            given: Vec::new(),
            frames: Vec::new(),
            blockers: Vec::new(),
            n_blockers: 0,
            is_passed: false,
            is_merged: false,
            merge_commit: None,
            n_handoffs: 0,
            started_at: now,
            moved_at: now,
        }
    }

    pub fn handoff(&self, no: HandoffNo) -> Option<&Handoff> {
        self.handoffs.iter().find(|it| it.no == no)
    }

    /// The baton of the only branch; fan-out will ask by branch.
    pub fn baton(&self) -> &Baton {
        self.branches.first().map_or(&Baton::Done, |it| &it.baton)
    }

    /// The gates that the work of the only branch has passed, where that is recorded.
    pub fn passed(&self) -> Option<&[GateEdge]> {
        self.branches.first()?.passed.as_deref()
    }

    /// The open handoff that the baton rests on.
    pub fn current(&self) -> Option<&Handoff> {
        match self.baton() {
            Baton::Offered { handoff }
            | Baton::Held { handoff }
            | Baton::Parked { handoff, .. } => self.handoff(*handoff),
            Baton::Loose { .. } | Baton::Done => None,
        }
    }

    /// Whom everybody waits for: seed 000's `currentAgent`.
    pub fn current_agent(&self) -> Option<&AgentId> {
        let handoff = self.current()?;
        match handoff.state {
            State::Pending | State::Accepted | State::Parked => Some(&handoff.to.agent),
            State::Clarification => {
                let question = handoff.question.and_then(|it| self.handoff(it));
                Some(question.map_or(&handoff.from.agent, |it| &it.to.agent))
            }
        }
    }

    /// The parked handoff whose holder waits for `no`, directly.
    pub fn caller_of(&self, no: HandoffNo) -> Option<&Handoff> {
        let depth = self.frames.iter().position(|it| it.caller == no).unwrap_or(self.frames.len());
        let frame = self.frames.get(depth.checked_sub(1)?)?;
        self.handoff(frame.caller)
    }

    /// Where the baton is, as a place of the workflow.
    pub fn current_place(&self) -> Option<&Place> {
        match self.baton() {
            Baton::Loose { at, .. } => Some(at),
            Baton::Offered { .. } | Baton::Held { .. } | Baton::Parked { .. } => {
                self.current().map(|it| &it.to.place)
            }
            Baton::Done => None,
        }
    }

    /// What people call the work that goes on: the step's word, or that nobody works.
    pub fn phase<'a>(&self, workflow: &'a Workflow) -> &'a str {
        match self.status {
            RunStatus::Completed => return "complete",
            RunStatus::Cancelled => return "cancelled",
            RunStatus::Open | RunStatus::Paused => {}
        }
        let is_under_way = match self.baton() {
            Baton::Offered { .. } | Baton::Held { .. } | Baton::Parked { on: Wait::Timer, .. } => {
                true
            }
            Baton::Parked { on: Wait::Person, .. } | Baton::Loose { .. } | Baton::Done => false,
        };
        // A delegate does a part of the step of whoever waits for it.
        let callers = self.frames.iter().rev().filter_map(|it| self.handoff(it.caller));
        let steps = self.current().into_iter().chain(callers).filter_map(|it| match &it.to.place {
            Place::Step(step) => workflow.step(step),
            Place::Orchestrator | Place::Human | Place::Delegate(_) => None,
        });
        let step = steps.into_iter().next().filter(|_| is_under_way);
        step.map_or("waiting", |it| it.phase.as_str())
    }

    /// What a place was last given.
    pub fn given(&self, place: &Place) -> Option<&Given> {
        self.given.iter().find(|it| *place == Place::Step(it.step.clone()))
    }

    pub fn rounds(&self, edge: &EdgeKey) -> Option<&Rounds> {
        self.rounds.iter().find(|it| it.edge == *edge)
    }

    /// The open gate that stops the run, if there is one.
    pub fn gate(&self) -> Option<(&Handoff, &Gate)> {
        self.gates().find(|(_, gate)| gate.kind != GateKind::Advisory)
    }

    /// Every open gate, those that only advise too.
    pub fn gates(&self) -> impl Iterator<Item = (&Handoff, &Gate)> {
        self.handoffs.iter().filter_map(|it| Some((it, it.gate.as_ref()?)))
    }

    pub fn questions(&self) -> impl Iterator<Item = &Handoff> {
        self.handoffs.iter().filter(|it| it.kind == Kind::Question)
    }

    /// Whether something in it stands still until somebody says a word: a gate, a question, what
    /// keeps a step from going on, or a baton that nobody has.
    pub fn is_waiting(&self) -> bool {
        let is_loose = matches!(self.baton(), Baton::Loose { .. });
        let is_asked = self.gates().next().is_some() || self.questions().next().is_some();
        !self.is_finished() && (is_asked || is_loose || !self.blockers.is_empty())
    }

    /// Whether something keeps it from going on until a person clears it.
    pub fn is_blocked(&self) -> bool {
        !self.is_finished() && !self.blockers.is_empty()
    }

    pub fn is_finished(&self) -> bool {
        !self.status.is_open()
    }
}

impl HandoffNo {
    pub fn label(self) -> String {
        format!("HO-{:03}", self.0)
    }

    /// Reads `HO-001`; the zeros are for people.
    pub fn parse_label(label: &str) -> Option<Self> {
        let digits = label.strip_prefix("HO-")?;
        if !digits.bytes().all(|it| it.is_ascii_digit()) {
            return None;
        }
        digits.parse().ok().filter(|it| *it > 0).map(Self)
    }
}

impl std::fmt::Display for HandoffNo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.label())
    }
}

impl std::fmt::Display for RunId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_reads_back() {
        for no in [1, 12, 999, 1000, 123_456] {
            assert_eq!(HandoffNo::parse_label(&HandoffNo(no).label()), Some(HandoffNo(no)));
        }
        for bad in ["HO-", "HO-0", "HO-x", "ho-1", "1", "HO-+1", "HO-99999999999"] {
            assert_eq!(HandoffNo::parse_label(bad), None, "{bad}");
        }
    }
}
