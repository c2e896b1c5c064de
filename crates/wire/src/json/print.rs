//! The printer: an explicit stack, as in the reader.

use std::slice::Iter;

use baton_core::document::Node;
use baton_core::quoted;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum JsonLayout {
    Compact,
    Pretty,
}

/// A list or map of which some values are still to be printed.
enum Unprinted<'a> {
    List(Iter<'a, Node>),
    Map(Iter<'a, (String, Node)>),
}

/// Most packages fit in it, so that they are written without being copied.
const USUAL_BYTES: usize = 2048;

pub(super) fn print(root: &Node, layout: JsonLayout) -> String {
    let mut printer = JsonPrinter { out: String::with_capacity(USUAL_BYTES), layout };
    let mut open = Vec::new();
    let mut next = Some(root);
    loop {
        // A value that is just being opened has no comma before its first member.
        let is_first = match next.take() {
            Some(node) => printer.begin(node).map(|it| open.push(it)).is_some(),
            None => false,
        };
        let depth = open.len();
        let Some(top) = open.last_mut() else { return printer.out };
        let (member, end) = match top {
            Unprinted::List(nodes) => (nodes.next().map(|it| (None, it)), ']'),
            Unprinted::Map(members) => (members.next().map(|(key, it)| (Some(key), it)), '}'),
        };
        match member {
            Some((key, node)) => {
                if !is_first {
                    printer.out.push(',');
                }
                printer.new_line(depth);
                if let Some(key) = key {
                    printer.key(key);
                }
                next = Some(node);
            }
            None => {
                open.pop();
                printer.new_line(open.len());
                printer.out.push(end);
            }
        }
    }
}

struct JsonPrinter {
    out: String,
    layout: JsonLayout,
}

impl JsonPrinter {
    /// Prints a scalar or an empty list or map; of a full one, only the bracket.
    fn begin<'a>(&mut self, node: &'a Node) -> Option<Unprinted<'a>> {
        match node {
            Node::Null => self.out.push_str("null"),
            Node::Bool(true) => self.out.push_str("true"),
            Node::Bool(false) => self.out.push_str("false"),
            Node::Number(number) => self.out.push_str(number.as_str()),
            Node::Text(text) => quoted::write(text, &mut self.out),
            Node::List(nodes) if nodes.is_empty() => self.out.push_str("[]"),
            Node::Map(members) if members.is_empty() => self.out.push_str("{}"),
            Node::List(nodes) => {
                self.out.push('[');
                return Some(Unprinted::List(nodes.iter()));
            }
            Node::Map(members) => {
                self.out.push('{');
                return Some(Unprinted::Map(members.iter()));
            }
        }
        None
    }

    fn key(&mut self, key: &str) {
        quoted::write(key, &mut self.out);
        self.out.push_str(match self.layout {
            JsonLayout::Compact => ":",
            JsonLayout::Pretty => ": ",
        });
    }

    fn new_line(&mut self, depth: usize) {
        if self.layout == JsonLayout::Pretty {
            self.out.push('\n');
            self.out.extend(std::iter::repeat_n("  ", depth.min(super::MOST_INDENTED)));
        }
    }
}
