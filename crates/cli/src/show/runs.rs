//! Runs as tables: above all, where the baton is.

use baton_api::{BranchDocument, PassedGateDocument, RunDocument, StatusWord};
use baton_core::run::{BatonPlace, RunStatus, Wait};
use jiff::Timestamp;

use super::{TimeFormat, ago, dim, list_cutting, mark, table, visible, warn};

pub(crate) fn runs_table(runs: &[RunDocument], now: Timestamp) -> String {
    let cells = |run: &RunDocument| {
        vec![
            run.number.to_string(),
            visible(&run.story),
            run.workflow.clone(),
            status_word(run.status),
            whereabouts(run),
            ago(run.moved_at, now),
        ]
    };
    let headings = ["RUN", "STORY", "WORKFLOW", "STATUS", "BATON", "MOVED"];
    // Who has the baton, and with which handoff, is what the list is for.
    list_cutting(&headings, runs.iter().map(cells).collect(), &[2, 1, 5])
}

/// The gates that a run has passed: how, who approved, and when.
pub(crate) fn passed_gates_table(gates: &[PassedGateDocument], times: &TimeFormat) -> String {
    let cells = |it: &PassedGateDocument| {
        let to = it.to_step.as_deref().unwrap_or("complete");
        let from = it.from_step.as_deref().unwrap_or("the start");
        let between = format!("{from} → {to}");
        vec![visible(&it.name), between, it.how.clone(), visible(&it.by), times.show(it.at)]
    };
    let headings = ["GATE PASSED", "BETWEEN", "HOW", "BY", "WHEN"];
    table(&headings, gates.iter().map(cells).collect())
}

/// Who has to act next, in words; of several branches, each.
pub(crate) fn whereabouts(run: &RunDocument) -> String {
    if run.branches.is_empty() {
        let RunDocument { current_agent, current_place, current_handoff, held_back_until, .. } =
            run;
        return whereabouts_of(&BranchDocument {
            first: String::new(),
            join: String::new(),
            baton: run.baton,
            current_agent: current_agent.clone(),
            current_place: current_place.clone(),
            current_handoff: current_handoff.clone(),
            parked_on: run.parked_on,
            held_back_until: *held_back_until,
            is_asked: run.is_asked,
            is_stale: run.is_stale,
            arrived_with: None,
        });
    }
    run.branches.iter().map(whereabouts_of).collect::<Vec<_>>().join("; ")
}

/// Of a branch, or of a run without any.
fn whereabouts_of(run: &BranchDocument) -> String {
    let agent = mark(run.current_agent.as_deref().unwrap_or("no agent"));
    let label = run.current_handoff.as_deref().unwrap_or("nothing");
    let stale = if run.is_stale { warn(" (stale)") } else { String::new() };
    if let Some(label) = &run.arrived_with {
        return format!("{} is done with {label}, and waits at {}", run.first, run.join);
    }
    match *run.baton {
        BatonPlace::Offered if run.is_asked => format!("{agent} is asked about {label}"),
        BatonPlace::Offered => format!("offered to {agent} with {label}{stale}"),
        BatonPlace::Held => format!("held by {agent} with {label}{stale}"),
        BatonPlace::Parked if run.parked_on == Some(Wait::Timer.into()) => {
            let when =
                run.held_back_until.map(|it| format!(" at {}", TimeFormat::local().show(it)));
            format!("offered to {agent} again with {label}{}", when.unwrap_or(" soon".to_owned()))
        }
        BatonPlace::Parked if run.parked_on == Some(Wait::Checks.into()) => {
            format!("waits for its checks with {label}")
        }
        BatonPlace::Parked => {
            let asked = run.current_agent.as_deref().unwrap_or("human");
            format!("waits for {} with {label}", warn(asked))
        }
        BatonPlace::Loose => {
            let place = run.current_place.as_deref().unwrap_or("nowhere");
            format!("{} at {place}", warn("loose"))
        }
        BatonPlace::Done => dim("–"),
    }
}

fn status_word(status: StatusWord) -> String {
    let name = status.name();
    match *status {
        RunStatus::Open => name.to_owned(),
        RunStatus::Paused => warn(name),
        RunStatus::Completed | RunStatus::Cancelled => dim(name),
    }
}
