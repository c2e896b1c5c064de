//! The workflows that the project has.

use std::collections::BTreeMap;

use baton_core::approval::Approvers;
use baton_core::names::WorkflowName;
use baton_core::workflow::{
    BlockerRouting, Delegate, Edge, EdgeGate, RaiseCondition, RaiseRule, ResolverRow, Step, Target,
    Workflow,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::word::{GateKindWord, ModeWord, OutcomeWord};

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
    /// The modes that a run of it can have.
    #[serde(default)]
    pub modes: Vec<ModeWord>,
    /// The domain of agents whose name begins with none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// Who resolves what blocks a step. Omitted if it is always a person.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub routing: Vec<BlockerRouteDocument>,
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
    /// How many runs may be at the step at once, for runners.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_once: Option<u32>,
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
    /// A step's id, or `complete`. Where the edge fans out, the first of `branches`.
    pub to: String,
    /// The first step of each branch, where the work goes to several steps at once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub branches: Vec<String>,
    /// Where the branches join.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub join: Option<JoinDocument>,
    /// Whether the edge leads back to an earlier step.
    pub is_back: bool,
    pub contract: Option<String>,
    pub gate: Option<EdgeGateDocument>,
    /// The checks that have to pass before the receiver gets the work.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<String>,
    /// The modes of a run in which a person approves the work before it goes this way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ask_in: Vec<ModeWord>,
    /// The number in a package below which a person approves the work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ask_below: Option<ApprovalThresholdDocument>,
    /// What a package may say that a person has to approve before it goes this way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub raise: Vec<RaiseRuleDocument>,
}

/// A rule that raises an edge to a blocking gate.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = RaiseRule)]
pub struct RaiseRuleDocument {
    #[schema(example = "cost")]
    pub rule: String,
    /// Where the package says it; omitted if every usual field is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// `over 500`, `high or critical`, or `stated`.
    #[schema(example = "over 500")]
    pub when: String,
}

/// The people whose approvals a gate needs.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Approvers)]
pub struct ApproversDocument {
    pub need: u32,
    /// Empty where any person may approve.
    pub of: Vec<String>,
    pub author_may_approve: bool,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = Join)]
pub struct JoinDocument {
    /// The step that goes on once enough branches have arrived.
    pub at: String,
    /// `all`, `any`, or how many.
    #[schema(example = "all")]
    pub need: String,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = ApprovalThreshold)]
pub struct ApprovalThresholdDocument {
    /// Where the package has the number.
    pub field: String,
    /// As the workflow writes it.
    #[schema(example = "0.7")]
    pub value: String,
}

/// Who resolves a blocker.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = BlockerRoute)]
pub struct BlockerRouteDocument {
    /// The `blocked_reason` of a document.
    pub reason: String,
    /// The domain of the blocked agent; null for every other.
    pub domain: Option<String>,
    /// An agent, or `human`.
    pub agent: String,
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
    /// The people whose approvals it needs; omitted where any person's answer opens it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approvers: Option<ApproversDocument>,
    /// After how many seconds people are reminded of it, where the workflow says so; else after a day.
    #[serde(default, rename = "remindAfterSeconds", skip_serializing_if = "Option::is_none")]
    pub remind_after_seconds: Option<i64>,
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
            modes: workflow.modes().into_iter().map(Into::into).collect(),
            domain: workflow.routing.domain.clone(),
            routing: routes(&workflow.routing),
            contracts: workflow.contracts.iter().map(|it| it.name.clone()).collect(),
        }
    }
}

fn routes(routing: &BlockerRouting) -> Vec<BlockerRouteDocument> {
    let of_row = |row| {
        let row: &ResolverRow = row;
        row.resolvers.iter().map(move |it| BlockerRouteDocument {
            reason: row.reason.clone(),
            domain: it.domain.clone(),
            agent: it.agent.to_string(),
        })
    };
    routing.rows.iter().flat_map(of_row).collect()
}

impl From<&Step> for StepDocument {
    fn from(step: &Step) -> Self {
        Self {
            id: step.id.to_string(),
            title: step.title.clone(),
            agents: step.agents.iter().map(ToString::to_string).collect(),
            phase: step.phase.clone(),
            is_optional: step.is_optional,
            at_once: step.at_once,
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
            branches: edge
                .fan_out
                .as_ref()
                .map_or_else(Vec::new, |it| it.branches.iter().map(ToString::to_string).collect()),
            join: edge
                .fan_out
                .as_ref()
                .map(|it| JoinDocument { at: it.join.to_string(), need: it.need.word() }),
            is_back: edge.is_back,
            contract: edge.contract.clone(),
            gate: edge.gate.as_ref().map(EdgeGateDocument::from),
            checks: edge.checks.iter().map(ToString::to_string).collect(),
            ask_in: edge.ask_in.iter().map(|it| (*it).into()).collect(),
            ask_below: edge.threshold.as_ref().map(|it| ApprovalThresholdDocument {
                field: it.field.clone(),
                value: it.below.as_str().to_owned(),
            }),
            raise: edge.raise.iter().map(RaiseRuleDocument::from).collect(),
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
            approvers: gate.approvers.as_ref().map(ApproversDocument::from),
            remind_after_seconds: gate.remind_after.map(|it| it.as_secs()),
        }
    }
}

impl From<&Approvers> for ApproversDocument {
    fn from(approvers: &Approvers) -> Self {
        Self {
            need: approvers.need,
            of: approvers.of.iter().map(ToString::to_string).collect(),
            author_may_approve: approvers.author_may_approve,
        }
    }
}

impl From<&RaiseRule> for RaiseRuleDocument {
    fn from(rule: &RaiseRule) -> Self {
        let when = match &rule.when {
            RaiseCondition::Over(limit) => format!("over {}", limit.as_str()),
            RaiseCondition::AnyOf(words) => words.join(" or "),
            RaiseCondition::Stated => "stated".to_owned(),
        };
        Self { rule: rule.kind.name().to_owned(), field: rule.field.clone(), when }
    }
}
