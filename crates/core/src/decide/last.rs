//! The document that ends a run is of the step that ends it, whichever agent holds the work.

use super::draft::Draft;
use crate::document::kind::{DocumentKind, Shape};
use crate::package::Package;
use crate::refusal::Refusal;
use crate::run::Handoff;
use crate::workflow::{Edge, Step, Target};

/// Refuses `<workflow-complete>` at a step that does not lead to the end. The document names no sender,
/// so without this it would be taken as the work of any holder.
pub(super) fn check(
    draft: &Draft<'_>,
    handoff: &Handoff,
    package: &Package,
) -> Result<(), Refusal> {
    if Shape::of(&package.document).kind != DocumentKind::WorkflowComplete {
        return Ok(());
    }
    let ends = |it: &&Step| it.edges.iter().any(|it: &Edge| it.to == Target::Complete);
    if draft.step_at(&handoff.to.place).as_ref().is_some_and(ends) {
        return Ok(());
    }
    let last = draft.workflow().steps.iter().find(ends).and_then(|it| it.agents.first());
    let Some(last) = last else { return Ok(()) };
    let whereabouts = format!(
        "{}; `<workflow-complete>` ends the run and is its last document: `{}` hands on with a \
         `<handoff>` that names its receiver",
        draft.whereabouts(),
        handoff.to.agent
    );
    Err(Refusal::NotHolder { by: last.clone(), whereabouts })
}
