//! YAML handoffs in a text: a root key at the beginning of a line, and the lines indented under it.

use super::candidate::{Candidates, Sign};
use crate::formats::Format;

const ROOTS: [&str; 4] = ["handoff", "workflow-complete", "acknowledgment", "acknowledgement"];

pub(super) fn find(text: &str, offset: usize, found: &mut Candidates) {
    let mut block: Option<(usize, usize)> = None;
    let mut add = |(start, end): (usize, usize)| {
        // A root key alone is no document.
        if text[start..end].trim_end().contains('\n') {
            found.add(offset + start..offset + end, Format::Yaml, Sign::Root);
        }
    };
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        let is_blank = line.trim().is_empty();
        match &mut block {
            Some((_, block_end)) if line.starts_with(' ') && !is_blank => *block_end = end,
            Some(_) if is_blank => {}
            Some(_) | None => {
                block.take().into_iter().for_each(&mut add);
                block = is_root(line).then_some((start, end));
            }
        }
        start = end;
    }
    block.into_iter().for_each(add);
}

/// True where the first line that is no comment is the root of a document.
pub(super) fn begins_with_root(text: &str) -> bool {
    let is_content = |it: &&str| !it.trim().is_empty() && !it.starts_with('#') && *it != "---";
    text.lines().find(is_content).is_some_and(is_root)
}

fn is_root(line: &str) -> bool {
    let rest = ROOTS.iter().find_map(|it| line.strip_prefix(it)?.strip_prefix(':'));
    rest.is_some_and(|it| it.trim().is_empty() || it.trim_start().starts_with('#'))
}
