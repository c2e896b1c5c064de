//! How many runs may be at work at a step at once: `at_once` of a step, over all runs of the workflow.
//!
//! Only claims keep to it. A person or a program that accepts a handoff by name is never refused for
//! it, but counts.

use baton_core::names::{StepId, WorkflowName};
use baton_core::run::{HandoffState, Kind, State};
use baton_store::{HandoffFilter, HandoffRow, StoreLock};
use tokio::sync::MutexGuard;

use crate::{Engine, EngineError};

/// The right to accept one handoff. Of two claims for the last free place at a step only one may
/// succeed, so other claims at limited steps wait until this one is dropped.
pub(crate) struct StepSlot<'a> {
    _turn: Option<(MutexGuard<'a, ()>, StoreLock)>,
}

/// The steps that a claim has found full.
#[derive(Default)]
pub(crate) struct FullSteps(Vec<(WorkflowName, StepId)>);

impl Engine {
    /// The right to accept this handoff; `None` where as many runs as its step allows are at work.
    pub(crate) async fn slot_at_step(
        &self,
        row: &HandoffRow,
        full: &mut FullSteps,
    ) -> Result<Option<StepSlot<'_>>, EngineError> {
        let step = row.to.place.as_step().filter(|_| row.kind != Kind::Question);
        let Some(step) = step else { return Ok(Some(StepSlot { _turn: None })) };
        let (loaded, _) = self.load(row.run).await?;
        let Some(limited) = loaded.workflow.step(step) else {
            return Ok(Some(StepSlot { _turn: None }));
        };
        let Some(most) = limited.at_once else { return Ok(Some(StepSlot { _turn: None })) };
        let workflow = &loaded.run.workflow;
        if full.0.iter().any(|(name, id)| name == workflow && id == step) {
            return Ok(None);
        }
        // First the claims of this process, so that few of them wait at the store.
        let turn = self.limited_claims.lock().await;
        let lock = self.store.lock(&format!("step {workflow} {step}")).await?;
        let mut n_at_work = 0;
        for agent in &limited.agents {
            let filter = HandoffFilter {
                to: Some(agent.clone()),
                only_moves: true,
                states: vec![HandoffState::Open(State::Accepted)],
                ..HandoffFilter::default()
            };
            for held in self.store.handoffs(&filter).await? {
                let is_there = held.to.place.as_step() == Some(step)
                    && self.load(held.run).await?.0.run.workflow == *workflow;
                n_at_work += u32::from(is_there);
            }
        }
        if n_at_work < most {
            return Ok(Some(StepSlot { _turn: Some((turn, lock)) }));
        }
        full.0.push((workflow.clone(), step.clone()));
        Ok(None)
    }
}
