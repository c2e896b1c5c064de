//! A piece of work, waiting or under way.

use crate::names::StoryKey;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Story {
    pub key: StoryKey,
    pub title: String,
    pub description: String,
    pub acceptance: Vec<String>,
    /// Stories that have to be finished before this one is ready.
    pub depends_on: Vec<StoryKey>,
    /// Higher goes first; ties go by key.
    pub priority: i64,
    pub branch: Option<String>,
    pub pr_url: Option<String>,
}

impl Story {
    /// A story of which nothing is known but its key.
    pub fn named(key: StoryKey) -> Self {
        Self {
            title: key.as_str().to_owned(),
            key,
            description: String::new(),
            acceptance: Vec::new(),
            depends_on: Vec::new(),
            priority: 0,
            branch: None,
            pr_url: None,
        }
    }
}
