//! Records the results of checks, which may open an automatic gate.

use super::checked;
use super::draft::Draft;
use super::gate::past;
use super::limit;
use super::offer::{AtOrchestrator, Offer, hand_over};
use super::question;
use crate::command::Record;
use crate::event::{EvidenceEvent, GateEvent};
use crate::evidence::{self, MOST_CHECKS};
use crate::gate::{Gate, GateKind};
use crate::outcome::Outcome;
use crate::problem::Problem;
use crate::refusal::Refusal;
use crate::run::{EdgeKey, Handoff, Kind};
use crate::workflow::Target;

pub(super) fn record(draft: &mut Draft<'_>, given: &Record) -> Result<(), Refusal> {
    let handoff = draft.open(given.handoff)?;
    if handoff.kind == Kind::Question {
        return Err(Refusal::QuestionOpen { handoff: handoff.no });
    }
    let known = handoff.gate.as_ref().map_or(&handoff.evidence, |it| &it.evidence);
    if known.len() >= MOST_CHECKS && !known.iter().any(|it| it.check == given.check) {
        return Err(Refusal::TooManyChecks { handoff: handoff.no, n: known.len() });
    }
    let detail = draft.keep_words(given.detail.as_ref());
    draft.emit(EvidenceEvent::Recorded {
        handoff: handoff.no,
        check: given.check.clone(),
        verdict: given.verdict,
        detail,
        fence: handoff.gate.is_none().then_some(handoff.fence),
        ran: None,
    });
    draft.done.handoff = Some(handoff.no);
    if draft.is_decided_by_runner(&given.check) {
        let words = format!("recorded as a claim: a runner decides `{}`", given.check);
        draft.done.warnings.push(Problem::new("check", "claim", words));
    }
    let row = draft.open(handoff.no)?;
    if let Some(gate) = &row.gate {
        open_if_passed(draft, &row, gate);
    }
    if row.checks.is_some() {
        checked::settle(draft, row.no, &[]);
    }
    Ok(())
}

fn open_if_passed(draft: &mut Draft<'_>, row: &Handoff, gate: &Gate) {
    if gate.kind != GateKind::Automatic {
        return;
    }
    let declared = gate.edge_in(draft.workflow()).and_then(|it| it.gate.as_ref());
    let checks = declared.map_or(&[][..], |it| &it.checks);
    if checks.is_empty() || evidence::missing(checks, &draft.counting(&gate.evidence)).is_some() {
        return;
    }
    question::withdraw(draft, row);
    let from = gate.edge.as_ref().map_or(&gate.asker.place, |it| &it.from).clone();
    let edge = EdgeKey { from, to: gate.worker.place.clone() };
    let (evidence, on) = (gate.evidence.clone(), gate.edge.as_ref().map(|it| it.on));
    let branch = draft.branch;
    draft.emit(GateEvent::Passed { edge, evidence, on, branch });
    draft.complete(row.no, Outcome::Success, None);
    let onward = Offer {
        follows: Some(row.no),
        told_warnings: gate.warnings.clone(),
        // The sender's findings are in its package, which is not read here.
        entry: gate.edge_in(draft.workflow()).and_then(|it| limit::entry_along(it, None)),
        ..past(gate, gate.package)
    };
    draft.done.handoff = Some(hand_over(draft, onward, AtOrchestrator::of(&target(gate))));
}

/// The target of the work behind a gate; at the end it is the orchestrator's.
pub(super) fn target(gate: &Gate) -> Target {
    gate.worker.place.as_step().map_or(Target::Complete, |it| Target::Step(it.clone()))
}
