//! What events of decisions, context and messages do to a run: nothing to the baton.

use jiff::Timestamp;

use super::{ContextEvent, DecisionEvent, MessageEvent};
use crate::collaboration::{ContextMark, DecisionMark, DecisionState, OpenAsk};
use crate::content::ContentId;
use crate::run::{HandoffNo, Run, RunCast};

impl Run {
    pub(super) fn on_decision(&mut self, event: &DecisionEvent) {
        match event {
            DecisionEvent::Recorded { decisions, handoff, portrait, salt, is_new_cast, .. } => {
                self.show_as(*portrait, *is_new_cast);
                self.decision_salt = salt.or(self.decision_salt);
                for it in decisions {
                    let asked_by = handoff.filter(|_| it.is_open);
                    // Asked again: the answer to this handoff closes it.
                    if let Some(mark) = self.decision_mut(it.no) {
                        mark.asked_by = asked_by;
                        continue;
                    }
                    let state =
                        if it.is_open { DecisionState::Open } else { DecisionState::Standing };
                    self.decisions.push(DecisionMark {
                        fingerprint: it.fingerprint,
                        id_fingerprint: it.id_fingerprint,
                        asked_by,
                        state,
                        is_locked: false,
                    });
                }
            }
            DecisionEvent::Superseded { decision, .. } => {
                if let Some(mark) = self.decision_mut(*decision) {
                    mark.state = DecisionState::Superseded;
                }
            }
            DecisionEvent::Locked { decision, .. } => {
                if let Some(mark) = self.decision_mut(*decision) {
                    mark.is_locked = true;
                }
            }
        }
    }

    /// A person's answer closes what the sender left open: of several, those that it answers. The
    /// others stay open, until a person decides them on their own.
    pub(super) fn answer_decisions(&mut self, gate: HandoffNo, answered: Option<&[u32]>) {
        for (no, mark) in (1u32..).zip(&mut self.decisions) {
            if mark.asked_by != Some(gate) {
                continue;
            }
            mark.asked_by = None;
            let is_answered = answered.is_none_or(|it| it.contains(&no));
            if is_answered && mark.state == DecisionState::Open {
                mark.state = DecisionState::Answered;
            }
        }
    }

    pub(super) fn on_context(&mut self, event: &ContextEvent, at: Timestamp) {
        let ContextEvent::Changed { key, version, by, text, n_bytes } = event else { return };
        let mark = ContextMark {
            key: key.clone(),
            version: *version,
            text: *text,
            n_bytes: *n_bytes,
            by: by.clone(),
            at,
        };
        match self.context.iter_mut().find(|it| it.key == *key) {
            Some(before) => *before = mark,
            None => self.context.push(mark),
        }
    }

    pub(super) fn on_message(&mut self, event: &MessageEvent) {
        match event {
            MessageEvent::Posted { portrait, is_new_cast, .. } => {
                self.show_as(*portrait, *is_new_cast);
            }
            MessageEvent::Asked { ask, by, to, due, portrait, is_new_cast, .. } => {
                self.show_as(*portrait, *is_new_cast);
                self.n_asks = *ask;
                let (from, to) = (by.clone(), to.clone());
                self.asks.push(OpenAsk { no: *ask, from, to, attempt: 1, due: *due });
            }
            MessageEvent::Replied { ask, portrait, is_new_cast, .. } => {
                self.show_as(*portrait, *is_new_cast);
                self.asks.retain(|it| it.no != *ask);
            }
            MessageEvent::Repeated { ask, due } => {
                for open in self.asks.iter_mut().filter(|it| it.no == *ask) {
                    open.attempt += 1;
                    open.due = *due;
                }
            }
            MessageEvent::Unanswered { ask } => self.asks.retain(|it| it.no != *ask),
        }
    }

    fn decision_mut(&mut self, no: u32) -> Option<&mut DecisionMark> {
        self.decisions.get_mut(usize::try_from(no.checked_sub(1)?).ok()?)
    }

    /// Records what is shown of the agents, where that is news to the run. The handoff that is there
    /// was made before: it stays as it was shown.
    fn show_as(&mut self, cast: Option<ContentId>, is_after: bool) {
        let Some(cast) = cast else { return };
        let since = HandoffNo(self.n_handoffs);
        if self.casts.last().is_none_or(|it| it.cast != cast) {
            self.casts.push(RunCast { since, cast, is_after });
        }
    }
}
