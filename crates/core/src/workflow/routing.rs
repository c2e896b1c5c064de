//! Which agent resolves what blocks a step: by the reason, and by the domain of the blocked agent.

use super::Workflow;
use crate::names::AgentId;

/// The table of a workflow. Without rows a person is asked, whatever the reason.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BlockerRouting {
    /// The domain of agents whose name has no prefix of a domain.
    pub domain: Option<String>,
    /// Prefixes of names that count as another domain: `python` as `backend`.
    pub prefixes: Vec<(String, String)>,
    pub rows: Vec<ResolverRow>,
}

/// Who resolves the blockers of one reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolverRow {
    /// The word of a document: `security_concern`.
    pub reason: String,
    /// By domain; one without a domain is for every other.
    pub resolvers: Vec<Resolver>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolver {
    pub domain: Option<String>,
    /// `human` for a person.
    pub agent: AgentId,
}

impl BlockerRouting {
    /// The domain of an agent: what the prefix of its name says, else the workflow's own.
    pub fn domain_of<'a>(&'a self, agent: &'a AgentId) -> Option<&'a str> {
        let prefix = agent.as_str().split_once('-').map(|(prefix, _)| prefix);
        let mapped = self.prefixes.iter().find(|(it, _)| Some(it.as_str()) == prefix);
        let is_domain = |name: &&str| self.domains().any(|it| it == *name);
        mapped
            .map(|(_, domain)| domain.as_str())
            .or(prefix.filter(is_domain))
            .or(self.domain.as_deref())
    }

    /// Every domain that the table, the prefixes or the workflow's own setting names.
    fn domains(&self) -> impl Iterator<Item = &str> {
        let resolvers = self.rows.iter().flat_map(|it| &it.resolvers);
        let named = resolvers.filter_map(|it| it.domain.as_deref());
        named.chain(self.prefixes.iter().map(|(_, it)| it.as_str())).chain(self.domain.as_deref())
    }

    /// Who resolves a blocker of this reason for `blocked`; `None` where the table does not say.
    pub fn resolver(&self, reason: &str, blocked: &AgentId) -> Option<&AgentId> {
        let row = self.rows.iter().find(|it| it.reason == reason)?;
        let domain = self.domain_of(blocked);
        let of = |wanted: Option<&str>| {
            row.resolvers.iter().find(|it| it.domain.as_deref() == wanted).map(|it| &it.agent)
        };
        domain.and_then(|it| of(Some(it))).or_else(|| of(None))
    }
}

impl Workflow {
    /// The agent of the same domain as `like`, where there are several to choose from.
    pub fn agent_like(&self, agents: &[AgentId], like: &AgentId) -> Option<AgentId> {
        self.agent_of(agents, self.routing.domain_of(like)?)
    }

    /// The agent of the workflow's own domain.
    pub fn agent_of_own_domain(&self, agents: &[AgentId]) -> Option<AgentId> {
        self.agent_of(agents, self.routing.domain.as_deref()?)
    }

    /// The only agent of a domain.
    fn agent_of(&self, agents: &[AgentId], domain: &str) -> Option<AgentId> {
        let mut fitting = agents.iter().filter(|it| self.routing.domain_of(it) == Some(domain));
        match (fitting.next(), fitting.next()) {
            (Some(only), None) => Some(only.clone()),
            (Some(_), Some(_)) | (None, _) => None,
        }
    }
}
