//! The agents of a run, each as it was shown when a handoff was made. For handoffs from before that
//! was recorded, as its file is today. An agent that no file described then stays unknown.

use std::sync::Arc;

use baton_core::agent::Agent;
use baton_core::content::ContentId;
use baton_core::document::Node;
use baton_core::names::AgentId;
use baton_core::run::{HandoffNo, Run, RunCast};
use baton_engine::{Catalog, EngineError, Texts};
use baton_wire::json;

use crate::Views;

/// The one place that says how an agent was shown at a moment: every reader that prints an agent of the
/// past asks it.
pub struct Cast {
    catalog: Arc<Catalog>,
    /// In the order in which the run recorded them.
    records: Vec<ShownRecord>,
    /// Whose portrait is damaged, and since which handoff; without an agent, that of all.
    damaged: Vec<(ShownSince, Option<AgentId>)>,
}

struct ShownRecord {
    since: ShownSince,
    text: ContentId,
    shown: ShownAgents,
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
    /// The agents as their files describe them now, for what belongs to no run.
    pub fn of_today(catalog: Arc<Catalog>) -> Self {
        Self { catalog, records: Vec::new(), damaged: Vec::new() }
    }

    /// An agent in one handoff.
    pub fn at(&self, id: &AgentId, no: HandoffNo) -> Agent {
        // Of several with one number the handoff's own is the first: earlier versions recorded what came
        // after it, with a message or a decision, under the same number.
        let own = self.records.iter().filter(|it| it.since.came_with(no));
        let before = self.records.iter().rev().filter(|it| it.since.is_before(no));
        let mut known = own.chain(before).peekable();
        let is_recorded = known.peek().is_some() && !self.is_damaged(id, no);
        let shown = known.find_map(|it| self.member(&it.shown, id));
        shown.unwrap_or_else(|| self.missing(id, is_recorded))
    }

    /// True where what was shown of the agent is damaged: [`Cast::at`] has another portrait then.
    pub fn is_damaged(&self, id: &AgentId, no: HandoffNo) -> bool {
        let is_it = |agent: &Option<AgentId>| agent.as_ref().is_none_or(|it| it == id);
        let is_shown = |since: &ShownSince| since.came_with(no) || since.is_before(no);
        self.damaged.iter().any(|(since, agent)| is_shown(since) && is_it(agent))
    }

    /// An agent as one record of the run shows it; as it is shown today where there is no such record.
    pub fn by_portrait(&self, id: &AgentId, portrait: Option<ContentId>) -> Agent {
        let Some(last) = self.records.iter().position(|it| Some(it.text) == portrait) else {
            return self.today(id);
        };
        let shown = self.records[..=last].iter().rev().find_map(|it| self.member(&it.shown, id));
        shown.unwrap_or_else(|| Agent::without_file(id.clone()))
    }

    /// An agent as it is now.
    pub fn today(&self, id: &AgentId) -> Agent {
        match self.catalog.agents().find(id) {
            Some(agent) => agent.clone(),
            None => self.at(id, HandoffNo(u32::MAX)),
        }
    }

    fn member(&self, shown: &ShownAgents, id: &AgentId) -> Option<Agent> {
        match shown {
            ShownAgents::One(agent) => Some(agent.clone()).filter(|it| it.id == *id),
            ShownAgents::All(cast) => {
                Some(Agent::of_portrait(id.clone(), cast.member(id.as_str())?))
            }
            ShownAgents::AsToday => self.catalog.agents().find(id).cloned(),
        }
    }

    /// An agent that no record has: where there is one, no file described it then.
    fn missing(&self, id: &AgentId, is_recorded: bool) -> Agent {
        match is_recorded && self.has_whole_records() {
            true => Agent::without_file(id.clone()),
            false => self.catalog.agents().shown(id),
        }
    }

    /// Earlier versions recorded agents one by one: who is missing there may have had a file.
    fn has_whole_records(&self) -> bool {
        self.records.iter().any(|it| !matches!(it.shown, ShownAgents::One(_)))
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
        let mut cast = Cast::of_today(catalog);
        for it in &run.portraits {
            let (since, text) = (ShownSince::With(it.since), it.portrait);
            let shown = document(&texts, text);
            let shown = shown.map(|node| Agent::of_portrait(it.agent.clone(), &node));
            let shown = shown.map(ShownAgents::One);
            cast.records.extend(shown.map(|shown| ShownRecord { since, text, shown }));
            let is_damaged = texts.get(text).is_damaged();
            cast.damaged.extend(is_damaged.then(|| (since, Some(it.agent.clone()))));
        }
        for it in &run.casts {
            let (since, text) = (ShownSince::of(it), it.cast);
            let shown = match Some(text) == today {
                true => Some(ShownAgents::AsToday),
                false => document(&texts, text).map(ShownAgents::All),
            };
            cast.records.extend(shown.map(|shown| ShownRecord { since, text, shown }));
            let is_damaged = Some(text) != today && texts.get(text).is_damaged();
            cast.damaged.extend(is_damaged.then_some((since, None)));
        }
        Ok(cast)
    }
}

fn document(texts: &Texts, id: ContentId) -> Option<Node> {
    json::parse(texts.get(id).whole()?).ok()
}
