//! What the attempts of a run used, from its log.

use baton_core::budget::Usage;
use baton_core::event::{Event, UsageEvent};
use baton_core::names::{AgentId, ExecutorName};
use baton_core::run::{HandoffNo, RunId};
use baton_engine::EngineError;
use baton_store::{EventFilter, Position};
use baton_wire::event;
use jiff::Timestamp;

use crate::Views;

/// What the program of an attempt used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptUsage {
    pub position: Position,
    pub at: Timestamp,
    pub handoff: HandoffNo,
    pub fence: u32,
    pub agent: AgentId,
    pub executor: Option<ExecutorName>,
    pub usage: Usage,
}

impl Views<'_> {
    /// What was used in a run after a position, oldest first, at most `most`.
    pub async fn usage(
        &self,
        run: RunId,
        after: Position,
        most: usize,
    ) -> Result<Vec<AttemptUsage>, EngineError> {
        let filter = EventFilter { after, run: Some(run), limit: 0 };
        let mut found = Vec::new();
        for stored in self.events(&filter).await? {
            if stored.name != "usage.recorded" {
                continue;
            }
            let Ok(Event::Usage(UsageEvent::Recorded {
                handoff,
                fence,
                agent,
                executor,
                usage,
                ..
            })) = event::decode(&stored.body)
            else {
                continue;
            };
            let (position, at) = (stored.position, stored.at);
            found.push(AttemptUsage { position, at, handoff, fence, agent, executor, usage });
            if found.len() == most {
                break;
            }
        }
        Ok(found)
    }
}
