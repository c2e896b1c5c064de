//! The workflows that the project has.

use std::collections::BTreeMap;

use baton_core::names::WorkflowName;
use baton_core::workflow::{Delegate, Edge, EdgeGate, Step, Target, Workflow};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::word::{GateKindWord, OutcomeWord};

/// A workflow: its steps, and the edges between them.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowDocument {
    pub name: String,
    pub title: String,
    pub description: String,
    /// The hash of the workflow's file. A run keeps the one that it began with.
    pub hash: String,
    /// Whether this is the project's default workflow.
    pub is_default: bool,
    pub start: EdgeDocument,
    pub steps: Vec<StepDocument>,
    pub escalation: Option<String>,
    /// The names of its contracts.
    pub contracts: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Step)]
pub struct StepDocument {
    pub id: String,
    pub title: String,
    pub agents: Vec<String>,
    /// The title of the work at this step.
    pub phase: String,
    pub is_optional: bool,
    pub delegates: Vec<DelegateDocument>,
    pub edges: Vec<EdgeDocument>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = Delegate)]
pub struct DelegateDocument {
    pub agent: String,
    pub contract: Option<String>,
    pub returns: Option<String>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Edge)]
pub struct EdgeDocument {
    pub on: OutcomeWord,
    /// A step's id, or `complete`.
    pub to: String,
    /// Whether the edge leads back to an earlier step.
    pub is_back: bool,
    pub contract: Option<String>,
    pub gate: Option<EdgeGateDocument>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = Gate)]
pub struct EdgeGateDocument {
    #[serde(rename = "type")]
    pub kind: GateKindWord,
    pub name: String,
    pub items: Vec<String>,
    /// The gate's description of each answer.
    pub options: BTreeMap<String, String>,
    pub checks: Vec<String>,
}

impl WorkflowDocument {
    /// `default` is the project's default workflow.
    pub fn new(workflow: &Workflow, default: Option<&WorkflowName>) -> Self {
        Self {
            name: workflow.name.to_string(),
            title: workflow.title.clone(),
            description: workflow.description.trim().to_owned(),
            hash: workflow.hash.to_string(),
            is_default: default == Some(&workflow.name),
            start: EdgeDocument::from(&workflow.start),
            steps: workflow.steps.iter().map(StepDocument::from).collect(),
            escalation: workflow.escalation.clone(),
            contracts: workflow.contracts.iter().map(|it| it.name.clone()).collect(),
        }
    }
}

impl From<&Step> for StepDocument {
    fn from(step: &Step) -> Self {
        Self {
            id: step.id.to_string(),
            title: step.title.clone(),
            agents: step.agents.iter().map(ToString::to_string).collect(),
            phase: step.phase.clone(),
            is_optional: step.is_optional,
            delegates: step.delegates.iter().map(DelegateDocument::from).collect(),
            edges: step.edges.iter().map(EdgeDocument::from).collect(),
        }
    }
}

impl From<&Delegate> for DelegateDocument {
    fn from(delegate: &Delegate) -> Self {
        Self {
            agent: delegate.agent.to_string(),
            contract: delegate.contract.clone(),
            returns: delegate.returns.clone(),
        }
    }
}

impl From<&Edge> for EdgeDocument {
    fn from(edge: &Edge) -> Self {
        Self {
            on: edge.on.into(),
            to: match &edge.to {
                Target::Step(step) => step.to_string(),
                Target::Complete => "complete".to_owned(),
            },
            is_back: edge.is_back,
            contract: edge.contract.clone(),
            gate: edge.gate.as_ref().map(EdgeGateDocument::from),
        }
    }
}

impl From<&EdgeGate> for EdgeGateDocument {
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
