//! The known agents, by id.

use std::collections::BTreeMap;

use crate::agent::Agent;
use crate::canonical;
use crate::content::Content;
use crate::document::Node;
use crate::look_alike::name_outline;
use crate::names::AgentId;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Agents {
    known: BTreeMap<AgentId, Agent>,
    /// By the look of their ids and shown names, made once: many commands ask who speaks.
    outlines: BTreeMap<String, AgentId>,
    /// Made once: every handoff compares it with what its run has. `None` without agents.
    cast: Option<Content>,
}

impl Agents {
    pub fn new(agents: impl IntoIterator<Item = Agent>) -> Self {
        let known: BTreeMap<AgentId, Agent> =
            agents.into_iter().map(|it| (it.id.clone(), it)).collect();
        let portraits = known.values().map(|it| (it.id.to_string(), it.portrait()));
        let cast = Node::Map(portraits.collect());
        let cast = (!known.is_empty()).then(|| Content::shared(canonical::text(&cast)));
        let looks = known.values().map(|it| (&it.name, &it.id));
        let shown = looks.filter(|it| it.0 != Agent::UNKNOWN);
        let mut outlines: BTreeMap<String, AgentId> =
            shown.map(|(name, id)| (name_outline(name), id.clone())).collect();
        // An id is its agent's, whatever another one is shown by.
        outlines.extend(known.keys().map(|id| (name_outline(id.as_str()), id.clone())));
        Self { known, outlines, cast }
    }

    pub fn find(&self, id: &AgentId) -> Option<&Agent> {
        self.known.get(id)
    }

    /// The agent whose id or shown name has this outline.
    pub(crate) fn by_outline(&self, outline: &str) -> Option<&AgentId> {
        self.outlines.get(outline)
    }

    /// What is shown of all agents: one text, which runs share as long as no file is edited.
    pub fn cast(&self) -> Option<&Content> {
        self.cast.as_ref()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Agent> {
        self.known.values()
    }

    /// The agent as its file describes it, else what is shown in place of a file.
    pub fn shown(&self, id: &AgentId) -> Agent {
        self.find(id).cloned().unwrap_or_else(|| Agent::without_file(id.clone()))
    }

    /// The one name of an agent in a sentence; with its id where no file gives a name.
    pub fn name_of(&self, id: &AgentId) -> String {
        match self.find(id) {
            Some(agent) => agent.name.clone(),
            None => Agent::without_file(id.clone()).label(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_has_one_name_and_an_unknown_one_has_its_id_beside_it() {
        let named = |id: &str| {
            let id = AgentId::parse(id).unwrap();
            (Agents::default().name_of(&id), Agents::default().shown(&id).name)
        };
        let both = |name: &str| (name.to_owned(), name.to_owned());
        assert_eq!(named("human"), both("Human"));
        assert_eq!(named("orchestrator"), both("Orchestrator"));
        let (label, name) = named("retired");
        assert_eq!((label.as_str(), name.as_str()), ("Unknown Agent (retired)", "Unknown Agent"));
    }
}
