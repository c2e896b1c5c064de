//! Events of gates: a person is asked and answers, checks open one, and which gates count as passed.

use super::family::{EventFamily, EventTexts, SentenceStyle, event_family};
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
        },
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
            Self::Opened { handoff, .. } | Self::Answered { handoff, .. } => Some(*handoff),
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
            Self::Answered { comment: words, .. } | Self::Waived { reason: words, .. } => {
                EventTexts::words(*words)
            }
            Self::Passed { .. } | Self::Lost { .. } | Self::Carried { .. } => EventTexts::default(),
        }
    }

    fn needs_notification(&self) -> bool {
        matches!(self, Self::Opened { .. })
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

/// `the gate specification → architecture`, for each.
fn listed(gates: &[GateEdge]) -> String {
    if gates.is_empty() {
        return "no gate".to_owned();
    }
    let gate = |it: &GateEdge| format!("the gate {} → {}", it.from, it.to);
    gates.iter().map(gate).collect::<Vec<_>>().join(", ")
}
