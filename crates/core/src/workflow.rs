//! A declared state machine: steps, edges, contracts and limits. Its errors are found here
//! ([`Workflow::problems`]); `baton-wire` locates them in the file.

mod entries;
mod fan_out;
mod graph;
mod mode;
mod problems;
mod raise;
mod routing;
mod way_to_end;

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

use crate::approval::Approvers;
use crate::budget::Budget;
use crate::contract::{Contract, Profile};
use crate::document::Number;
use crate::gate::GateKind;
use crate::hash::Hash;
use crate::names::{AgentId, CheckName, Reason, StepId, WorkflowName};
use crate::outcome::Outcome;

pub use fan_out::{FanOut, JoinNeed};
pub use graph::{Graph, LazyGraph};
pub use mode::Mode;
pub use raise::{RaiseCondition, RaiseKind, RaiseRule, raised};
pub use routing::{BlockerRouting, Resolver, ResolverRow};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workflow {
    pub name: WorkflowName,
    pub title: String,
    pub description: String,
    /// Hash of the file's text. A run is pinned to it: later edits do not affect runs in progress.
    pub hash: Hash,
    /// Where set, it overrides the profile of the API layer that took the command.
    pub profile: Option<Profile>,
    /// The edge on which the orchestrator starts a story. Its target is a step.
    pub start: Edge,
    /// In the order of the file, which is the displayed order of the pipeline.
    pub steps: Vec<Step>,
    pub contracts: Vec<Contract>,
    /// The contract for questions that an agent asks a person on its own initiative.
    pub escalation: Option<String>,
    pub limits: Limits,
    /// Which agents resolve what blocks a step, and which domain an agent is of.
    pub routing: BlockerRouting,
    /// See [`Workflow::graph`].
    pub graph: LazyGraph,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    pub id: StepId,
    pub title: String,
    /// The agents that may do it. With several, the sender picks one.
    pub agents: Vec<AgentId>,
    /// The display name of the work: `implementing`.
    pub phase: String,
    /// Why work comes here, the default where the sender gives no reason.
    pub reason: Option<Reason>,
    /// May be skipped.
    pub is_optional: bool,
    /// After this long a holder without a lease is shown as stale.
    pub work_within: SignedDuration,
    /// Where left out, the workflow's limits apply.
    pub expiry: Option<Expiry>,
    pub reject: RejectRule,
    /// Specialists to whom the step's agent may delegate a part of its work.
    pub delegates: Vec<Delegate>,
    pub limits: StepLimits,
    /// How many runs may be at work at the step at once. Only the claims of runners keep to it: work
    /// waits, and is never refused.
    pub at_once: Option<u32>,
    pub edges: Vec<Edge>,
}

/// How often what goes round may happen at a step before a person is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepLimits {
    /// Entries by work. Where left out: see [`Workflow::entries_of`].
    pub entries: Option<u32>,
    /// Parts that are delegated during one holding of the step.
    pub delegations: u32,
    /// Blocks in a row that are sent along the step's `blocked` edge.
    pub blocks: u32,
    /// How often it is tried again. Where left out: the workflow's `retries`.
    pub retries: Option<u32>,
    /// What agents may use at the step in one run.
    pub budget: Budget,
}

impl Default for StepLimits {
    fn default() -> Self {
        let budget = Budget::default();
        Self { entries: None, delegations: 8, blocks: 1, retries: None, budget }
    }
}

/// A specialist beside the workflow, and the contracts for its task and its result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delegate {
    pub agent: AgentId,
    /// Contract for the caller's package.
    pub contract: Option<String>,
    /// Contract for the specialist's package.
    pub returns: Option<String>,
}

/// How long a handoff may wait for its receiver, and what happens then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expiry {
    pub after: SignedDuration,
    pub then: OnExpire,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnExpire {
    /// The baton becomes loose, and a person sees it.
    Loose,
    /// The work goes back to its sender.
    Return,
    /// A person is asked.
    Ask,
}

/// Where a rejected handoff goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RejectRule {
    ToSender,
    To(StepId),
    Never,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edge {
    pub on: Outcome,
    pub to: Target,
    /// Where the work goes to several steps at once; `to` is then the first of them.
    pub fan_out: Option<FanOut>,
    /// A move back: equivalent to a reject, whichever agent sends it.
    pub is_back: bool,
    /// The name of a contract of the same workflow.
    pub contract: Option<String>,
    pub profile: Option<Profile>,
    /// How many rejects this edge allows before a person is asked.
    pub rounds: Option<u32>,
    /// What agents may use, in each run, for the work that came this way.
    pub budget: Budget,
    /// A package with a lower score is refused, whatever the profile.
    pub min_score: Option<u8>,
    /// The gate that must be passed before the work goes this way.
    pub gate: Option<EdgeGate>,
    /// Checks that have to pass before the receiver gets the work; a failure sends it back.
    pub checks: Vec<CheckName>,
    /// The modes of a run in which a person approves the work before it goes this way.
    pub ask_in: Vec<Mode>,
    /// A number in the package below which a person approves the work before it goes this way.
    pub threshold: Option<ApprovalThreshold>,
    /// What a package may say that a person has to approve before it goes this way.
    pub raise: Vec<RaiseRule>,
}

/// A field that says how sure the sender is, and how sure it has to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalThreshold {
    pub field: String,
    /// A number, as it is written.
    pub below: Number,
}

impl Edge {
    /// An edge without contract, gate or limits.
    pub fn plain(on: Outcome, to: Target) -> Self {
        Self {
            on,
            to,
            fan_out: None,
            is_back: false,
            contract: None,
            profile: None,
            rounds: None,
            budget: Budget::default(),
            min_score: None,
            gate: None,
            checks: Vec::new(),
            ask_in: Vec::new(),
            threshold: None,
            raise: Vec::new(),
        }
    }

    /// The gate that stops work on this edge. An advisory one does not.
    pub fn stopping_gate(&self) -> Option<&EdgeGate> {
        self.gate.as_ref().filter(|it| it.kind != GateKind::Advisory)
    }

    /// Whether work has to pass something before it goes this way: a gate, or checks.
    pub fn holds(&self) -> bool {
        self.stopping_gate().is_some() || !self.checks.is_empty()
    }

    /// The name of what work has to pass here: the gate's, else `checks: tests, lint`.
    pub fn hold_name(&self) -> Option<String> {
        if let Some(gate) = self.stopping_gate() {
            return Some(gate.name.clone());
        }
        let checks: Vec<&str> = self.checks.iter().map(CheckName::as_str).collect();
        (!checks.is_empty()).then(|| format!("checks: {}", checks.join(", ")))
    }
}

/// A gate that a workflow declares on an edge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EdgeGate {
    pub kind: GateKind,
    pub name: String,
    /// What a person has to review.
    pub items: Vec<String>,
    /// What each answer means here, by the name of the answer.
    pub options: Vec<(String, String)>,
    /// The checks that have to pass, where the gate is automatic.
    pub checks: Vec<CheckName>,
    /// The people whose approvals it needs; where left out, any person's answer opens it.
    pub approvers: Option<Approvers>,
    /// How long it waits before people are reminded of it. Where left out: [`Self::REMIND_AFTER`].
    pub remind_after: Option<SignedDuration>,
}

impl EdgeGate {
    pub const REMIND_AFTER: SignedDuration = SignedDuration::from_hours(24);

    /// A gate without checks that any person's answer opens.
    pub fn plain(kind: GateKind, name: impl Into<String>) -> Self {
        let (items, options, checks) = (Vec::new(), Vec::new(), Vec::new());
        let (name, approvers, remind_after) = (name.into(), None, None);
        Self { kind, name, items, options, checks, approvers, remind_after }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    Step(StepId),
    /// The end of the run; the orchestrator takes the baton back.
    Complete,
}

/// The place of a party of a handoff.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    Orchestrator,
    Human,
    Step(StepId),
    /// Beside the workflow: a specialist does a part of another agent's step.
    Delegate(AgentId),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Rejects on one edge before a person is asked.
    pub rounds: u32,
    /// How often a step is retried that failed without a failure edge, or whose lease was lost.
    pub retries: u32,
    /// Questions about one handoff before a person is asked.
    pub questions: u32,
    /// How often one handoff is accepted and released before a person is asked.
    pub releases: u32,
    /// How long work waits for a runner that runs its checks before a person is asked.
    pub checks_within: SignedDuration,
    /// How long any handoff may wait, unless its step says otherwise.
    pub expiry: Option<Expiry>,
    /// After this long an unanswered handoff is shown as stale.
    pub stale_after: SignedDuration,
    /// So long after it was shown as stale a person is asked about it.
    pub escalate_after: Option<SignedDuration>,
    /// How long a run may take before a person is asked whether it goes on.
    pub run_within: Option<SignedDuration>,
    /// How many handoffs a run may have before a person is asked.
    pub run_handoffs: Option<u32>,
    /// What the agents of a run may use before a person is asked.
    pub budget: Budget,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            rounds: 3,
            retries: 2,
            questions: 3,
            releases: 8,
            checks_within: SignedDuration::from_mins(10),
            expiry: None,
            stale_after: SignedDuration::from_mins(30),
            escalate_after: None,
            run_within: None,
            run_handoffs: None,
            budget: Budget::default(),
        }
    }
}

impl Workflow {
    /// Which gates each step is behind, and the cycles. Computed once.
    pub fn graph(&self) -> &Graph {
        self.graph.get(self)
    }

    pub fn step(&self, id: &StepId) -> Option<&Step> {
        self.steps.iter().find(|it| it.id == *id)
    }

    /// Whether a gate asks for the approvals of several people, or of another than the author.
    pub fn has_approvers(&self) -> bool {
        let gates = self.steps.iter().flat_map(|it| &it.edges).filter_map(|it| it.gate.as_ref());
        gates.into_iter().any(|it| it.approvers.is_some())
    }

    pub fn contract(&self, name: &str) -> Option<&Contract> {
        self.contracts.iter().find(|it| it.name == name)
    }

    /// Every edge with the place it starts from.
    pub fn edges(&self) -> impl Iterator<Item = (Place, &Edge)> {
        let from_steps = self
            .steps
            .iter()
            .flat_map(|step| step.edges.iter().map(|it| (Place::Step(step.id.clone()), it)));
        std::iter::once((Place::Orchestrator, &self.start)).chain(from_steps)
    }

    /// The edges out of `place`.
    pub fn edges_from(&self, place: &Place) -> &[Edge] {
        match place {
            Place::Orchestrator => std::slice::from_ref(&self.start),
            Place::Human | Place::Delegate(_) => &[],
            Place::Step(id) => self.step(id).map_or(&[], |it| &it.edges),
        }
    }

    /// The agents that may be at `place`.
    pub fn agents_at(&self, place: &Place) -> Vec<AgentId> {
        match place {
            Place::Orchestrator => vec![AgentId::orchestrator()],
            Place::Human => vec![AgentId::human()],
            Place::Delegate(agent) => vec![agent.clone()],
            Place::Step(id) => self.step(id).map_or_else(Vec::new, |it| it.agents.clone()),
        }
    }

    /// The first edge from one agent to another, whichever step each is at.
    pub fn edge_of_agents(&self, from: &AgentId, to: &AgentId) -> Option<&Edge> {
        let leads = |edge: &&Edge| self.agents_along(edge).contains(to);
        let start = std::iter::once(&self.start).filter(|_| from.is_orchestrator());
        let edges =
            self.steps.iter().filter(|it| it.agents.contains(from)).flat_map(|it| &it.edges);
        start.chain(edges).find(leads)
    }

    pub fn target_place(target: &Target) -> Place {
        match target {
            Target::Step(id) => Place::Step(id.clone()),
            Target::Complete => Place::Orchestrator,
        }
    }

    /// True where some edge leads from an agent `from` to an agent `to`.
    pub fn has_edge(&self, from: &AgentId, to: &AgentId) -> bool {
        self.edges().any(|(place, edge)| {
            self.agents_at(&place).contains(from) && self.agents_along(edge).contains(to)
        })
    }

    /// The edge between two places, if there is one on that outcome.
    pub fn edge_between(&self, from: &Place, to: &Place, on: Outcome) -> Option<&Edge> {
        let leads = |it: &&Edge| it.on == on && it.leads_to(to);
        self.edges_from(from).iter().find(leads)
    }

    /// How often work at `place` is tried again.
    pub fn retries_at(&self, place: &Place) -> u32 {
        let step = place.as_step().and_then(|it| self.step(it));
        step.and_then(|it| it.limits.retries).unwrap_or(self.limits.retries)
    }

    /// How long a handoff to `place` may wait.
    pub fn expiry_at(&self, place: &Place) -> Option<&Expiry> {
        let step = place.as_step().and_then(|it| self.step(it));
        step.and_then(|it| it.expiry.as_ref()).or(self.limits.expiry.as_ref())
    }

    /// The rejects that the edge between two places allows before a person is asked. Either edge of
    /// the loop may set it: the forward edge, or the back edge that answers it.
    pub fn rounds_of(&self, from: &Place, to: &Place) -> u32 {
        let leads = |edge: &&Edge, place: &Place| edge.leads_to(place);
        let forward = self.edges_from(from).iter().find(|it| leads(it, to));
        let back = self.edges_from(to).iter().find(|it| it.is_back && leads(it, from));
        let said = |edge: Option<&Edge>| edge.and_then(|it| it.rounds);
        said(forward).or(said(back)).unwrap_or(self.limits.rounds)
    }
}

impl Step {
    pub fn delegate(&self, agent: &AgentId) -> Option<&Delegate> {
        self.delegates.iter().find(|it| it.agent == *agent)
    }

    /// An edge's outcome, with its place in the list where there are several: `success[1]`.
    fn edge_path(&self, index: usize) -> String {
        let on = self.edges[index].on;
        if self.edges_on(on).count() == 1 {
            return on.name().to_owned();
        }
        let n_before = self.edges[..index].iter().filter(|it| it.on == on).count();
        format!("{}[{n_before}]", on.name())
    }

    /// The edges for an outcome, in the order of the file.
    pub fn edges_on(&self, outcome: Outcome) -> impl Iterator<Item = &Edge> {
        self.edges.iter().filter(move |it| it.on == outcome)
    }
}

impl Place {
    pub fn as_step(&self) -> Option<&StepId> {
        match self {
            Place::Step(id) => Some(id),
            Place::Orchestrator | Place::Human | Place::Delegate(_) => None,
        }
    }

    pub fn is_step(&self) -> bool {
        self.as_step().is_some()
    }

    /// True where an agent works: at a step, or as a delegate.
    pub fn is_work(&self) -> bool {
        matches!(self, Place::Step(_) | Place::Delegate(_))
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Place::Orchestrator => f.write_str(AgentId::ORCHESTRATOR),
            Place::Human => f.write_str(AgentId::HUMAN),
            Place::Step(id) => write!(f, "{id}"),
            Place::Delegate(agent) => write!(f, "{agent}"),
        }
    }
}
