//! What agents used is recorded, and compared with what they may. A budget that is used up stops the
//! work, and only a person's answer raises it.

use super::draft::Draft;
use crate::budget::{Budget, BudgetOwner, ReachedBudget};
use crate::command::RecordUsage;
use crate::event::UsageEvent;
use crate::names::AgentId;
use crate::refusal::Refusal;
use crate::run::{CounterScope, Run};
use crate::workflow::{Place, Workflow};

/// The handoff may have ended already: an agent that hands on by itself is still at work then.
pub(super) fn record(draft: &mut Draft<'_>, record: &RecordUsage) -> Result<(), Refusal> {
    let (handoff, fence) = (record.handoff, record.fence);
    let current = draft.run.handoff(handoff).map(|it| it.fence);
    if current.is_some_and(|it| fence > it) || handoff.0 == 0 || handoff.0 > draft.run.n_handoffs {
        return Err(Refusal::StaleFence { handoff, fence, current });
    }
    draft.emit(UsageEvent::Recorded {
        handoff,
        fence,
        agent: record.agent.clone(),
        step: record.place.as_step().cloned(),
        executor: record.executor.clone(),
        usage: record.usage,
    });
    draft.done.handoff = Some(handoff);
    Ok(())
}

/// The first budget that is used up for an agent at a place.
pub(super) fn reached(draft: &Draft<'_>, agent: &AgentId, place: &Place) -> Option<ReachedBudget> {
    let budgets = budgets(&draft.run, draft.workflow(), draft.ground.budgets, agent, place);
    budgets.into_iter().find_map(|(of, budget)| {
        let used = draft.run.used_by(&of);
        let unit = budget.reached(&used)?;
        let (used, most) = (used.amount(unit), budget.limit(unit)?);
        Some(ReachedBudget { of, unit, used, most })
    })
}

/// What is left for an agent at a place: the least of all its budgets.
pub fn remaining(
    run: &Run,
    workflow: &Workflow,
    of_agents: &[AgentBudget],
    agent: &AgentId,
    place: &Place,
) -> Budget {
    let budgets = budgets(run, workflow, of_agents, agent, place);
    let left = budgets.into_iter().map(|(of, budget)| budget.less(&run.used_by(&of)));
    left.fold(Budget::default(), Budget::and)
}

/// What `baton.toml` sets for an agent in each run; for every other agent, without one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentBudget {
    pub agent: Option<AgentId>,
    pub budget: Budget,
}

/// Every budget that counts for an agent at a place, with what people have granted.
fn budgets(
    run: &Run,
    workflow: &Workflow,
    of_agents: &[AgentBudget],
    agent: &AgentId,
    place: &Place,
) -> Vec<(BudgetOwner, Budget)> {
    let mut budgets = vec![(BudgetOwner::Run, unraised(run, workflow))];
    if let Some(step) = place.as_step().and_then(|it| workflow.step(it)) {
        budgets.push((BudgetOwner::Step(step.id.clone()), step.limits.budget));
    }
    let own = of_agents.iter().find(|it| it.agent.as_ref() == Some(agent));
    let own = own.or_else(|| of_agents.iter().find(|it| it.agent.is_none()));
    budgets.extend(own.map(|it| (BudgetOwner::Agent(agent.clone()), it.budget)));
    budgets.retain(|(_, budget)| !budget.is_unlimited());
    for (of, budget) in &mut budgets {
        *budget = budget.times(n_budgets(run, of));
    }
    budgets
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
