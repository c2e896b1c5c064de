//! The agents of a run, each as it was shown when a handoff was made. For handoffs from before that
//! was recorded, as its file is today.

use std::sync::Arc;

use baton_core::agent::Agent;
use baton_core::document::Node;
use baton_core::names::AgentId;
use baton_core::run::{HandoffNo, Run, RunCast};
use baton_engine::{Catalog, EngineError, Texts};
use baton_wire::json;

use crate::Views;

pub struct Cast {
    catalog: Arc<Catalog>,
    /// In the order in which the run recorded them.
    portraits: Vec<(HandoffNo, ShownAgents)>,
    /// Whose portrait is damaged, and since which handoff; without an agent, that of all.
    damaged: Vec<(HandoffNo, Option<AgentId>)>,
}

/// What is shown since a handoff.
enum ShownAgents {
    One(Agent),
    All(Node),
    /// No file was edited since.
    AsToday,
}

impl Cast {
    /// An agent in one handoff.
    pub fn at(&self, id: &AgentId, no: HandoffNo) -> Agent {
        let recorded = self.portraits.iter().rev().filter(|(since, _)| *since <= no);
        let known = recorded.into_iter().find_map(|(_, shown)| match shown {
            ShownAgents::One(agent) => Some(agent.clone()).filter(|it| it.id == *id),
            ShownAgents::All(cast) => {
                let portrait = cast.member(id.as_str())?;
                Some(Agent::of_portrait(id.clone(), portrait))
            }
            ShownAgents::AsToday => self.catalog.agents().find(id).cloned(),
        });
        known.unwrap_or_else(|| self.catalog.agents().shown(id))
    }

    /// True where what was shown of the agent is damaged: [`Cast::at`] has another portrait then.
    pub fn is_damaged(&self, id: &AgentId, no: HandoffNo) -> bool {
        let is_it = |agent: &Option<AgentId>| agent.as_ref().is_none_or(|it| it == id);
        self.damaged.iter().any(|(since, agent)| *since <= no && is_it(agent))
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
        let catalog = self.0.catalog();
        let today = catalog.agents().cast().map(|it| it.id);
        // What has not changed since need not be read.
        let is_read = |it: &&RunCast| Some(it.cast) != today;
        let casts = run.casts.iter().filter(is_read).map(|it| it.cast);
        let portraits = run.portraits.iter().map(|it| it.portrait);
        let texts = self.texts(run.id, portraits.chain(casts)).await?;
        let mut cast = Cast { catalog, portraits: Vec::new(), damaged: Vec::new() };
        for it in &run.portraits {
            let shown = document(&texts, it.portrait);
            let shown = shown.map(|node| Agent::of_portrait(it.agent.clone(), &node));
            cast.portraits.extend(shown.map(|agent| (it.since, ShownAgents::One(agent))));
            let is_damaged = texts.get(it.portrait).is_damaged();
            cast.damaged.extend(is_damaged.then(|| (it.since, Some(it.agent.clone()))));
        }
        for it in &run.casts {
            if Some(it.cast) == today {
                cast.portraits.push((it.since, ShownAgents::AsToday));
                continue;
            }
            let shown = document(&texts, it.cast);
            cast.portraits.extend(shown.map(|node| (it.since, ShownAgents::All(node))));
            cast.damaged.extend(texts.get(it.cast).is_damaged().then_some((it.since, None)));
        }
        Ok(cast)
    }
}

fn document(texts: &Texts, id: baton_core::content::ContentId) -> Option<Node> {
    json::parse(texts.get(id).whole()?).ok()
}
