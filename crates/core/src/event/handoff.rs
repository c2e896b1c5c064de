//! Events of a handoff's own course, from its creation to its end.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::family::{EventFamily, EventTexts, SentenceStyle, event_family};
use crate::content::ContentId;
use crate::hash::Hash;
use crate::names::{AgentId, CommitId, Principal};
use crate::outcome::Outcome;
use crate::run::{
    EdgeKey, Ended, HandoffId, HandoffNo, HandoffState, Kind, Party, State, is_false, is_zero,
};

event_family! {
    #[expect(clippy::large_enum_variant, reason = "a command has a few, and keeps none of them")]
    pub enum HandoffEvent => Handoff {
        "handoff.created" => Created(Created),
        "handoff.accepted" => Accepted {
            handoff: HandoffNo,
            by: AgentId,
            /// The receiver did not send an accept: it handed the work on, which implies one.
            is_implicit: bool,
            acknowledgement: Option<ContentId>,
            /// The caller, where a gate of the workflow asks who made a package.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            holder: Option<Principal>,
        },
        "handoff.rejected" => Rejected {
            handoff: HandoffNo,
            by: AgentId,
            reason: ContentId,
            forward: EdgeKey,
            findings: Option<Hash>,
        },
        "handoff.completed" => Completed {
            handoff: HandoffNo,
            outcome: Outcome,
            package: Option<ContentId>,
            /// The answer's text, where the handoff was a question.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            answer: Option<ContentId>,
        },
        "handoff.released" => Released {
            handoff: HandoffNo,
            by: AgentId,
            reason: Option<ContentId>,
            /// The release counts against the limit. Earlier versions did not count it.
            #[serde(default, skip_serializing_if = "is_false")]
            is_counted: bool,
        },
        /// The handoff was held back, and may be accepted now.
        "handoff.woken" => Woken { handoff: HandoffNo },
        "handoff.stale" => Stale {
            handoff: HandoffNo,
            /// The mark leaves the run's `moved_at` alone. Earlier versions counted it as a move.
            #[serde(default, skip_serializing_if = "is_false")]
            is_no_move: bool,
        },
        "handoff.timed_out" => TimedOut { handoff: HandoffNo, reason: Option<ContentId> },
        "handoff.cancelled" => Cancelled { handoff: HandoffNo, reason: Option<ContentId> },
        "handoff.superseded" => Superseded { handoff: HandoffNo, reason: Option<ContentId> },
    }
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
    /// Who made the package, where it is new and a gate of the workflow asks for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<Principal>,
    /// Broken rules of the edge's contract, as `rule path`.
    pub warnings: Vec<String>,
    /// How complete the package is, from 0 to 100, where it was looked at for this handoff.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<u8>,
    /// How the delegate's work ended, where this handoff returns it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub brings: Option<Outcome>,
    /// Not to be accepted before this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_back_until: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "is_false")]
    pub has_lost_lease: bool,
    /// What is shown of all agents from now on, where the run has it not, or otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cast: Option<ContentId>,
    /// What is shown of the sender: earlier versions recorded it agent by agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_portrait: Option<ContentId>,
    /// The same for the receiver.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_portrait: Option<ContentId>,
    /// Work enters the receiver's step: the entry is counted. None for what is not counted, such as
    /// retries, operators' moves and answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<StepEntry>,
    /// Why the work came back to the receiver, in the words of the party that sent it back. Kept
    /// with the step: when the same work is offered again, its receiver still learns why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rework_reason: Option<ContentId>,
    /// What was counted on the handoff that this one corrects, where no entry of a step is counted
    /// for it: inside a frame.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub n_questions: u32,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub n_releases: u32,
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

/// How work enters a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepEntry {
    /// The sender has done its part.
    Onward,
    /// The sender wants it done again, because of these findings.
    Rework {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        findings: Option<Hash>,
    },
    /// The sender is blocked, and an agent is to clear that.
    Blocked,
}

impl EventFamily for HandoffEvent {
    fn handoff(&self) -> Option<HandoffNo> {
        Some(match self {
            Self::Created(created) => created.handoff,
            Self::Accepted { handoff, .. }
            | Self::Rejected { handoff, .. }
            | Self::Completed { handoff, .. }
            | Self::Released { handoff, .. }
            | Self::Woken { handoff }
            | Self::Stale { handoff, .. }
            | Self::TimedOut { handoff, .. }
            | Self::Cancelled { handoff, .. }
            | Self::Superseded { handoff, .. } => *handoff,
        })
    }

    fn state_after(&self) -> Option<HandoffState> {
        Some(match self {
            Self::Created(_) | Self::Released { .. } | Self::Woken { .. } => {
                HandoffState::Open(State::Pending)
            }
            Self::Accepted { .. } => HandoffState::Open(State::Accepted),
            Self::Rejected { .. } => HandoffState::Ended(Ended::Rejected),
            Self::Completed { .. } => HandoffState::Ended(Ended::Completed),
            Self::TimedOut { .. } => HandoffState::Ended(Ended::TimedOut),
            Self::Cancelled { .. } => HandoffState::Ended(Ended::Cancelled),
            Self::Superseded { .. } => HandoffState::Ended(Ended::Superseded),
            Self::Stale { .. } => return None,
        })
    }

    fn texts(&self) -> EventTexts {
        match self {
            Self::Created(created) => {
                let Created { reason, package, cast, from_portrait, to_portrait, .. } = created;
                EventTexts {
                    package: *package,
                    portraits: [*cast, *from_portrait, *to_portrait],
                    ..EventTexts::words(*reason)
                }
            }
            Self::Accepted { acknowledgement, .. } => {
                EventTexts { acknowledgement: *acknowledgement, ..EventTexts::default() }
            }
            Self::Rejected { reason, .. } => EventTexts::words(*reason),
            Self::Completed { package, answer, .. } => {
                EventTexts { package: *package, ..EventTexts::words(*answer) }
            }
            Self::Released { reason, .. }
            | Self::TimedOut { reason, .. }
            | Self::Cancelled { reason, .. }
            | Self::Superseded { reason, .. } => EventTexts::words(*reason),
            Self::Woken { .. } | Self::Stale { .. } => EventTexts::default(),
        }
    }

    fn needs_notification(&self) -> bool {
        let is_question_to_person =
            |it: &Created| it.kind == Kind::Question && it.to.agent.is_human();
        matches!(self, Self::Created(created) if is_question_to_person(created))
    }

    fn sentence(&self, style: &dyn SentenceStyle) -> String {
        let handoff = |no: &HandoffNo| style.handoff(*no);
        match self {
            Self::Created(created) => created.sentence(style),
            Self::Accepted { handoff: no, by, is_implicit, .. } => {
                let how = if *is_implicit { " implicitly" } else { "" };
                format!("{} accepts {}{how}", style.agent(by), handoff(no))
            }
            Self::Rejected { handoff: no, by, .. } => {
                format!("{} {} {}", style.agent(by), style.warning("rejects"), handoff(no))
            }
            Self::Completed { handoff: no, outcome, .. } => {
                format!("{} completes {}: {}", style.receiver(*no), handoff(no), outcome.name())
            }
            Self::Released { handoff: no, by, .. } => {
                format!("{} releases {} undone", style.agent(by), handoff(no))
            }
            Self::Woken { handoff: no } => format!("{} is offered now", handoff(no)),
            Self::Stale { handoff: no, .. } => {
                format!("{} {}", handoff(no), style.warning("is stale"))
            }
            Self::TimedOut { handoff: no, .. } => {
                format!("{} {}", handoff(no), style.warning("is over without a result"))
            }
            Self::Cancelled { handoff: no, .. } => format!("{} is cancelled", handoff(no)),
            Self::Superseded { handoff: no, .. } => format!("{} is superseded", handoff(no)),
        }
    }
}

impl Created {
    fn sentence(&self, style: &dyn SentenceStyle) -> String {
        let what = match self.kind {
            Kind::Sequential if self.to.agent.is_orchestrator() => "given back",
            Kind::Sequential | Kind::Delegation | Kind::Escalation => "offered",
            Kind::Return => "sent back",
            Kind::Question => "asks",
        };
        let again =
            if self.attempt > 1 { format!(", attempt {}", self.attempt) } else { String::new() };
        let [from, to] = [&self.from, &self.to].map(|it| style.agent(&it.agent));
        format!("{from} → {to}  {} {what}{again}", style.handoff(self.handoff))
    }
}
