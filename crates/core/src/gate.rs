//! A handoff to a person: why it was opened, what it holds, and what may be answered.

use serde::{Deserialize, Serialize};

use crate::content::ContentId;
use crate::names::AgentId;
use crate::run::{EdgeKey, Party};

/// A question that only a person may answer. It never times out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gate {
    pub cause: GateCause,
    /// Who got stuck, or who asks: the agent whose success edge "accept" follows.
    pub asker: Party,
    /// Who works on when the answer is to go on.
    pub worker: Party,
    /// What "accept" hands on.
    pub package: Option<ContentId>,
    /// What going on works from: the package that the worker had been given.
    pub given: Option<ContentId>,
    pub reason: Option<ContentId>,
    /// The edge whose rounds are used up.
    pub forward: EdgeKey,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateCause {
    /// The work has gone back as often as the edge allows.
    Rounds,
    /// Two reviews in a row found the very same.
    SameFindings,
    /// The step failed, and its retries are used up.
    Failure,
    Blocked,
    NeedsClarification,
    /// The sender asked for a person's eye before the work goes on.
    NeedsReview,
}

/// What a person may say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Let the worker go on, with as many rounds again.
    Continue,
    /// Take the work as it is and follow the asker's success edge.
    Accept,
    /// Let another agent do the worker's step.
    HandTo(AgentId),
    /// Cancel the run.
    Abort,
    /// The work is good: hand it on.
    Approve,
    /// The work is not good: back to its sender.
    Reject,
}

impl Gate {
    /// The answers that this gate takes, by name.
    pub fn choices(&self) -> &'static [&'static str] {
        match self.cause {
            GateCause::Rounds
            | GateCause::SameFindings
            | GateCause::Failure
            | GateCause::Blocked
            | GateCause::NeedsClarification => &["continue", "accept", "hand_to", "abort"],
            GateCause::NeedsReview => &["approve", "reject", "abort"],
        }
    }
}

impl GateCause {
    pub fn name(self) -> &'static str {
        match self {
            GateCause::Rounds => "rounds",
            GateCause::SameFindings => "same_findings",
            GateCause::Failure => "failure",
            GateCause::Blocked => "blocked",
            GateCause::NeedsClarification => "needs_clarification",
            GateCause::NeedsReview => "needs_review",
        }
    }

    /// Why a person is asked, as the default reason of the handoff to them.
    pub fn sentence(self) -> &'static str {
        match self {
            GateCause::Rounds => "The work went back as often as it may; a person decides now",
            GateCause::SameFindings => {
                "Two reviews in a row found the same; a person decides how to go on"
            }
            GateCause::Failure => "The step failed and its retries are used up",
            GateCause::Blocked => "The step is blocked and somebody has to clear the way",
            GateCause::NeedsClarification => "The agent has a question that only a person answers",
            GateCause::NeedsReview => "The agent asks for a review before the work goes on",
        }
    }
}

impl Answer {
    pub fn name(&self) -> &'static str {
        match self {
            Answer::Continue => "continue",
            Answer::Accept => "accept",
            Answer::HandTo(_) => "hand_to",
            Answer::Abort => "abort",
            Answer::Approve => "approve",
            Answer::Reject => "reject",
        }
    }
}
