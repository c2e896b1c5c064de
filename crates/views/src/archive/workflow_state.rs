//! The YAML handoff's `workflow_state`: how far the run was when a handoff was made.

use std::collections::BTreeSet;

use baton_core::document::Node;
use baton_core::event::{Event, HandoffEvent, RunEvent, StepEvent};
use baton_core::names::{StepId, WorkflowName};
use baton_core::outcome::Outcome;
use baton_core::view::read::{items, text};
use baton_core::workflow::Place;
use baton_store::HandoffRow;

use crate::history::History;

pub(super) struct WorkflowState<'a> {
    name: &'a WorkflowName,
    /// Counted from 1 in workflow order: the step that has the work once it is handed over.
    current: Option<(usize, &'a StepId)>,
    /// The steps before the current one that were done or skipped, in workflow order.
    completed: Vec<&'a StepId>,
    /// The current step and those after it.
    remaining: Vec<&'a StepId>,
}

impl<'a> WorkflowState<'a> {
    pub(super) fn at(history: &'a History, row: &HandoffRow) -> Self {
        let done = done_before(history, row);
        let steps = &history.workflow.steps;
        let place = |place: &Place| match place {
            Place::Step(step) => steps.iter().position(|it| it.id == *step),
            Place::Orchestrator | Place::Human | Place::Delegate(_) => None,
        };
        // A person or a delegate is asked about the sender's step; the orchestrator about none.
        let current = match &row.to.place {
            Place::Step(_) => place(&row.to.place),
            Place::Human | Place::Delegate(_) => place(&row.from.place),
            Place::Orchestrator => None,
        };
        let is_done = |it: usize| steps.get(it).is_some_and(|it| done.contains(&it.id));
        let begin = current.unwrap_or_else(|| {
            (0..steps.len()).rev().find(|it| is_done(*it)).map_or(0, |it| it + 1)
        });
        Self {
            name: &history.row.run.workflow,
            current: current.and_then(|it| Some((it + 1, &steps.get(it)?.id))),
            completed: (0..begin).filter(|it| is_done(*it)).map(|it| &steps[it].id).collect(),
            remaining: steps.iter().skip(begin).map(|it| &it.id).collect(),
        }
    }

    pub(super) fn document(&self) -> Node {
        let number = |it: usize| Node::count(it as u64);
        let list = |steps: &[&StepId]| {
            Node::List(steps.iter().map(|it| Node::text(it.as_str())).collect())
        };
        Node::map([
            ("name", Node::text(self.name.as_str())),
            ("current_step", self.current.map_or(Node::Null, |(it, _)| number(it))),
            ("completed_steps", list(&self.completed)),
            ("remaining_steps", list(&self.remaining)),
        ])
    }

    /// The members in which the sender's own state differs.
    pub(super) fn differences(&self, said: &Node) -> Vec<&'static str> {
        let is_step = |said: &Node| match (said.scalar_text(), self.current) {
            (Some(word), Some((number, id))) => word == number.to_string() || word == id.as_str(),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        let is_list = |said: &Node, steps: &[&StepId]| {
            let said: BTreeSet<&str> = items(said).iter().filter_map(text).collect();
            said == steps.iter().map(|it| it.as_str()).collect()
        };
        let is_same = |key: &str, said: &Node| match key {
            "name" => said.scalar_text() == Some(self.name.as_str()),
            "current_step" => is_step(said),
            "completed_steps" => is_list(said, &self.completed),
            _ => is_list(said, &self.remaining),
        };
        let keys = ["name", "current_step", "completed_steps", "remaining_steps"];
        let differs = |key: &&str| said.member(key).is_some_and(|it| !is_same(key, it));
        keys.into_iter().filter(differs).collect()
    }
}

/// The steps that were done, skipped or adopted as done before a handoff was made.
fn done_before<'a>(history: &'a History, row: &HandoffRow) -> BTreeSet<&'a StepId> {
    let is_made = |it: &Event| matches!(it, Event::Handoff(HandoffEvent::Created(it)) if it.handoff == row.no);
    let mut done = BTreeSet::new();
    for event in history.log.iter().map(|it| &it.event).take_while(|it| !is_made(it)) {
        if let Event::Step(StepEvent::Completed { step, outcome, .. }) = event {
            match outcome {
                Outcome::Success | Outcome::Skipped | Outcome::NeedsReview => done.insert(step),
                Outcome::Failure
                | Outcome::Blocked
                | Outcome::NeedsClarification
                | Outcome::Unknown => done.remove(step),
            };
        } else if let Event::Step(StepEvent::Skipped { step, .. }) = event {
            done.insert(step);
        } else if let Event::Run(RunEvent::Adopted { by }) = event {
            // The agent that adopted the run here hands on work from before Baton knew of it.
            match &by.place {
                Place::Step(step) => done.insert(step),
                Place::Orchestrator | Place::Human | Place::Delegate(_) => false,
            };
        }
    }
    done
}
