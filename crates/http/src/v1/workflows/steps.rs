//! The status of each step of a run.

use baton_api::{StepProgress, StepStatus};
use baton_core::event::{Event, StepEvent};
use baton_core::names::StepId;
use baton_core::run::Run;
use baton_core::workflow::{Place, Workflow};
use baton_engine::EngineError;
use baton_store::{EventFilter, Position, RunRow};
use baton_wire::event;
use jiff::Timestamp;

use crate::scope::RequestScope;
use crate::v1::agents::{attribution, step_title};

/// The last state that the log has for each step; the step that the baton is at is the current one,
/// however often it was done before.
pub(super) async fn step_statuses(
    app: &RequestScope,
    row: &RunRow,
    workflow: &Workflow,
) -> Result<Vec<StepStatus>, EngineError> {
    let filter = EventFilter { after: Position::START, run: Some(row.run.id), limit: 0 };
    let events = app.read().events(&filter).await?;
    let mut known: Vec<(StepId, StepProgress, Timestamp)> = Vec::new();
    let mut last_agents = Vec::new();
    for stored in events.iter().filter(|it| it.name.starts_with("step.")) {
        let Ok(event) = event::decode(&stored.body) else { continue };
        if let Event::Step(StepEvent::Completed { step, agent, .. }) = event {
            known.push((step.clone(), StepProgress::Completed, stored.at));
            last_agents.push((step, agent));
        } else if let Event::Step(StepEvent::Skipped { step, .. }) = event {
            known.push((step, StepProgress::Skipped, stored.at));
        } else if let Event::Step(StepEvent::Started { step, agent }) = event {
            last_agents.push((step, agent));
        }
    }
    let current = current_step(&row.run);
    let status = workflow.steps.iter().map(|step| {
        let place = Place::Step(step.id.clone());
        let last = known.iter().rev().find(|(it, _, _)| *it == step.id);
        let (status, at) = match last {
            _ if current.as_ref() == Some(&place) => (StepProgress::Current, None),
            Some((_, status, at)) => (*status, Some(*at)),
            None => (StepProgress::Pending, None),
        };
        let agent = last_agents.iter().rev().find(|(it, _)| *it == step.id).map(|(_, it)| it);
        let agent = agent.or_else(|| step.agents.first());
        StepStatus {
            step_id: step.id.to_string(),
            name: step_title(workflow, &place).unwrap_or_default(),
            status,
            completed_at: at,
            agent_name: agent.map(|it| attribution(app, it).agent_name),
        }
    });
    Ok(status.collect())
}

/// The step that the baton is at; for a delegate or a person, the step of the agent that waits.
pub(super) fn current_step(run: &Run) -> Option<Place> {
    if run.is_finished() {
        return None;
    }
    let asker = run.gate().map(|(_, gate)| gate.asker.place.clone());
    let callers = run.frames.iter().rev().filter_map(|it| run.handoff(it.caller));
    let callers = callers.map(|it| it.to.place.clone());
    run.current_place().cloned().into_iter().chain(asker).chain(callers).find(Place::is_step)
}
