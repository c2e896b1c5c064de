//! What people sent back at gates. Such a gate is a handoff that was completed, with an answer; the work
//! that was rejected is that of the agent before the gate.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use baton_core::gate::{Answer, Gate};
use baton_core::names::{AgentId, WorkflowName};
use baton_core::run::{Ended, HandoffState, RunId};
use baton_core::workflow::Place;
use baton_engine::EngineError;
use baton_store::{HandoffFact, HandoffRef};
use jiff::Timestamp;

use super::reasons::{WrittenReject, shown};
use super::{InsightEdge, place_name};
use crate::Views;
use crate::gate_record::GateRecord;

/// How many answered gates are looked at: each is a row of its own.
const MOST_GATES: usize = 2000;

/// A gate that a person answered with a reject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GateReject {
    /// Whose work it was.
    pub(super) agent: AgentId,
    /// The edge that the work was to go along.
    pub(super) edge: InsightEdge,
    /// The person's comment; empty without one.
    pub(super) text: String,
    pub(super) at: Timestamp,
}

/// By the number of the gate's handoff.
pub(super) type GateRejects = HashMap<u64, GateReject>;

impl GateReject {
    pub(super) fn written(&self, number: u64) -> WrittenReject {
        let (edge, text) = (self.edge.clone(), self.text.clone());
        WrittenReject { edge, text, number, at: self.at }
    }
}

impl Views<'_> {
    /// `facts` are newest first.
    pub(super) async fn gate_rejects(
        &self,
        facts: &[HandoffFact],
    ) -> Result<GateRejects, EngineError> {
        let is_answered = |it: &&HandoffFact| {
            it.to.place == Place::Human && it.state == HandoffState::Ended(Ended::Completed)
        };
        let mut records: HashMap<RunId, GateRecord> = HashMap::new();
        let mut found = GateRejects::new();
        for fact in facts.iter().filter(is_answered).take(MOST_GATES) {
            let Some(row) = self.find_handoff(&HandoffRef::Number(fact.number)).await? else {
                continue;
            };
            let record = match records.entry(row.run) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => new.insert(self.gate_record(row.run).await?),
            };
            let answer = record.answer_to(row.no).filter(|it| it.answer == Answer::Reject);
            let (Some(answer), Some(gate)) = (answer, record.opened.get(&row.no)) else { continue };
            let text = match answer.comment {
                Some(id) => shown(self.texts(row.run, [id]).await?.get(id)),
                None => String::new(),
            };
            let (agent, at) = (gate.asker.agent.clone(), answer.at);
            let edge = edge_of(gate, &fact.workflow);
            found.insert(fact.number, GateReject { agent, edge, text, at });
        }
        Ok(found)
    }
}

fn edge_of(gate: &Gate, workflow: &WorkflowName) -> InsightEdge {
    let (from, to) = match &gate.edge {
        Some(edge) => (&edge.from, &edge.to),
        None => (&gate.asker.place, &gate.worker.place),
    };
    InsightEdge { workflow: workflow.clone(), from: place_name(from), to: place_name(to) }
}
