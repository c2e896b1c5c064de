//! Work that stopped because something was in its way: what a resolver has to know, and with what the
//! blocked agent goes on.

use baton_core::gate::GateCause;
use baton_core::workflow::Place;
use baton_store::HandoffRow;
use baton_wire::json;

use super::inputs::PromptInputs;
use crate::prompt::brief::BriefDetour;
use crate::prompt::untrusted::UntrustedText;

impl PromptInputs {
    pub(super) fn detour(&self) -> Option<BriefDetour> {
        let detour = self.open.detour.as_ref()?;
        let step = match &detour.blocked().place {
            Place::Step(id) => self.workflow.step(id),
            Place::Orchestrator | Place::Human | Place::Delegate(_) => None,
        };
        let is_known = self.workflow.blocked_reasons().any(|it| it == detour.reason);
        Some(BriefDetour {
            blocked: detour.blocked().agent.clone(),
            phase: step.map(|it| it.phase.clone()),
            reason: is_known.then(|| detour.reason.clone()),
        })
    }

    /// What a person was asked: an agent's own question, or the questions of its document.
    pub(super) fn question_to_person(
        &self,
        gate: &HandoffRow,
        is_own: bool,
    ) -> Option<UntrustedText> {
        if is_own {
            return Some(self.words(gate.reason));
        }
        let clarified = self.clarified_row().filter(|it| it.no == gate.no)?;
        let parcel = self.parcel(clarified)?;
        let document = parcel.document.as_ref()?;
        let questions = document.member("questions").filter(|it| !it.is_blank());
        let words = questions.map(|it| json::print_pretty(it).into());
        Some(words.unwrap_or(parcel.text))
    }

    /// The gate before, where an agent needed something to be clarified there.
    pub(super) fn clarified_row(&self) -> Option<&HandoffRow> {
        let is_clarified =
            |it: &&HandoffRow| self.cause_of(it.no) == Some(GateCause::NeedsClarification);
        self.gate_before().filter(is_clarified)
    }

    /// Whether the work goes on where it had stopped: nothing of it was found wrong.
    pub(super) fn is_resumed(&self) -> bool {
        let is_stop =
            |it: GateCause| matches!(it, GateCause::NeedsClarification | GateCause::Blocked);
        let gate = self.gate_before().and_then(|it| self.cause_of(it.no));
        gate.is_some_and(is_stop) || matches!(self.row.from.place, Place::Delegate(_))
    }
}
