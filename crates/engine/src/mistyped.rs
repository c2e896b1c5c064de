//! A story that a document names by a slip: it is refused instead of made.

use baton_core::names::{AgentId, StoryKey};
use baton_core::run::Baton;
use baton_wire::suggest::is_slip;

use crate::{DocumentHints, Engine, EngineError};

/// How many slips there may be between a key and that of the work which the sender holds.
const MOST_SLIPS: usize = 2;

impl Engine {
    /// A document may bring a new story with it. Where its key is nearly that of a story whose work is
    /// with the sender at this moment, or differs from an open one's in its letters only a little, it
    /// was mistyped: the work would be left behind.
    pub(crate) async fn refuse_slip(
        &self,
        key: &StoryKey,
        sender: Option<&AgentId>,
        hints: &DocumentHints,
    ) -> Result<(), EngineError> {
        if hints.new_story || self.store.story(key).await?.is_some() {
            return Ok(());
        }
        let held = match sender {
            Some(sender) => self.runs_with(sender).await?,
            None => Vec::new(),
        };
        let held = held
            .into_iter()
            .filter(|it| it.run.branches.iter().any(|it| matches!(it.baton, Baton::Held { .. })));
        let mut held = held.map(|it| it.run.story);
        // Of short keys nearly all are near to each other.
        let most = MOST_SLIPS.min(key.as_str().len() / 3);
        let meant = match held.find(|it| is_slip(key.as_str(), it.as_str(), most)) {
            Some(held) => Some(held),
            None => {
                self.near_story(key).await?.filter(|it| is_letter_off(it.as_str(), key.as_str()))
            }
        };
        match meant {
            // Another document has brought it in the meantime.
            Some(_) if self.store.story(key).await?.is_some() => Ok(()),
            Some(meant) => Err(EngineError::MistypedStory { key: key.clone(), meant }),
            None => Ok(()),
        }
    }
}

/// Whether two keys differ in one letter: `shop-12` and `shop-13` are two stories, `shop-12` and
/// `shpo-12` hardly are.
fn is_letter_off(one: &str, other: &str) -> bool {
    let digits = |it: &str| it.chars().filter(char::is_ascii_digit).collect::<String>();
    one.len() >= 4 && digits(one) == digits(other) && is_slip(one, other, 1)
}
