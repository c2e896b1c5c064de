//! The commands that a caller can send to a run.

use jiff::Timestamp;

use crate::acknowledgement::Acknowledgement;
use crate::budget::Usage;
use crate::collaboration::Collaboration;
use crate::contract::Profile;
use crate::detour::RerouteCause;
use crate::evidence::{CheckRun, Verdict};
use crate::gate::Answer;
use crate::hash::Hash;
use crate::named::named;
use crate::names::{
    AgentId, CheckName, CommitId, ExecutorName, FreeText, Principal, Reason, StepId,
};
use crate::outcome::Outcome;
use crate::package::Package;
use crate::refusal::Refusal;
use crate::run::HandoffNo;
use crate::sent_file::{HoldingEnd, SentFile};
use crate::workflow::Place;

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
    /// Sent by the operator, not by the clock: a stale handoff may still be answered.
    TimeOut {
        handoff: HandoffNo,
        reason: Option<Reason>,
    },
    /// Sent by the clock: marks the handoff as stale and changes nothing else.
    MarkStale {
        handoff: HandoffNo,
    },
    /// Cancels pending handoffs; handoffs to people are kept.
    CleanUp {
        reason: Option<Reason>,
    },
    Answer(GateAnswer),
    /// A person lets another one approve in their place.
    DelegateVote(DelegateVote),
    /// Sent by the clock: a gate has waited for long. Once for each gate.
    Remind {
        gate: HandoffNo,
    },
    Clarify(Clarify),
    /// Answers a question, which puts the handoff in question back to pending.
    Reply(Reply),
    /// The holder releases the work undone; any agent may take it up again.
    Release(Release),
    /// Records a check and its result.
    Record(Record),
    /// Sent by a runner: it runs the checks of parked work, under a lease.
    ClaimChecks(ClaimChecks),
    /// Sent by a runner: what came of them.
    ReportChecks(ReportChecks),
    /// An external system reports how far the story has come.
    Signal(Signal),
    /// Adds a comment on the work; nothing moves.
    Post {
        by: Option<AgentId>,
        words: FreeText,
    },
    /// Decisions, context documents and questions between agents; nothing moves.
    Collaborate(Collaboration),
    /// Sent by the clock, because the holder's heartbeat is overdue; or by a runner whose agent ended
    /// without a result.
    LoseLease(LoseLease),
    /// Sent by a runner: the holder's program waits for a person's permission. The baton does not move.
    AskPermission(AskPermission),
    /// Sent by a runner: the program does not wait any more.
    WithdrawPermission {
        gate: HandoffNo,
    },
    /// Sent by a runner or an attempt: what the agent's program used.
    RecordUsage(RecordUsage),
    /// Sent by a runner or an attempt: a file of the attempt is kept. Nothing moves.
    SendFile(SendFile),
    /// Sent by the clock: a handoff that was held back is offered now.
    Wake {
        handoff: HandoffNo,
    },
    /// Sent by the clock: the receiver did not accept within the workflow's time-out.
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
    /// Sends the run back to a step that it has visited.
    Goto {
        step: StepId,
        reason: Reason,
        /// The person who answers for the gates that this command waives.
        by: Principal,
    },
    /// Starts a loose baton at a step, visited or not.
    StartAt(StartAt),
    /// Sends what blocks a step elsewhere than the workflow's table says.
    Reroute(Reroute),
    /// Skips the step that the baton is at.
    Skip {
        reason: Reason,
    },
}

impl Token {
    /// The refusal for a token whose handoff has ended or does not have the baton.
    pub(crate) fn lost(self, now: Option<u32>) -> Refusal {
        Refusal::StaleFence { handoff: self.handoff, fence: self.fence, current: now }
    }
}

/// Hand off from one agent to another. From the holder this is the same as complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Create {
    pub from: AgentId,
    pub to: AgentId,
    pub package: Package,
    /// Where left out, the edge determines it.
    pub outcome: Option<Outcome>,
    pub reason: Option<Reason>,
    /// A pending handoff of the same sender that this one replaces.
    pub supersedes: Option<HandoffNo>,
    /// The handoff whose work it hands on, where the sender has that of several branches.
    pub hands_on: Option<HandoffNo>,
    /// Where left out, the receiver determines it: a delegate, the caller, a person, the next step.
    pub way: Option<Way>,
    /// The sender's fencing token, where it has one.
    pub token: Option<Token>,
    pub profile: Profile,
}

named! {
    /// What the sender means by handing off.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Way {
        Sequential = "sequential",
        /// A part of the work; the sender waits for it.
        Delegation = "delegation",
        /// A question to a person; the sender waits for the answer.
        Escalation = "escalation",
        /// Back to the agent that delegated.
        Return = "return",
    }
}

/// What a holder's program wants to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskPermission {
    pub handoff: HandoffNo,
    pub fence: u32,
    pub question: FreeText,
}

/// Fencing token: names a handoff and one acceptance of it. A stale token is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    pub handoff: HandoffNo,
    pub fence: u32,
}

/// Another receiver for blockers that are on a detour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reroute {
    /// The handoff to the agent that resolves the blockers, or one of its branch; where left out, the only
    /// one that there is.
    pub handoff: Option<HandoffNo>,
    /// An agent, or `human`.
    pub to: AgentId,
    pub cause: RerouteCause,
    pub reason: Reason,
    pub by: Principal,
}

/// An operator starts the run in the middle of a workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartAt {
    pub step: StepId,
    /// Where left out, the first agent of the step.
    pub to: Option<AgentId>,
    /// Where it is blank: the step's last package, else the newest package of the run.
    pub package: Package,
    pub reason: Reason,
    /// The person who answers for the gates that this command waives.
    pub by: Principal,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accept {
    pub handoff: HandoffNo,
    /// Where left out, the receiver.
    pub by: Option<AgentId>,
    /// The receiver's restatement of the task, or its question.
    pub acknowledgement: Option<Acknowledgement>,
    /// Requested by a holder that will send heartbeats.
    pub lease: Option<LeaseTime>,
}

/// How long a holder may go without a heartbeat.
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
    /// Where left out, the agent that was asked. A person may always answer.
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

/// How far a story has come, independent of the baton.
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

/// A holder has lost the work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoseLease {
    pub handoff: HandoffNo,
    pub fence: u32,
    /// Where left out, that the holder was not heard of.
    pub reason: Option<Reason>,
    /// What the agent had printed, where a runner knows it.
    pub output: Option<Hash>,
    /// The agent cannot work before this time: the work waits for it, and the attempt does not count.
    pub retry_at: Option<Timestamp>,
    /// It is not tried again before a person has answered.
    pub asks: bool,
}

/// What the program of an agent used in an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordUsage {
    pub handoff: HandoffNo,
    pub fence: u32,
    /// The receiver of the handoff, and its place: the handoff may have ended.
    pub agent: AgentId,
    pub place: Place,
    /// Where the work came from.
    pub from: Place,
    pub executor: Option<ExecutorName>,
    pub usage: Usage,
}

/// A file of an attempt, or of the checks of parked work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SendFile {
    pub handoff: HandoffNo,
    pub fence: u32,
    /// What the log says of that holding: the handoff may have ended.
    pub end: HoldingEnd,
    pub file: SentFile,
}

impl LoseLease {
    /// The holder was not heard of any more.
    pub fn unheard(handoff: HandoffNo, fence: u32) -> Self {
        Self { handoff, fence, reason: None, output: None, retry_at: None, asks: false }
    }
}

/// A runner takes the checks of parked work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimChecks {
    pub handoff: HandoffNo,
    pub lease: LeaseTime,
    /// The checks that the runner can run.
    pub can_run: Vec<CheckName>,
}

/// What a runner found when it ran the checks of parked work, all of them at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportChecks {
    pub handoff: HandoffNo,
    pub fence: u32,
    pub results: Vec<RanCheck>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RanCheck {
    pub check: CheckName,
    pub verdict: Verdict,
    /// The command and the end of what it printed, or what was found.
    pub detail: FreeText,
    pub ran: CheckRun,
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
    pub to: Option<Receivers>,
    pub reason: Option<Reason>,
    pub fence: Option<u32>,
    pub profile: Profile,
}

/// The receivers that a sender names: one, or all of a fan-out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receivers {
    pub first: AgentId,
    /// Empty where one is named.
    pub others: Vec<AgentId>,
}

impl Receivers {
    /// `None` for an empty list.
    pub fn of(agents: impl IntoIterator<Item = AgentId>) -> Option<Self> {
        let mut agents = agents.into_iter();
        Some(Self { first: agents.next()?, others: agents.collect() })
    }

    pub fn all(&self) -> impl Iterator<Item = &AgentId> {
        std::iter::once(&self.first).chain(&self.others)
    }
}

impl From<AgentId> for Receivers {
    fn from(first: AgentId) -> Self {
        Self { first, others: Vec::new() }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateAnswer {
    pub handoff: HandoffNo,
    pub answer: Answer,
    pub by: Principal,
    pub comment: Option<FreeText>,
    /// The person's own package, for [`Answer::Modify`].
    pub package: Option<Package>,
}

/// One of the approvers of a gate passes their vote on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DelegateVote {
    pub gate: HandoffNo,
    pub by: Principal,
    pub to: Principal,
    pub comment: Option<FreeText>,
}

impl Command {
    /// The package that it brings, to be checked before it is handed on.
    pub fn package(&self) -> Option<&Package> {
        match self {
            Command::Create(create) => Some(&create.package),
            Command::Complete(complete) => Some(&complete.package),
            Command::Answer(answer) => answer.package.as_ref(),
            Command::Accept(_)
            | Command::Reject(_)
            | Command::Cancel { .. }
            | Command::TimeOut { .. }
            | Command::MarkStale { .. }
            | Command::CleanUp { .. }
            | Command::DelegateVote(_)
            | Command::Remind { .. }
            | Command::Clarify(_)
            | Command::Reply(_)
            | Command::Release(_)
            | Command::Record(_)
            | Command::ClaimChecks(_)
            | Command::ReportChecks(_)
            | Command::Signal(_)
            | Command::Post { .. }
            | Command::Collaborate(_)
            | Command::LoseLease(_)
            | Command::AskPermission(_)
            | Command::WithdrawPermission { .. }
            | Command::RecordUsage(_)
            | Command::SendFile(_)
            | Command::Wake { .. }
            | Command::Expire { .. }
            | Command::Pause { .. }
            | Command::Resume
            | Command::CancelRun { .. }
            | Command::Goto { .. }
            | Command::StartAt(_)
            | Command::Reroute(_)
            | Command::Skip { .. } => None,
        }
    }

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
            Command::DelegateVote(_) => "delegate_vote",
            Command::Remind { .. } => "remind",
            Command::Clarify(_) => "clarify",
            Command::Reply(_) => "reply",
            Command::Release(_) => "release",
            Command::Record(_) => "record",
            Command::ClaimChecks(_) => "claim_checks",
            Command::ReportChecks(_) => "report_checks",
            Command::Signal(_) => "signal",
            Command::Post { .. } => "post",
            Command::Collaborate(it) => it.name(),
            Command::LoseLease(_) => "lose_lease",
            Command::AskPermission(_) => "ask_permission",
            Command::WithdrawPermission { .. } => "withdraw_permission",
            Command::RecordUsage(_) => "record_usage",
            Command::SendFile(_) => "send_file",
            Command::Wake { .. } => "wake",
            Command::Expire { .. } => "expire",
            Command::Pause { .. } => "pause",
            Command::Resume => "resume",
            Command::CancelRun { .. } => "cancel_run",
            Command::Goto { .. } => "goto",
            Command::StartAt(_) => "start_at",
            Command::Reroute(_) => "reroute",
            Command::Skip { .. } => "skip",
        }
    }
}
