//! The printer. A document is no deeper than a reader allowed, so recursion is safe.

use baton_core::document::Node;

use super::characters::{escape, is_blank, is_legal};
use super::marks::{self, XmlKind};
use super::plan::{Piece, Scope, plan};
use super::{ITEM, MEMBER, ROOT};
use crate::json::MOST_INDENTED;

pub(super) fn print(document: &Node) -> String {
    let mut printer = XmlPrinter { out: String::new() };
    let scope = Scope::default();
    let mut tag = OpeningTag::new(ROOT);
    let members = if let Node::Map(members) = document { members.as_slice() } else { &[] };
    let value = match members {
        [(key, node)] => {
            let is_name = scope.within(node).is_element_name(key);
            // `<document>` with several members would be read as those members alone.
            if is_name && !(key == ROOT && has_several_members(node)) {
                tag.name = key;
            } else {
                tag.mark(marks::KEY, escape(key));
            }
            node
        }
        [_, _, ..] => document,
        [] => {
            tag.mark(marks::ROOT, "value".to_owned());
            document
        }
    };
    printer.element(tag, value, &scope, ElementPlace::Line(0));
    printer.out.push('\n');
    printer.out
}

fn has_several_members(node: &Node) -> bool {
    matches!(node, Node::Map(members) if members.len() > 1)
}

/// The context of an element.
#[derive(Clone, Copy)]
enum ElementPlace {
    /// On a line of its own, indented this deep.
    Line(usize),
    /// Beside text, where a line break would be part of the text.
    Inline,
}

/// The opening tag so far.
struct OpeningTag<'a> {
    name: &'a str,
    attributes: Vec<(&'a str, &'a str)>,
    marks: Vec<(&'static str, String)>,
}

impl<'a> OpeningTag<'a> {
    fn new(name: &'a str) -> Self {
        Self { name, attributes: Vec::new(), marks: Vec::new() }
    }

    fn mark(&mut self, name: &'static str, value: String) {
        self.marks.push((name, value));
    }

    fn mark_kind(&mut self, kind: XmlKind) {
        self.mark(marks::TYPE, kind.word().to_owned());
    }
}

struct XmlPrinter {
    out: String,
}

impl XmlPrinter {
    fn element<'a>(
        &mut self,
        mut tag: OpeningTag<'a>,
        node: &'a Node,
        scope: &Scope<'_>,
        place: ElementPlace,
    ) {
        match node {
            Node::Null => {
                tag.mark_kind(XmlKind::Null);
                self.open(&tag, "/>");
            }
            Node::Bool(_) | Node::Number(_) => {
                let kind =
                    if matches!(node, Node::Bool(_)) { XmlKind::Boolean } else { XmlKind::Number };
                tag.mark_kind(kind);
                self.leaf(&tag, node.scalar_text().unwrap_or_default());
            }
            Node::Text(text) if text.chars().all(is_legal) => self.leaf(&tag, text),
            Node::Text(text) => {
                tag.mark(marks::ESCAPED, "true".to_owned());
                self.leaf(&tag, &escape(text));
            }
            Node::List(items) => {
                tag.mark_kind(XmlKind::List);
                let piece = |node| Piece::Element { key: ITEM, node, is_only_item: false };
                self.branch(&tag, items.iter().map(piece).collect(), scope, place);
            }
            Node::Map(members) => {
                let scope = scope.within(node);
                let plan = plan(members, &scope);
                if plan.looks_like_text() {
                    tag.mark_kind(XmlKind::Map);
                }
                let place = if plan.has_text() { ElementPlace::Inline } else { place };
                tag.attributes = plan.attributes;
                self.branch(&tag, plan.parts, &scope, place);
            }
        }
    }

    fn leaf(&mut self, tag: &OpeningTag<'_>, text: &str) {
        if text.is_empty() {
            return self.open(tag, "/>");
        }
        self.open(tag, ">");
        self.text(text);
        self.close(tag);
    }

    fn branch<'a>(
        &mut self,
        tag: &OpeningTag<'a>,
        parts: Vec<Piece<'a>>,
        scope: &Scope<'a>,
        place: ElementPlace,
    ) {
        if parts.is_empty() {
            return self.open(tag, "/>");
        }
        self.open(tag, ">");
        let inner = match place {
            ElementPlace::Line(depth) => ElementPlace::Line(depth + 1),
            ElementPlace::Inline => ElementPlace::Inline,
        };
        for part in parts {
            match part {
                Piece::Text(text) => self.text(text),
                Piece::Element { key, node, is_only_item } => {
                    self.new_line(inner);
                    let mut tag = OpeningTag::new(MEMBER);
                    if scope.within(node).is_element_name(key) {
                        tag.name = key;
                    } else {
                        tag.mark(marks::KEY, escape(key));
                    }
                    if is_only_item {
                        tag.mark(marks::LIST, "one".to_owned());
                    }
                    self.element(tag, node, scope, inner);
                }
            }
        }
        self.new_line(place);
        self.close(tag);
    }

    fn new_line(&mut self, place: ElementPlace) {
        if let ElementPlace::Line(depth) = place {
            self.out.push('\n');
            self.out.extend(std::iter::repeat_n("  ", depth.min(MOST_INDENTED)));
        }
    }

    fn open(&mut self, tag: &OpeningTag<'_>, end: &str) {
        self.out.push('<');
        self.out.push_str(tag.name);
        let marks = tag.marks.iter().map(|(name, value)| (*name, value.as_str()));
        for (name, value) in tag.attributes.iter().copied().chain(marks) {
            self.out.push(' ');
            self.out.push_str(name);
            self.out.push_str("=\"");
            self.attribute_value(value);
            self.out.push('"');
        }
        self.out.push_str(end);
    }

    fn close(&mut self, tag: &OpeningTag<'_>) {
        self.out.push_str("</");
        self.out.push_str(tag.name);
        self.out.push('>');
    }

    /// White space alone would be read as the space between elements, unless it is escaped.
    fn text(&mut self, text: &str) {
        let is_all_blank = text.chars().all(is_blank);
        for it in text.chars() {
            match it {
                '&' => self.out.push_str("&amp;"),
                '<' => self.out.push_str("&lt;"),
                '>' => self.out.push_str("&gt;"),
                '\r' => self.out.push_str("&#13;"),
                _ if is_all_blank => self.out.push_str(&format!("&#{};", it as u32)),
                _ => self.out.push(it),
            }
        }
    }

    fn attribute_value(&mut self, value: &str) {
        for it in value.chars() {
            match it {
                '&' => self.out.push_str("&amp;"),
                '<' => self.out.push_str("&lt;"),
                '>' => self.out.push_str("&gt;"),
                '"' => self.out.push_str("&quot;"),
                '\t' | '\n' | '\r' => self.out.push_str(&format!("&#{};", it as u32)),
                _ => self.out.push(it),
            }
        }
    }
}
