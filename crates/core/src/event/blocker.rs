//! Events of a blocker: raised by an agent, sent to another one to resolve, settled by that or by a
//! person.

use super::family::{EventFamily, EventTexts, SentenceStyle, event_family};
use crate::content::ContentId;
use crate::detour::{Detour, RerouteCause};
use crate::gate::Gate;
use crate::names::{AgentId, Principal};
use crate::run::{Blocker, CounterScope, HandoffNo, Run, is_first_branch};
use crate::workflow::Place;

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

impl Run {
    pub(super) fn on_blocker(&mut self, event: &BlockerEvent) {
        match event {
            BlockerEvent::Raised { blocker, handoff, by, about, branch } => {
                self.n_blockers = *blocker;
                let (no, by, branch) = (*blocker, by.clone(), *branch);
                self.blockers.push(Blocker { no, handoff: *handoff, by, about: *about, branch });
            }
            BlockerEvent::Resolved { blocker, .. } | BlockerEvent::Waived { blocker, .. } => {
                self.blockers.retain(|it| it.no != *blocker);
            }
            BlockerEvent::Routed { handoff, detour } => self.send_round(*handoff, detour),
            // What it leads to has events of its own.
            BlockerEvent::Rerouted { .. } => {}
        }
    }

    /// The first attempt of a resolver counts as a block of the step; its retries do not.
    fn send_round(&mut self, no: HandoffNo, detour: &Detour) {
        let Some(handoff) = self.handoff_mut(no) else { return };
        handoff.detour = Some(Box::new(detour.clone()));
        let (is_first, branch) = (handoff.attempt == 1, handoff.branch);
        if let (true, Place::Step(step)) = (is_first, &detour.blocked().place) {
            self.counter_mut(branch, CounterScope::Blocks(step.clone())).n += 1;
        }
    }
}
