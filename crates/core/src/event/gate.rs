//! Events of gates: a person is asked and answers, checks open one, and which gates count as passed.

use super::family::{EventFamily, EventTexts, SentenceStyle, event_family};
use crate::approval::PersonIdentity;
use crate::content::ContentId;
use crate::evidence::Evidence;
use crate::gate::{Answer, Gate, GateEdge};
use crate::names::{Principal, StepId};
use crate::outcome::Outcome;
use crate::run::{EdgeKey, HandoffNo, is_first_branch};

event_family! {
    #[expect(clippy::large_enum_variant, reason = "a command has a few, and keeps none of them")]
    pub enum GateEvent => Gate {
        "gate.opened" => Opened { handoff: HandoffNo, gate: Gate },
        "gate.answered" => Answered {
            handoff: HandoffNo,
            answer: Answer,
            by: Principal,
            comment: Option<ContentId>,
            /// Rounds that the answer grants in addition.
            n_extra: u32,
            /// Steps whose entries are counted anew, because a person has decided.
            #[serde(default, skip_serializing_if = "Vec::is_empty")]
            resets: Vec<StepId>,
            /// The open decisions that the answer closes, where the gate had some. Earlier versions left
            /// it out where the gate had one: they closed that.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            decisions: Option<Vec<u32>>,
        },
        /// One of the approvals that the gate needs. `gate.answered` follows the last one.
        "gate.approved" => Approved {
            handoff: HandoffNo,
            by: Principal,
            /// The package that was approved.
            package: Option<ContentId>,
            comment: Option<ContentId>,
            identity: PersonIdentity,
            /// The open decisions that the comment is about.
            #[serde(default, skip_serializing_if = "Vec::is_empty")]
            decisions: Vec<u32>,
        },
        /// A person passes their vote on to another person.
        "gate.delegated" => Delegated {
            handoff: HandoffNo,
            by: Principal,
            to: Principal,
            comment: Option<ContentId>,
            identity: PersonIdentity,
        },
        /// The gate has waited for long: people are reminded of it, once.
        "gate.reminded" => Reminded { handoff: HandoffNo },
        /// The checks of an automatic gate have all passed.
        "gate.passed" => Passed {
            edge: EdgeKey,
            evidence: Vec<Evidence>,
            /// Identifies the edge, where several connect the same two places.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            on: Option<Outcome>,
            #[serde(default, skip_serializing_if = "is_first_branch")]
            branch: u16,
        },
        /// An operator moved the run past these gates, or a person's answer at another gate led past
        /// them: they count as passed.
        "gate.waived" => Waived {
            gates: Vec<GateEdge>,
            by: Principal,
            reason: Option<ContentId>,
            #[serde(default, skip_serializing_if = "is_first_branch")]
            branch: u16,
        },
        /// The work went back to or before these gates, and must pass them again.
        "gate.lost" => Lost {
            gates: Vec<GateEdge>,
            #[serde(default, skip_serializing_if = "is_first_branch")]
            branch: u16,
        },
        /// The run is older than the record of passed gates: it is assumed to have passed the gates
        /// before its current place.
        "gate.carried" => Carried {
            gates: Vec<GateEdge>,
            #[serde(default, skip_serializing_if = "is_first_branch")]
            branch: u16,
        },
    }
}

impl EventFamily for GateEvent {
    fn handoff(&self) -> Option<HandoffNo> {
        match self {
            Self::Opened { handoff, .. }
            | Self::Answered { handoff, .. }
            | Self::Approved { handoff, .. }
            | Self::Delegated { handoff, .. }
            | Self::Reminded { handoff } => Some(*handoff),
            Self::Passed { .. }
            | Self::Waived { .. }
            | Self::Lost { .. }
            | Self::Carried { .. } => None,
        }
    }

    fn texts(&self) -> EventTexts {
        match self {
            Self::Opened { gate: Gate { reason, package, given, .. }, .. } => {
                EventTexts { package: *package, given: *given, ..EventTexts::words(*reason) }
            }
            Self::Approved { package, comment, .. } => {
                EventTexts { package: *package, ..EventTexts::words(*comment) }
            }
            Self::Answered { comment: words, .. }
            | Self::Delegated { comment: words, .. }
            | Self::Waived { reason: words, .. } => EventTexts::words(*words),
            Self::Passed { .. }
            | Self::Lost { .. }
            | Self::Carried { .. }
            | Self::Reminded { .. } => EventTexts::default(),
        }
    }

    fn needs_notification(&self) -> bool {
        matches!(self, Self::Opened { .. } | Self::Delegated { .. } | Self::Reminded { .. })
    }

    fn sentence(&self, style: &dyn SentenceStyle) -> String {
        match self {
            Self::Opened { handoff, gate } => {
                let asked = style.warning("a person is asked");
                format!("{asked} with {}: {}", style.handoff(*handoff), gate.sentence())
            }
            Self::Answered { handoff, answer, by, .. } => {
                let [by, handoff] = [style.principal(by), style.handoff(*handoff)];
                format!("{by} answers {handoff}: {}", style.success(answer.name()))
            }
            Self::Approved { handoff, by, .. } => {
                let [by, handoff] = [style.principal(by), style.handoff(*handoff)];
                format!("{by} {} {handoff}", style.success("approves"))
            }
            Self::Delegated { handoff, by, to, .. } => {
                let [by, to] = [style.principal(by), style.principal(to)];
                format!("{by} passes the vote on {} to {to}", style.handoff(*handoff))
            }
            Self::Reminded { handoff } => {
                let handoff = style.handoff(*handoff);
                format!("{handoff} {}", style.warning("still waits for a person"))
            }
            Self::Passed { edge, evidence, .. } => {
                let checks: Vec<&str> = evidence.iter().map(|it| it.check.as_str()).collect();
                format!("the gate to {} is passed by {}", edge.to, checks.join(", "))
            }
            Self::Waived { gates, by, .. } => {
                format!("{} {} {}", style.principal(by), style.warning("waives"), listed(gates))
            }
            Self::Lost { gates, .. } => {
                format!("the work is back before {}, and has to pass again", listed(gates))
            }
            Self::Carried { gates, .. } => format!("the run counts as past {}", listed(gates)),
        }
    }
}

impl GateEvent {
    /// The handoff of the gate, where the event is about one gate.
    pub(super) fn about(&self) -> Option<HandoffNo> {
        EventFamily::handoff(self)
    }
}

/// `the gate specification → architecture`, for each.
fn listed(gates: &[GateEdge]) -> String {
    if gates.is_empty() {
        return "no gate".to_owned();
    }
    let gate = |it: &GateEdge| format!("the gate {} → {}", it.from, it.to);
    gates.iter().map(gate).collect::<Vec<_>>().join(", ")
}
