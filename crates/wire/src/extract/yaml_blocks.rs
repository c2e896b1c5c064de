//! YAML handoffs in a text: a root key at the beginning of a line, the lines indented under it, and the
//! fields beside it.

use std::ops::Range;

use baton_core::document::Node;

use super::candidate::{Candidates, Sign, is_handoff};
use crate::formats::{self, Format};

const ROOTS: [&str; 4] = ["handoff", "workflow-complete", "acknowledgment", "acknowledgement"];

pub(super) fn find(text: &str, offset: usize, found: &mut Candidates) {
    let mut add = |block: YamlBlock| {
        // A root key alone is no document.
        if text[block.root.clone()].trim_end().contains('\n') {
            let span = block.widest(text);
            found.add(offset + span.start..offset + span.end, Format::Yaml, Sign::Root);
        }
    };
    let mut block: Option<YamlBlock> = None;
    // Where the fields directly above a line begin.
    let mut fields_start: Option<usize> = None;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        let kind = LineKind::of(line);
        if kind == LineKind::Root {
            block.take().into_iter().for_each(&mut add);
            let first = fields_start.unwrap_or(start);
            block = Some(YamlBlock::new(first, start..end));
        } else if let Some(open) = &mut block
            && !open.goes_on(kind, end)
        {
            block.take().into_iter().for_each(&mut add);
        }
        fields_start = match kind {
            LineKind::Field => fields_start.or(Some(start)).filter(|_| block.is_none()),
            LineKind::Inside | LineKind::Item => fields_start,
            LineKind::Root | LineKind::Blank | LineKind::Prose => None,
        };
        start = end;
    }
    block.into_iter().for_each(add);
}

/// A root with its lines, and how far the fields beside it may reach.
struct YamlBlock {
    /// Fields directly above the root begin here.
    first: usize,
    root: Range<usize>,
    /// The end of the fields directly below it.
    near: usize,
    /// The end of the fields below it, also behind blank lines.
    far: usize,
    has_fields: bool,
    had_blank: bool,
}

impl YamlBlock {
    fn new(first: usize, root: Range<usize>) -> Self {
        let (near, far) = (root.end, root.end);
        Self { first, root, near, far, has_fields: false, had_blank: false }
    }

    /// Takes a line, if it can be one of this document.
    fn goes_on(&mut self, kind: LineKind, end: usize) -> bool {
        match kind {
            LineKind::Blank => {
                self.had_blank = true;
                return true;
            }
            LineKind::Root | LineKind::Prose => return false,
            LineKind::Item if !self.has_fields => return false,
            LineKind::Inside if !self.has_fields => self.root.end = end,
            LineKind::Field => self.has_fields = true,
            LineKind::Inside | LineKind::Item => {}
        }
        // Blank lines between the root's own lines separate no field from it.
        self.had_blank &= self.has_fields;
        if !self.had_blank {
            self.near = end;
        }
        self.far = end;
        true
    }

    /// The most that can be read as one document; the root's own lines where no more can.
    fn widest(&self, text: &str) -> Range<usize> {
        let wider = [self.first..self.far, self.first..self.near, self.root.start..self.near];
        let can_be_read = |it: &Range<usize>| {
            *it != self.root && formats::decode(Format::Yaml, &text[it.clone()]).is_ok()
        };
        wider.into_iter().find(can_be_read).unwrap_or_else(|| self.root.clone())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineKind {
    Root,
    /// A key at the beginning of the line, in lower case as in all our documents: a sentence begins
    /// otherwise.
    Field,
    /// Indented.
    Inside,
    /// An item of a list that is not indented.
    Item,
    Blank,
    Prose,
}

impl LineKind {
    fn of(line: &str) -> Self {
        let trimmed = line.trim_end();
        if trimmed.trim_start().is_empty() {
            Self::Blank
        } else if is_root(line) {
            Self::Root
        } else if line.starts_with(' ') {
            Self::Inside
        } else if trimmed == "-" || trimmed.starts_with("- ") {
            Self::Item
        } else if is_field(trimmed) {
            Self::Field
        } else {
            Self::Prose
        }
    }
}

fn is_field(line: &str) -> bool {
    let Some((key, rest)) = line.split_once(':') else { return false };
    let is_key = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '_';
    key.starts_with(|it: char| it.is_ascii_lowercase())
        && key.chars().all(is_key)
        && (rest.is_empty() || rest.starts_with(' '))
}

/// True where a fence holds one document: it begins with a root, broken or not, or is a handoff.
pub(super) fn is_document(text: &str) -> bool {
    let is_content = |it: &&str| !it.trim().is_empty() && !it.starts_with('#') && *it != "---";
    match text.lines().find(is_content) {
        Some(line) if is_root(line) => true,
        Some(line) if is_field(line.trim_end()) => {
            formats::decode(Format::Yaml, text).is_ok_and(|it| is_handoff(&it))
        }
        Some(_) | None => false,
    }
}

/// True where a fence holds nothing but the fields of a document.
pub(super) fn is_map(text: &str) -> bool {
    let is_map = |it: Node| matches!(it, Node::Map(_));
    text.lines().next().is_some_and(|it| is_field(it.trim_end()))
        && formats::decode(Format::Yaml, text).is_ok_and(is_map)
}

fn is_root(line: &str) -> bool {
    let rest = ROOTS.iter().find_map(|it| line.strip_prefix(it)?.strip_prefix(':'));
    rest.is_some_and(|it| it.trim().is_empty() || it.trim_start().starts_with('#'))
}
