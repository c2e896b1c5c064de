//! What agents used is recorded, and compared with what they may. A budget that is used up stops the
//! work, and only a person's answer raises it.

use super::draft::Draft;
use super::lease;
use crate::budget::{Budget, BudgetOwner, BudgetUnit, ReachedBudget};
use crate::command::{LoseLease, RecordUsage};
use crate::event::UsageEvent;
use crate::gate::Gate;
use crate::names::{AgentId, Reason};
use crate::refusal::Refusal;
use crate::run::{CounterScope, Kind, Party, Run, State};
use crate::workflow::{Place, Target, Workflow};

/// The handoff may have ended already: an agent that hands on by itself is still at work then.
pub(super) fn record(draft: &mut Draft<'_>, record: &RecordUsage) -> Result<(), Refusal> {
    let (handoff, fence) = (record.handoff, record.fence);
    let current = draft.run.handoff(handoff).map(|it| it.fence);
    if current.is_some_and(|it| fence > it) || handoff.0 == 0 || handoff.0 > draft.run.n_handoffs {
        return Err(Refusal::StaleFence { handoff, fence, current });
    }
    let work = BudgetedWork { agent: &record.agent, from: &record.from, at: &record.place };
    let edge = work.edge_budget(draft.workflow());
    let is_stopped = goes_on_beyond(draft, record, work);
    draft.emit(UsageEvent::Recorded {
        handoff,
        fence,
        agent: record.agent.clone(),
        step: record.place.as_step().cloned(),
        from: edge.and_then(|_| record.from.as_step().cloned()),
        executor: record.executor.clone(),
        usage: record.usage,
    });
    draft.done.handoff = Some(handoff);
    if is_stopped {
        let why = "It goes on beyond its budget, as it says itself";
        let reason = Reason::parse(why).ok();
        return lease::lose(draft, &LoseLease { reason, ..LoseLease::unheard(handoff, fence) });
    }
    Ok(())
}

/// Whether a program that reports for itself has gone on although its budget was used up before this report. Its
/// first report beyond may be its last: what it has done by then is not thrown away.
fn goes_on_beyond(draft: &Draft<'_>, record: &RecordUsage, work: BudgetedWork<'_>) -> bool {
    let held = draft.run.handoff(record.handoff).filter(|it| {
        let is_held = it.state == State::Accepted && it.lease.is_some();
        is_held && it.fence == record.fence && it.kind != Kind::Question && it.checks.is_none()
    });
    // A runner reports once its program has ended.
    record.executor.is_none() && held.is_some() && reached(draft, work).is_some()
}

/// Who works, at which place, and where the work came from: what budgets are looked up by.
#[derive(Debug, Clone, Copy)]
pub struct BudgetedWork<'a> {
    agent: &'a AgentId,
    from: &'a Place,
    at: &'a Place,
}

impl<'a> BudgetedWork<'a> {
    pub fn of(from: &'a Party, to: &'a Party) -> Self {
        Self { agent: &to.agent, from: &from.place, at: &to.place }
    }

    /// The budget of the edge that brought the work; the smallest where several lead there.
    fn edge_budget(&self, workflow: &Workflow) -> Option<(BudgetOwner, Budget)> {
        let (from, to) = (self.from.as_step()?, self.at.as_step()?);
        let target = Target::Step(to.clone());
        let edges = workflow.step(from)?.edges.iter();
        let leading = edges.filter(|it| it.targets().contains(&target)).map(|it| it.budget);
        let budget = leading.fold(Budget::default(), Budget::and);
        let owner = BudgetOwner::Edge { from: from.clone(), to: to.clone() };
        (!budget.is_unlimited()).then_some((owner, budget))
    }
}

/// The first budget that is used up for the work.
pub(super) fn reached(draft: &Draft<'_>, work: BudgetedWork<'_>) -> Option<ReachedBudget> {
    let budgets = budgets(&draft.run, draft.workflow(), draft.ground.budgets, work);
    budgets.into_iter().find_map(|(of, budget)| {
        let used = draft.run.used_by(&of);
        let unit = budget.reached(&used)?;
        let (used, most) = (used.amount(unit), budget.limit(unit)?);
        Some(ReachedBudget { of, unit, used, most })
    })
}

/// The first budget beyond which `sender` has gone for the work that it hands on. One that is just used up is
/// none: its work is done.
pub(super) fn exceeded(draft: &Draft<'_>, sender: &Party) -> Option<ReachedBudget> {
    let from = draft.given(&sender.place).map(|it| &it.sender.place);
    let work = BudgetedWork {
        agent: &sender.agent,
        from: from.unwrap_or(&Place::Orchestrator),
        at: &sender.place,
    };
    let budgets = budgets(&draft.run, draft.workflow(), draft.ground.budgets, work);
    budgets.into_iter().find_map(|(of, budget)| {
        let used = draft.run.used_by(&of);
        let beyond =
            |unit: &BudgetUnit| budget.limit(*unit).is_some_and(|it| used.amount(*unit) > it);
        let unit = BudgetUnit::ALL.into_iter().find(beyond)?;
        let (used, most) = (used.amount(unit), budget.limit(unit)?);
        Some(ReachedBudget { of, unit, used, most })
    })
}

/// What is left for the work: the least of all its budgets.
pub fn remaining(
    run: &Run,
    workflow: &Workflow,
    of_agents: &[AgentBudget],
    work: BudgetedWork<'_>,
) -> Budget {
    let budgets = budgets(run, workflow, of_agents, work);
    let left = budgets.into_iter().map(|(of, budget)| budget.less(&run.used_by(&of)));
    left.fold(Budget::default(), Budget::and)
}

/// What `baton.toml` sets for an agent in each run; for every other agent, without one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentBudget {
    pub agent: Option<AgentId>,
    pub budget: Budget,
}

fn agent_budget<'a>(all: &'a [AgentBudget], agent: &AgentId) -> Option<&'a AgentBudget> {
    let own = all.iter().find(|it| it.agent.as_ref() == Some(agent));
    own.or_else(|| all.iter().find(|it| it.agent.is_none()))
}

/// Every budget that counts for the work, with what people have granted.
fn budgets(
    run: &Run,
    workflow: &Workflow,
    of_agents: &[AgentBudget],
    work: BudgetedWork<'_>,
) -> Vec<(BudgetOwner, Budget)> {
    let mut budgets = vec![(BudgetOwner::Run, unraised(run, workflow))];
    if let Some(step) = work.at.as_step().and_then(|it| workflow.step(it)) {
        budgets.push((BudgetOwner::Step(step.id.clone()), step.limits.budget));
    }
    budgets.extend(work.edge_budget(workflow));
    let own = agent_budget(of_agents, work.agent);
    budgets.extend(own.map(|it| (BudgetOwner::Agent(work.agent.clone()), it.budget)));
    budgets.retain(|(_, budget)| !budget.is_unlimited());
    for (of, budget) in &mut budgets {
        *budget = budget.times(n_budgets(run, of));
    }
    budgets
}

/// How many budgets a person grants by letting the work go on: the fewest that leave half of one beyond what was
/// used. An attempt that went far beyond would otherwise be stopped again at its start.
pub(super) fn budgets_to_grant(draft: &Draft<'_>, of: &BudgetOwner, gate: &Gate) -> u32 {
    let (run, workflow) = (&draft.run, draft.workflow());
    let budget = single_budget(run, workflow, draft.ground.budgets, of, gate);
    let used = run.used_by(of);
    let n_used = |unit| {
        let most = budget.limit(unit)?.max(1);
        Some(used.amount(unit).saturating_add(most / 2).div_ceil(most))
    };
    let n_needed = BudgetUnit::ALL.into_iter().filter_map(n_used).max().unwrap_or(0);
    // Those before are granted already; at least one more is.
    let n_there = n_budgets(run, of);
    u32::try_from(n_needed.saturating_sub(n_there).max(1)).unwrap_or(u32::MAX)
}

/// The budget that a gate is about, with all that people have granted in this run.
pub fn granted_budget(
    run: &Run,
    workflow: &Workflow,
    of_agents: &[AgentBudget],
    of: &BudgetOwner,
    gate: &Gate,
) -> Budget {
    single_budget(run, workflow, of_agents, of, gate).times(n_budgets(run, of))
}

/// As it is declared, before anything was granted.
fn single_budget(
    run: &Run,
    workflow: &Workflow,
    of_agents: &[AgentBudget],
    of: &BudgetOwner,
    gate: &Gate,
) -> Budget {
    let work =
        BudgetedWork { agent: &gate.worker.agent, from: &gate.asker.place, at: &gate.worker.place };
    match of {
        BudgetOwner::Run => unraised(run, workflow),
        BudgetOwner::Step(step) => {
            workflow.step(step).map(|it| it.limits.budget).unwrap_or_default()
        }
        BudgetOwner::Edge { from, to } => {
            let (from, at) = (&Place::Step(from.clone()), &Place::Step(to.clone()));
            let of_edge = BudgetedWork { from, at, ..work }.edge_budget(workflow);
            of_edge.map(|(_, budget)| budget).unwrap_or_default()
        }
        BudgetOwner::Agent(agent) => {
            agent_budget(of_agents, agent).map(|it| it.budget).unwrap_or_default()
        }
    }
}

/// What all agents of a run may use together, with what people have granted.
pub fn run_budget(run: &Run, workflow: &Workflow) -> Budget {
    unraised(run, workflow).times(n_budgets(run, &BudgetOwner::Run))
}

/// What the run was started with stands in place of the workflow's, unit by unit.
fn unraised(run: &Run, workflow: &Workflow) -> Budget {
    let (own, usual) = (run.budget, workflow.limits.budget);
    Budget {
        tokens: own.tokens.or(usual.tokens),
        micro_usd: own.micro_usd.or(usual.micro_usd),
        work_ms: own.work_ms.or(usual.work_ms),
    }
}

/// One, and one more for each time that a person let the work go on beyond it.
fn n_budgets(run: &Run, of: &BudgetOwner) -> u64 {
    let granted = run.counter(0, &CounterScope::Budget(of.clone())).map_or(0, |it| it.n_extra);
    u64::from(granted) + 1
}
