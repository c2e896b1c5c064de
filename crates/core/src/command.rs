//! What somebody asks of a run.

use crate::contract::Profile;
use crate::gate::Answer;
use crate::names::{AgentId, Principal, Reason, StepId};
use crate::outcome::Outcome;
use crate::package::Package;
use crate::run::HandoffNo;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    Create(Create),
    Accept(Accept),
    Reject(Reject),
    Complete(Complete),
    Cancel {
        handoff: HandoffNo,
        by: Option<AgentId>,
        reason: Option<Reason>,
    },
    /// The operator's word, not the clock's: a stale handoff may still be answered.
    TimeOut {
        handoff: HandoffNo,
        reason: Option<Reason>,
    },
    /// The clock's: a mark, which changes nothing else.
    MarkStale {
        handoff: HandoffNo,
    },
    /// Cancels what is pending; what people are asked is kept.
    CleanUp {
        reason: Option<Reason>,
    },
    Answer(GateAnswer),
    Pause {
        reason: Option<Reason>,
    },
    Resume,
    CancelRun {
        reason: Option<Reason>,
    },
    /// Sends the run back to a step that it has seen.
    Goto {
        step: StepId,
        reason: Reason,
    },
    /// Passes over the step that the baton is at.
    Skip {
        reason: Reason,
    },
}

/// Hand off from one agent to another. By the holder it is the same as to complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Create {
    pub from: AgentId,
    pub to: AgentId,
    pub package: Package,
    /// Where left out, the edge says it.
    pub outcome: Option<Outcome>,
    pub reason: Option<Reason>,
    /// A pending handoff of the same sender that this one replaces.
    pub supersedes: Option<HandoffNo>,
    pub profile: Profile,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accept {
    pub handoff: HandoffNo,
    /// Where left out, the receiver.
    pub by: Option<AgentId>,
    /// The receiver's restatement of the task.
    pub acknowledgement: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reject {
    pub handoff: HandoffNo,
    /// Where left out, the receiver.
    pub by: Option<AgentId>,
    pub reason: Reason,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complete {
    pub handoff: HandoffNo,
    /// Where left out, the receiver.
    pub by: Option<AgentId>,
    pub outcome: Outcome,
    pub package: Package,
    /// Where left out, the workflow picks.
    pub to: Option<AgentId>,
    pub reason: Option<Reason>,
    pub profile: Profile,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateAnswer {
    pub handoff: HandoffNo,
    pub answer: Answer,
    pub by: Principal,
    pub comment: Option<Reason>,
}

impl Command {
    pub fn name(&self) -> &'static str {
        match self {
            Command::Create(_) => "create",
            Command::Accept(_) => "accept",
            Command::Reject(_) => "reject",
            Command::Complete(_) => "complete",
            Command::Cancel { .. } => "cancel",
            Command::TimeOut { .. } => "time_out",
            Command::MarkStale { .. } => "mark_stale",
            Command::CleanUp { .. } => "clean_up",
            Command::Answer(_) => "answer",
            Command::Pause { .. } => "pause",
            Command::Resume => "resume",
            Command::CancelRun { .. } => "cancel_run",
            Command::Goto { .. } => "goto",
            Command::Skip { .. } => "skip",
        }
    }
}
