//! Events of a run as a whole: its course, and what an external system reports about its story.

use super::family::{EventFamily, EventTexts, SentenceStyle, event_family};
use crate::budget::Budget;
use crate::content::ContentId;
use crate::hash::Hash;
use crate::names::{AgentId, CommitId, Principal, StoryKey, WorkflowName};
use crate::run::{Party, RunStatus, is_false, is_first_branch};
use crate::workflow::{Mode, Place};

event_family! {
    pub enum RunEvent => Run {
        "run.started" => Started {
            story: StoryKey,
            workflow: WorkflowName,
            pin: Hash,
            owner: Principal,
            start: Place,
            /// The workflow has gates that stop work; the run records which it has passed.
            #[serde(default, skip_serializing_if = "is_false")]
            has_gates: bool,
            /// Edges with checks count as such gates; in runs that are older they do not.
            #[serde(default, skip_serializing_if = "is_false")]
            has_checks: bool,
            #[serde(default, skip_serializing_if = "Mode::is_autonomous")]
            mode: Mode,
            /// In place of the workflow's.
            #[serde(default, skip_serializing_if = "Budget::is_unlimited")]
            budget: Budget,
        },
        /// An agent took up a baton that was not handed to it.
        "run.adopted" => Adopted { by: Party },
        "run.paused" => Paused { reason: Option<ContentId> },
        "run.resumed" => Resumed,
        "run.cancelled" => Cancelled { reason: Option<ContentId> },
        "run.completed" => Completed,
        "baton.loose" => BatonLoose {
            at: Place,
            other: Place,
            /// The agent that had the work, where the step would be offered to another one.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            meant_for: Option<AgentId>,
            #[serde(default, skip_serializing_if = "is_first_branch")]
            branch: u16,
        },
        /// An external system reported how far the story has come.
        "signal.passed" => SignalPassed,
        "signal.merged" => SignalMerged { commit: Option<CommitId> },
    }
}

impl RunEvent {
    /// The status of the run after the event, where the event sets it.
    pub fn status_after(&self) -> Option<RunStatus> {
        match self {
            Self::Started { .. } | Self::Resumed => Some(RunStatus::Open),
            Self::Paused { .. } => Some(RunStatus::Paused),
            Self::Cancelled { .. } => Some(RunStatus::Cancelled),
            Self::Completed => Some(RunStatus::Completed),
            // The run was open before an agent took it up.
            Self::Adopted { .. }
            | Self::BatonLoose { .. }
            | Self::SignalPassed
            | Self::SignalMerged { .. } => None,
        }
    }
}

impl EventFamily for RunEvent {
    fn texts(&self) -> EventTexts {
        match self {
            Self::Paused { reason } | Self::Cancelled { reason } => EventTexts::words(*reason),
            Self::Started { .. }
            | Self::Adopted { .. }
            | Self::Resumed
            | Self::Completed
            | Self::BatonLoose { .. }
            | Self::SignalPassed
            | Self::SignalMerged { .. } => EventTexts::default(),
        }
    }

    fn needs_notification(&self) -> bool {
        matches!(self, Self::BatonLoose { .. } | Self::Completed | Self::Cancelled { .. })
    }

    fn sentence(&self, style: &dyn SentenceStyle) -> String {
        match self {
            Self::Started { workflow, owner, mode, .. } => {
                let by = style.principal(owner);
                if mode.is_autonomous() {
                    return format!("{by} starts the run, by {workflow}");
                }
                format!("{by} starts the run, by {workflow}, {}", mode.name())
            }
            Self::Adopted { by } => format!("{} takes the run up", style.agent(&by.agent)),
            Self::Paused { .. } => style.warning("the run is paused"),
            Self::Resumed => "the run is resumed".to_owned(),
            Self::Cancelled { .. } => style.warning("the run is cancelled"),
            Self::Completed => style.success("the story is complete"),
            Self::BatonLoose { at, .. } => {
                format!("{} at {at}", style.warning("the baton lies loose"))
            }
            Self::SignalPassed => "the story is reported as passed".to_owned(),
            Self::SignalMerged { commit: None } => "the story is reported as merged".to_owned(),
            Self::SignalMerged { commit: Some(commit) } => {
                format!("the story is reported as merged: {}", style.escaped(commit.as_str()))
            }
        }
    }
}
