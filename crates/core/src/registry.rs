//! The known agents, by id.

use std::collections::BTreeMap;

use crate::agent::Agent;
use crate::names::AgentId;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Agents(BTreeMap<AgentId, Agent>);

impl Agents {
    pub fn new(agents: impl IntoIterator<Item = Agent>) -> Self {
        Self(agents.into_iter().map(|it| (it.id.clone(), it)).collect())
    }

    pub fn find(&self, id: &AgentId) -> Option<&Agent> {
        self.0.get(id)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Agent> {
        self.0.values()
    }

    /// The agent's display name, or its id where no file gives a name.
    pub fn name_of<'a>(&'a self, id: &'a AgentId) -> &'a str {
        self.find(id).map_or(id.as_str(), |it| &it.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_that_no_file_describes_is_called_by_its_id() {
        let id = AgentId::parse("retired").unwrap();
        assert_eq!(Agents::default().name_of(&id), "retired");
        assert_eq!(Agent::unknown(id).name, "Unknown Agent");
    }
}
