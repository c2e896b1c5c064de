//! Taking texts out of the store. It moves nothing: the run is where it was.

use super::{Decision, DecisionContext, Effects};
use crate::content::{Content, ContentId, ContentKind};
use crate::event::{ContentEvent, Event, evolve};
use crate::names::FreeText;
use crate::run::Run;

/// One event for each text, all with the same reason. Which texts there are, the store knows.
pub fn redact(
    run: &Run,
    texts: &[ContentId],
    reason: &FreeText,
    ground: DecisionContext<'_>,
) -> Decision {
    let mut decision = Decision {
        run: run.clone(),
        events: Vec::new(),
        contents: Vec::new(),
        done: Effects::default(),
    };
    if texts.is_empty() {
        return decision;
    }
    let kept = Content::new(ground.fresh.nonce(), ContentKind::Words, reason.as_str());
    for text in texts {
        let event = Event::from(ContentEvent::Redacted { text: *text, reason: kept.id });
        evolve(&mut decision.run, &event, ground.now);
        decision.events.push(event);
    }
    decision.contents.push(kept);
    decision
}
