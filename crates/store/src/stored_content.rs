//! A text returned by a store, sealed until it is compared with its hash.

use baton_core::content::{Content, ContentId};

/// A text as a store returned it. It may be damaged, so only its name can be read before
/// [`StoredContent::check`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct StoredContent {
    content: Content,
    owner: TextOwner,
}

/// Whose a stored text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextOwner {
    Run,
    /// It is stored once for every run that names it.
    AllRuns,
}

/// The bytes of a stored text do not match the hash that the log names it by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the text {} is not the one that was written", .0.0)]
pub struct ChangedContent(pub ContentId);

impl StoredContent {
    pub fn new(content: Content, owner: TextOwner) -> Self {
        Self { content, owner }
    }

    pub fn id(&self) -> ContentId {
        self.content.id
    }

    pub fn owner(&self) -> TextOwner {
        self.owner
    }

    /// The text, if it is unchanged since it was written. Hashes all of it.
    pub fn check(self) -> Result<Content, ChangedContent> {
        let Self { content, .. } = self;
        if content.is_intact() { Ok(content) } else { Err(ChangedContent(content.id)) }
    }
}
