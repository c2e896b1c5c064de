//! The agents of a run, each as it was shown when a handoff was made. For handoffs from before that
//! was recorded, as its file is today.

use std::sync::Arc;

use baton_core::agent::Agent;
use baton_core::content::ContentId;
use baton_core::document::Node;
use baton_core::names::AgentId;
use baton_core::run::{HandoffNo, Run, RunCast};
use baton_engine::{Catalog, EngineError, Texts};
use baton_wire::json;

use crate::Views;

pub struct Cast {
    catalog: Arc<Catalog>,
    /// In the order in which the run recorded them.
    portraits: Vec<(ShownSince, ShownAgents)>,
    /// What was shown of all agents, by its text.
    by_content: Vec<(ContentId, Node)>,
    /// Whose portrait is damaged, and since which handoff; without an agent, that of all.
    damaged: Vec<(ShownSince, Option<AgentId>)>,
}

/// From where on it is shown.
#[derive(Clone, Copy)]
enum ShownSince {
    /// It came with this handoff.
    With(HandoffNo),
    /// It came after this handoff, with what was said: from the next one on.
    After(HandoffNo),
}

impl ShownSince {
    fn of(recorded: &RunCast) -> Self {
        match recorded.is_after {
            true => Self::After(recorded.since),
            false => Self::With(recorded.since),
        }
    }

    fn came_with(self, no: HandoffNo) -> bool {
        matches!(self, Self::With(since) if since == no)
    }

    fn is_before(self, no: HandoffNo) -> bool {
        let (Self::With(since) | Self::After(since)) = self;
        since < no
    }
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
        // Of several with one number the handoff's own is the first: earlier versions recorded what came
        // after it, with a message or a decision, under the same number.
        let own = self.portraits.iter().filter(|(since, _)| since.came_with(no));
        let before = self.portraits.iter().rev().filter(|(since, _)| since.is_before(no));
        let known = own.chain(before).find_map(|(_, shown)| match shown {
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
        let is_shown = |since: &ShownSince| since.came_with(no) || since.is_before(no);
        self.damaged.iter().any(|(since, agent)| is_shown(since) && is_it(agent))
    }

    /// An agent as one record of the run shows it; else as it is shown today.
    pub fn by_portrait(&self, id: &AgentId, portrait: Option<ContentId>) -> Agent {
        let known = self.by_content.iter().find(|it| Some(it.0) == portrait);
        let shown = known.and_then(|(_, cast)| cast.member(id.as_str()));
        let shown = shown.map(|it| Agent::of_portrait(id.clone(), it));
        shown.unwrap_or_else(|| self.today(id))
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
        let (portraits, by_content, damaged) = (Vec::new(), Vec::new(), Vec::new());
        let mut cast = Cast { catalog, portraits, by_content, damaged };
        for it in &run.portraits {
            let shown = document(&texts, it.portrait);
            let shown = shown.map(|node| Agent::of_portrait(it.agent.clone(), &node));
            cast.portraits
                .extend(shown.map(|agent| (ShownSince::With(it.since), ShownAgents::One(agent))));
            let is_damaged = texts.get(it.portrait).is_damaged();
            cast.damaged
                .extend(is_damaged.then(|| (ShownSince::With(it.since), Some(it.agent.clone()))));
        }
        for it in &run.casts {
            let since = ShownSince::of(it);
            if Some(it.cast) == today {
                cast.portraits.push((since, ShownAgents::AsToday));
                continue;
            }
            let shown = document(&texts, it.cast);
            cast.by_content.extend(shown.clone().map(|node| (it.cast, node)));
            cast.portraits.extend(shown.map(|node| (since, ShownAgents::All(node))));
            cast.damaged.extend(texts.get(it.cast).is_damaged().then_some((since, None)));
        }
        Ok(cast)
    }
}

fn document(texts: &Texts, id: ContentId) -> Option<Node> {
    json::parse(texts.get(id).whole()?).ok()
}
