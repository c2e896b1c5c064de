//! External signals: the work is good, it is merged, or a progress note.

use super::complete;
use super::draft::Draft;
use crate::command::{Command, Signal};
use crate::document::Node;
use crate::event::{MessageEvent, RunEvent};
use crate::names::{AgentId, FreeText};
use crate::outcome::Outcome;
use crate::package::{Format, Package};
use crate::refusal::Refusal;
use crate::run::{Baton, Handoff, Run, RunStatus};
use crate::workflow::Target;

/// Work is often merged long after its run is complete.
pub(super) fn comes_late(run: &Run, command: &Command) -> bool {
    let is_signal = matches!(command, Command::Signal(_));
    // An agent is still at work when its handoff ends the run, and when a person cancels it.
    let is_usage = matches!(command, Command::RecordUsage(_) | Command::SendFile(_));
    is_usage || (is_signal && run.status == RunStatus::Completed)
}

pub(super) fn decide(draft: &mut Draft<'_>, signal: &Signal) -> Result<(), Refusal> {
    match signal {
        Signal::Passed => {
            draft.emit(RunEvent::SignalPassed);
            match at_the_end(draft) {
                Some(held) => {
                    let nothing = Package::new(Format::Json, "{}", Node::map([]));
                    complete::by_signal(draft, &held, &nothing)
                }
                None => Ok(()),
            }
        }
        Signal::Merged { commit } => {
            draft.emit(RunEvent::SignalMerged { commit: commit.clone() });
            Ok(())
        }
    }
}

pub(super) fn post(draft: &mut Draft<'_>, by: Option<&AgentId>, words: &FreeText) {
    let text = draft.keep(words.as_str());
    let (portrait, is_new_cast) = by.map_or((None, false), |_| draft.portrait_now());
    draft.emit(MessageEvent::Posted { by: by.cloned(), text, portrait, is_new_cast });
}

/// The held handoff, where success at its step ends the run.
fn at_the_end(draft: &Draft<'_>) -> Option<Handoff> {
    let Baton::Held { handoff } = draft.run.baton() else { return None };
    let held = draft.run.handoff(*handoff)?;
    let mut edges = draft.step_at(&held.to.place)?.edges_on(Outcome::Success);
    let is_last = edges.next().is_some_and(|it| it.to == Target::Complete);
    (is_last && edges.next().is_none()).then(|| held.clone())
}
