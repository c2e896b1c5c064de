//! The fenced blocks of a Markdown text, and which of them holds the metadata.

use std::ops::Range;

/// A fenced block, by the bytes of its parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FencedBlock {
    /// The opening line with its line break.
    pub(crate) open: Range<usize>,
    pub(crate) content: Range<usize>,
    /// The closing line; empty where the text ends before it.
    pub(crate) close: Range<usize>,
    /// The first word behind the fence, in lower case.
    pub(crate) language: String,
    /// The start of the `Metadata` heading above it.
    pub(crate) heading: Option<usize>,
    /// The closing line was found.
    pub(crate) is_closed: bool,
    /// How far a list item indents it.
    pub(crate) indent: usize,
}

impl FencedBlock {
    fn is_json(&self, text: &str) -> bool {
        match self.language.as_str() {
            "json" => true,
            "" => text[self.content.clone()].trim_start().starts_with('{'),
            _ => false,
        }
    }
}

/// The last JSON under a `Metadata` heading, else the last JSON in a fence.
pub(crate) fn metadata(text: &str) -> Option<FencedBlock> {
    let all = blocks(text).fences;
    let mut json = all.into_iter().filter(|it| it.is_json(text)).rev().peekable();
    let last = json.peek().cloned();
    json.find(|it| it.heading.is_some()).or(last)
}

/// The blocks of a Markdown text that hold something else than prose.
#[derive(Debug, Default)]
pub(crate) struct MarkdownBlocks {
    /// In order; an unclosed one extends to the end.
    pub(crate) fences: Vec<FencedBlock>,
    /// Stretches of lines in a block quote.
    pub(crate) quotes: Vec<Range<usize>>,
    /// HTML comments that begin a line.
    pub(crate) comments: Vec<Range<usize>>,
}

pub(crate) fn blocks(text: &str) -> MarkdownBlocks {
    let mut found = MarkdownBlocks::default();
    let mut open: Option<(FencedBlock, FenceMarker)> = None;
    let mut heading = Headings::default();
    let mut lists = ListItems::default();
    // The end of the comment at hand; once one has no end, none after it has.
    let (mut comment_end, mut is_endless) = (0, false);
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let range = start..start + line.len();
        start = range.end;
        if let Some((fence, marker)) = &mut open {
            fence.content.end = range.start;
            if marker.is_closed_by(line, fence.indent) {
                fence.close = range;
                fence.is_closed = true;
                found.fences.extend(open.take().map(|(fence, _)| fence));
            }
            continue;
        }
        if range.start < comment_end {
            continue;
        }
        if !is_endless && without_indentation(line).is_some_and(|it| it.starts_with("<!--")) {
            match text[range.start..].find("-->") {
                Some(length) => {
                    comment_end = range.start + length + "-->".len();
                    found.comments.push(range.start..comment_end);
                    continue;
                }
                None => is_endless = true,
            }
        }
        if without_indentation(line).is_some_and(|it| it.starts_with('>')) {
            match found.quotes.last_mut() {
                Some(quote) if quote.end == range.start => quote.end = range.end,
                Some(_) | None => found.quotes.push(range),
            }
            continue;
        }
        let (indent, inner) = lists.enter(line);
        match FenceMarker::of(inner) {
            Some((marker, language)) => {
                let end = range.end;
                let fence = FencedBlock {
                    open: range,
                    content: end..end,
                    close: end..end,
                    language,
                    heading: heading.metadata(),
                    is_closed: false,
                    indent,
                };
                open = Some((fence, marker));
            }
            None => heading.take(line, range.start),
        }
    }
    if let Some((mut fence, _)) = open {
        fence.content.end = text.len();
        fence.close = text.len()..text.len();
        found.fences.push(fence);
    }
    found
}

/// The list items that a line is in, by how far each indents its content.
#[derive(Default)]
struct ListItems {
    indents: Vec<usize>,
}

/// Deeper lists are code to us: the work for a line is bounded.
const MOST_LISTS: usize = 16;

impl ListItems {
    /// How far the items around a line indent it, and the line without that.
    fn enter<'a>(&mut self, line: &'a str) -> (usize, &'a str) {
        if line.trim().is_empty() {
            return (0, line);
        }
        let blanks = n_blanks(line);
        while self.indents.last().is_some_and(|it| *it > blanks) {
            self.indents.pop();
        }
        let mut indent = self.indents.last().copied().unwrap_or(0);
        while self.indents.len() < MOST_LISTS
            && let Some(width) = item_marker(&line[indent..])
        {
            indent += width;
            self.indents.push(indent);
        }
        (indent, &line[indent..])
    }
}

/// The width of the list item's marker that a line begins with, with the blanks around it.
fn item_marker(line: &str) -> Option<usize> {
    let rest = without_indentation(line)?;
    let digits = rest.len() - rest.trim_start_matches(|it: char| it.is_ascii_digit()).len();
    let marker = match (digits, rest.as_bytes().get(digits)?) {
        (0, b'-' | b'*' | b'+') => 1,
        (1..=9, b'.' | b')') => digits + 1,
        _ => return None,
    };
    let blanks = n_blanks(&rest[marker..]);
    // More blanks than that, and the item begins with code.
    (1..=4).contains(&blanks).then(|| line.len() - rest.len() + marker + blanks)
}

fn n_blanks(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// What a fence is made of.
struct FenceMarker {
    sign: char,
    length: usize,
}

impl FenceMarker {
    fn of(line: &str) -> Option<(Self, String)> {
        let line = without_indentation(line)?;
        let sign = line.chars().next().filter(|it| matches!(it, '`' | '~'))?;
        let rest = line.trim_start_matches(sign);
        let length = line.len() - rest.len();
        if length < 3 || (sign == '`' && rest.contains('`')) {
            return None;
        }
        let language = rest.split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
        Some((Self { sign, length }, language))
    }

    fn is_closed_by(&self, line: &str, indent: usize) -> bool {
        // A fence in a list item that is closed further to the left is meant to be closed.
        let inner = &line[n_blanks(line).min(indent)..];
        let Some(line) = without_indentation(inner) else { return false };
        let rest = line.trim_start_matches(self.sign);
        line.len() - rest.len() >= self.length && rest.trim().is_empty()
    }
}

/// A line indented by more than three blanks is code.
fn without_indentation(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches(' ');
    (line.len() - rest.len() <= 3).then_some(rest)
}

/// The headings above a line, as far as metadata is concerned.
#[derive(Default)]
struct Headings {
    /// The level of the heading `Metadata`, and its start.
    metadata: Option<(usize, usize)>,
    /// The line before was this word, which an underline makes a heading.
    underlinable: Option<usize>,
}

impl Headings {
    fn metadata(&self) -> Option<usize> {
        self.metadata.map(|(_, start)| start)
    }

    fn take(&mut self, line: &str, start: usize) {
        let Some(line) = without_indentation(line).map(str::trim_end) else { return };
        let word = is_metadata_word(line).then_some(start);
        let above = std::mem::replace(&mut self.underlinable, word);
        let is_underline = |sign: char| !line.is_empty() && line.chars().all(|it| it == sign);
        let level = line.len() - line.trim_start_matches('#').len();
        if let Some(above) = above
            && (is_underline('=') || is_underline('-'))
        {
            self.metadata = Some((if is_underline('=') { 1 } else { 2 }, above));
        } else if (1..=6).contains(&level) && line[level..].starts_with([' ', '\t']) {
            if is_metadata_word(line[level..].trim_end_matches('#')) {
                self.metadata = Some((level, start));
            } else if self.metadata.is_some_and(|(it, _)| level <= it) {
                self.metadata = None;
            }
        }
    }
}

/// `Metadata`, `**Metadata:**`, `📦 Metadata`, `4. Metadata`, `Metadata (JSON)`, `Handoff metadata`.
fn is_metadata_word(text: &str) -> bool {
    const BESIDE: [&str; 6] =
        ["metadata", "json", "block", "handoff", "section", "machine-readable"];
    // No heading is longer: a line of a megabyte is not looked through.
    if text.len() > 80 {
        return false;
    }
    let is_sign = |it: char| !it.is_alphanumeric() && it != '-';
    let text = text.trim_start_matches(|it: char| is_sign(it) || it.is_ascii_digit());
    let mut words = text.split(is_sign).filter(|it| !it.is_empty());
    let mut has_word = false;
    let mut is_beside = |it: &str| {
        has_word |= it.eq_ignore_ascii_case("metadata");
        BESIDE.iter().any(|word| it.eq_ignore_ascii_case(word))
    };
    words.all(&mut is_beside) && has_word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        let found = metadata(text).map(|it| text[it.content].to_owned());
        assert_eq!(found.as_deref(), expected, "{text:?}");
    }

    #[test]
    fn the_last_json_under_the_heading_wins_and_then_the_last_json() {
        for (text, expected) in [
            ("", None),
            ("```rust\nfn main() {}\n```\n", None),
            ("```json\n1\n```\n", Some("1\n")),
            ("```json\n1\n```\n```json\n2\n```\n", Some("2\n")),
            ("## Metadata\n```json\n1\n```\n# Notes\n```json\n2\n```\n", Some("1\n")),
            ("# Metadata\n## Inner\n```json\n1\n```\n", Some("1\n")),
            ("### metadata: ###\n```JSON title\n1\n```\n## Other\n", Some("1\n")),
            ("Metadata\n---\n~~~json\n1\n~~~\n\n# x\n```json\n2\n```", Some("1\n")),
            ("```\n{\"a\":1}\n```\n", Some("{\"a\":1}\n")),
            ("```\nplain\n```\n", None),
            ("````json\n```json\n````\n", Some("```json\n")),
            ("~~~json\n```\n~~~\n", Some("```\n")),
            ("```json\r\n1\r\n```\r\n", Some("1\r\n")),
            ("```text\n```json\n1\n```\n", None),
            ("    ```json\n    1\n    ```\n", None),
            ("   ```json\n1\n  ```\n", Some("1\n")),
            ("``json\n1\n``\n", None),
            ("```json`\n1\n```\n", None),
            ("```json\n1", Some("1")),
            ("1. ```\n   foo\n   ```\n\n## Metadata\n```json\n1\n```\n", Some("1\n")),
            ("- a\n- ```\n  b\n\n\n  ```\n- c\n\n```json\n1\n```\n", Some("1\n")),
            ("10. a\n\n    ```json\n    1\n    ```\n", Some("    1\n")),
            ("- - ```json\n    1\n    ```\nx\n", Some("    1\n")),
            ("- a\n\n      ```json\n      1\n      ```\n", None),
            ("<!--\n```json\n1\n```\n-->\n", None),
            ("<!-- a -->\n```json\n1\n```\n", Some("1\n")),
            ("<!--\n```json\n1\n```\n", Some("1\n")),
            ("```text\n<!--\n```\n```json\n1\n```\n-->", Some("1\n")),
            ("> ```json\n> 1\n> ```\n", None),
            ("> ```\nx\n```json\n1\n```\n", Some("1\n")),
        ] {
            check(text, expected);
        }
    }

    #[test]
    fn a_heading_of_metadata_may_be_decorated() {
        for heading in [
            "Metadata",
            " metadata: ",
            "**Metadata**",
            "📦 Metadata",
            "Metadata (JSON)",
            "4. Metadata",
            "Handoff metadata",
            "Metadata block",
        ] {
            assert!(is_metadata_word(heading), "{heading}");
        }
        for other in
            ["", "Meta data", "About metadata", "Metadata of the widget", "JSON", "Metadat"]
        {
            assert!(!is_metadata_word(other), "{other}");
        }
    }
}
