//! A run as self-proving lines of JSON: the archive keeps it beside the pages for people, so that a
//! run can be rebuilt from it where the database is gone.
//!
//! A reader trusts nothing in it: events are proven by their hash chain and texts by their hashes;
//! everything else is unproven.

use baton_core::content::{Content, ContentId, ContentKind};
use baton_core::hash::Hash;
use baton_core::names::StoryKey;
use baton_core::package::Format;
use baton_core::story::Story;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The format version.
pub const RUN_LOG_VERSION: u32 = 1;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum RunLogLine {
    /// The first line: which run it is, and how far it had come.
    Run {
        v: u32,
        project: Uuid,
        id: Uuid,
        number: u64,
        version: u64,
        head: Hash,
    },
    /// As of the run's last move.
    Story(StoryLine),
    Handoff {
        no: u32,
        id: Uuid,
        number: u64,
    },
    Event {
        position: u64,
        version: u64,
        /// Nanoseconds since 1970.
        at: i64,
        by: String,
        hash: Hash,
        /// Verbatim: the hash covers it.
        body: String,
    },
    Text(TextLine),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoryLine {
    key: String,
    title: String,
    description: String,
    acceptance: Vec<String>,
    depends_on: Vec<String>,
    priority: i64,
    branch: Option<String>,
    pr_url: Option<String>,
    /// Nanoseconds since 1970.
    pub created_at: i64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TextLine {
    id: Hash,
    nonce: Uuid,
    /// For packages only, like the hash.
    format: Option<String>,
    hash: Option<Hash>,
    text: String,
}

impl RunLogLine {
    /// One line, with its line break.
    pub fn encode(&self) -> String {
        match serde_json::to_string(self) {
            Ok(line) => line + "\n",
            Err(error) => unreachable!("our own lines always encode: {error}"),
        }
    }

    /// `None` where it is not a line that Baton writes.
    pub fn decode(line: &str) -> Option<Self> {
        serde_json::from_str(line).ok()
    }
}

impl StoryLine {
    pub fn of(story: &Story, created_at: i64) -> Self {
        Self {
            key: story.key.to_string(),
            title: story.title.clone(),
            description: story.description.clone(),
            acceptance: story.acceptance.clone(),
            depends_on: story.depends_on.iter().map(|it| it.to_string()).collect(),
            priority: story.priority,
            branch: story.branch.clone(),
            pr_url: story.pr_url.clone(),
            created_at,
        }
    }

    /// `None` where it contains an invalid key.
    pub fn into_story(self) -> Option<Story> {
        let depends_on = self.depends_on.iter().map(|it| StoryKey::parse(it).ok());
        Some(Story {
            depends_on: depends_on.collect::<Option<_>>()?,
            key: StoryKey::parse(&self.key).ok()?,
            title: self.title,
            description: self.description,
            acceptance: self.acceptance,
            priority: self.priority,
            branch: self.branch,
            pr_url: self.pr_url,
        })
    }
}

impl TextLine {
    pub fn of(content: &Content) -> Self {
        let (format, hash) = match content.kind {
            ContentKind::Package { format, hash } => (Some(format.name().to_owned()), Some(hash)),
            ContentKind::Words => (None, None),
        };
        let nonce = Uuid::from_bytes(content.nonce);
        Self { id: content.id.0, nonce, format, hash, text: content.text.to_string() }
    }

    /// `None` where the text does not match its hash.
    pub fn into_content(self) -> Option<Content> {
        let kind = match (self.format, self.hash) {
            (Some(format), Some(hash)) => {
                ContentKind::Package { format: Format::parse(&format)?, hash }
            }
            (None, None) => ContentKind::Words,
            (Some(_), None) | (None, Some(_)) => return None,
        };
        let (id, nonce) = (ContentId(self.id), *self.nonce.as_bytes());
        Some(Content { id, nonce, kind, text: self.text.into() }).filter(Content::is_intact)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_only_taken_where_its_name_proves_it() {
        let content = Content::new([7; 16], ContentKind::Words, "a \"quoted\"\nword \u{202e}");
        let line = RunLogLine::Text(TextLine::of(&content));
        let encoded = line.encode();
        assert_eq!(encoded.matches('\n').count(), 1, "one line: {encoded}");
        let Some(RunLogLine::Text(read)) = RunLogLine::decode(&encoded) else {
            panic!("{encoded}")
        };
        assert_eq!(read.into_content(), Some(content));
        let changed = encoded.replace("quoted", "altered");
        let Some(RunLogLine::Text(read)) = RunLogLine::decode(&changed) else {
            panic!("{changed}")
        };
        assert_eq!(read.into_content(), None);
    }

    #[test]
    fn a_story_comes_back_as_it_was() {
        let mut story = Story::named(StoryKey::parse("owner/repo#1").unwrap());
        story.depends_on = vec![StoryKey::parse("other").unwrap()];
        let line = RunLogLine::Story(StoryLine::of(&story, 5)).encode();
        let Some(RunLogLine::Story(read)) = RunLogLine::decode(&line) else { panic!("{line}") };
        assert_eq!((read.created_at, read.into_story()), (5, Some(story)));
    }

    #[test]
    fn what_is_no_line_is_none() {
        for line in ["", "{}", "[]", r#"{"line":"run"}"#, r#"{"line":"event","position":-1}"#] {
            assert_eq!(RunLogLine::decode(line), None, "{line}");
        }
    }
}
