//! Taking texts out of the store. It moves nothing: the run is where it was.

use jiff::SignedDuration;

use super::{Decision, DecisionContext, Effects, person};
use crate::content::{Content, ContentId, ContentKind};
use crate::event::{ContentEvent, Event, evolve};
use crate::names::FreeText;
use crate::refusal::Refusal;
use crate::run::Run;

/// One event for each text, all with the same reason, by a person. Which texts there are, the store
/// knows.
pub fn redact(
    run: &Run,
    texts: &[ContentId],
    reason: &FreeText,
    ground: DecisionContext<'_>,
) -> Result<Decision, Refusal> {
    if let Some(by) = ground.caller {
        person::check(run, ground, by)?;
    }
    let mut decision = unchanged(run);
    if texts.is_empty() {
        return Ok(decision);
    }
    // The fingerprints of decisions tell nothing any more without their salt. What is decided again
    // later gets a new one.
    let salt = run.decision_salt.filter(|it| !texts.contains(it));
    decision.dropped = texts.iter().copied().chain(salt).collect();
    let kept = Content::new(ground.fresh.nonce(), ContentKind::Words, reason.as_str());
    for text in &decision.dropped {
        let (text, reason, is_salt) = (*text, kept.id, salt == Some(*text));
        let event = Event::from(ContentEvent::Redacted { text, reason, is_salt });
        evolve(&mut decision.run, &event, ground.now);
        decision.events.push(event);
    }
    decision.contents.push(kept);
    Ok(decision)
}

/// Messages of a finished run that were kept for long enough.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpiredMessages {
    /// The last event of the run whose message is dropped, and all before it.
    pub up_to: u64,
    pub texts: Vec<ContentId>,
    pub kept: SignedDuration,
}

/// One event for all of them. Nothing happens to an open run: its agents may still need what was said.
pub fn expire(run: &Run, messages: &ExpiredMessages, ground: DecisionContext<'_>) -> Decision {
    let mut decision = unchanged(run);
    if !run.is_finished() || messages.texts.is_empty() {
        return decision;
    }
    let event = Event::from(ContentEvent::Expired {
        up_to: messages.up_to,
        n_texts: messages.texts.len() as u64,
        kept_seconds: messages.kept.as_secs().unsigned_abs(),
    });
    evolve(&mut decision.run, &event, ground.now);
    decision.events.push(event);
    decision.dropped.clone_from(&messages.texts);
    decision
}

fn unchanged(run: &Run) -> Decision {
    Decision {
        run: run.clone(),
        events: Vec::new(),
        contents: Vec::new(),
        dropped: Vec::new(),
        done: Effects::default(),
    }
}
