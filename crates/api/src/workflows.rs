//! The workflow API: a run as its workflow instance.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::agents::Attribution;

/// The status of a workflow in progress.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WorkflowStatusResponse)]
pub struct WorkflowStatus {
    /// The run's id.
    pub id: Uuid,
    /// The same as `id`, under the name that events use.
    pub workflow_instance_id: Uuid,
    /// The name of the workflow that the run goes through, here and in events.
    pub workflow_id: String,
    /// The workflow's title.
    pub name: String,
    pub status: WorkflowProgress,
    /// Counted from 1; null if the baton is at no step.
    pub current_step: Option<u32>,
    pub total_steps: u32,
    #[schema(maximum = 100)]
    pub percent_complete: u32,
    pub started_at: Timestamp,
    pub steps: Vec<StepStatus>,
    /// The agent or person that has to act; null if there is none.
    pub current_agent: Option<Attribution>,
    /// The last five, oldest first.
    pub recent_handoffs: Vec<AgentHandoff>,
    /// Members that are not what was written, because the stored text is damaged, such as
    /// `recentHandoffs[1].reason`; omitted if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub damaged: Vec<String>,
}

/// The workflow API's status names.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = WorkflowStatus)]
pub enum WorkflowProgress {
    Running,
    Paused,
    WaitingForInput,
    WaitingForApproval,
    Completed,
    Cancelled,
}

/// Who handed what to whom, when and why, and no more: ids, labels and states of the same handoffs are
/// at `/api/v1/audit?run=ID`.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AgentHandoffDto)]
pub struct AgentHandoff {
    pub from_agent: Attribution,
    pub to_agent: Attribution,
    pub timestamp: Timestamp,
    /// The title of the step that it went to; null if it went to none.
    pub step_name: Option<String>,
    /// The id of that step.
    pub workflow_step: Option<String>,
    /// At most 1,000 characters of it, and its end says so. Null if it was lost in a recovery or is
    /// damaged.
    pub reason: Option<String>,
}

/// A numbered page.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PagedResult)]
pub struct NumberedPage<T> {
    pub items: Vec<T>,
    pub page: u32,
    pub page_size: u32,
    pub total_items: u64,
    pub total_pages: u64,
    pub has_previous: bool,
    pub has_next: bool,
    /// Members that are not what was written, because the stored text is damaged, such as
    /// `items[1].reason`; omitted if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub damaged: Vec<String>,
}

/// The status of a step.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StepStatus {
    pub step_id: String,
    pub name: String,
    pub status: StepProgress,
    pub completed_at: Option<Timestamp>,
    /// The agent that did the step last, or is to do it.
    pub agent_name: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub enum StepProgress {
    Pending,
    Current,
    Completed,
    Skipped,
}

impl StepStatus {
    pub fn is_current(&self) -> bool {
        self.status == StepProgress::Current
    }

    pub fn is_done(&self) -> bool {
        matches!(self.status, StepProgress::Completed | StepProgress::Skipped)
    }
}
