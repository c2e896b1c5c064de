//! Free text, stored beside the log and not in it.
//!
//! An event names text by a hash over a nonce and the bytes. Redaction drops both, and the
//! chain of events still verifies; without the nonce a short text could be guessed from its hash.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::hash::Hash;
use crate::package::Format;

/// Names one text of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ContentId(pub Hash);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    pub id: ContentId,
    pub nonce: [u8; 16],
    pub kind: ContentKind,
    pub text: Arc<str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContentKind {
    /// A package, with the hash that is its identity.
    Package { format: Format, hash: Hash },
    /// Free text: a reason, a comment, a question.
    Words,
}

/// Of a text that is no secret: equal texts have equal ids, in every run.
const SHARED_NONCE: [u8; 16] = [0; 16];

impl Content {
    /// A text that comes from the file of an agent or a workflow, or is Baton's own: a store keeps
    /// it once for all runs.
    pub fn shared(text: impl Into<Arc<str>>) -> Self {
        Self::new(SHARED_NONCE, ContentKind::Words, text)
    }

    pub fn is_shared(&self) -> bool {
        self.nonce == SHARED_NONCE && self.kind == ContentKind::Words
    }

    pub fn new(nonce: [u8; 16], kind: ContentKind, text: impl Into<Arc<str>>) -> Self {
        let text = text.into();
        let id = content_id(&nonce, &text);
        Self { id, nonce, kind, text }
    }

    /// False where the text does not match the hash in the log.
    pub fn is_intact(&self) -> bool {
        content_id(&self.nonce, &self.text) == self.id
    }
}

fn content_id(nonce: &[u8; 16], text: &str) -> ContentId {
    let mut digest = Sha256::new();
    digest.update(nonce);
    digest.update(text);
    ContentId(Hash(digest.finalize().into()))
}
