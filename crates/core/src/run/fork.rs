//! A run whose work is in several branches, from a fan-out to its join.

use serde::{Deserialize, Serialize};

use super::{HandoffNo, Party};
use crate::content::ContentId;
use crate::gate::GateEdge;
use crate::names::StepId;
use crate::outcome::Outcome;

/// The fan-out that a run is in. There is one at a time: a branch does not fan out again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fork {
    /// The party whose work fanned out. It gets back what a branch's first step rejects, and what the
    /// join rejects.
    pub from: Party,
    /// The first step of each branch; the branches are counted from 1 in this order.
    pub firsts: Vec<StepId>,
    pub join: StepId,
    /// How many branches have to arrive.
    pub need: u16,
    /// What every branch was given.
    pub package: Option<ContentId>,
    /// The gates that the work had passed when it fanned out, where that is recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passed: Option<Vec<GateEdge>>,
    /// The branches that have arrived, in that order. They are no longer among the run's branches.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arrived: Vec<Arrival>,
}

/// What a branch brought to the join.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arrival {
    pub branch: u16,
    /// The handoff that brought it, which is complete.
    pub handoff: HandoffNo,
    pub from: Party,
    pub outcome: Outcome,
    pub package: Option<ContentId>,
    /// The gates that the work of the branch had passed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passed: Vec<GateEdge>,
}

impl Fork {
    pub fn is_enough(&self) -> bool {
        self.arrived.len() >= usize::from(self.need)
    }

    /// The joined work has passed every gate that one of its parts has.
    pub(crate) fn passed_at_join(&self) -> Option<Vec<GateEdge>> {
        let mut passed = self.passed.clone()?;
        for gate in self.arrived.iter().flat_map(|it| &it.passed) {
            if !passed.contains(gate) {
                passed.push(gate.clone());
            }
        }
        Some(passed)
    }

    /// The first step of a branch.
    pub fn first(&self, branch: u16) -> Option<&StepId> {
        self.firsts.get(usize::from(branch).checked_sub(1)?)
    }
}
