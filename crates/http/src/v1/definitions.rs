//! Definitions: the workflows that the project has now.

use std::collections::BTreeMap;

use baton_core::names::WorkflowName;
use baton_core::workflow::{Delegate, Edge, EdgeGate, Step, Target, Workflow};
use baton_engine::EngineError;
use serde::Serialize;
use utoipa::ToSchema;

use super::answer::ApiResponse;
use super::enums::{GateKindWord, OutcomeWord};
use super::names::not_found;
use crate::openapi::ReadProblems;
use crate::params::Named;
use crate::problem::ApiProblem;
use crate::scope::RequestScope;

#[derive(Serialize, ToSchema)]
pub(super) struct Definitions {
    items: Vec<WorkflowDocument>,
}

/// A workflow: its steps, and the edges between them.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct WorkflowDocument {
    name: String,
    title: String,
    description: String,
    /// The hash of the workflow's file. A run keeps the one that it began with.
    hash: String,
    /// Whether this is the project's default workflow.
    is_default: bool,
    start: ShownEdge,
    steps: Vec<ShownStep>,
    escalation: Option<String>,
    /// The names of its contracts.
    contracts: Vec<String>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Step)]
struct ShownStep {
    id: String,
    title: String,
    agents: Vec<String>,
    /// The title of the work at this step.
    phase: String,
    is_optional: bool,
    delegates: Vec<ShownDelegate>,
    edges: Vec<ShownEdge>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Delegate)]
struct ShownDelegate {
    agent: String,
    contract: Option<String>,
    returns: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Edge)]
struct ShownEdge {
    on: OutcomeWord,
    /// A step's id, or `complete`.
    to: String,
    /// Whether the edge leads back to an earlier step.
    is_back: bool,
    contract: Option<String>,
    gate: Option<ShownGate>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Gate)]
struct ShownGate {
    #[serde(rename = "type")]
    kind: GateKindWord,
    name: String,
    items: Vec<String>,
    /// The gate's description of each answer.
    options: BTreeMap<String, String>,
    checks: Vec<String>,
}

/// Lists the project's current workflows.
#[utoipa::path(get, path = "/api/v1/definitions", operation_id = "listDefinitions",
    tag = "definitions",
    responses((status = 200, body = Definitions), ReadProblems))]
pub(super) async fn list(app: RequestScope) -> ApiResponse<Definitions> {
    let catalog = app.engine.catalog();
    let items = catalog.workflows().map(|it| WorkflowDocument::of(&app, &it.workflow)).collect();
    ApiResponse::new(Definitions { items })
}

/// Shows a workflow.
#[utoipa::path(get, path = "/api/v1/definitions/{name}", operation_id = "getDefinition",
    tag = "definitions",
    params(("name" = String, Path, description = "Its name")),
    responses((status = 200, body = WorkflowDocument), ReadProblems))]
pub(super) async fn get(
    app: RequestScope,
    Named(name): Named,
) -> Result<ApiResponse<WorkflowDocument>, ApiProblem> {
    let no_such = |_| not_found("no_such_workflow", format!("there is no workflow `{name}`"));
    let parsed = WorkflowName::parse(&name).map_err(no_such)?;
    let entry =
        app.engine.catalog().workflow(&parsed).map_err(|it: EngineError| ApiProblem::from(it))?;
    Ok(ApiResponse::new(WorkflowDocument::of(&app, &entry.workflow)))
}

impl WorkflowDocument {
    fn of(app: &RequestScope, workflow: &Workflow) -> Self {
        Self {
            name: workflow.name.to_string(),
            title: workflow.title.clone(),
            description: workflow.description.trim().to_owned(),
            hash: workflow.hash.to_string(),
            is_default: app.engine.catalog().default_workflow() == Some(&workflow.name),
            start: ShownEdge::from(&workflow.start),
            steps: workflow.steps.iter().map(ShownStep::from).collect(),
            escalation: workflow.escalation.clone(),
            contracts: workflow.contracts.iter().map(|it| it.name.clone()).collect(),
        }
    }
}

impl From<&Step> for ShownStep {
    fn from(step: &Step) -> Self {
        Self {
            id: step.id.to_string(),
            title: step.title.clone(),
            agents: step.agents.iter().map(ToString::to_string).collect(),
            phase: step.phase.clone(),
            is_optional: step.is_optional,
            delegates: step.delegates.iter().map(ShownDelegate::from).collect(),
            edges: step.edges.iter().map(ShownEdge::from).collect(),
        }
    }
}

impl From<&Delegate> for ShownDelegate {
    fn from(delegate: &Delegate) -> Self {
        Self {
            agent: delegate.agent.to_string(),
            contract: delegate.contract.clone(),
            returns: delegate.returns.clone(),
        }
    }
}

impl From<&Edge> for ShownEdge {
    fn from(edge: &Edge) -> Self {
        Self {
            on: edge.on.into(),
            to: match &edge.to {
                Target::Step(step) => step.to_string(),
                Target::Complete => "complete".to_owned(),
            },
            is_back: edge.is_back,
            contract: edge.contract.clone(),
            gate: edge.gate.as_ref().map(ShownGate::from),
        }
    }
}

impl From<&EdgeGate> for ShownGate {
    fn from(gate: &EdgeGate) -> Self {
        Self {
            kind: gate.kind.into(),
            name: gate.name.clone(),
            items: gate.items.clone(),
            options: gate.options.iter().cloned().collect(),
            checks: gate.checks.iter().map(ToString::to_string).collect(),
        }
    }
}
