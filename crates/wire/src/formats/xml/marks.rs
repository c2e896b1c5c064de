//! The reserved attributes: facts about an element that XML cannot express.

use super::characters::unescape;

pub(super) const PREFIX: &str = "baton-";
pub(super) const KEY: &str = "baton-key";
pub(super) const TYPE: &str = "baton-type";
pub(super) const LIST: &str = "baton-list";
pub(super) const ESCAPED: &str = "baton-escaped";
pub(super) const ROOT: &str = "baton-root";

/// The reserved attributes of one element.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct XmlMarks {
    /// The key, where it is not the element's name.
    pub(super) key: Option<String>,
    pub(super) kind: Option<XmlKind>,
    /// The element is the only item of a list.
    pub(super) is_only_item: bool,
    /// The text is escaped, since it has characters that XML may not hold.
    pub(super) is_escaped: bool,
    /// The root is the value itself, and its name is no key.
    pub(super) is_bare_value: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum XmlKind {
    Null,
    Boolean,
    Number,
    List,
    Map,
}

impl XmlKind {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "boolean",
            Self::Number => "number",
            Self::List => "list",
            Self::Map => "map",
        }
    }

    fn parse(word: &str) -> Option<Self> {
        [Self::Null, Self::Boolean, Self::Number, Self::List, Self::Map]
            .into_iter()
            .find(|it| it.word() == word)
    }
}

impl XmlMarks {
    /// Parses one reserved attribute; `None` where we never write it so.
    pub(super) fn take(&mut self, name: &str, value: &str) -> Option<()> {
        match (name, value) {
            (KEY, key) => self.key = Some(unescape(key)?),
            (TYPE, word) => self.kind = Some(XmlKind::parse(word)?),
            (LIST, "one") => self.is_only_item = true,
            (ESCAPED, "true") => self.is_escaped = true,
            (ROOT, "value") => self.is_bare_value = true,
            _ => return None,
        }
        Some(())
    }
}
