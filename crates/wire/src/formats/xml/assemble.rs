//! From the contents of an element to its value.

use std::collections::{HashMap, HashSet};

use baton_core::document::{Node, Number};

use super::characters::{is_blank, unescape};
use super::marks::{XmlKind, XmlMarks};
use super::{ORDER, TEXT};
use crate::formats::FormatFault;
use crate::shown::shown;

/// The contents of one element, in order.
#[derive(Default)]
pub(super) struct ElementContent {
    /// With the `@` of their keys.
    attributes: Vec<(String, Node)>,
    parts: Vec<ElementPart>,
    /// The text since the last element, and whether it is more than white space between two.
    text: String,
    is_significant: bool,
}

/// How a piece of text was written.
#[derive(Clone, Copy)]
pub(super) enum Written {
    /// Literally; then white space alone is only the space between elements.
    Plainly,
    /// In a CDATA section or as a reference, which is always intentional.
    Expressly,
}

impl Written {
    pub(super) fn is_significant(self, text: &str) -> bool {
        match self {
            Self::Plainly => !text.chars().all(is_blank),
            Self::Expressly => !text.is_empty(),
        }
    }
}

/// A child element, or the text between two.
pub(super) struct ElementPart {
    pub(super) key: String,
    pub(super) value: AssembledValue,
    pub(super) role: Role,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Text,
    Element,
    /// The only element of a list.
    OnlyItem,
}

/// A value, and its nesting depth.
pub(super) struct AssembledValue {
    pub(super) node: Node,
    pub(super) depth: usize,
}

impl AssembledValue {
    fn scalar(node: Node) -> Self {
        Self { node, depth: 0 }
    }
}

impl ElementContent {
    pub(super) fn new(attributes: Vec<(String, Node)>) -> Self {
        Self { attributes, ..Self::default() }
    }

    pub(super) fn add_text(&mut self, text: &str, written: Written) {
        self.text.push_str(text);
        self.is_significant |= written.is_significant(text);
    }

    /// Ends the current text as a separate part; white space between elements is dropped.
    pub(super) fn finish_text(&mut self) {
        let text = std::mem::take(&mut self.text);
        if std::mem::take(&mut self.is_significant) {
            let value = AssembledValue::scalar(Node::Text(text));
            self.parts.push(ElementPart { key: TEXT.to_owned(), value, role: Role::Text });
        }
    }

    pub(super) fn add(&mut self, part: ElementPart) {
        self.parts.push(part);
    }

    /// All text has to be finished.
    pub(super) fn into_value(self, marks: &XmlMarks) -> Result<AssembledValue, FormatFault> {
        match marks.kind {
            Some(XmlKind::List) => self.into_list(),
            Some(XmlKind::Map) => self.into_map(),
            Some(kind @ (XmlKind::Null | XmlKind::Boolean | XmlKind::Number)) => {
                let text = self.into_text(marks)?;
                let node = match (kind, text.as_str()) {
                    (XmlKind::Null, "") => Some(Node::Null),
                    (XmlKind::Boolean, "true") => Some(Node::Bool(true)),
                    (XmlKind::Boolean, "false") => Some(Node::Bool(false)),
                    (XmlKind::Number, number) => Number::parse(number).map(Node::Number),
                    _ => None,
                };
                let sentence = || format!("`{}` is not of the type {}", shown(&text), kind.word());
                node.map(AssembledValue::scalar).ok_or_else(|| FormatFault::XmlReserved(sentence()))
            }
            None if self.attributes.is_empty()
                && self.parts.iter().all(|it| it.role == Role::Text) =>
            {
                Ok(AssembledValue::scalar(Node::Text(self.into_text(marks)?)))
            }
            None => self.into_map(),
        }
    }

    fn into_text(mut self, marks: &XmlMarks) -> Result<String, FormatFault> {
        let text = match self.parts.pop() {
            _ if !self.attributes.is_empty() || !self.parts.is_empty() => None,
            None => Some(String::new()),
            Some(ElementPart {
                role: Role::Text,
                value: AssembledValue { node: Node::Text(text), .. },
                ..
            }) => Some(text),
            Some(_) => None,
        };
        let text = text.ok_or_else(|| reserved("a scalar holds text alone"))?;
        if !marks.is_escaped {
            return Ok(text);
        }
        unescape(&text).ok_or_else(|| reserved("the text is not escaped as `baton-escaped` says"))
    }

    fn into_list(self) -> Result<AssembledValue, FormatFault> {
        let is_item = |it: &ElementPart| it.role == Role::Element;
        if !self.attributes.is_empty() || !self.parts.iter().all(is_item) {
            return Err(reserved("a list holds items alone"));
        }
        let values = self.parts.into_iter().map(|it| it.value);
        Ok(list(values.collect()))
    }

    fn into_map(self) -> Result<AssembledValue, FormatFault> {
        let mut groups = Groups::default();
        self.parts.into_iter().for_each(|it| groups.add(it));
        let order = groups.order();
        if let Some(key) = groups.taken(&self.attributes, order.is_some()) {
            return Err(FormatFault::Duplicate { what: format!("the key `{}`", shown(key)) });
        }
        let mut members = self.attributes;
        let mut depth = 0;
        for group in groups.groups {
            let (key, value) = group.into_member();
            depth = depth.max(value.depth);
            members.push((key, value.node));
        }
        members.extend(order.map(|it| (ORDER.to_owned(), it)));
        Ok(AssembledValue { node: Node::Map(members), depth: depth + 1 })
    }
}

/// The elements of one key.
struct ElementGroup {
    key: String,
    values: Vec<AssembledValue>,
    role: Role,
}

impl ElementGroup {
    fn into_member(mut self) -> (String, AssembledValue) {
        let value = match (self.values.pop(), self.values.is_empty()) {
            (Some(only), true) if self.role != Role::OnlyItem => only,
            (last, _) => {
                self.values.extend(last);
                list(self.values)
            }
        };
        (self.key, value)
    }
}

/// Elements by their keys, in the order of their first ones.
#[derive(Default)]
struct Groups {
    groups: Vec<ElementGroup>,
    /// The group of each part.
    sequence: Vec<usize>,
    /// Filled once there are too many groups for a linear search.
    places: HashMap<String, usize>,
    /// Some element is separated from others of its key.
    has_turns: bool,
}

const FEW: usize = 16;

impl Groups {
    fn add(&mut self, part: ElementPart) {
        let place = self.place_of(&part.key);
        self.has_turns |= place.is_some_and(|it| it + 1 < self.groups.len());
        let place = match place {
            Some(place) => {
                self.groups[place].values.push(part.value);
                place
            }
            None => {
                let ElementPart { key, value, role } = part;
                self.groups.push(ElementGroup { key, values: vec![value], role });
                self.groups.len() - 1
            }
        };
        self.sequence.push(place);
    }

    fn place_of(&mut self, key: &str) -> Option<usize> {
        if self.groups.last().is_some_and(|it| it.key == key) {
            return Some(self.groups.len() - 1);
        }
        if self.groups.len() <= FEW {
            return self.groups.iter().position(|it| it.key == key);
        }
        for (place, group) in self.groups.iter().enumerate().skip(self.places.len()) {
            self.places.insert(group.key.clone(), place);
        }
        self.places.get(key).copied()
    }

    /// The first key that collides with an attribute or with the order of the parts.
    fn taken(&self, attributes: &[(String, Node)], has_order: bool) -> Option<&str> {
        let mut keys = self.groups.iter().map(|it| it.key.as_str());
        // Hardly any document has such a key, so index the attributes only then.
        if !keys.clone().any(|it| it.starts_with('@') || it == ORDER) {
            return None;
        }
        let attributes: HashSet<&str> = attributes.iter().map(|(key, _)| key.as_str()).collect();
        keys.find(|it| attributes.contains(it) || (has_order && *it == ORDER))
    }

    /// The keys of all parts in order, where the groups alone do not show it.
    fn order(&self) -> Option<Node> {
        let key = |it: &usize| Node::text(self.groups[*it].key.as_str());
        self.has_turns.then(|| Node::List(self.sequence.iter().map(key).collect()))
    }
}

fn list(values: Vec<AssembledValue>) -> AssembledValue {
    let depth = values.iter().map(|it| it.depth).max().unwrap_or(0) + 1;
    AssembledValue { node: Node::List(values.into_iter().map(|it| it.node).collect()), depth }
}

fn reserved(sentence: &str) -> FormatFault {
    FormatFault::XmlReserved(sentence.to_owned())
}
