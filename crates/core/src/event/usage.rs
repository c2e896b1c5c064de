//! Events of what agents use.

use super::family::{EventFamily, SentenceStyle, event_family};
use crate::budget::Usage;
use crate::names::{AgentId, ExecutorName, StepId};
use crate::run::HandoffNo;

event_family! {
    pub enum UsageEvent => Usage {
        /// What an agent's program used in an attempt, or in a part of it.
        "usage.recorded" => Recorded {
            handoff: HandoffNo,
            fence: u32,
            agent: AgentId,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            step: Option<StepId>,
            /// The step that the work came from, where that edge has a budget.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            from: Option<StepId>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            executor: Option<ExecutorName>,
            #[serde(flatten)]
            usage: Usage,
        },
    }
}

impl EventFamily for UsageEvent {
    fn handoff(&self) -> Option<HandoffNo> {
        let Self::Recorded { handoff, .. } = self;
        Some(*handoff)
    }

    fn sentence(&self, style: &dyn SentenceStyle) -> String {
        let Self::Recorded { handoff, agent, executor, usage, .. } = self;
        let by = executor.as_ref().map(|it| format!(" ({it})")).unwrap_or_default();
        format!("{}{by} used {usage} on {}", style.agent(agent), style.handoff(*handoff))
    }
}
