//! A tree with the position of each value, so that a problem can name the line. Files are read into
//! it from YAML and TOML; the meaning of their keys is elsewhere.

use baton_core::document::{Node, Number};

use crate::position::TextPosition;

pub(crate) mod toml;
pub mod yaml;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    pub at: TextPosition,
    pub value: LocatedValue,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LocatedValue {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Located>),
    /// In the order of the file.
    Map(Vec<Member>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    pub key: String,
    pub key_at: TextPosition,
    pub value: Located,
}

impl Located {
    pub fn member(&self, key: &str) -> Option<&Member> {
        let LocatedValue::Map(members) = &self.value else { return None };
        members.iter().find(|it| it.key == key)
    }

    /// A scalar as it was written; nothing for null, a list or a map.
    pub fn scalar_text(&self) -> Option<&str> {
        match &self.value {
            LocatedValue::Null | LocatedValue::List(_) | LocatedValue::Map(_) => None,
            LocatedValue::Bool(true) => Some("true"),
            LocatedValue::Bool(false) => Some("false"),
            LocatedValue::Number(number) => Some(number.as_str()),
            LocatedValue::Text(text) => Some(text),
        }
    }

    /// The same tree without its places.
    pub fn to_node(&self) -> Node {
        self.clone().into_node()
    }

    /// As [`Self::to_node`], without copying. No deeper than its reader allowed, so recursion is
    /// safe.
    pub(crate) fn into_node(self) -> Node {
        match self.value {
            LocatedValue::Null => Node::Null,
            LocatedValue::Bool(it) => Node::Bool(it),
            LocatedValue::Number(it) => Node::Number(it),
            LocatedValue::Text(it) => Node::Text(it),
            LocatedValue::List(items) => {
                Node::List(items.into_iter().map(Self::into_node).collect())
            }
            LocatedValue::Map(members) => {
                let pairs = members.into_iter().map(|it| (it.key, it.value.into_node()));
                Node::Map(pairs.collect())
            }
        }
    }

    /// The kind of the value, for a sentence such as "is a list, not text".
    pub(crate) fn kind(&self) -> &'static str {
        match &self.value {
            LocatedValue::Null => "empty",
            LocatedValue::Bool(_) => "true or false",
            LocatedValue::Number(_) => "a number",
            LocatedValue::Text(_) => "text",
            LocatedValue::List(_) => "a list",
            LocatedValue::Map(_) => "a map",
        }
    }

    /// The position of a path such as `steps.review.on.success[1].to`, or of its longest existing
    /// prefix.
    pub(crate) fn place_of(&self, path: &str) -> TextPosition {
        let mut node = self;
        let mut place = self.at;
        for part in path.split('.') {
            let (key, index) = match part.strip_suffix(']').and_then(|it| it.split_once('[')) {
                Some((key, index)) => (key, index.parse::<usize>().ok()),
                None => (part, None),
            };
            let Some(member) = node.the_one().member(key) else { return place };
            node = &member.value;
            // The value is what has to change; of a list or map it is the whole of it.
            place = if node.scalar_text().is_some() { node.at } else { member.key_at };
            if let Some(item) = index.and_then(|it| node.nested_items().get(it)) {
                node = item;
                place = item.at;
            }
        }
        place
    }

    /// Where a list or one value is allowed, a list of one equals that value.
    fn the_one(&self) -> &Self {
        match self.items() {
            [only] => only,
            _ => self,
        }
    }

    /// The items of a list; in XML they are in an element of their own.
    fn nested_items(&self) -> &[Self] {
        match &self.value {
            LocatedValue::Map(members) => match members.as_slice() {
                [only] if only.value.items().is_empty() => std::slice::from_ref(&only.value),
                [only] => only.value.items(),
                [] | [_, _, ..] => &[],
            },
            LocatedValue::List(items) => items,
            LocatedValue::Null
            | LocatedValue::Bool(_)
            | LocatedValue::Number(_)
            | LocatedValue::Text(_) => &[],
        }
    }

    fn items(&self) -> &[Self] {
        if let LocatedValue::List(items) = &self.value { items } else { &[] }
    }
}
