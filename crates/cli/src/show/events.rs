//! Events as sentences on a terminal.

use baton_api::HandoffSummary;
use baton_core::event::{Event, HandoffEvent, SentenceStyle};
use baton_core::names::AgentId;
use baton_core::run::{Ended, HandoffNo, HandoffState};

use super::{bold, dim, good, shortened, visible, warn};

/// How much of a quoted text fits into a line.
const MOST_WORDS: usize = 80;

/// An event with the names that it refers to.
pub(crate) struct Telling<'a> {
    pub(crate) event: &'a Event,
    /// The handoff of the event.
    pub(crate) row: Option<&'a HandoffSummary>,
    /// What a message says.
    pub(crate) message: Option<&'a str>,
    /// The display name of an agent.
    pub(crate) name: &'a dyn Fn(&AgentId) -> String,
}

impl Telling<'_> {
    /// The sentence, with the text of a message, and with the reason of a handoff that is created,
    /// or ends without success.
    pub(crate) fn words(&self) -> String {
        let reason = match (self.event, self.event.state_after()) {
            (Event::Handoff(HandoffEvent::Created(_)), _) => {
                self.row.and_then(|it| it.reason.as_deref())
            }
            (Event::Message(_), _) => self.message,
            (_, None | Some(HandoffState::Open(_) | HandoffState::Ended(Ended::Completed))) => None,
            (_, Some(HandoffState::Ended(_))) => self.row.and_then(|it| it.ended_reason.as_deref()),
        };
        self.event.sentence(self) + &reason.map(said).unwrap_or_default()
    }
}

impl SentenceStyle for Telling<'_> {
    /// By its number, where the row is known.
    fn handoff(&self, no: HandoffNo) -> String {
        self.row.map_or_else(|| no.label(), |it| format!("handoff {}", it.number))
    }

    fn agent(&self, id: &AgentId) -> String {
        bold(&(self.name)(id))
    }

    fn receiver(&self, _: HandoffNo) -> String {
        let id = self.row.and_then(|it| AgentId::parse(&it.to_agent).ok());
        id.map_or_else(|| "its holder".to_owned(), |it| self.agent(&it))
    }

    fn escaped(&self, text: &str) -> String {
        bold(&visible(text))
    }

    fn warning(&self, words: &str) -> String {
        warn(words)
    }

    fn success(&self, words: &str) -> String {
        good(words)
    }
}

fn said(words: &str) -> String {
    format!(": {}", dim(&format!("\"{}\"", shortened(words, MOST_WORDS))))
}

#[cfg(test)]
mod tests {
    use baton_core::outcome::Outcome;
    use baton_wire::event;

    use super::*;

    fn plain(event: &Event) -> String {
        let name = |id: &AgentId| id.to_string();
        let message = Some("three of five");
        let words = Telling { event, row: None, message, name: &name }.words();
        anstream::adapter::strip_str(&words).to_string()
    }

    #[test]
    fn every_event_that_was_ever_written_has_a_sentence() {
        let samples = include_str!("../../../wire/tests/events-v1.jsonl");
        let mut n_told = 0;
        for sample in samples.lines().filter(|it| !it.trim().is_empty()) {
            let event = event::decode(sample).unwrap();
            let words = plain(&event);
            assert!(words.len() > 8 && !words.contains("  is"), "{}: {words}", event.name());
            n_told += 1;
        }
        assert!(n_told > 30, "{n_told}");
    }

    #[test]
    fn a_sentence_says_who_did_what() {
        let (handoff, by) = (HandoffNo(2), AgentId::parse("reviewer").unwrap());
        let accepted = Event::Handoff(HandoffEvent::Accepted {
            handoff,
            by,
            is_implicit: false,
            acknowledgement: None,
            holder: None,
        });
        assert_eq!(plain(&accepted), "reviewer accepts HO-002");
        let package = None;
        let completed = Event::Handoff(HandoffEvent::Completed {
            handoff,
            outcome: Outcome::Success,
            package,
            answer: None,
        });
        assert_eq!(plain(&completed), "its holder completes HO-002: success");
    }
}
