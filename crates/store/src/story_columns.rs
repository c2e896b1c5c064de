//! A story as the SQL backends store it, and its link in the chain of all versions of all stories:
//! stories can be edited, and no event records that.

use baton_core::look_alike;
use baton_core::story::Story;

use crate::checksum::{ChecksumPart, digest, framed};
use crate::columns::list_text;

/// The columns of a story, as they are stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoryColumns {
    pub key: String,
    pub title: String,
    pub description: String,
    /// JSON lists of texts.
    pub acceptance: String,
    pub depends_on: String,
    pub priority: i64,
    pub branch: Option<String>,
    pub pr_url: Option<String>,
    /// In nanoseconds.
    pub created_at: i64,
}

impl StoryColumns {
    pub fn new(story: &Story, created_at: i64) -> Self {
        let depends_on: Vec<String> = story.depends_on.iter().map(|it| it.to_string()).collect();
        Self {
            key: story.key.as_str().to_owned(),
            title: story.title.clone(),
            description: story.description.clone(),
            acceptance: list_text(&story.acceptance),
            depends_on: list_text(&depends_on),
            priority: story.priority,
            branch: story.branch.clone(),
            pr_url: story.pr_url.clone(),
            created_at,
        }
    }

    /// Equal for keys that a reader takes for each other.
    pub fn outline(&self) -> String {
        look_alike::outline(&self.key)
    }

    pub fn digest(&self) -> [u8; 32] {
        digest(&[
            ChecksumPart::Text(&self.key),
            ChecksumPart::Text(&self.title),
            ChecksumPart::Text(&self.description),
            ChecksumPart::Text(&self.acceptance),
            ChecksumPart::Text(&self.depends_on),
            ChecksumPart::Integer(self.priority),
            ChecksumPart::maybe_text(self.branch.as_deref()),
            ChecksumPart::maybe_text(self.pr_url.as_deref()),
            ChecksumPart::Integer(self.created_at),
        ])
    }
}

/// The hash of a link: over the one before it, and everything that the link says.
pub fn story_link(head: &[u8; 32], key: &str, at: i64, story: &[u8; 32]) -> [u8; 32] {
    let before = [ChecksumPart::Bytes(head)];
    digest(&[&before[..], &link_parts(key, at, story)].concat())
}

/// What is hashed after the head, for a database that has it and hashes by itself.
pub fn framed_story_link(key: &str, at: i64, story: &[u8; 32]) -> Vec<u8> {
    framed(&link_parts(key, at, story))
}

fn link_parts<'a>(key: &'a str, at: i64, story: &'a [u8; 32]) -> [ChecksumPart<'a>; 3] {
    [ChecksumPart::Text(key), ChecksumPart::Integer(at), ChecksumPart::Bytes(story)]
}
