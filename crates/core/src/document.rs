//! A document as its sender wrote it: order, number text and unknown fields are kept.
//!
//! Every format is parsed into this one tree and printed from it; `baton-wire` does both.
//! Contracts, paths and the typed view are built on it.

use std::fmt;

pub mod data_element;
pub mod foreign;
pub mod kind;
pub mod request;

/// One value of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Node>),
    /// In the order of the document. Keys are unique: decoders refuse duplicates.
    Map(Vec<(String, Node)>),
}

/// A number with the digits it was written with: `1.0` stays `1.0`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Number(String);

impl Number {
    /// Takes text in JSON's number grammar; anything else is `None`.
    pub fn parse(text: &str) -> Option<Self> {
        is_number(text.as_bytes()).then(|| Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<i64> for Number {
    fn from(value: i64) -> Self {
        Self(value.to_string())
    }
}

impl Node {
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A count. A value too large for an `i64` becomes `i64::MAX`.
    pub fn count(n: u64) -> Self {
        Self::Number(Number::from(i64::try_from(n).unwrap_or(i64::MAX)))
    }

    pub fn map(members: impl IntoIterator<Item = (&'static str, Node)>) -> Self {
        Self::Map(members.into_iter().map(|(key, node)| (key.to_owned(), node)).collect())
    }

    /// The member `key` of a map.
    pub fn member(&self, key: &str) -> Option<&Node> {
        match self {
            Node::Map(members) => members.iter().find(|(it, _)| it == key).map(|(_, node)| node),
            Node::Null | Node::Bool(_) | Node::Number(_) | Node::Text(_) | Node::List(_) => None,
        }
    }

    /// The value at a dotted path such as `context.summary`.
    pub fn at(&self, path: &str) -> Option<&Node> {
        // Paths are short: to begin a search for a character takes longer than to look at each.
        match path.bytes().position(|it| it == b'.') {
            Some(dot) => self.member(&path[..dot])?.at(&path[dot + 1..]),
            None => self.member(path),
        }
    }

    pub fn as_text(&self) -> Option<&str> {
        match self {
            Node::Text(text) => Some(text),
            Node::Null | Node::Bool(_) | Node::Number(_) | Node::List(_) | Node::Map(_) => None,
        }
    }

    pub fn as_list(&self) -> Option<&[Node]> {
        match self {
            Node::List(nodes) => Some(nodes),
            Node::Null | Node::Bool(_) | Node::Number(_) | Node::Text(_) | Node::Map(_) => None,
        }
    }

    /// True for an empty value: null, blank text, an empty list or map.
    pub fn is_blank(&self) -> bool {
        match self {
            Node::Null => true,
            Node::Bool(_) | Node::Number(_) => false,
            Node::Text(text) => text.trim().is_empty(),
            Node::List(nodes) => nodes.is_empty(),
            Node::Map(members) => members.is_empty(),
        }
    }

    /// A scalar as the text a person would write. Formats without types (XML) carry only this.
    pub fn scalar_text(&self) -> Option<&str> {
        match self {
            Node::Null | Node::List(_) | Node::Map(_) => None,
            Node::Bool(true) => Some("true"),
            Node::Bool(false) => Some("false"),
            Node::Number(number) => Some(number.as_str()),
            Node::Text(text) => Some(text),
        }
    }

    pub fn kind(&self) -> NodeKind {
        match self {
            Node::Null => NodeKind::Null,
            Node::Bool(_) => NodeKind::Bool,
            Node::Number(_) => NodeKind::Number,
            Node::Text(_) => NodeKind::Text,
            Node::List(_) => NodeKind::List,
            Node::Map(_) => NodeKind::Map,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeKind {
    Null,
    Bool,
    Number,
    Text,
    List,
    Map,
}

impl fmt::Display for NodeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NodeKind::Null => "null",
            NodeKind::Bool => "true or false",
            NodeKind::Number => "a number",
            NodeKind::Text => "text",
            NodeKind::List => "a list",
            NodeKind::Map => "a map",
        })
    }
}

/// JSON's grammar: `-? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?`.
fn is_number(text: &[u8]) -> bool {
    let digits = |from: usize| text[from..].iter().take_while(|it| it.is_ascii_digit()).count();
    let mut at = usize::from(text.first() == Some(&b'-'));
    let n_whole = digits(at);
    if n_whole == 0 || (n_whole > 1 && text[at] == b'0') {
        return false;
    }
    at += n_whole;
    if text.get(at) == Some(&b'.') {
        let n_fraction = digits(at + 1);
        if n_fraction == 0 {
            return false;
        }
        at += 1 + n_fraction;
    }
    if matches!(text.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(text.get(at + 1), Some(b'+' | b'-')));
        let n_exponent = digits(at + 1 + sign);
        if n_exponent == 0 {
            return false;
        }
        at += 1 + sign + n_exponent;
    }
    at == text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_follow_the_grammar_of_json() {
        for good in ["0", "-0", "10", "1.50", "1e9", "1E+09", "-1.0e-7", "123456789012345678901"] {
            assert_eq!(Number::parse(good).map(|it| it.0), Some(good.to_owned()));
        }
        for bad in ["", "-", "01", "1.", ".5", "1e", "1e+", "+1", "NaN", "1 ", "0x1", "1_0"] {
            assert_eq!(Number::parse(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn a_path_walks_maps() {
        let document = Node::map([("a", Node::map([("b", Node::text("c"))]))]);
        assert_eq!(document.at("a.b"), Some(&Node::text("c")));
        assert_eq!(document.at("a.x"), None);
        assert_eq!(document.at("a.b.c"), None);
    }
}
