//! The gates that the work of a run has passed: which, how, by whom and when.
//!
//! Only the rules decide what counts as passed: the log is replayed through them, and each gate
//! that they add to the run's record is reported with the event that added it.

use baton_core::event::{Event, GateEvent, evolve, replay};
use baton_core::gate::{Answer, Gate, GateCause, GateEdge};
use baton_core::names::Principal;
use baton_core::run::Run;
use baton_core::workflow::Edge;
use baton_store::{EventFilter, Position, RunRow, StoreError};
use baton_wire::event;
use jiff::Timestamp;

use crate::Views;
use crate::gate_record::GateRecord;
use baton_engine::EngineError;

/// A gate that the work has passed and has not gone back behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassedGate {
    pub gate: GateEdge,
    /// The gate's name in the workflow, or `checks: tests`.
    pub name: String,
    pub how: GatePassage,
    /// Who sent the command: the people that approved it, the one that answered or waived it, or the
    /// last check's sender.
    pub by: Vec<Principal>,
    pub at: Timestamp,
}

/// How work passed a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GatePassage {
    Answered,
    Checks,
    Waived,
    /// Passed before gates were recorded.
    Carried,
}

impl GatePassage {
    pub fn name(self) -> &'static str {
        match self {
            GatePassage::Answered => "answered",
            GatePassage::Checks => "checks",
            GatePassage::Waived => "waived",
            GatePassage::Carried => "carried",
        }
    }

    fn of(event: &Event) -> Self {
        if let Event::Gate(GateEvent::Waived { .. }) = event {
            Self::Waived
        } else if let Event::Gate(GateEvent::Passed { .. }) = event {
            Self::Checks
        } else if let Event::Gate(GateEvent::Carried { .. }) = event {
            Self::Carried
        } else {
            Self::Answered
        }
    }
}

impl Views<'_> {
    /// The gates that the work of a run has passed, in that order. A gate that it has to pass
    /// again, because the work went back behind it, is not included.
    pub async fn passed_gates(&self, row: &RunRow) -> Result<Vec<PassedGate>, EngineError> {
        let workflow = self.workflow_of(row).await?;
        let steps = workflow.steps.iter();
        let asks = |it: &Edge| !it.raise.is_empty() || it.threshold.is_some();
        let has_rules = steps.flat_map(|it| &it.edges).any(asks);
        if !workflow.graph().has_gates() && !has_rules {
            return Ok(Vec::new());
        }
        let record = self.gate_record(row.run.id).await?;
        let name = |gate: &GateEdge| {
            let edge = workflow.edge_between(&gate.from, &gate.to, gate.on);
            edge.and_then(Edge::hold_name).unwrap_or_default()
        };
        let id = row.run.id;
        let filter = EventFilter { after: Position::START, run: Some(id), limit: 0 };
        let mut run: Option<Run> = None;
        let mut passed: Vec<PassedGate> = Vec::new();
        for stored in self.events(&filter).await? {
            let event = event::decode(&stored.body)
                .map_err(|error| StoreError::Damaged { what: format!("an event: {error}") })?;
            let before = run.as_ref().map(gates_of).unwrap_or_default();
            match &mut run {
                Some(run) => evolve(run, &event, stored.at),
                None => run = replay(id, [(event.clone(), stored.at)]),
            }
            if let Event::Gate(GateEvent::Lost { gates, .. }) = &event {
                passed.retain(|it| !gates.contains(&it.gate));
            }
            if let Some(raised) = raised(&record, &event) {
                passed.push(raised);
            }
            let after = run.as_ref().map(gates_of).unwrap_or_default();
            for gate in after.into_iter().filter(|it| !before.contains(it)) {
                let (name, how) = (name(&gate), GatePassage::of(&event));
                let mut by = vec![stored.by.clone()];
                if let Event::Gate(GateEvent::Answered { handoff, .. }) = &event {
                    by = record.answered_by(*handoff);
                }
                let at = stored.at;
                passed.push(PassedGate { gate, name, how, by, at });
            }
        }
        Ok(passed)
    }
}

/// A gate that a rule about the package opened where the edge has none: it is no part of the graph, and
/// opened by a person all the same.
fn raised(record: &GateRecord, event: &Event) -> Option<PassedGate> {
    let Event::Gate(GateEvent::Answered { handoff, answer: Answer::Approve, .. }) = event else {
        return None;
    };
    let is_doubt = |it: &&Gate| matches!(it.cause, GateCause::Raised | GateCause::Confidence);
    let opened = record.opened.get(handoff).filter(is_doubt)?;
    let gate = opened.edge.clone()?;
    let at = record.answer_to(*handoff)?.at;
    let (name, how, by) =
        (opened.cause.name().to_owned(), GatePassage::Answered, record.answered_by(*handoff));
    Some(PassedGate { gate, name, how, by, at })
}

fn gates_of(run: &Run) -> Vec<GateEdge> {
    let of_branches = run.branches.iter().filter_map(|it| it.passed.as_ref()).flatten();
    let arrived = run.fork.iter().flat_map(|it| &it.arrived).flat_map(|it| &it.passed);
    let mut gates: Vec<GateEdge> = Vec::new();
    for gate in of_branches.chain(arrived) {
        if !gates.contains(gate) {
            gates.push(gate.clone());
        }
    }
    gates
}
