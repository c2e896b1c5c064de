//! The printer. A document is no deeper than a reader allowed, so recursion is safe.

use baton_core::document::Node;

use super::scalar::{is_literal, is_plain, literal_header, quoted};
use crate::json::MOST_INDENTED;

/// Readers stop looking for the colon of a key after this many characters; we stop well before.
const MOST_KEY_CHARS: usize = 200;

/// Deeper values are printed on one line: indentation would make a document that is mostly nesting
/// many times its size.
const MOST_INDENTATION: usize = 2 * MOST_INDENTED;

pub(super) fn print(document: &Node) -> String {
    let mut printer = YamlPrinter { out: String::new() };
    match document {
        // A text at the top has no parent to indent its lines by.
        Node::Text(text) if is_literal(text) => quoted(text, &mut printer.out),
        Node::Null | Node::Bool(_) | Node::Number(_) | Node::Text(_) => printer.scalar(document, 0),
        Node::List(items) if items.is_empty() => printer.out.push_str("[]"),
        Node::Map(members) if members.is_empty() => printer.out.push_str("{}"),
        Node::List(_) | Node::Map(_) => printer.block(document, 0),
    }
    printer.out.push('\n');
    printer.out
}

struct YamlPrinter {
    out: String,
}

impl YamlPrinter {
    /// The lines of a non-empty list or map. The first begins at the printer's current column.
    fn block(&mut self, node: &Node, indentation: usize) {
        match node {
            Node::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.begin_line(index, indentation);
                    self.out.push('-');
                    if is_block(item) {
                        self.out.push(' ');
                        self.nested(item, indentation + 2);
                    } else {
                        self.value(item, indentation);
                    }
                }
            }
            Node::Map(members) => {
                for (index, (key, value)) in members.iter().enumerate() {
                    self.begin_line(index, indentation);
                    self.key(key, indentation);
                    if is_block(value) && indentation >= MOST_INDENTATION {
                        self.out.push(' ');
                        self.flow(value);
                    } else if is_block(value) {
                        self.new_line(indentation + 2);
                        self.block(value, indentation + 2);
                    } else {
                        self.value(value, indentation);
                    }
                }
            }
            Node::Null | Node::Bool(_) | Node::Number(_) | Node::Text(_) => {
                self.scalar(node, indentation);
            }
        }
    }

    fn nested(&mut self, node: &Node, indentation: usize) {
        if indentation > MOST_INDENTATION {
            self.flow(node);
        } else {
            self.block(node, indentation);
        }
    }

    /// On one line, as JSON has it; every text is in quotes.
    fn flow(&mut self, node: &Node) {
        match node {
            Node::Text(text) => quoted(text, &mut self.out),
            Node::List(items) => {
                self.out.push('[');
                for (index, item) in items.iter().enumerate() {
                    self.out.push_str(if index > 0 { ", " } else { "" });
                    self.flow(item);
                }
                self.out.push(']');
            }
            Node::Map(members) => {
                self.out.push('{');
                for (index, (key, value)) in members.iter().enumerate() {
                    self.out.push_str(if index > 0 { ", " } else { "" });
                    let is_long = key.chars().nth(MOST_KEY_CHARS).is_some();
                    self.out.push_str(if is_long { "? " } else { "" });
                    quoted(key, &mut self.out);
                    self.out.push_str(if is_long { " : " } else { ": " });
                    self.flow(value);
                }
                self.out.push('}');
            }
            Node::Null | Node::Bool(_) | Node::Number(_) => {
                self.out.push_str(node.scalar_text().unwrap_or("null"));
            }
        }
    }

    fn key(&mut self, key: &str, indentation: usize) {
        let is_long = key.chars().nth(MOST_KEY_CHARS).is_some();
        if is_long {
            self.out.push_str("? ");
        }
        if is_plain(key) {
            self.out.push_str(key)
        } else {
            quoted(key, &mut self.out)
        }
        if is_long {
            self.new_line(indentation);
        }
        self.out.push(':');
    }

    /// A value on the line of its key or dash.
    fn value(&mut self, node: &Node, indentation: usize) {
        self.out.push(' ');
        match node {
            Node::List(_) => self.out.push_str("[]"),
            Node::Map(_) => self.out.push_str("{}"),
            Node::Null | Node::Bool(_) | Node::Number(_) | Node::Text(_) => {
                self.scalar(node, indentation);
            }
        }
    }

    fn scalar(&mut self, node: &Node, indentation: usize) {
        match node {
            Node::Text(text) if is_plain(text) => self.out.push_str(text),
            Node::Text(text) if is_literal(text) => self.literal(text, indentation + 2),
            Node::Text(text) => quoted(text, &mut self.out),
            Node::Null | Node::Bool(_) | Node::Number(_) | Node::List(_) | Node::Map(_) => {
                self.out.push_str(node.scalar_text().unwrap_or("null"));
            }
        }
    }

    fn literal(&mut self, text: &str, indentation: usize) {
        self.out.push_str(&literal_header(text));
        for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
            if line.is_empty() {
                self.out.push('\n');
            } else {
                self.new_line(indentation);
                self.out.push_str(line);
            }
        }
    }

    fn begin_line(&mut self, index: usize, indentation: usize) {
        if index > 0 {
            self.new_line(indentation);
        }
    }

    fn new_line(&mut self, indentation: usize) {
        self.out.push('\n');
        self.out.extend(std::iter::repeat_n(' ', indentation));
    }
}

fn is_block(node: &Node) -> bool {
    match node {
        Node::List(items) => !items.is_empty(),
        Node::Map(members) => !members.is_empty(),
        Node::Null | Node::Bool(_) | Node::Number(_) | Node::Text(_) => false,
    }
}
