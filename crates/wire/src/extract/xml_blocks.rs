//! XML handoffs in a text, found by their tags alone.

use std::ops::Range;

use super::candidate::{Candidates, Sign, is_handoff};
use crate::formats::{self, Format};

const ROOTS: [&str; 6] = [
    "handoff",
    "workflow-complete",
    "workflow_complete",
    "acknowledgment",
    "acknowledgement",
    DOCUMENT,
];

/// Around a handoff and the fields beside it.
const DOCUMENT: &str = "document";

enum BlockTag {
    Opens,
    Closes,
}

/// Sections whose contents are only text within an element, tags or not.
const ASIDES: [(&str, &str); 2] = [("<![CDATA[", "]]>"), ("<!--", "-->")];

/// Pairs every closing tag with the nearest opening one before it: an opening tag that is only
/// mentioned has no closing one.
pub(super) fn find(text: &str, offset: usize, found: &mut Candidates) {
    let mut open: [Vec<usize>; ROOTS.len()] = Default::default();
    let mut last_begin = None;
    let mut asides = Asides::default();
    for (start, _) in text.match_indices('<') {
        let is_within = open.iter().any(|it| !it.is_empty());
        if asides.has(text, start, is_within) {
            continue;
        }
        let Some((root, tag, length)) = tag_at(&text[start..]) else { continue };
        match tag {
            BlockTag::Opens => open[root].push(start),
            BlockTag::Closes => {
                let Some(begin) = open[root].pop() else { continue };
                if ROOTS[root] == DOCUMENT {
                    // Only the outermost is read: each byte once.
                    let whole = begin..start + length;
                    let is_outermost = open[root].is_empty() && begins_block(text, begin);
                    if is_outermost
                        && last_begin.is_some_and(|it| it > begin)
                        && is_read(text, &whole)
                    {
                        found.add(offset + whole.start..offset + whole.end, Format::Xml, SIGN);
                    }
                    continue;
                }
                // Two tags that were only mentioned, around another element, look like a pair.
                if last_begin.is_none_or(|it| it < begin) || begins_block(text, begin) {
                    found.add(offset + begin..offset + start + length, Format::Xml, SIGN);
                    last_begin = Some(begin);
                }
            }
        }
    }
    // The text may have been truncated in the middle of one. A tag within a sentence does not
    // count.
    let roots = ROOTS.iter().zip(&open).filter(|(root, _)| **root != DOCUMENT);
    let open = roots.filter_map(|(_, it)| it.last());
    for start in open.filter(|it| begins_block(text, **it)) {
        found.add_unclosed(offset + start..offset + text.len(), Format::Xml, SIGN);
    }
}

/// True for a handoff with fields beside it.
fn is_read(text: &str, whole: &Range<usize>) -> bool {
    formats::decode(Format::Xml, &text[whole.clone()]).is_ok_and(|it| is_handoff(&it))
}

/// The ends of comments and similar sections, as far as searched.
#[derive(Default)]
struct Asides {
    end: usize,
    /// Kinds with no further end: nothing is searched to the end of the text twice.
    is_endless: [bool; ASIDES.len()],
}

impl Asides {
    /// True for a position in such a section, or at the start of one within an element.
    fn has(&mut self, text: &str, start: usize, is_within: bool) -> bool {
        if start < self.end {
            return true;
        }
        let begun = ASIDES.iter().position(|(begin, _)| text[start..].starts_with(begin));
        let Some(kind) = begun.filter(|it| is_within && !self.is_endless[*it]) else {
            return false;
        };
        let (begin, end) = ASIDES[kind];
        let inner = start + begin.len();
        match text[inner..].find(end) {
            Some(length) => self.end = inner + length + end.len(),
            None => self.is_endless[kind] = true,
        }
        !self.is_endless[kind]
    }
}

const SIGN: Sign = Sign::Root;

/// The root whose tag a text begins with, and the length of a closing tag.
fn tag_at(text: &str) -> Option<(usize, BlockTag, usize)> {
    let (tag, name) = match text.strip_prefix("</") {
        Some(name) => (BlockTag::Closes, name),
        None => (BlockTag::Opens, text.strip_prefix('<')?),
    };
    let root = ROOTS.iter().position(|root| {
        name.strip_prefix(root).is_some_and(|it| it.starts_with(['>', ' ', '\n', '\r', '\t']))
    })?;
    let length = match tag {
        BlockTag::Opens => 0,
        BlockTag::Closes => text[..text.floor_char_boundary(64)].find('>')? + 1,
    };
    Some((root, tag, length))
}

/// On a line of its own, and with an element in it. Reads no further than necessary: there may be
/// thousands of tags.
fn begins_block(text: &str, start: usize) -> bool {
    const NEAR: usize = 1000;
    let before = &text[text.ceil_char_boundary(start.saturating_sub(NEAR))..start];
    let blanks = before.trim_end_matches([' ', '\t']);
    let behind = &text[start..text.floor_char_boundary(start + NEAR)];
    let inner = behind.split_once('>').map(|(_, rest)| rest.trim_start());
    (blanks.is_empty() || blanks.ends_with('\n')) && inner.is_some_and(|it| it.starts_with('<'))
}
