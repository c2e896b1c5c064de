//! How often an agent has had its turn, counted from the handoffs of a run.

use baton_api::{HandoffSummary, Page};
use baton_core::names::AgentId;
use uuid::Uuid;

use super::{ApiFailure, Client, FAILURE, encoded, read};

impl Client {
    /// How often it has been an agent's turn in a run: once for each handoff to it, and once more for
    /// each answer to a question that it asked. Where a lease was lost, the same turn is played again.
    pub(crate) async fn count_turns(&self, run: &str, agent: &str) -> Result<usize, ApiFailure> {
        let path = format!("/handoffs?run=run%3A{}&limit=500", encoded(run));
        let (_, body) = self.insist(&self.get(path)).await?;
        let page: Page<HandoffSummary> = read(&body)?;
        let is_answer = |it: &HandoffSummary| {
            it.from_agent == agent && it.kind.name() == "question" && it.state.name() == "completed"
        };
        let is_failure = |it: &HandoffSummary| {
            it.ended_reason.as_deref().is_some_and(|it| it.starts_with(FAILURE))
        };
        let is_lost = |it: &HandoffSummary| it.state.name() == "timed_out" && !is_failure(it);
        let is_turn = |it: &&HandoffSummary| it.to_agent == agent && !is_lost(it) || is_answer(it);
        Ok(page.items.iter().filter(is_turn).count())
    }

    /// How often an agent has been started in a run since a person last answered there. What is held
    /// now counts.
    pub(crate) async fn count_starts(&self, run: Uuid, agent: &str) -> Result<u32, ApiFailure> {
        let path = format!("/handoffs?run={run}&limit=500");
        let (_, body) = self.insist(&self.get(path)).await?;
        let page: Page<HandoffSummary> = read(&body)?;
        let is_answer =
            |it: &&HandoffSummary| it.to_agent == AgentId::HUMAN && it.state.name() == "completed";
        let answered = page.items.iter().filter(is_answer).map(|it| it.number).max().unwrap_or(0);
        let is_start = |it: &&HandoffSummary| {
            it.to_agent == agent && it.accepted_at.is_some() && it.number > answered
        };
        Ok(u32::try_from(page.items.iter().filter(is_start).count()).unwrap_or(u32::MAX))
    }
}
