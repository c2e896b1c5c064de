//! Counts and means over handoffs.

use std::collections::BTreeMap;

use baton_core::names::AgentId;
use baton_core::run::{Baton, Ended, HandoffState, Run, RunStatus, Wait};
use jiff::Timestamp;

use baton_store::{AgentStatistics, HandoffRow, OpenRunCounts, Statistics};

const COMPLETED: HandoffState = HandoffState::Ended(Ended::Completed);
const REJECTED: HandoffState = HandoffState::Ended(Ended::Rejected);

pub(super) fn over<'a>(rows: impl Iterator<Item = &'a HandoffRow>) -> Statistics {
    let mut by_agent: BTreeMap<&AgentId, Vec<&HandoffRow>> = BTreeMap::new();
    for row in rows {
        by_agent.entry(&row.to.agent).or_default().push(row);
    }
    let of_state = |state: HandoffState| {
        let n = by_agent.values().flatten().filter(|it| it.state == state).count();
        Some((state, n as u64)).filter(|(_, n)| *n > 0)
    };
    Statistics {
        by_state: HandoffState::ALL.into_iter().filter_map(of_state).collect(),
        by_agent: by_agent.iter().map(|(agent, rows)| of_agent(agent, rows)).collect(),
    }
}

fn of_agent(agent: &AgentId, rows: &[&HandoffRow]) -> AgentStatistics {
    let count = |is: &dyn Fn(&HandoffRow) -> bool| rows.iter().filter(|it| is(it)).count() as u64;
    let to_accept = rows.iter().filter_map(|it| Some((it.created_at, it.accepted_at?)));
    let to_complete = rows
        .iter()
        .filter(|it| it.state == COMPLETED)
        .filter_map(|it| Some((it.accepted_at?, it.ended_at?)));
    AgentStatistics {
        agent: agent.clone(),
        n_handoffs: rows.len() as u64,
        n_open: count(&|it| it.state.is_open()),
        n_completed: count(&|it| it.state == COMPLETED),
        n_rejected: count(&|it| it.state == REJECTED),
        mean_ms_to_accept: mean_ms(to_accept),
        mean_ms_to_complete: mean_ms(to_complete),
    }
}

fn mean_ms(spans: impl Iterator<Item = (Timestamp, Timestamp)>) -> Option<u64> {
    let ns: Vec<i128> = spans.map(|(from, to)| to.duration_since(from).as_nanos()).collect();
    let n = i128::try_from(ns.len()).ok().filter(|it| *it > 0)?;
    let mean_ms = ns.iter().sum::<i128>() / n / 1_000_000;
    Some(u64::try_from(mean_ms).unwrap_or(0))
}

/// Counts one more run, if it is open.
pub fn count_run(counts: &mut OpenRunCounts, run: &Run) {
    match run.status {
        RunStatus::Open => counts.n_open += 1,
        RunStatus::Paused => counts.n_paused += 1,
        RunStatus::Completed | RunStatus::Cancelled => return,
    }
    match run.baton() {
        Baton::Offered { .. } | Baton::Parked { on: Wait::Timer, .. } => counts.n_offered += 1,
        Baton::Held { .. } | Baton::Parked { on: Wait::Checks, .. } => counts.n_held += 1,
        Baton::Parked { on: Wait::Person, .. } => counts.n_waiting += 1,
        Baton::Loose { .. } => counts.n_loose += 1,
        Baton::Done => {}
    }
}
