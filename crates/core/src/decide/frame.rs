//! A holder delegates a part of its work, or asks a person, and waits: frames open and close.

use super::draft::Draft;
use super::offer::{Offer, offer};
use crate::content::ContentId;
use crate::event::{FrameEvent, HandoffEvent};
use crate::gate::GateKind;
use crate::outcome::Outcome;
use crate::problem::Problem;
use crate::refusal::Refusal;
use crate::run::{Handoff, HandoffNo, Kind};

/// Deeper nesting is too hard for people to follow.
const MOST_FRAMES: usize = 8;

/// Parks the holder until a person answers.
pub(super) fn open(draft: &mut Draft<'_>, caller: HandoffNo) -> Result<(), Refusal> {
    check_depth(draft)?;
    draft.emit(FrameEvent::Opened { caller, is_delegation: false });
    Ok(())
}

/// Parks the holder until its delegate returns a part, which is counted.
pub(super) fn open_counted(draft: &mut Draft<'_>, caller: HandoffNo) -> Result<(), Refusal> {
    check_depth(draft)?;
    draft.emit(FrameEvent::Opened { caller, is_delegation: true });
    Ok(())
}

fn check_depth(draft: &Draft<'_>) -> Result<(), Refusal> {
    let depth = draft.run.frames_in(draft.branch).count();
    if depth >= MOST_FRAMES { Err(Refusal::TooDeep { depth }) } else { Ok(()) }
}

/// A delegate's result, or its substitute where there is none.
pub(super) struct Brought {
    pub(super) outcome: Outcome,
    pub(super) package: Option<ContentId>,
    pub(super) reason: Option<ContentId>,
    pub(super) warnings: Vec<Problem>,
}

/// Offers the caller the delegate's result: its own handoff goes on once it accepts that.
pub(super) fn give_back(
    draft: &mut Draft<'_>,
    part: &Handoff,
    caller: &Handoff,
    brought: Brought,
) -> HandoffNo {
    let back = Offer {
        kind: Kind::Return,
        reason: brought.reason,
        forward: part.forward.clone(),
        follows: Some(part.no),
        warnings: brought.warnings,
        brings: Some(brought.outcome),
        ..Offer::new(part.to.clone(), caller.to.clone(), brought.package)
    };
    offer(draft, back)
}

/// True for a return of a delegate's work to the caller that waits for it.
pub(super) fn is_return(draft: &Draft<'_>, handoff: &Handoff) -> bool {
    handoff.kind == Kind::Return && draft.run.caller_of(handoff).is_some()
}

/// Ends everything open inside `no`: questions about it, and everything its holder waits for.
pub(super) fn clear_inside(draft: &mut Draft<'_>, no: HandoffNo, reason: Option<ContentId>) {
    let frames = draft.run.frames_in(draft.branch);
    let around: Vec<HandoffNo> =
        frames.map(|it| it.caller).take_while(|caller| *caller != no).collect();
    let is_advice =
        |it: &Handoff| it.gate.as_ref().is_some_and(|gate| gate.kind == GateKind::Advisory);
    let is_kept = |it: &Handoff| {
        it.branch != draft.branch || it.no == no || is_advice(it) || around.contains(&it.no)
    };
    let inside: Vec<HandoffNo> =
        draft.run.handoffs.iter().filter(|it| !is_kept(it)).map(|it| it.no).collect();
    // The innermost first, so that no holder is left waiting for a handoff that has ended.
    for handoff in inside.into_iter().rev() {
        draft.emit(HandoffEvent::Cancelled { handoff, reason });
    }
}
