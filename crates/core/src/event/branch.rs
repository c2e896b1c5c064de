//! Events of branches: a fan-out, what each branch brings to the join, and the join.

use super::StepEntry;
use super::family::{EventFamily, EventTexts, SentenceStyle, event_family};
use crate::content::ContentId;
use crate::names::StepId;
use crate::outcome::Outcome;
use crate::run::{HandoffNo, Party};

event_family! {
    pub enum BranchEvent => Branch {
        /// The work goes to several steps at once. The handoffs to them follow.
        "branch.forked" => Forked {
            from: Party,
            /// The first step of each branch; the branches are counted from 1 in this order.
            firsts: Vec<StepId>,
            join: StepId,
            /// How many branches have to arrive.
            need: u16,
            package: Option<ContentId>,
            /// How the work leaves the step that fans out, which counts once.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            entry: Option<StepEntry>,
        },
        /// A branch has come to the join.
        "branch.arrived" => Arrived {
            branch: u16,
            /// The handoff that brought the work, which is complete.
            handoff: HandoffNo,
            from: Party,
            outcome: Outcome,
            package: Option<ContentId>,
        },
        /// The join goes on without this branch.
        "branch.cancelled" => Cancelled { branch: u16, first: StepId, reason: ContentId },
        /// Enough branches have arrived, or an operator moved the run elsewhere: one branch goes on.
        "branch.joined" => Joined {
            at: StepId,
            /// The branches that count, in the order of the workflow.
            branches: Vec<u16>,
        },
    }
}

impl EventFamily for BranchEvent {
    fn texts(&self) -> EventTexts {
        match self {
            Self::Forked { package, .. } | Self::Arrived { package, .. } => {
                EventTexts { package: *package, ..EventTexts::default() }
            }
            Self::Cancelled { reason, .. } => EventTexts::words(*reason),
            Self::Joined { .. } => EventTexts::default(),
        }
    }

    fn sentence(&self, style: &dyn SentenceStyle) -> String {
        match self {
            Self::Forked { from, firsts, join, need, .. } => {
                let firsts: Vec<&str> = firsts.iter().map(StepId::as_str).collect();
                let (from, n) = (style.agent(&from.agent), firsts.len());
                format!("{from} fans out to {}; {need} of {n} join at {join}", firsts.join(", "))
            }
            Self::Arrived { from, handoff, outcome, .. } => {
                let (from, handoff) = (style.agent(&from.agent), style.handoff(*handoff));
                format!("{from} brings {handoff} to the join: {}", outcome.name())
            }
            Self::Cancelled { first, .. } => {
                format!("the branch of {first} is {}", style.warning("cancelled"))
            }
            Self::Joined { at, branches } if branches.is_empty() => {
                format!("the branches are left; the work goes on at {at}")
            }
            Self::Joined { at, branches } => {
                let plural = if branches.len() == 1 { "branch joins" } else { "branches join" };
                format!("{} {plural} at {at}", branches.len())
            }
        }
    }
}
