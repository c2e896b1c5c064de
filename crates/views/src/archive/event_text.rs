//! Events in words: the sentence of each event of a log, with the text that belongs to it.

use baton_core::collaboration::DecisionText;
use baton_core::event::{DecisionEvent, Event, SentenceStyle};
use baton_core::run::HandoffNo;
use baton_wire::json;

use super::escaped::escaped;
use crate::history::{History, Logged};
use baton_engine::LOST_TEXT;

/// `reviewer rejects HO-002 (ada): text of others, escaped`.
pub(super) fn words(history: &History, logged: &Logged) -> String {
    let Logged { by, event, .. } = logged;
    let is_document = matches!(event, Event::Decision(DecisionEvent::Recorded { .. }));
    let said = |text: &str| match is_document {
        true => escaped(&decision_in(text)),
        false => escaped(text),
    };
    let text = event.texts().words.map(|it| history.text(it).map_or(LOST_TEXT.into(), said));
    let text = text.map(|it| format!(": {it}")).unwrap_or_default();
    format!("{} ({}){text}", event.sentence(history), escaped(by.as_str()))
}

/// A decision that was recorded on its own is stored as a document.
fn decision_in(text: &str) -> String {
    let document = json::parse(text).ok();
    let decision = document.map(|it| DecisionText::of_document(&it).decision);
    decision.filter(|it| !it.is_empty()).unwrap_or_else(|| text.to_owned())
}

impl SentenceStyle for History {
    fn receiver(&self, no: HandoffNo) -> String {
        self.handoff(no).map_or_else(|| "its holder".to_owned(), |it| it.to.agent.to_string())
    }

    fn escaped(&self, text: &str) -> String {
        escaped(text)
    }
}
