//! How a map becomes an element: which members are attributes, which text, and in which order.
//!
//! The rule: a member is written the natural way only if reading that gives the member back. Every
//! other one is an element with its key in `baton-key`.

use std::collections::{HashMap, HashSet};

use baton_core::document::Node;

use super::characters::{is_legal, is_old_name};
use super::{ORDER, TEXT, marks};

/// The contents of the element of one map.
pub(super) struct ElementPlan<'a> {
    pub(super) attributes: Vec<(&'a str, &'a str)>,
    pub(super) parts: Vec<Piece<'a>>,
}

pub(super) enum Piece<'a> {
    Text(&'a str),
    Element { key: &'a str, node: &'a Node, is_only_item: bool },
}

impl ElementPlan<'_> {
    pub(super) fn has_text(&self) -> bool {
        self.parts.iter().any(|it| matches!(it, Piece::Text(_)))
    }

    /// True where such an element would be read as text and not as a map.
    pub(super) fn looks_like_text(&self) -> bool {
        self.attributes.is_empty() && self.parts.iter().all(|it| matches!(it, Piece::Text(_)))
    }
}

pub(super) fn plan<'a>(members: &'a [(String, Node)], scope: &Scope<'_>) -> ElementPlan<'a> {
    let n_attributes = members.iter().take_while(|it| attribute(it, scope).is_some()).count();
    let (attributes, rest) = members.split_at(n_attributes);
    let attributes = attributes.iter().filter_map(|it| attribute(it, scope)).collect();
    let parts = turns(rest).unwrap_or_else(|| rest.iter().flat_map(pieces).collect());
    ElementPlan { attributes, parts }
}

/// The namespaces in scope. An undeclared prefix makes no valid name.
#[derive(Default)]
pub(super) struct Scope<'a> {
    outer: Option<&'a Scope<'a>>,
    prefixes: HashSet<&'a str>,
}

impl<'a> Scope<'a> {
    /// The scope inside an element of this value.
    pub(super) fn within(&'a self, node: &'a Node) -> Self {
        let mut scope = Self { outer: Some(self), prefixes: HashSet::new() };
        if let Node::Map(members) = node {
            let declared = |(key, node): &'a (String, Node)| {
                let prefix = key.strip_prefix("@xmlns:")?;
                is_namespace(prefix, node.as_text()?).then_some(prefix)
            };
            let is_attribute =
                |it: &&(String, Node)| it.0.strip_prefix('@').is_some_and(is_old_name);
            scope.prefixes.extend(members.iter().take_while(is_attribute).filter_map(declared));
        }
        scope
    }

    pub(super) fn is_element_name(&self, key: &str) -> bool {
        is_old_name(key) && self.is_declared(key)
    }

    fn is_declared(&self, name: &str) -> bool {
        match name.split_once(':') {
            None => name != "xmlns",
            Some(("xml", _)) => true,
            Some((prefix, _)) => {
                let mut scopes = std::iter::successors(Some(self), |it| it.outer);
                scopes.any(|it| it.prefixes.contains(prefix))
            }
        }
    }
}

fn is_namespace(prefix: &str, uri: &str) -> bool {
    let is_reserved = prefix == "xml" || prefix == "xmlns";
    is_old_name(prefix) && !prefix.contains(':') && !is_reserved && !uri.is_empty() && is_uri(uri)
}

/// Valid for every reader, and not one of the two reserved namespaces.
fn is_uri(uri: &str) -> bool {
    const RESERVED: [&str; 2] =
        ["http://www.w3.org/XML/1998/namespace", "http://www.w3.org/2000/xmlns/"];
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "-._~:/?#@!$&'()*+,;=".contains(it);
    uri.chars().all(is_plain) && !RESERVED.contains(&uri)
}

fn attribute<'a>((key, node): &'a (String, Node), scope: &Scope<'_>) -> Option<(&'a str, &'a str)> {
    let name =
        key.strip_prefix('@').filter(|it| is_old_name(it) && !it.starts_with(marks::PREFIX))?;
    let value = node.as_text().filter(|it| it.chars().all(is_legal))?;
    let is_good = match name.split_once(':') {
        None if name == "xmlns" => is_uri(value),
        Some(("xmlns", prefix)) => is_namespace(prefix, value),
        _ => scope.is_declared(name),
    };
    is_good.then_some((name, value))
}

/// The elements of one member where no order is given.
fn pieces((key, node): &(String, Node)) -> Vec<Piece<'_>> {
    match node.as_text() {
        Some(text) if key == TEXT && is_chunk(text) => vec![Piece::Text(text)],
        Some(_) | None => elements(key, node),
    }
}

/// A list is repeated elements, unless one of its items is a list itself.
fn elements<'a>(key: &'a str, node: &'a Node) -> Vec<Piece<'a>> {
    let is_flat = |it: &&[Node]| !it.is_empty() && it.iter().all(|it| it.as_list().is_none());
    let Some(items) = node.as_list().filter(is_flat) else {
        return vec![Piece::Element { key, node, is_only_item: false }];
    };
    let is_only_item = items.len() == 1;
    items.iter().map(|node| Piece::Element { key, node, is_only_item }).collect()
}

/// A text that can be written between elements unchanged.
fn is_chunk(text: &str) -> bool {
    !text.is_empty() && text.chars().all(is_legal)
}

/// The pieces in the order of `#order`, if it is what the reader would produce: every piece once,
/// each key first where its member is, and some key apart from its own.
fn turns(members: &[(String, Node)]) -> Option<Vec<Piece<'_>>> {
    let ((last, order), members) = members.split_last()?;
    let order = order.as_list().filter(|_| last == ORDER)?;
    let places: HashMap<&str, usize> =
        members.iter().enumerate().map(|(place, it)| (it.0.as_str(), place)).collect();
    let mut waiting: Vec<_> = members.iter().map(|it| pieces_in_turn(it).into_iter()).collect();
    let mut parts: Vec<Piece<'_>> = Vec::with_capacity(order.len());
    let mut n_begun = 0;
    let mut before = None;
    let mut has_turns = false;
    for key in order {
        let place = *places.get(key.as_text()?)?;
        if place == n_begun {
            n_begun += 1;
        } else if place > n_begun {
            return None;
        } else {
            has_turns |= before != Some(place);
        }
        let piece = waiting[place].next()?;
        // Two adjacent texts would be read as one.
        if matches!((&piece, parts.last()), (Piece::Text(_), Some(Piece::Text(_)))) {
            return None;
        }
        parts.push(piece);
        before = Some(place);
    }
    let is_complete = waiting.iter().all(|it| it.as_slice().is_empty());
    (has_turns && is_complete).then_some(parts)
}

/// As [`pieces`], but text may come in several chunks too.
fn pieces_in_turn(member: &(String, Node)) -> Vec<Piece<'_>> {
    let (key, node) = member;
    let chunks: Option<Vec<Piece<'_>>> =
        node.as_list().filter(|it| key == TEXT && it.len() > 1).and_then(|it| {
            it.iter().map(|it| it.as_text().filter(|it| is_chunk(it)).map(Piece::Text)).collect()
        });
    chunks.unwrap_or_else(|| pieces(member))
}
