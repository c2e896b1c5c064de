//! What somebody asks of a run.

use crate::acknowledgement::Acknowledgement;
use crate::contract::Profile;
use crate::evidence::Verdict;
use crate::gate::Answer;
use crate::names::{AgentId, CheckName, CommitId, FreeText, Principal, Reason, StepId};
use crate::outcome::Outcome;
use crate::package::Package;
use crate::refusal::Refusal;
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
    Clarify(Clarify),
    /// Answers a question, which puts the handoff that it is about back to pending.
    Reply(Reply),
    /// The holder gives the work back undone, for anybody to take up again.
    Release(Release),
    /// What somebody checked, and how it came out.
    Record(Record),
    /// Somebody outside says how far the story has come.
    Signal(Signal),
    /// Somebody says something about the work; nothing moves.
    Post {
        by: Option<AgentId>,
        words: FreeText,
    },
    /// The clock's: a holder has not been heard of for too long.
    LoseLease {
        handoff: HandoffNo,
        fence: u32,
    },
    /// The clock's: a handoff that was held back is offered now.
    Wake {
        handoff: HandoffNo,
    },
    /// The clock's: nobody took the handoff in the time that the workflow gives.
    Expire {
        handoff: HandoffNo,
    },
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
        /// Who answers for the gates that this goes past.
        by: Principal,
    },
    /// Hands a loose baton in at a step, seen or not.
    StartAt(StartAt),
    /// Passes over the step that the baton is at.
    Skip {
        reason: Reason,
    },
}

impl Token {
    /// What is said to whoever holds something that is gone, or that is not the baton.
    pub(crate) fn lost(self, now: Option<u32>) -> Refusal {
        Refusal::StaleFence { handoff: self.handoff, fence: self.fence, current: now }
    }
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
    /// Where left out, the receiver says it: a delegate, the caller, a person, the next step.
    pub way: Option<Way>,
    /// What the sender holds, where it knows.
    pub token: Option<Token>,
    pub profile: Profile,
}

/// What the sender means by handing off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    Sequential,
    /// A part of the work; the sender waits for it.
    Delegation,
    /// A question to a person; the sender waits for the answer.
    Escalation,
    /// Back to whoever delegated.
    Return,
}

/// Says which holding of which handoff is meant: one that was lost is refused by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    pub handoff: HandoffNo,
    pub fence: u32,
}

/// An operator's start in the middle of a workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartAt {
    pub step: StepId,
    /// Where left out, the first agent of the step.
    pub to: Option<AgentId>,
    /// Where it is blank, what the step was last given, else the newest package of the run.
    pub package: Package,
    pub reason: Reason,
    /// Who answers for the gates that this goes past.
    pub by: Principal,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accept {
    pub handoff: HandoffNo,
    /// Where left out, the receiver.
    pub by: Option<AgentId>,
    /// The receiver's restatement of the task, or what it does not understand.
    pub acknowledgement: Option<Acknowledgement>,
    /// Asked for by whoever will say again and again that it is alive.
    pub lease: Option<LeaseTime>,
}

/// How long a holder may be silent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeaseTime(u32);

impl LeaseTime {
    pub const USUAL: Self = Self(20);
    pub const MOST_SECONDS: u32 = 3600;

    /// From 1 second to an hour.
    pub fn from_seconds(seconds: u32) -> Option<Self> {
        (1..=Self::MOST_SECONDS).contains(&seconds).then_some(Self(seconds))
    }

    pub fn seconds(self) -> u32 {
        self.0
    }
}

/// Ask the sender before going on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clarify {
    pub handoff: HandoffNo,
    /// Where left out, the receiver.
    pub by: Option<AgentId>,
    pub question: FreeText,
    pub fence: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// The question, or the handoff that it is about.
    pub handoff: HandoffNo,
    /// Where left out, whoever was asked. A person may always answer.
    pub by: Option<AgentId>,
    pub answer: FreeText,
    pub fence: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Release {
    pub handoff: HandoffNo,
    /// Where left out, the receiver.
    pub by: Option<AgentId>,
    pub reason: Option<Reason>,
    pub fence: Option<u32>,
}

/// How far a story has come, whatever the baton says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Signal {
    /// The work is good. Where the holder's next step is the end, this is what ends the run.
    Passed,
    Merged {
        commit: Option<CommitId>,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    pub handoff: HandoffNo,
    pub check: CheckName,
    pub verdict: Verdict,
    pub detail: Option<FreeText>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reject {
    pub handoff: HandoffNo,
    /// Where left out, the receiver.
    pub by: Option<AgentId>,
    pub reason: Reason,
    pub fence: Option<u32>,
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
    pub fence: Option<u32>,
    pub profile: Profile,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateAnswer {
    pub handoff: HandoffNo,
    pub answer: Answer,
    pub by: Principal,
    pub comment: Option<FreeText>,
    /// The person's own, for [`Answer::Modify`].
    pub package: Option<Package>,
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
            Command::Clarify(_) => "clarify",
            Command::Reply(_) => "reply",
            Command::Release(_) => "release",
            Command::Record(_) => "record",
            Command::Signal(_) => "signal",
            Command::Post { .. } => "post",
            Command::LoseLease { .. } => "lose_lease",
            Command::Wake { .. } => "wake",
            Command::Expire { .. } => "expire",
            Command::Pause { .. } => "pause",
            Command::Resume => "resume",
            Command::CancelRun { .. } => "cancel_run",
            Command::Goto { .. } => "goto",
            Command::StartAt(_) => "start_at",
            Command::Skip { .. } => "skip",
        }
    }
}
