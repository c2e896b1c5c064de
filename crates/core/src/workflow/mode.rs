//! How much of a run goes on without a person: chosen when the run starts, kept until it ends.

use serde::{Deserialize, Serialize};

use super::{Edge, EdgeGate, LazyGraph, Target, Workflow};
use crate::gate::GateKind;
use crate::named::named;

named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Mode {
        /// A person is asked only where the workflow has a gate.
        #[default]
        Autonomous = "autonomous",
        /// A person approves the work on the edges that the workflow names.
        SemiAutonomous = "semi-autonomous",
        /// The same, as a rule on every edge.
        Supervised = "supervised",
    }
}

impl Mode {
    pub fn is_autonomous(&self) -> bool {
        *self == Self::Autonomous
    }
}

impl Workflow {
    /// The modes that a run of the workflow can have.
    pub fn modes(&self) -> Vec<Mode> {
        let is_declared = |mode: &Mode| self.edges().any(|(_, edge)| edge.ask_in.contains(mode));
        Mode::ALL.into_iter().filter(|it| it.is_autonomous() || is_declared(it)).collect()
    }

    /// The workflow of a run in `mode`: an edge that asks a person in that mode has a blocking gate.
    /// Everything else about gates then holds for it: what is behind it, what was passed, who waives
    /// it.
    #[must_use]
    pub fn in_mode(&self, mode: Mode) -> Self {
        let mut workflow = Self { graph: LazyGraph::default(), ..self.clone() };
        for step in &mut workflow.steps {
            let title = &step.title;
            for edge in step.edges.iter_mut().filter(|it| it.ask_in.contains(&mode)) {
                edge.gate = Some(asking(edge, title));
            }
        }
        workflow
    }
}

/// The gate of an edge that asks a person. One that checks open stays as it is: it asks where a
/// check fails.
fn asking(edge: &Edge, from: &str) -> EdgeGate {
    let to = match &edge.to {
        Target::Step(id) => id.as_str(),
        Target::Complete => "complete",
    };
    match edge.gate.clone() {
        Some(gate) if gate.kind == GateKind::Automatic => gate,
        Some(gate) => EdgeGate { kind: GateKind::Blocking, ..gate },
        None => EdgeGate::plain(GateKind::Blocking, format!("{from} → {to}")),
    }
}
