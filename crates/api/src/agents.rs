//! Agents, in the form that the workflow API uses to attribute work to them.

use baton_core::agent::Agent;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// An agent as the author of work.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AgentAttributionDto)]
pub struct Attribution {
    pub agent_id: String,
    pub agent_name: String,
    pub agent_description: String,
    pub agent_avatar_url: Option<String>,
    pub capabilities: Vec<String>,
    /// The step that the agent has to do now; null if there is none.
    pub current_step_responsibility: Option<String>,
    pub color: Option<String>,
    /// `agentName` if what was shown of the agent then is damaged, and so is shown as it is today;
    /// omitted if not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub damaged: Vec<String>,
}

/// An agent and its prompt.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = Agent)]
pub struct AgentDocument {
    #[serde(flatten)]
    pub agent: Attribution,
    pub prompt: String,
}

impl From<&Agent> for Attribution {
    fn from(agent: &Agent) -> Self {
        Self {
            agent_id: agent.id.to_string(),
            agent_name: agent.name.clone(),
            agent_description: agent.description.clone(),
            agent_avatar_url: agent.avatar.clone(),
            capabilities: agent.capabilities.clone(),
            current_step_responsibility: None,
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
