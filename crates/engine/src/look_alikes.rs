//! Warns when a new story's key could be mistaken for an existing one.

use baton_core::names::StoryKey;
use baton_core::problem::Problem;

use crate::{Engine, EngineError};

/// Existing keys that a new key could be mistaken for.
pub struct LookAlikes {
    key: Option<StoryKey>,
    others: Vec<StoryKey>,
}

impl Engine {
    /// The stories that a story with this key could be mistaken for.
    pub(crate) async fn look_alikes(&self, key: &StoryKey) -> Result<LookAlikes, EngineError> {
        Ok(LookAlikes { key: Some(key.clone()), others: self.store.look_alikes(key).await? })
    }
}

impl LookAlikes {
    /// For a story that is not new.
    pub(crate) fn none() -> Self {
        Self { key: None, others: Vec::new() }
    }

    /// Whether the story is new.
    pub(crate) fn is_of_new(&self) -> bool {
        self.key.is_some()
    }

    pub(crate) fn problem(&self) -> Option<Problem> {
        self.warning().map(|it| Problem::new("story", "look_alike", it))
    }

    /// The warning for the caller that creates the story; none where no other key looks like it.
    pub fn warning(&self) -> Option<String> {
        let key = self.key.as_ref().filter(|_| !self.others.is_empty())?;
        let others: Vec<String> = self.others.iter().map(told_apart).collect();
        Some(format!("{} is a new story, and looks like {}", told_apart(key), others.join(", ")))
    }
}

/// A key with its non-ASCII letters spelled out, so that look-alike keys can be distinguished.
fn told_apart(key: &StoryKey) -> String {
    let key = key.as_str();
    if key.is_ascii() {
        return format!("`{key}`");
    }
    let mut spelled = String::new();
    for it in key.chars() {
        match it {
            it if it.is_ascii() => spelled.push(it),
            it => spelled.push_str(&format!("U+{:04X}", it as u32)),
        }
    }
    format!("`{key}` ({spelled})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_tells_apart_what_looks_alike() {
        let key = |key: &str| StoryKey::parse(key).unwrap();
        let alike = |new: &str, others: &[&str]| LookAlikes {
            key: Some(key(new)),
            others: others.iter().map(|it| key(it)).collect(),
        };
        assert_eq!(alike("s1", &[]).warning(), None);
        assert_eq!(LookAlikes::none().warning(), None);
        let expected = "`lοgin` (lU+03BFgin) is a new story, and looks like `login`, `1ogin`";
        assert_eq!(alike("lοgin", &["login", "1ogin"]).warning().unwrap(), expected);
    }
}
