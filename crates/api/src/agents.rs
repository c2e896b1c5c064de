//! Agents, in the form that the workflow API uses to attribute work to them.

use baton_core::agent::Agent;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// An agent as the author of work: what the workflow API says of it, and no more. Everything else is
/// in [`AgentProfile`].
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AgentAttributionDto)]
pub struct Attribution {
    pub agent_id: String,
    /// `Unknown Agent` if no file describes it.
    pub agent_name: String,
    pub agent_description: String,
    /// Null if the agent has no image: `/api/v1/agents/ID` has its initials and colour.
    pub agent_avatar_url: Option<String>,
    pub capabilities: Vec<String>,
    /// The step that the agent has to do now, or had in a handoff; null if there is none.
    pub current_step_responsibility: Option<String>,
}

/// An agent as it is shown.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct AgentProfile {
    #[serde(flatten)]
    pub attribution: Attribution,
    pub avatar: Avatar,
    /// The colour in its file; null if there is none. `avatar.color` is never null.
    pub color: Option<String>,
    /// `agentName` if what was shown of the agent then is damaged, and so is shown as it is today;
    /// omitted if not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub damaged: Vec<String>,
}

/// How to draw an agent: the image if there is one, else the initials in the colour.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Avatar {
    pub initials: String,
    /// A colour name or `#1a2b3c`. The same agent always has the same.
    pub color: String,
    pub url: Option<String>,
    /// An emoji, if the agent's file has one in place of an image.
    pub symbol: Option<String>,
}

/// An agent and its prompt.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = Agent)]
pub struct AgentDocument {
    #[serde(flatten)]
    pub agent: AgentProfile,
    pub prompt: String,
}

impl From<&Agent> for Attribution {
    fn from(agent: &Agent) -> Self {
        Self {
            agent_id: agent.id.to_string(),
            agent_name: agent.name.clone(),
            agent_description: agent.description.clone(),
            agent_avatar_url: agent.avatar_url().map(str::to_owned),
            capabilities: agent.capabilities.clone(),
            current_step_responsibility: None,
        }
    }
}

impl From<&Agent> for AgentProfile {
    fn from(agent: &Agent) -> Self {
        Self {
            attribution: agent.into(),
            avatar: Avatar {
                initials: agent.initials(),
                color: agent.avatar_color().to_owned(),
                url: agent.avatar_url().map(str::to_owned),
                symbol: agent.avatar_symbol().map(str::to_owned),
            },
            color: agent.color.clone(),
            damaged: Vec::new(),
        }
    }
}

impl Attribution {
    /// Adds the step that the agent has to do.
    #[must_use]
    pub fn at(self, step: Option<String>) -> Self {
        Self { current_step_responsibility: step, ..self }
    }
}

impl AgentProfile {
    /// Adds the step that the agent has to do.
    #[must_use]
    pub fn at(self, step: Option<String>) -> Self {
        Self { attribution: self.attribution.at(step), ..self }
    }
}
