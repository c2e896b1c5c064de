//! The progress of a run: its workflow's steps in the order of the file, each with its state.

use baton_core::gate::GateKind;
use baton_core::names::AgentId;
use baton_core::run::{Baton, Ended, HandoffState, Kind, Run, RunStatus, State, Wait};
use baton_core::workflow::{Place, Step, Workflow};
use baton_store::HandoffRow;

use super::html::Html;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StepState {
    /// An agent works on it.
    Working,
    /// It is offered to an agent that has not accepted it yet.
    Offered,
    /// It is to be offered again in a moment, and cannot be taken yet.
    Again,
    /// An agent has to answer a question before it goes on.
    Asked,
    /// A person has to answer before it goes on.
    Person,
    /// The baton is loose at this step.
    Loose,
    Done,
    /// It sent the work back, and will get it again.
    SentBack,
    /// The run skipped it.
    Skipped,
    Ahead,
    /// The run was cancelled while it was at work, or before it was taken.
    Cancelled,
    /// The run was cancelled before it came there.
    NotReached,
}

impl StepState {
    pub(super) fn words(self) -> &'static str {
        match self {
            StepState::Working => "working",
            StepState::Offered => "to be taken",
            StepState::Again => "offered again soon",
            StepState::Asked => "asked",
            StepState::Person => "waits for you",
            StepState::Loose => "no agent has it",
            StepState::Done => "done",
            StepState::SentBack => "sent back",
            StepState::Skipped => "passed over",
            StepState::Ahead => "ahead",
            StepState::Cancelled => "cancelled",
            StepState::NotReached => "not reached",
        }
    }

    fn class(self) -> &'static str {
        match self {
            StepState::Working => "working",
            StepState::Offered | StepState::Again | StepState::Asked => "offered",
            StepState::Person => "person",
            StepState::Loose => "loose",
            StepState::Done => "done",
            StepState::SentBack => "sent-back",
            StepState::Skipped | StepState::Cancelled => "skipped",
            StepState::Ahead | StepState::NotReached => "ahead",
        }
    }

    fn mark(self) -> &'static str {
        match self {
            StepState::Working => "●",
            StepState::Offered | StepState::Again => "○",
            StepState::Asked => "…",
            StepState::Person => "!",
            StepState::Loose => "?",
            StepState::Done => "✓",
            StepState::SentBack => "↩",
            StepState::Skipped => "–",
            StepState::Cancelled => "✕",
            StepState::Ahead | StepState::NotReached => "",
        }
    }

    fn is_current(self) -> bool {
        match self {
            StepState::Working
            | StepState::Offered
            | StepState::Again
            | StepState::Asked
            | StepState::Person
            | StepState::Loose => true,
            StepState::Done
            | StepState::SentBack
            | StepState::Skipped
            | StepState::Ahead
            | StepState::Cancelled
            | StepState::NotReached => false,
        }
    }
}

/// `rows` are the newest handoffs of the run, newest first.
pub(super) fn render(html: &mut Html, run: &Run, workflow: &Workflow, rows: &[HandoffRow]) {
    html.raw("<ol class=\"pipeline\" aria-label=\"Steps\">");
    for (step, state) in states(run, workflow) {
        let state = if run.status == RunStatus::Cancelled {
            in_cancelled_run(state, step, rows)
        } else {
            state
        };
        html.raw("<li class=\"step ").raw(state.class()).raw("\"");
        if state.is_current() {
            html.raw(" aria-current=\"step\"");
        }
        html.raw("><span class=\"mark\" aria-hidden=\"true\">").raw(state.mark());
        html.raw("</span><span class=\"step-name\">").words(&step.title);
        html.raw("</span><span class=\"step-state\">").raw(state.words());
        let n_rejects = n_rejects(run, step);
        if n_rejects > 0 {
            html.raw(" <span class=\"returned\">returned ").number(n_rejects).raw("×</span>");
        }
        html.raw("</span></li>");
    }
    html.raw("</ol>");
}

/// A step that had been visited is not done where its work was cancelled.
fn in_cancelled_run(state: StepState, step: &Step, rows: &[HandoffRow]) -> StepState {
    let place = Place::Step(step.id.clone());
    let last = rows.iter().find(|it| it.to.place == place && it.kind != Kind::Question);
    let is_cancelled = last.is_some_and(|it| it.state == HandoffState::Ended(Ended::Cancelled));
    let is_settled = matches!(state, StepState::Ahead | StepState::Done);
    if is_settled && is_cancelled {
        return StepState::Cancelled;
    }
    if state == StepState::Ahead { StepState::NotReached } else { state }
}

/// The state of each step, in the order of the workflow's file.
pub(crate) fn states<'a>(run: &Run, workflow: &'a Workflow) -> Vec<(&'a Step, StepState)> {
    let current: Vec<(Place, StepState)> =
        run.branches.iter().filter_map(|it| current(run, it.no)).collect();
    let index_of =
        |place: &Place| workflow.steps.iter().position(|it| Place::Step(it.id.clone()) == *place);
    // Of several branches, what is behind the last one is ahead of all.
    let here = current.iter().filter_map(|(place, _)| index_of(place)).max();
    let state = |(index, step): (usize, &'a Step)| {
        let own = current.iter().find(|(place, _)| index_of(place) == Some(index));
        let state = match own {
            Some((_, state)) => *state,
            None => settled(run, step, index, here),
        };
        (step, state)
    };
    workflow.steps.iter().enumerate().map(state).collect()
}

/// The state of a step that the baton is not at.
fn settled(run: &Run, step: &Step, index: usize, here: Option<usize>) -> StepState {
    let is_visited = run.visited.contains(&step.id);
    let is_ahead = here.is_some_and(|it| index > it);
    let place = Place::Step(step.id.clone());
    let has_rejected = run.all_rounds().any(|(edge, it)| edge.to == place && it.n > 0);
    match (is_visited, is_ahead) {
        // It may have rejected what it never accepted.
        (_, true) if has_rejected => StepState::SentBack,
        (true, _) => StepState::Done,
        (false, true) => StepState::Ahead,
        (false, false) if here.is_some() || run.status == RunStatus::Completed => {
            StepState::Skipped
        }
        (false, false) => StepState::Ahead,
    }
}

/// The step that the baton of a branch is at, and its state.
fn current(run: &Run, branch: u16) -> Option<(Place, StepState)> {
    if run.is_finished() {
        return None;
    }
    let blocking =
        run.gates().find(|(row, gate)| row.branch == branch && gate.kind != GateKind::Advisory);
    if let Some((_, gate)) = blocking {
        let sides = [&gate.asker.place, &gate.worker.place];
        let step = sides.into_iter().find(|it| it.is_step())?;
        // The person may have asked a question, and then it is another agent's turn.
        let is_persons_turn = run.current_agent_in(branch).is_none_or(AgentId::is_human);
        let state = if is_persons_turn { StepState::Person } else { StepState::Asked };
        return Some((step.clone(), state));
    }
    if let Baton::Loose { at, other, .. } = run.baton_in(branch) {
        let step = [at, other].into_iter().find(|it| it.is_step())?;
        return Some((step.clone(), StepState::Loose));
    }
    let state = match (run.baton_in(branch), run.current_in(branch)?.state) {
        (Baton::Parked { on: Wait::Timer, .. }, _) => StepState::Again,
        (_, State::Accepted | State::Parked) => StepState::Working,
        (_, State::Clarification) => StepState::Asked,
        (_, State::Pending) => StepState::Offered,
    };
    // A delegate works on a part of the step of the agent that waits for it.
    let callers = run.frames_in(branch).rev().filter_map(|it| run.handoff(it.caller));
    let mut places = run.current_in(branch).into_iter().chain(callers).map(|it| &it.to.place);
    places.find(|it| it.is_step()).map(|it| (it.clone(), state))
}

/// How often this step's work was rejected. A specialist's result that the step did not take is the
/// specialist's, though it is counted between the two.
fn n_rejects(run: &Run, step: &Step) -> u64 {
    let place = Place::Step(step.id.clone());
    let of_step = run
        .all_rounds()
        .filter(|(edge, _)| edge.from == place && !matches!(edge.to, Place::Delegate(_)));
    of_step.map(|(_, it)| u64::from(it.n)).sum()
}
