//! Numbers that count the items of a list. The list may leave some out, so the number is never less.

use crate::contract::{Body, Counted, items};
use crate::document::Node;

/// The items that a number counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ItemCount {
    /// The path of the list.
    pub(super) list: String,
    /// Only items whose member has this value.
    pub(super) only: Option<(String, String)>,
}

impl ItemCount {
    pub(super) fn of_rule(list: &str, counted: &Counted) -> Self {
        Self { list: list.to_owned(), only: counted.only.clone() }
    }

    pub(super) fn words(&self) -> String {
        match &self.only {
            Some((key, word)) => {
                format!("the items of `{}` whose `{key}` is `{word}`", self.list)
            }
            None => format!("the items of `{}`", self.list),
        }
    }

    pub(super) fn n_in(&self, body: &Body<'_>) -> usize {
        self.counted(body).len()
    }

    /// The indexes of the counted items.
    pub(super) fn counted(&self, body: &Body<'_>) -> Vec<usize> {
        let items = body.at(&self.list).and_then(items).unwrap_or_default();
        let counted = items.iter().enumerate().filter(|(_, it)| self.has(it));
        counted.map(|(index, _)| index).collect()
    }

    fn has(&self, item: &Node) -> bool {
        self.only.as_ref().is_none_or(|(key, word)| {
            let attribute = || item.member(&format!("@{key}"));
            let value = item.member(key).or_else(attribute).and_then(Node::scalar_text);
            value == Some(word.as_str())
        })
    }
}
