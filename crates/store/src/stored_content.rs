//! A text returned by a store, sealed until it is compared with its hash.

use baton_core::content::{Content, ContentId};

/// A text as a store returned it. It may be damaged, so only its name can be read before
/// [`StoredContent::check`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct StoredContent(Content);

/// The bytes of a stored text do not match the hash that the log names it by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the text {} is not the one that was written", .0.0)]
pub struct ChangedContent(pub ContentId);

impl StoredContent {
    pub fn new(content: Content) -> Self {
        Self(content)
    }

    pub fn id(&self) -> ContentId {
        self.0.id
    }

    /// The text, if it is unchanged since it was written. Hashes all of it.
    pub fn check(self) -> Result<Content, ChangedContent> {
        if self.0.is_intact() { Ok(self.0) } else { Err(ChangedContent(self.0.id)) }
    }
}
