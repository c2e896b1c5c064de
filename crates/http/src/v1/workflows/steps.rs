//! The status of each step of a run.

use std::collections::HashMap;

use baton_api::{StepProgress, StepStatus};
use baton_core::event::{Event, HandoffEvent, RunEvent, StepEvent};
use baton_core::names::{AgentId, StepId};
use baton_core::outcome::Outcome;
use baton_core::run::{HandoffNo, Run};
use baton_core::workflow::{Place, Workflow};
use baton_engine::EngineError;
use baton_store::{EventFilter, Position, RunRow};
use baton_wire::event;
use jiff::Timestamp;

use crate::page::pipeline::{self, StepState};
use crate::scope::RequestScope;
use crate::v1::agents::step_title;

/// The same states as on the page; the log adds when a step was completed, and by whom. A step whose
/// work failed or that sent work back is not completed: it gets the work again.
pub(super) async fn step_statuses(
    app: &RequestScope,
    row: &RunRow,
    workflow: &Workflow,
) -> Result<Vec<StepStatus>, EngineError> {
    let last = last_moves(app, row).await?;
    let cast = app.read().cast(&row.run).await?;
    let status = pipeline::states(&row.run, workflow).into_iter().map(|(step, state)| {
        let last = last.get(&step.id);
        let status = match state {
            StepState::Working
            | StepState::Offered
            | StepState::Again
            | StepState::Asked
            | StepState::Person
            | StepState::Loose => StepProgress::Current,
            StepState::Done if last.is_some_and(|it| !it.is_done) => StepProgress::Pending,
            StepState::Done => StepProgress::Completed,
            StepState::Skipped => StepProgress::Skipped,
            StepState::SentBack
            | StepState::Ahead
            | StepState::Cancelled
            | StepState::NotReached => StepProgress::Pending,
        };
        let is_over = matches!(status, StepProgress::Completed | StepProgress::Skipped);
        let agent = last.and_then(|it| it.agent.as_ref()).or_else(|| step.agents.first());
        let place = Place::Step(step.id.clone());
        StepStatus {
            step_id: step.id.to_string(),
            name: step_title(workflow, &place).unwrap_or_default(),
            status,
            completed_at: last.filter(|it| is_over && it.is_done).map(|it| it.at),
            // Of work that is over, as the agent was called then.
            agent_name: agent.map(|it| match last.filter(|_| is_over) {
                Some(last) => cast.at(it, last.no).label(),
                None => cast.today(it).label(),
            }),
        }
    });
    Ok(status.collect())
}

/// The last thing that the log has about a step.
struct LastMove {
    is_done: bool,
    at: Timestamp,
    agent: Option<AgentId>,
    /// The newest handoff then.
    no: HandoffNo,
}

async fn last_moves(
    app: &RequestScope,
    row: &RunRow,
) -> Result<HashMap<StepId, LastMove>, EngineError> {
    let filter = EventFilter { after: Position::START, run: Some(row.run.id), limit: 0 };
    let events = app.read().events(&filter).await?;
    let mut last: HashMap<StepId, LastMove> = HashMap::new();
    let mut no = HandoffNo(0);
    let is_about = |name: &str| {
        name.starts_with("step.") || name == "run.adopted" || name == "handoff.created"
    };
    for stored in events.iter().filter(|it| is_about(&it.name)) {
        let Ok(event) = event::decode(&stored.body) else { continue };
        let at = stored.at;
        if let Event::Step(StepEvent::Completed { step, agent, outcome, .. }) = event {
            let is_done = match outcome {
                Outcome::Success | Outcome::NeedsReview | Outcome::Skipped => true,
                Outcome::Failure
                | Outcome::Blocked
                | Outcome::NeedsClarification
                | Outcome::Unknown => false,
            };
            last.insert(step, LastMove { is_done, at, agent: Some(agent), no });
        } else if let Event::Handoff(HandoffEvent::Created(created)) = event {
            no = created.handoff;
        } else if let Event::Step(StepEvent::Skipped { step, .. }) = event {
            let agent = last.get(&step).and_then(|it| it.agent.clone());
            last.insert(step, LastMove { is_done: true, at, agent, no });
        } else if let Event::Step(StepEvent::Started { step, agent }) = event {
            last.insert(step, LastMove { is_done: false, at, agent: Some(agent), no });
        } else if let Event::Run(RunEvent::Adopted { by }) = event
            && let Place::Step(step) = by.place
        {
            last.insert(step, LastMove { is_done: true, at, agent: Some(by.agent), no });
        }
    }
    Ok(last)
}

/// The step that the baton is at; for a delegate or a person, the step of the agent that waits.
pub(super) fn current_step(run: &Run) -> Option<Place> {
    if run.is_finished() {
        return None;
    }
    let asker = run.gate().map(|(_, gate)| gate.asker.place.clone());
    let callers = run.frames_in(run.first_branch()).rev();
    let callers = callers.filter_map(|it| run.handoff(it.caller));
    let callers = callers.map(|it| it.to.place.clone());
    run.current_place().cloned().into_iter().chain(asker).chain(callers).find(Place::is_step)
}
