//! A handoff as a run holds it while it is open, and the states that one can be in.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{EdgeKey, is_false, is_zero};
use crate::checked_work::CheckedWork;
use crate::content::ContentId;
use crate::detour::Detour;
use crate::evidence::Evidence;
use crate::gate::Gate;
use crate::hash::Hash;
use crate::named::named;
use crate::names::{AgentId, CommitId, Principal};
use crate::outcome::Outcome;
use crate::workflow::Place;

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
    /// offers another sender's work again.
    pub reject_to: Option<Party>,
    /// 1, and one more for each retry of the same work.
    pub attempt: u32,
    /// Fencing token: how often it has been accepted. A holder with an older token is refused.
    pub fence: u32,
    pub created_at: Timestamp,
    /// Since when its holder works on it: since it accepted, or went on after waiting for a delegate
    /// or a person. Time-outs count from here; when it was accepted is in its row. Stored under the
    /// name that it had when it was one with that.
    #[serde(rename = "accepted_at")]
    pub working_since: Option<Timestamp>,
    pub is_stale: bool,
    /// The question to the person, where the receiver is one.
    pub gate: Option<Gate>,
    /// Start of the wait for the receiver, where that is not the creation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting_since: Option<Timestamp>,
    /// Not to be accepted before this time: back-off after a lost lease.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_back_until: Option<Timestamp>,
    /// The caller that accepted it, where a gate of the workflow asks who made a package.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<Principal>,
    /// Lease in seconds: the longest time between heartbeats, if the holder asked for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<u32>,
    /// A lease was lost: the previous holder may still be alive, so fencing tokens are checked.
    #[serde(default, skip_serializing_if = "is_false")]
    pub has_lost_lease: bool,
    /// The open question about this handoff.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<HandoffNo>,
    /// The handoff in question, where this one is a question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<HandoffNo>,
    /// The text of the question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asks: Option<ContentId>,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub n_questions: u32,
    /// How the delegate's work ended, where this handoff returns it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub brings: Option<Outcome>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
    /// The blocked work, where the receiver is to resolve what blocks it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detour: Option<Box<Detour>>,
    /// The work that waits for its checks, where this handoff stands for that: the orchestrator has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checks: Option<Box<CheckedWork>>,
    /// The hash of the error with which the attempt before ended, to notice the same one again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Hash>,
    /// What the agent of the attempt before printed, where that was lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost_output: Option<Hash>,
    /// The tree that the checks of the work have passed with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<CommitId>,
}

impl Handoff {
    /// The place whose work it is: a resolver clears the way for the blocked agent's, and checks are
    /// of the sender's.
    pub fn work_place(&self) -> &Place {
        if let Some(work) = &self.checks {
            return &work.edge.from;
        }
        self.detour.as_ref().map_or(&self.to.place, |it| &it.blocked().place)
    }
}

named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Kind {
        /// Along an edge of the workflow.
        Sequential = "sequential",
        /// To a specialist, who returns it.
        Delegation = "delegation",
        /// To a person.
        Escalation = "escalation",
        /// Back to its sender.
        Return = "return",
        /// About another handoff, to that handoff's sender.
        Question = "question",
    }
}

/// One side of a handoff.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Party {
    pub agent: AgentId,
    pub place: Place,
}

named! {
    /// The state of an open handoff. How it ended is [`Ended`].
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum State {
        /// Waits for the receiver.
        Pending = "pending",
        /// Waits for the sender's answer to a question.
        Clarification = "clarification",
        /// The receiver is working on it.
        Accepted = "accepted",
        /// Accepted, and waiting for a delegate or a person.
        Parked = "parked",
    }
}

/// The state of a handoff, open or not: one column, one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandoffState {
    Open(State),
    Ended(Ended),
}

named! {
    /// How a handoff ended. These states are final.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Ended {
        Completed = "completed",
        Rejected = "rejected",
        TimedOut = "timed_out",
        Cancelled = "cancelled",
        Superseded = "superseded",
    }
}

/// How the reason begins with which a handoff ends whose agent failed. It is stored as timed out.
const FAILURE: &str = "failure: ";

impl HandoffState {
    /// The state in the words that people read: what was refused or broke has not timed out.
    pub fn word(self, ended_reason: Option<&str>) -> &'static str {
        let has_failed = ended_reason.is_some_and(|it| it.starts_with(FAILURE));
        match self {
            Self::Ended(Ended::TimedOut) if has_failed => "failed",
            Self::Ended(_) | Self::Open(_) => self.name(),
        }
    }
}

/// The reason of a failure without the word that marks it.
pub fn without_failure(reason: &str) -> &str {
    reason.strip_prefix(FAILURE).unwrap_or(reason)
}

impl HandoffNo {
    pub fn label(self) -> String {
        format!("HO-{:03}", self.0)
    }

    /// Parses `HO-001`; the zeros are only for display.
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
