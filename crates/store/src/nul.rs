//! Text that no backend accepts: PostgreSQL cannot store U+0000, and all stores accept the same.

use baton_core::story::Story;

use crate::{Append, IdempotencyRecord, StoreError};

/// Refuses the character U+0000 in any of `texts`.
pub fn refuse_nul<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<(), StoreError> {
    if texts.into_iter().any(|it| it.contains('\0')) {
        return Err(StoreError::Nul);
    }
    Ok(())
}

/// Every free text of a story. Keys are validated names and cannot hold U+0000.
pub fn story_texts(story: &Story) -> impl Iterator<Item = &str> {
    [story.title.as_str(), story.description.as_str()]
        .into_iter()
        .chain(story.acceptance.iter().map(String::as_str))
        .chain(story.branch.as_deref())
        .chain(story.pr_url.as_deref())
}

impl Append {
    /// Every free text that it would store.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.events
            .iter()
            .map(|it| &it.body)
            .chain(self.opened.iter().flat_map(|it| &it.warnings))
            .chain(self.definition.iter().map(|it| &it.text))
            .chain(&self.outbox)
            .map(String::as_str)
            .chain(self.answered.iter().flat_map(IdempotencyRecord::texts))
            .chain(self.contents.iter().map(|it| it.text.as_ref()))
            .chain(self.story.iter().flat_map(story_texts))
    }
}

impl IdempotencyRecord {
    /// Every free text that it has.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        [self.scope.as_str(), &self.key, &self.answer].into_iter()
    }
}
