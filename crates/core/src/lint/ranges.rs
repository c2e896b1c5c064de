//! `source_files_verified`: the lines that an agent claims to have read.

use super::facts::{Facts, FileFact};
use super::rule::LintRule;
use super::sink::Sink;
use crate::contract::{Body, items};
use crate::document::Node;

pub(super) const FIELD: &str = "source_files_verified";

/// `src/api/dashboard.ts:45-120`. A single line and a whole file are valid too.
pub(super) struct LineRange<'a> {
    pub(super) path: &'a str,
    lines: LineSpan,
}

impl LineRange<'_> {
    pub(super) fn has_lines(&self) -> bool {
        matches!(self.lines, LineSpan::From(..))
    }
}

enum LineSpan {
    All,
    From(u64, u64),
    Broken,
}

pub(super) fn check(body: &Body<'_>, facts: &Facts, sink: &mut Sink) {
    each(body, |index, range| {
        let place = || format!("{}[{index}]", body.field_path(FIELD));
        let problem = match (&range.lines, facts.files.get(range.path)) {
            (LineSpan::Broken, _) => "is no range of lines".to_owned(),
            (LineSpan::From(start, end), _) if *start == 0 || start > end => {
                format!("goes from line {start} to line {end}")
            }
            (LineSpan::All | LineSpan::From(..), None) => {
                sink.unverified.push(place());
                return;
            }
            (LineSpan::All | LineSpan::From(..), Some(FileFact::Missing)) => {
                "is in a file that does not exist".to_owned()
            }
            (LineSpan::From(_, end), Some(FileFact::File { n_lines: Some(n_lines), .. }))
                if end > n_lines =>
            {
                format!("ends at line {end} of a file with {n_lines}")
            }
            (
                LineSpan::All | LineSpan::From(..),
                Some(FileFact::Folder | FileFact::File { .. }),
            ) => {
                return;
            }
        };
        sink.say(LintRule::WrongRange, place(), problem);
    });
}

pub(super) fn each<'a>(body: &Body<'a>, mut visit: impl FnMut(usize, LineRange<'a>)) {
    let Some(items) = body.fields().at(FIELD).and_then(items) else { return };
    for (index, item) in items.iter().enumerate() {
        let text = item.as_text().or_else(|| item.member("path").and_then(Node::as_text));
        if let Some(text) = text.map(str::trim).filter(|it| !it.is_empty()) {
            visit(index, parse(text));
        }
    }
}

fn parse(text: &str) -> LineRange<'_> {
    let Some((path, lines)) = text.rsplit_once(':') else {
        return LineRange { path: text, lines: LineSpan::All };
    };
    let number = |it: &str| it.trim_start_matches('L').parse::<u64>().ok();
    let is_meant =
        lines.trim_start_matches('L').starts_with(|it: char| it.is_ascii_digit() || it == '-');
    if !is_meant {
        // A colon in a name, such as a drive letter.
        return LineRange { path: text, lines: LineSpan::All };
    }
    let (start, end) = lines.split_once('-').unwrap_or((lines, lines));
    let lines = number(start)
        .zip(number(end))
        .map_or(LineSpan::Broken, |(start, end)| LineSpan::From(start, end));
    LineRange { path, lines }
}
