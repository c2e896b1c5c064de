//! Which contract applies to a document: by its own fields, or by what was typed.

use std::sync::Arc;

use baton_core::contract::Contract;
use baton_core::document::Node;
use baton_core::names::AgentId;
use baton_core::view::View;
use baton_core::workflow::Workflow;
use baton_wire::builtin;

use crate::failure::Failure;
use crate::project::{Project, tell_left_out};

pub(super) struct Edges {
    workflows: Vec<Arc<Workflow>>,
}

/// The requirements of an edge.
#[derive(Default)]
pub(super) struct EdgeRequirements<'a> {
    pub(super) contract: Option<&'a Contract>,
    pub(super) min_score: Option<u8>,
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

    /// A workflow's own contract takes precedence over the built-in one of the document's format.
    pub(super) fn of_document(
        &self,
        document: &Node,
        said: Option<&(AgentId, AgentId)>,
    ) -> EdgeRequirements<'_> {
        let named = said.cloned().or_else(|| {
            let view = View::of(document);
            let agent = |it: Option<String>| AgentId::parse(&it?).ok();
            Some((agent(view.sender)?, agent(view.receiver)?))
        });
        let edge = named.and_then(|(from, to)| {
            self.workflows.iter().find_map(|it| Some((it, it.edge_of_agents(&from, &to)?)))
        });
        match edge {
            Some((workflow, edge)) => EdgeRequirements {
                contract: edge.contract.as_deref().and_then(|it| workflow.contract(it)),
                min_score: edge.min_score,
            },
            None => EdgeRequirements { contract: builtin::contract_of(document), min_score: None },
        }
    }
}
