//! What a run has used: one row for each agent at each step, so that it stays small.

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
            BudgetOwner::Agent(agent) => it.agent == *agent,
        };
        let own = self.spent.iter().filter(is_own);
        own.fold(Usage::default(), |sum, it| sum.plus(it.usage))
    }

    pub(crate) fn spend(&mut self, agent: &AgentId, step: Option<&StepId>, usage: Usage) {
        let known = self.spent.iter_mut().find(|it| it.agent == *agent && it.step.as_ref() == step);
        match known {
            Some(known) => {
                known.n += 1;
                known.usage = known.usage.plus(usage);
            }
            None => {
                let (agent, step) = (agent.clone(), step.cloned());
                self.spent.push(Spent { agent, step, n: 1, usage });
            }
        }
    }
}
