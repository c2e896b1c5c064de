//! Events of a blocker: raised by an agent, sent to another one to resolve, settled by that or by a
//! person.

use super::family::{EventFamily, EventTexts, SentenceStyle, event_family};
use crate::content::ContentId;
use crate::detour::{Detour, RerouteCause};
use crate::gate::Gate;
use crate::names::{AgentId, Principal};
use crate::run::{HandoffNo, is_first_branch};

event_family! {
    #[expect(clippy::large_enum_variant, reason = "a command has a few, and keeps none of them")]
    pub enum BlockerEvent => Blocker {
        "blocker.raised" => Raised {
            blocker: u32,
            handoff: HandoffNo,
            by: AgentId,
            about: ContentId,
            #[serde(default, skip_serializing_if = "is_first_branch")]
            branch: u16,
        },
        "blocker.resolved" => Resolved { blocker: u32, by: Principal, how: Option<ContentId> },
        /// The blocker was not resolved; the run goes on another way.
        "blocker.waived" => Waived { blocker: u32, by: Principal, why: Option<ContentId> },
        /// The open blockers go to an agent that can resolve them, with this handoff.
        "blocker.routed" => Routed { handoff: HandoffNo, detour: Detour },
        /// An operator sends the open blockers elsewhere than the workflow's table says.
        "blocker.rerouted" => Rerouted {
            handoff: HandoffNo,
            cause: RerouteCause,
            to: AgentId,
            by: Principal,
            reason: ContentId,
        },
    }
}

impl EventFamily for BlockerEvent {
    fn handoff(&self) -> Option<HandoffNo> {
        match self {
            Self::Raised { handoff, .. }
            | Self::Routed { handoff, .. }
            | Self::Rerouted { handoff, .. } => Some(*handoff),
            Self::Resolved { .. } | Self::Waived { .. } => None,
        }
    }

    fn texts(&self) -> EventTexts {
        match self {
            Self::Raised { about, .. } => EventTexts::words(*about),
            Self::Resolved { how: words, .. } | Self::Waived { why: words, .. } => {
                EventTexts::words(*words)
            }
            Self::Routed { detour, .. } => {
                let Gate { reason, package, given, .. } = &detour.gate;
                EventTexts { package: *package, given: *given, ..EventTexts::words(*reason) }
            }
            Self::Rerouted { reason, .. } => EventTexts::words(*reason),
        }
    }

    fn sentence(&self, style: &dyn SentenceStyle) -> String {
        match self {
            Self::Raised { blocker, handoff, by, .. } => {
                let [by, handoff] = [style.agent(by), style.handoff(*handoff)];
                format!("{by} is blocked at {handoff} (blocker {blocker})")
            }
            Self::Resolved { blocker, by, .. } => {
                format!("{} resolves blocker {blocker}", style.principal(by))
            }
            Self::Waived { blocker, by, .. } => {
                format!("{} waives blocker {blocker}", style.principal(by))
            }
            Self::Routed { handoff, detour } => {
                let [blocked, handoff] =
                    [style.agent(&detour.blocked().agent), style.handoff(*handoff)];
                let reason = style.escaped(&detour.reason);
                format!("what blocks {blocked} goes to an agent with {handoff}: {reason}")
            }
            Self::Rerouted { handoff, cause, to, by, .. } => {
                let [by, to, handoff] =
                    [style.principal(by), style.agent(to), style.handoff(*handoff)];
                format!("{by} sends {handoff} to {to} instead: {}", cause.name())
            }
        }
    }
}
