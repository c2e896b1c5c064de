//! Finds one run or handoff, and the rows that a command result refers to.

use baton_core::run::{HandoffNo, HandoffState, State};
use baton_store::{HandoffRef, HandoffRow, RunRef, RunRow};

use crate::{CommandResult, Engine, EngineError};

impl Engine {
    pub(crate) async fn run(&self, which: &RunRef) -> Result<RunRow, EngineError> {
        let row = self.store.run(which).await?;
        row.ok_or_else(|| EngineError::NoSuchRun { which: crate::commands::run_name(which) })
    }

    pub(crate) async fn handoff(&self, which: &HandoffRef) -> Result<HandoffRow, EngineError> {
        let row = self.store.handoff(which).await?;
        let which = || EngineError::NoSuchHandoff { which: crate::commands::handoff_name(which) };
        row.ok_or_else(which)
    }

    /// A handoff of a command result, in its state when the result was made.
    pub async fn row_of(
        &self,
        outcome: &CommandResult,
        no: HandoffNo,
    ) -> Result<HandoffRow, EngineError> {
        if let Some(row) = outcome.rows.0.iter().find(|it| it.no == no) {
            return Ok(row.clone());
        }
        let mut row = self.handoff(&HandoffRef::InRun(outcome.run, no)).await?;
        let then = outcome.touched.iter().find(|(it, _)| *it == no).map(|(_, state)| *state);
        let Some(then) = then.filter(|it| outcome.is_repeat || *it != row.state) else {
            return Ok(row);
        };
        // The handoff may have moved on since: undo what came later.
        row.state = then;
        row.is_stale = false;
        match then {
            HandoffState::Open(State::Pending | State::Clarification) => {
                row.accepted_at = None;
                row.acknowledgement = None;
            }
            HandoffState::Open(State::Accepted | State::Parked) | HandoffState::Ended(_) => {}
        }
        match then {
            HandoffState::Open(_) => {
                row.ended_at = None;
                row.outcome = None;
                row.ended_reason = None;
            }
            HandoffState::Ended(_) => {}
        }
        Ok(row)
    }
}
