//! Runs as tables and as JSON: above all, where the baton is.

use baton_core::document::Node;
use baton_core::run::{Baton, Run, RunStatus, State, Wait};
use baton_core::workflow::Workflow;
use baton_store::RunRow;
use jiff::Timestamp;

use super::handoffs::number;
use super::{ago, dim, mark, table, visible, warn};

pub(crate) fn runs_table(rows: &[RunRow], now: Timestamp) -> String {
    let cells = |row: &RunRow| {
        vec![
            row.number.to_string(),
            visible(row.run.story.as_str()),
            row.run.workflow.to_string(),
            status_word(&row.run),
            whereabouts(&row.run),
            ago(row.run.moved_at, now),
        ]
    };
    let headings = ["RUN", "STORY", "WORKFLOW", "STATUS", "BATON", "MOVED"];
    table(&headings, rows.iter().map(cells).collect())
}

/// Who must move, in words.
pub(crate) fn whereabouts(run: &Run) -> String {
    match (run.baton(), run.current()) {
        (Baton::Offered { .. }, Some(it)) if it.state == State::Clarification => {
            let asked = run.current_agent().unwrap_or(&it.from.agent);
            format!("{} is asked about {}", mark(asked.as_str()), it.no)
        }
        (Baton::Offered { .. }, Some(it)) => {
            let stale = if it.is_stale { warn(" (stale)") } else { String::new() };
            format!("offered to {} with {}{stale}", mark(it.to.agent.as_str()), it.no)
        }
        (Baton::Held { .. }, Some(it)) => {
            let stale = if it.is_stale { warn(" (stale)") } else { String::new() };
            format!("held by {} with {}{stale}", mark(it.to.agent.as_str()), it.no)
        }
        (Baton::Parked { on: Wait::Timer, .. }, Some(it)) => {
            format!("soon offered to {} again with {}", mark(it.to.agent.as_str()), it.no)
        }
        (Baton::Parked { on: Wait::Person, .. }, Some(it)) => {
            let asked = run.current_agent().unwrap_or(&it.to.agent);
            format!("waits for {} with {}", warn(asked.as_str()), it.no)
        }
        (Baton::Loose { at, .. }, _) => format!("{} at {at}", warn("loose")),
        (Baton::Done, _)
        | (Baton::Offered { .. } | Baton::Held { .. } | Baton::Parked { .. }, None) => dim("–"),
    }
}

pub(crate) fn run_json(row: &RunRow, workflow: &Workflow) -> Node {
    let run = &row.run;
    let agent = run.current_agent().map_or(Node::Null, |it| Node::text(it.as_str()));
    let place = run.current_place().map_or(Node::Null, |it| Node::text(it.to_string()));
    let labels = run.handoffs.iter().map(|it| Node::text(it.no.label())).collect();
    let visited = run.visited.iter().map(|it| Node::text(it.as_str())).collect();
    Node::map([
        ("number", number(row.number)),
        ("id", Node::text(run.id.to_string())),
        ("story", Node::text(run.story.as_str())),
        ("workflow", Node::text(run.workflow.as_str())),
        ("workflowHash", Node::text(workflow.hash.to_string())),
        ("owner", Node::text(run.owner.as_str())),
        ("status", Node::text(run.status.name())),
        ("baton", Node::text(run.baton().name())),
        ("currentAgent", agent),
        ("currentPlace", place),
        ("phase", Node::text(phase(run, workflow))),
        ("openHandoffs", Node::List(labels)),
        ("visited", Node::List(visited)),
        ("nHandoffs", number(run.n_handoffs.into())),
        ("version", number(row.version.0)),
        ("head", Node::text(row.head.to_string())),
        ("startedAt", Node::text(run.started_at.to_string())),
        ("movedAt", Node::text(run.moved_at.to_string())),
    ])
}

/// What people call the work that goes on: the step's word.
fn phase(run: &Run, workflow: &Workflow) -> String {
    use baton_core::workflow::Place;
    match (run.status, run.current_place(), run.baton()) {
        (RunStatus::Completed, ..) => "complete".to_owned(),
        (RunStatus::Cancelled, ..) => "cancelled".to_owned(),
        (_, Some(Place::Step(step)), Baton::Offered { .. } | Baton::Held { .. }) => {
            workflow.step(step).map_or_else(|| step.to_string(), |it| it.phase.clone())
        }
        (RunStatus::Open | RunStatus::Paused, ..) => "waiting".to_owned(),
    }
}

fn status_word(run: &Run) -> String {
    match run.status {
        RunStatus::Open => run.status.name().to_owned(),
        RunStatus::Paused => warn(run.status.name()),
        RunStatus::Completed | RunStatus::Cancelled => dim(run.status.name()),
    }
}
