//! The known agents, by id.

use std::collections::BTreeMap;

use crate::agent::Agent;
use crate::content::Content;
use crate::names::AgentId;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Agents(BTreeMap<AgentId, KnownAgent>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct KnownAgent {
    agent: Agent,
    /// Made once: every handoff compares it with what its run has.
    portrait: Content,
}

impl Agents {
    pub fn new(agents: impl IntoIterator<Item = Agent>) -> Self {
        let known = |agent: Agent| {
            let portrait = agent.portrait();
            (agent.id.clone(), KnownAgent { agent, portrait })
        };
        Self(agents.into_iter().map(known).collect())
    }

    pub fn find(&self, id: &AgentId) -> Option<&Agent> {
        self.0.get(id).map(|it| &it.agent)
    }

    /// What is shown of the agent, where a file describes it.
    pub(crate) fn portrait(&self, id: &AgentId) -> Option<&Content> {
        self.0.get(id).map(|it| &it.portrait)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Agent> {
        self.0.values().map(|it| &it.agent)
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
