//! A story whose key a reader could take for another's is not made without a word about it.

use baton_core::names::StoryKey;
use baton_core::problem::Problem;

use crate::{Engine, EngineError};

/// The keys that a new one could be taken for.
pub struct LookAlikes {
    key: Option<StoryKey>,
    others: Vec<StoryKey>,
}

impl Engine {
    /// The stories that one of this key could be taken for.
    pub async fn look_alikes(&self, key: &StoryKey) -> Result<LookAlikes, EngineError> {
        Ok(LookAlikes { key: Some(key.clone()), others: self.store.look_alikes(key).await? })
    }
}

impl LookAlikes {
    /// Of a story that is not new.
    pub(crate) fn none() -> Self {
        Self { key: None, others: Vec::new() }
    }

    pub(crate) fn problem(&self) -> Option<Problem> {
        self.warning().map(|it| Problem::new("story", "look_alike", it))
    }

    /// What to tell whoever makes the story; nothing, where no other looks like it.
    pub fn warning(&self) -> Option<String> {
        let key = self.key.as_ref().filter(|_| !self.others.is_empty())?;
        let others: Vec<String> = self.others.iter().map(told_apart).collect();
        Some(format!("{} is a new story, and looks like {}", told_apart(key), others.join(", ")))
    }
}

/// A key with the letters in it that are not ASCII named besides, so that two can be told apart.
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
