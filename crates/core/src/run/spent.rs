//! What a run has used: one row for each agent at each step, so that it stays small. Where the edge
//! that brought the work has a budget, a row for that edge.

use serde::{Deserialize, Serialize};

use super::Run;
use crate::budget::{BudgetOwner, Usage};
use crate::names::{AgentId, StepId};

/// What an agent used at a step, over all its attempts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    pub agent: AgentId,
    /// `None` for a delegate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<StepId>,
    /// The step that the work came from, where that edge has a budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<StepId>,
    /// How often it was reported.
    pub n: u32,
    #[serde(flatten)]
    pub usage: Usage,
}

impl Run {
    /// What all agents have used.
    pub fn used(&self) -> Usage {
        self.used_by(&BudgetOwner::Run)
    }

    pub fn used_by(&self, owner: &BudgetOwner) -> Usage {
        let is_own = |it: &&Spent| match owner {
            BudgetOwner::Run => true,
            BudgetOwner::Step(step) => it.step.as_ref() == Some(step),
            BudgetOwner::Edge { from, to } => {
                it.step.as_ref() == Some(to) && it.from.as_ref() == Some(from)
            }
            BudgetOwner::Agent(agent) => it.agent == *agent,
        };
        let own = self.spent.iter().filter(is_own);
        own.fold(Usage::default(), |sum, it| sum.plus(it.usage))
    }

    pub(crate) fn spend(
        &mut self,
        agent: &AgentId,
        step: Option<&StepId>,
        from: Option<&StepId>,
        usage: Usage,
    ) {
        let known = self
            .spent
            .iter_mut()
            .find(|it| it.agent == *agent && it.step.as_ref() == step && it.from.as_ref() == from);
        match known {
            Some(known) => {
                known.n += 1;
                known.usage = known.usage.plus(usage);
            }
            None => {
                let (agent, step, from) = (agent.clone(), step.cloned(), from.cloned());
                self.spent.push(Spent { agent, step, from, n: 1, usage });
            }
        }
    }
}
