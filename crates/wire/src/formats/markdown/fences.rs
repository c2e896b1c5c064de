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
    let all = fences(text);
    let mut json = all.into_iter().filter(|it| it.is_json(text)).rev().peekable();
    let last = json.peek().cloned();
    json.find(|it| it.heading.is_some()).or(last)
}

/// All fenced blocks in order; an unclosed one extends to the end.
pub(crate) fn fences(text: &str) -> Vec<FencedBlock> {
    let mut fences = Vec::new();
    let mut open: Option<(FencedBlock, FenceMarker)> = None;
    let mut heading = Headings::default();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let range = start..start + line.len();
        start = range.end;
        match &mut open {
            Some((fence, marker)) => {
                fence.content.end = range.start;
                if marker.is_closed_by(line) {
                    fence.close = range;
                    fence.is_closed = true;
                    fences.extend(open.take().map(|(fence, _)| fence));
                }
            }
            None => match FenceMarker::of(line) {
                Some((marker, language)) => {
                    let end = range.end;
                    let fence = FencedBlock {
                        open: range,
                        content: end..end,
                        close: end..end,
                        language,
                        heading: heading.metadata(),
                        is_closed: false,
                    };
                    open = Some((fence, marker));
                }
                None => heading.take(line, range.start),
            },
        }
    }
    if let Some((mut fence, _)) = open {
        fence.content.end = text.len();
        fence.close = text.len()..text.len();
        fences.push(fence);
    }
    fences
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

    fn is_closed_by(&self, line: &str) -> bool {
        let Some(line) = without_indentation(line) else { return false };
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

fn is_metadata_word(text: &str) -> bool {
    let text = text.trim().trim_matches(['*', '_', ':']).trim();
    text.eq_ignore_ascii_case("metadata")
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
        ] {
            check(text, expected);
        }
    }
}
