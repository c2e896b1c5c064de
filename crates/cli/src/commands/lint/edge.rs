//! Which contract applies to a document: by its own fields, or by what was typed.

use std::sync::Arc;

use baton_core::document::Node;
use baton_core::names::AgentId;
use baton_core::workflow::Workflow;
use baton_wire::requirements::{DocumentRequirements, requirements};

use crate::failure::Failure;
use crate::project::{Project, tell_left_out};

pub(super) struct Edges {
    workflows: Vec<Arc<Workflow>>,
}

impl Edges {
    /// In one workflow of the project, or in all.
    pub(super) fn of(project: &Project, name: Option<&str>) -> Result<Self, Failure> {
        let catalog = project.load().catalog(&project.file);
        tell_left_out(&catalog);
        let is_meant = |it: &Arc<Workflow>| name.is_none_or(|name| it.name.as_str() == name);
        let workflows: Vec<_> =
            catalog.workflows().map(|it| it.workflow.clone()).filter(is_meant).collect();
        match (name, workflows.is_empty()) {
            (Some(name), true) => {
                let hint = catalog.hint_for_workflow(name);
                Err(Failure::NotFound(format!("there is no workflow `{name}`; {hint}")))
            }
            (Some(_) | None, _) => Ok(Self { workflows }),
        }
    }

    pub(super) fn of_document(
        &self,
        document: &Node,
        said: Option<&(AgentId, AgentId)>,
    ) -> DocumentRequirements<'_> {
        requirements(self.workflows.iter().map(Arc::as_ref), document, said)
    }
}
