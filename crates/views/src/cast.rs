//! The agents of a run, each as it was shown when a handoff was made. For handoffs from before that
//! was recorded, as its file is today.

use std::sync::Arc;

use baton_core::agent::Agent;
use baton_core::content::ContentId;
use baton_core::names::AgentId;
use baton_core::run::{HandoffNo, Portrait, Run};
use baton_engine::{Catalog, EngineError};
use baton_wire::json;

use crate::Views;

pub struct Cast {
    catalog: Arc<Catalog>,
    /// In the order in which the run recorded them.
    portraits: Vec<(HandoffNo, Agent)>,
    by_content: Vec<(ContentId, Agent)>,
    /// Agents whose portrait is damaged, and since which handoff.
    damaged: Vec<(HandoffNo, AgentId)>,
}

impl Cast {
    /// An agent in one handoff.
    pub fn at(&self, id: &AgentId, no: HandoffNo) -> Agent {
        let is_it = |(since, agent): &&(HandoffNo, Agent)| agent.id == *id && *since <= no;
        let known = self.portraits.iter().rev().find(is_it).map(|(_, agent)| agent.clone());
        known.unwrap_or_else(|| self.catalog.agents().shown(id))
    }

    /// True where what was shown of the agent is damaged: [`Cast::at`] has another portrait then.
    pub fn is_damaged(&self, id: &AgentId, no: HandoffNo) -> bool {
        self.damaged.iter().any(|(since, agent)| agent == id && *since <= no)
    }

    /// An agent as a portrait of the run shows it; else as it is shown today.
    pub fn by_portrait(&self, id: &AgentId, portrait: Option<ContentId>) -> Agent {
        let known = |it: &&(ContentId, Agent)| Some(it.0) == portrait && it.1.id == *id;
        let found = self.by_content.iter().find(known).map(|(_, agent)| agent.clone());
        found.unwrap_or_else(|| self.today(id))
    }

    /// An agent as it is now.
    pub fn today(&self, id: &AgentId) -> Agent {
        match self.catalog.agents().find(id) {
            Some(agent) => agent.clone(),
            None => self.at(id, HandoffNo(u32::MAX)),
        }
    }
}

impl Views<'_> {
    pub async fn cast(&self, run: &Run) -> Result<Cast, EngineError> {
        let texts = self.texts(run.id, run.portraits.iter().map(|it| it.portrait)).await?;
        let read = |it: &Portrait| {
            let document = json::parse(texts.get(it.portrait).whole()?).ok()?;
            Some((it.since, it.portrait, Agent::of_portrait(it.agent.clone(), &document)))
        };
        let read: Vec<_> = run.portraits.iter().filter_map(read).collect();
        let by_content = read.iter().map(|(_, id, agent)| (*id, agent.clone())).collect();
        let portraits = read.into_iter().map(|(since, _, agent)| (since, agent)).collect();
        let damaged = run.portraits.iter().filter(|it| texts.get(it.portrait).is_damaged());
        let damaged = damaged.map(|it| (it.since, it.agent.clone())).collect();
        Ok(Cast { catalog: self.0.catalog(), portraits, by_content, damaged })
    }
}
