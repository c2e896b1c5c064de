//! What each step was last given, so that it can be offered again.

use serde::{Deserialize, Serialize};

use super::{EdgeKey, Party, is_false, is_first_branch};
use crate::content::ContentId;
use crate::names::StepId;
use crate::workflow::Place;

/// The package a step was last given, and its sender.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Given {
    #[serde(default, skip_serializing_if = "is_first_branch")]
    pub branch: u16,
    pub step: StepId,
    pub package: Option<ContentId>,
    /// Who gets it back if it is rejected.
    pub sender: Party,
    /// See [`Given::forward`]; `None` where the edge goes from the sender to the step, as nearly
    /// always. Every command writes the run's state, which holds one of these for each step.
    #[serde(rename = "forward", default, skip_serializing_if = "Option::is_none")]
    other_forward: Option<EdgeKey>,
    /// A lease on it was lost: the previous holder may still be alive.
    #[serde(default, skip_serializing_if = "is_false")]
    pub has_lost_lease: bool,
    /// The sender wants it done again: at a limit, "accept as it is" follows the sender's success
    /// edge.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_rework: bool,
    /// Why the work came back to the step, where it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rework_reason: Option<ContentId>,
}

impl Given {
    pub(crate) fn new(
        step: StepId,
        package: Option<ContentId>,
        sender: Party,
        forward: &EdgeKey,
        has_lost_lease: bool,
    ) -> Self {
        let given = Self {
            branch: 0,
            step,
            package,
            sender,
            other_forward: None,
            has_lost_lease,
            is_rework: false,
            rework_reason: None,
        };
        let other_forward = (given.forward() != *forward).then(|| forward.clone());
        Self { other_forward, ..given }
    }

    /// The edge on which rounds are counted.
    pub(crate) fn forward(&self) -> EdgeKey {
        self.other_forward.clone().unwrap_or_else(|| EdgeKey {
            from: self.sender.place.clone(),
            to: Place::Step(self.step.clone()),
        })
    }
}

/// An older Baton wrote every edge: both forms are equal.
impl PartialEq for Given {
    fn eq(&self, other: &Self) -> bool {
        let Self {
            branch,
            step,
            package,
            sender,
            other_forward: _,
            has_lost_lease,
            is_rework,
            rework_reason,
        } = self;
        *branch == other.branch
            && *step == other.step
            && *package == other.package
            && *sender == other.sender
            && *has_lost_lease == other.has_lost_lease
            && *is_rework == other.is_rework
            && *rework_reason == other.rework_reason
            && self.forward() == other.forward()
    }
}

impl Eq for Given {}
