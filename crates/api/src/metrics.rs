//! Metrics of handoffs.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::word::StateWord;

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct HandoffMetrics {
    /// The number of handoffs in each state; states without handoffs are omitted.
    pub states: Vec<StateCount>,
    /// By receiver.
    pub agents: Vec<AgentMetrics>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct StateCount {
    pub state: StateWord,
    pub count: u64,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentMetrics {
    pub agent: String,
    pub handoffs: u64,
    pub open: u64,
    pub completed: u64,
    /// How many handoffs the agent rejected.
    pub rejects: u64,
    /// From the offer to the acceptance; null if the agent has accepted none.
    pub mean_ms_to_accept: Option<u64>,
    /// From the acceptance to the completion; null if the agent has completed none.
    pub mean_ms_to_complete: Option<u64>,
}
