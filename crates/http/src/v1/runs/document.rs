//! A run as the native API represents it: above all, where the baton is.

use baton_api::{BranchDocument, PassedGateDocument, RestartDocument, RunDetail, RunDocument};
use baton_core::names::StepId;
use baton_core::run::{Arrival, Baton, BatonPlace, Branch, Handoff, Run, RunStatus, State, Wait};
use baton_core::shell::shell_word;
use baton_core::workflow::Workflow;
use baton_engine::EngineError;
use baton_store::RunRow;
use baton_views::PassedGate;
use jiff::Timestamp;

use crate::scope::RequestScope;
use crate::v1::usage::run_usage;

pub(in crate::v1) async fn run_detail(
    app: &RequestScope,
    row: &RunRow,
) -> Result<RunDetail, EngineError> {
    let gates = app.read().passed_gates(row).await?;
    let passed_gates = gates.into_iter().map(passed_gate).collect();
    let workflow = app.read().workflow_of(row).await?;
    let restart = restart(&row.run, &workflow);
    let usage = run_usage(&row.run, &workflow);
    Ok(RunDetail { run: run_document(app, row).await?, passed_gates, restart, usage })
}

/// A step of a branch is no place to begin at alone.
fn restart(run: &Run, workflow: &Workflow) -> Option<RestartDocument> {
    if run.status != RunStatus::Cancelled {
        return None;
    }
    let is_whole = |it: &&StepId| workflow.branch_of(it).is_none();
    let steps: Vec<&StepId> = run.visited.iter().filter(is_whole).collect();
    let last = steps.last()?;
    let story = shell_word(run.story.as_str());
    let command = format!("baton run start --at {last} --reason TEXT {story}");
    Some(RestartDocument { steps: steps.iter().map(ToString::to_string).collect(), command })
}

fn passed_gate(it: PassedGate) -> PassedGateDocument {
    PassedGateDocument {
        name: it.name,
        from_step: it.gate.from.as_step().map(ToString::to_string),
        to_step: it.gate.to.as_step().map(ToString::to_string),
        how: it.how.name().to_owned(),
        by: it.by.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
        at: it.at,
    }
}

fn parked_on(baton: &Baton) -> Option<Wait> {
    match baton {
        Baton::Parked { on, .. } => Some(*on),
        Baton::Offered { .. } | Baton::Held { .. } | Baton::Loose { .. } | Baton::Done => None,
    }
}

fn held_back_until(baton: &Baton, current: Option<&Handoff>) -> Option<Timestamp> {
    let is_timed = parked_on(baton) == Some(Wait::Timer);
    current.filter(|_| is_timed)?.held_back_until
}

fn is_asked(current: Option<&Handoff>) -> bool {
    current.is_some_and(|it| it.state == State::Clarification)
}

/// None for a run without a fan-out under way: its one baton is the run's.
fn branches(run: &Run) -> Vec<BranchDocument> {
    let Some(fork) = &run.fork else { return Vec::new() };
    let branch = |it: &Branch| BranchDocument {
        first: fork.first(it.no).map(ToString::to_string).unwrap_or_default(),
        join: fork.join.to_string(),
        baton: it.baton.place().into(),
        current_agent: run.current_agent_in(it.no).map(ToString::to_string),
        current_place: run.current_place_in(it.no).map(ToString::to_string),
        current_handoff: run.current_in(it.no).map(|it| it.no.label()),
        parked_on: parked_on(&it.baton).map(Into::into),
        held_back_until: held_back_until(&it.baton, run.current_in(it.no)),
        is_asked: is_asked(run.current_in(it.no)),
        is_stale: run.current_in(it.no).is_some_and(|it| it.is_stale),
        arrived_with: None,
    };
    let arrived = |it: &Arrival| BranchDocument {
        first: fork.first(it.branch).map(ToString::to_string).unwrap_or_default(),
        join: fork.join.to_string(),
        baton: BatonPlace::Done.into(),
        current_agent: None,
        current_place: None,
        current_handoff: None,
        parked_on: None,
        held_back_until: None,
        is_asked: false,
        is_stale: false,
        arrived_with: Some(it.handoff.label()),
    };
    let under_way = run.branches.iter().map(|it| (it.no, branch(it)));
    let mut all: Vec<(u16, BranchDocument)> =
        under_way.chain(fork.arrived.iter().map(|it| (it.branch, arrived(it)))).collect();
    all.sort_by_key(|(no, _)| *no);
    all.into_iter().map(|(_, it)| it).collect()
}

pub(in crate::v1) async fn run_document(
    app: &RequestScope,
    row: &RunRow,
) -> Result<RunDocument, EngineError> {
    let run = &row.run;
    let current = run.current();
    let workflow = app.read().workflow_of(row).await?;
    Ok(RunDocument {
        number: row.number,
        id: run.id.0,
        story: run.story.to_string(),
        workflow: run.workflow.to_string(),
        workflow_hash: workflow.hash.to_string(),
        owner: run.owner.to_string(),
        mode: run.mode.into(),
        status: run.status.into(),
        baton: run.baton().place().into(),
        current_agent: run.current_agent().map(ToString::to_string),
        current_agents: run.current_agents().map(ToString::to_string).collect(),
        branches: branches(run),
        current_place: run.current_place().map(ToString::to_string),
        current_handoff: current.map(|it| it.no.label()),
        parked_on: parked_on(run.baton()).map(Into::into),
        held_back_until: held_back_until(run.baton(), current),
        is_asked: is_asked(current),
        is_stale: current.is_some_and(|it| it.is_stale),
        phase: run.phase(&workflow).to_owned(),
        open_handoffs: run.handoffs.iter().map(|it| it.no.label()).collect(),
        visited: run.visited.iter().map(ToString::to_string).collect(),
        n_handoffs: run.n_handoffs,
        version: row.version.0,
        head: row.head.to_string(),
        started_at: run.started_at,
        moved_at: run.moved_at,
    })
}
