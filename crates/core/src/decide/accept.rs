//! Accept: the receiver takes the baton and becomes the one who must act.

use super::approvals;
use super::draft::{Draft, require_agent, wrong_state};
use super::frame;
use super::passed;
use super::question;
use crate::acknowledgement;
use crate::command::Accept;
use crate::content::ContentId;
use crate::event::{EvidenceEvent, FrameEvent, HandoffEvent, LeaseEvent, StepEvent};
use crate::evidence::{Evidence, Verdict};
use crate::names::AgentId;
use crate::outcome::Outcome;
use crate::problem::Problem;
use crate::refusal::Refusal;
use crate::run::{Handoff, HandoffNo, Kind, RunStatus, State};
use crate::workflow::Place;

pub(super) fn decide(draft: &mut Draft<'_>, accept: &Accept) -> Result<(), Refusal> {
    let handoff = draft.open_task(accept.handoff)?;
    let only_receiver = require_agent(&handoff.to.agent, accept.by.as_ref(), "accept", handoff.no);
    match handoff.state {
        State::Pending => only_receiver?,
        State::Clarification => {
            only_receiver?;
            return Err(wrong_state("accept", &handoff, "its question has to be answered first"));
        }
        // A late caller learns the current holder, even if it is not the receiver.
        State::Accepted | State::Parked => {
            let holder = handoff.to.agent;
            return Err(Refusal::AlreadyAccepted { handoff: handoff.no, holder });
        }
    }
    if let Some(said) = accept.acknowledgement.as_ref().and_then(|it| it.from.as_ref()) {
        check_sender(draft, &handoff, said)?;
    }
    tell_failed(draft, accept);
    // An acknowledgement that asks a question opens a clarification instead of accepting.
    if let Some(words) = accept.acknowledgement.as_ref().and_then(|it| it.question()) {
        draft.open_work(handoff.no)?;
        note_checks(draft, handoff.no, accept);
        question::ask(draft, &handoff, &words);
        return Ok(());
    }
    check_offered(draft, &handoff)?;
    if draft.run.status == RunStatus::Paused {
        return Err(Refusal::Paused);
    }
    let acknowledgement = accept.acknowledgement.as_ref().map(|it| draft.keep(&it.text));
    note_checks(draft, handoff.no, accept);
    let held = take(draft, &handoff, acknowledgement, false);
    let fence = draft.run.handoff(held).map_or(0, |it| it.fence);
    if let Some(lease) = accept.lease {
        draft.emit(LeaseEvent::Granted { handoff: held, fence, seconds: lease.seconds() });
    }
    draft.done.handoff = Some(held);
    draft.done.fence = Some(fence);
    Ok(())
}

/// Records the results of the receipt checks with the handoff.
fn note_checks(draft: &mut Draft<'_>, handoff: HandoffNo, accept: &Accept) {
    let checks = accept.acknowledgement.as_ref().map_or(&[][..], |it| &it.checks);
    for Evidence { check, verdict, .. } in checks.iter().cloned() {
        let (detail, fence, ran) = (None, None, None);
        draft.emit(EvidenceEvent::Recorded { handoff, check, verdict, detail, fence, ran });
    }
}

/// The sender as the receiver may know it: of the handoff, or of the work in it where another agent
/// offered it again.
fn check_sender(draft: &Draft<'_>, handoff: &Handoff, said: &AgentId) -> Result<(), Refusal> {
    let at_source = || draft.workflow().agents_at(&handoff.forward.from).contains(said);
    if handoff.from.agent == *said || at_source() {
        return Ok(());
    }
    let sender = handoff.from.agent.clone();
    Err(Refusal::NotTheSender { handoff: handoff.no, sender, said: said.clone() })
}

/// A check that failed does not keep the receiver from starting, but it has to know.
fn tell_failed(draft: &mut Draft<'_>, accept: &Accept) {
    let checks = accept.acknowledgement.as_ref().map_or(&[][..], |it| &it.checks);
    let failed = checks.iter().filter(|it| it.verdict == Verdict::Failed);
    let problem = |it: &Evidence| {
        let message = acknowledgement::failure(&it.check);
        Problem::new(it.check.as_str(), "receipt_check", message)
    };
    draft.done.warnings.extend(failed.map(problem));
}

/// Refuses a handoff that is held back until later.
pub(super) fn check_offered(draft: &Draft<'_>, handoff: &Handoff) -> Result<(), Refusal> {
    match handoff.held_back_until {
        Some(until) if draft.ground.now < until => {
            Err(Refusal::NotYet { handoff: handoff.no, until })
        }
        Some(_) | None => Ok(()),
    }
}

/// Accepts implicitly for a receiver that handed the work on without an accept. Returns the handoff
/// that the receiver then holds.
pub(super) fn implicitly(draft: &mut Draft<'_>, handoff: &Handoff) -> HandoffNo {
    take(draft, handoff, None, true)
}

fn take(
    draft: &mut Draft<'_>,
    handoff: &Handoff,
    acknowledgement: Option<ContentId>,
    is_implicit: bool,
) -> HandoffNo {
    let caller = match handoff.kind {
        Kind::Return => draft.run.caller_of(handoff).map(|it| it.no),
        Kind::Sequential | Kind::Delegation | Kind::Escalation | Kind::Question => None,
    };
    let agent = handoff.to.agent.clone();
    let holder = approvals::holder(draft);
    draft.emit(HandoffEvent::Accepted {
        handoff: handoff.no,
        by: agent.clone(),
        is_implicit,
        acknowledgement,
        holder,
    });
    if let Some(caller) = caller {
        let outcome = handoff.brings.unwrap_or(Outcome::Success);
        draft.complete(handoff.no, outcome, None);
        draft.emit(FrameEvent::Closed { caller, outcome });
        return caller;
    }
    match &handoff.to.place {
        Place::Step(step) if handoff.kind != Kind::Question => {
            draft.emit(StepEvent::Started { step: step.clone(), agent });
            passed::go_back_to(draft, &handoff.to.place);
        }
        Place::Step(_) | Place::Orchestrator | Place::Human | Place::Delegate(_) => {}
    }
    handoff.no
}

/// The receiver's work once it has accepted `handoff`: that, or the parked handoff it returns to.
pub(super) fn work_behind(draft: &Draft<'_>, handoff: &Handoff) -> Handoff {
    if frame::is_return(draft, handoff)
        && let Some(caller) = draft.run.caller_of(handoff)
    {
        return caller.clone();
    }
    handoff.clone()
}
