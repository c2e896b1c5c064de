//! Where the work of a step goes, and a workflow whose end no run reaches, because all work goes round in a cycle before it.

use std::collections::BTreeSet;

use super::{Edge, Place, Step, Target, Workflow};
use crate::names::StepId;
use crate::outcome::Outcome;
use crate::problem::Problem;

impl Workflow {
    /// The phase to which an edge leads; `complete` at the end.
    pub fn phase_after(&self, edge: &Edge) -> &str {
        match &edge.to {
            Target::Complete => "complete",
            Target::Step(id) => self.step(id).map_or("complete", |it| it.phase.as_str()),
        }
    }

    /// The words for what blocks, by which the workflow finds an agent that helps.
    pub fn blocked_reasons(&self) -> impl Iterator<Item = &str> + Clone {
        self.routing.rows.iter().map(|it| it.reason.as_str())
    }

    /// `None` where work that starts can come to the end, or stops before it at a step without edges.
    pub(super) fn no_way_to_the_end(&self, reached: &BTreeSet<Place>) -> Option<Problem> {
        let is_reached = |id: &StepId| reached.contains(&Place::Step(id.clone()));
        let steps = || self.steps.iter().filter(|it| is_reached(&it.id));
        if steps().flat_map(|it| &it.edges).any(|it| it.to == Target::Complete) {
            return None;
        }
        let graph = self.graph();
        let is_endless = |it: &&Vec<StepId>| it.iter().any(is_reached) && !graph.can_end(it);
        let cycle = graph.cycles().iter().find(is_endless)?;
        // Steps are written in the order of the work: the last one is where the way to the end begins.
        let last = steps().rfind(|it| cycle.contains(&it.id))?;
        let names: Vec<&str> = cycle.iter().map(StepId::as_str).collect();
        let message = match names.as_slice() {
            [only] => format!(
                "no run can end: all work goes round in {only} for ever; let it lead towards `complete`"
            ),
            several => format!(
                "no run can end: all work goes round between {} for ever; let `{}` or another of \
                 them lead towards `complete`",
                several.join(", "),
                last.id
            ),
        };
        Some(Problem::new(path_of(last), "no_end", message))
    }
}

/// The step's edge for good work, where it has one.
fn path_of(step: &Step) -> String {
    let success = step.edges.iter().position(|it| it.on == Outcome::Success);
    match success {
        Some(index) => format!("steps.{}.on.{}", step.id, step.edge_path(index)),
        None => format!("steps.{}", step.id),
    }
}
