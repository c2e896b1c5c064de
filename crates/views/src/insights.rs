//! How handing off fares: latency, first-pass yield, rework, rejects, and waiting for people, by
//! agent, edge, workflow and week.
//!
//! Computed over the newest handoffs of a window of time, and over no more than
//! [`MOST_HANDOFFS`] of them: a request costs the same in a store of any size.

mod gate_rejects;
mod group;
mod reasons;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use baton_core::budget::Usage;
use baton_core::names::{AgentId, WorkflowName};
use baton_core::run::{HandoffNo, Kind};
use baton_core::workflow::Place;
use baton_engine::EngineError;
use baton_store::HandoffFact;
use jiff::civil::Weekday;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use self::gate_rejects::GateRejects;
pub use self::group::{InsightGroup, Percentiles, RejectCounts};
pub use self::reasons::RejectReason;
use crate::Views;

/// How many handoffs are looked at.
const MOST_HANDOFFS: u64 = 20_000;
const PAGE: u32 = 2000;
/// How many reports of what was used are looked at: of the newest runs.
const MOST_USAGES: u32 = 100_000;

/// Which handoffs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InsightWindow {
    /// Created at or after this.
    pub from: Timestamp,
    pub workflow: Option<WorkflowName>,
}

/// The figures of one window. Each list is ordered by its key.
#[derive(Debug, Clone, PartialEq)]
pub struct Insights {
    pub from: Timestamp,
    pub to: Timestamp,
    pub n_handoffs: u64,
    /// There were more than `MOST_HANDOFFS`: `from` is the time of the oldest that was looked at.
    pub is_cut: bool,
    pub agents: Vec<(AgentId, InsightGroup)>,
    pub edges: Vec<(InsightEdge, InsightGroup)>,
    pub workflows: Vec<(WorkflowName, InsightGroup)>,
    /// By the Monday that the week begins with, in UTC.
    pub weeks: Vec<(jiff::civil::Date, InsightGroup)>,
    /// Why work was sent back, the most frequent reasons first.
    pub reject_reasons: Vec<RejectReason>,
}

/// Between two places of a workflow.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InsightEdge {
    pub workflow: WorkflowName,
    pub from: String,
    pub to: String,
}

impl Views<'_> {
    /// The figures of a window up to now.
    pub async fn insights(&self, window: &InsightWindow) -> Result<Insights, EngineError> {
        let mut facts: Vec<HandoffFact> = Vec::new();
        let (mut before, mut n_read) = (0, 0);
        let mut is_cut = false;
        loop {
            let page = self.handoff_facts(before, PAGE).await?;
            let Some(last) = page.last() else { break };
            before = last.number;
            // Numbers follow the time, but for a clock that was set back.
            let is_over = page.iter().all(|it| it.created_at < window.from);
            n_read += page.len() as u64;
            facts.extend(page.into_iter().filter(|it| window.has(it)));
            if is_over || before <= 1 {
                break;
            }
            if n_read >= MOST_HANDOFFS {
                is_cut = true;
                break;
            }
        }
        let used = self.used_for(&facts).await?;
        let oldest = facts.iter().map(|it| it.created_at).min().filter(|_| is_cut);
        let from = oldest.unwrap_or(window.from);
        let at_gates = self.gate_rejects(&facts).await?;
        let reject_reasons = self.reject_reasons(&facts, &at_gates).await?;
        let figures = figures(&facts, &used, &at_gates, (from, self.now()));
        Ok(Insights { is_cut, reject_reasons, ..figures })
    }
}

/// What was used for each handoff, by the number of its run and its own.
type UsedFor = HashMap<(u64, HandoffNo), Usage>;

impl Views<'_> {
    async fn used_for(&self, facts: &[HandoffFact]) -> Result<UsedFor, EngineError> {
        let runs = facts.iter().map(|it| it.run_number);
        let (Some(first), Some(last)) = (runs.clone().min(), runs.max()) else {
            return Ok(UsedFor::new());
        };
        let mut used = UsedFor::new();
        for it in self.usage_facts(first, last, MOST_USAGES).await? {
            let sum: &mut Usage = used.entry((it.run_number, it.handoff)).or_default();
            *sum = sum.plus(it.usage);
        }
        Ok(used)
    }
}

impl InsightWindow {
    /// A question moves no responsibility.
    fn has(&self, it: &HandoffFact) -> bool {
        it.created_at >= self.from
            && it.kind != Kind::Question
            && self.workflow.as_ref().is_none_or(|workflow| *workflow == it.workflow)
    }
}

/// The figures of some handoffs, newest first.
fn figures(
    facts: &[HandoffFact],
    used: &UsedFor,
    at_gates: &GateRejects,
    (from, to): (Timestamp, Timestamp),
) -> Insights {
    let mut agents: BTreeMap<AgentId, InsightGroup> = BTreeMap::new();
    let mut edges: BTreeMap<InsightEdge, InsightGroup> = BTreeMap::new();
    let mut workflows: BTreeMap<WorkflowName, InsightGroup> = BTreeMap::new();
    let mut weeks: BTreeMap<jiff::civil::Date, InsightGroup> = BTreeMap::new();
    let mut seen: BTreeSet<(u64, InsightEdge)> = BTreeSet::new();
    for fact in facts.iter().rev() {
        let edge = InsightEdge {
            workflow: fact.workflow.clone(),
            from: place_name(&fact.from.place),
            to: place_name(&fact.to.place),
        };
        let is_first =
            fact.kind == Kind::Sequential && seen.insert((fact.run_number, edge.clone()));
        let used = used.get(&(fact.run_number, fact.no));
        // The work before a gate is sent back by the answer: along the edge that it was to go.
        if let Some(reject) = at_gates.get(&fact.number) {
            let is_first = seen.insert((fact.run_number, reject.edge.clone()));
            agents.entry(reject.agent.clone()).or_default().reject_by_person(is_first);
            edges.entry(reject.edge.clone()).or_default().reject_by_person(is_first);
            workflows.entry(fact.workflow.clone()).or_default().reject_by_person(is_first);
            weeks.entry(monday(fact.created_at)).or_default().reject_by_person(is_first);
        }
        // What an agent receives says how fast it is and what it costs, what it sends how good.
        let receiver = agents.entry(fact.to.agent.clone()).or_default();
        receiver.receive(fact);
        receiver.spend(used);
        agents.entry(fact.from.agent.clone()).or_default().send(fact, is_first, to);
        let groups = [
            edges.entry(edge).or_default(),
            workflows.entry(fact.workflow.clone()).or_default(),
            weeks.entry(monday(fact.created_at)).or_default(),
        ];
        for group in groups {
            group.receive(fact);
            group.send(fact, is_first, to);
            group.spend(used);
        }
    }
    let n_handoffs = facts.len() as u64;
    Insights {
        from,
        to,
        n_handoffs,
        is_cut: false,
        agents: finished(agents),
        edges: finished(edges),
        workflows: finished(workflows),
        weeks: finished(weeks),
        reject_reasons: Vec::new(),
    }
}

fn finished<K>(groups: BTreeMap<K, InsightGroup>) -> Vec<(K, InsightGroup)> {
    groups.into_iter().map(|(key, group)| (key, group.finished())).collect()
}

fn place_name(place: &Place) -> String {
    match place {
        Place::Orchestrator => "orchestrator".to_owned(),
        Place::Human => "human".to_owned(),
        Place::Step(id) => id.to_string(),
        Place::Delegate(agent) => format!("delegate:{agent}"),
    }
}

fn monday(at: Timestamp) -> jiff::civil::Date {
    let day = at.to_zoned(TimeZone::UTC).date();
    let n_days = i64::from(day.weekday().since(Weekday::Monday));
    day.checked_sub(SignedDuration::from_hours(24 * n_days)).unwrap_or(day)
}

#[cfg(test)]
mod tests;
