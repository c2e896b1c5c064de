//! The printer. A document is no deeper than a reader allowed, so recursion is safe.

use baton_core::document::Node;
use baton_core::quoted;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum JsonLayout {
    Compact,
    Pretty,
}

/// Most packages fit in it, so that they are written without being copied.
const USUAL_BYTES: usize = 2048;

pub(super) fn print(root: &Node, layout: JsonLayout) -> String {
    let mut printer = JsonPrinter { out: String::with_capacity(USUAL_BYTES), layout, depth: 0 };
    printer.value(root);
    printer.out
}

struct JsonPrinter {
    out: String,
    layout: JsonLayout,
    depth: usize,
}

impl JsonPrinter {
    fn value(&mut self, node: &Node) {
        match node {
            Node::Null => self.out.push_str("null"),
            Node::Bool(true) => self.out.push_str("true"),
            Node::Bool(false) => self.out.push_str("false"),
            Node::Number(number) => self.out.push_str(number.as_str()),
            Node::Text(text) => quoted::write(text, &mut self.out),
            Node::List(nodes) => self.inside("[", nodes, "]", Self::value),
            Node::Map(members) => self.inside("{", members, "}", Self::member),
        }
    }

    fn inside<T>(&mut self, open: &str, items: &[T], close: &str, print: fn(&mut Self, &T)) {
        self.out.push_str(open);
        self.depth += 1;
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.out.push(',');
            }
            self.new_line();
            print(self, item);
        }
        self.depth -= 1;
        if !items.is_empty() {
            self.new_line();
        }
        self.out.push_str(close);
    }

    fn member(&mut self, (key, node): &(String, Node)) {
        quoted::write(key, &mut self.out);
        self.out.push_str(match self.layout {
            JsonLayout::Compact => ":",
            JsonLayout::Pretty => ": ",
        });
        self.value(node);
    }

    fn new_line(&mut self) {
        if self.layout == JsonLayout::Pretty {
            self.out.push('\n');
            self.out.extend(std::iter::repeat_n("  ", self.depth.min(super::MOST_INDENTED)));
        }
    }
}
