//! Events in words: the sentence of each event of a log, with the text that belongs to it.

use baton_core::event::SentenceStyle;
use baton_core::run::HandoffNo;

use super::escaped::escaped;
use crate::history::{History, Logged};
use baton_engine::LOST_TEXT;

/// `reviewer rejects HO-002 (ada): text of others, escaped`.
pub(super) fn words(history: &History, logged: &Logged) -> String {
    let Logged { by, event, .. } = logged;
    let text = event.texts().words.map(|it| history.text(it).map_or(LOST_TEXT.into(), escaped));
    let text = text.map(|it| format!(": {it}")).unwrap_or_default();
    format!("{} ({}){text}", event.sentence(history), escaped(by.as_str()))
}

impl SentenceStyle for History {
    fn receiver(&self, no: HandoffNo) -> String {
        self.handoff(no).map_or_else(|| "its holder".to_owned(), |it| it.to.agent.to_string())
    }

    fn escaped(&self, text: &str) -> String {
        escaped(text)
    }
}
