//! Work that is parked until the checks of its edge have passed: everything that is needed to hand it
//! on then, or to send it back.

use serde::{Deserialize, Serialize};

use crate::content::ContentId;
use crate::event::StepEntry;
use crate::gate::GateEdge;
use crate::names::CheckName;
use crate::run::{EdgeKey, Party, is_false, is_zero};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckedWork {
    /// The checks that have to have a result before it goes on. Not empty.
    pub checks: Vec<CheckName>,
    /// The sender of the work.
    pub sender: Party,
    /// Who gets it back where that is not the sender.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub returns_to: Option<Party>,
    /// The agent that gets it once the checks have passed.
    pub worker: Party,
    pub package: Option<ContentId>,
    pub reason: Option<ContentId>,
    /// The reason is why a person has to approve it although no gate is declared.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_doubted: bool,
    /// A rule about the package is why: it is asked whatever else opens the gate.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_raised: bool,
    pub edge: GateEdge,
    /// The edge by which the sender got its own work.
    pub came_by: EdgeKey,
    /// Broken rules of the edge's contract, for the final receiver of the package.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    #[serde(default, skip_serializing_if = "is_false")]
    pub has_lost_lease: bool,
    /// How the work enters the receiver's step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<StepEntry>,
    /// How often a runner gave the checks back undone.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub n_releases: u32,
}

impl CheckedWork {
    /// The edge on which its returns are counted, together with the receiver's rejects.
    pub fn forward(&self) -> EdgeKey {
        EdgeKey { from: self.edge.from.clone(), to: self.edge.to.clone() }
    }

    /// Who gets the work back.
    pub fn returns_to(&self) -> &Party {
        self.returns_to.as_ref().unwrap_or(&self.sender)
    }
}
