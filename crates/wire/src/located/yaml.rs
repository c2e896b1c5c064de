//! YAML 1.2, restricted to the subset that all parsers read alike.
//!
//! One document, no tags, no anchors, no aliases, no directives, each key once. `yes`, `on` and
//! `010` are text; a number is what JSON calls one. Since JSON is YAML, this reads JSON files too.

use std::collections::HashSet;

use baton_core::document::Number;
use baton_core::invisible::is_invisible;
use granit_parser::{Event, Parser, ScalarStyle, Span};

use super::{Located, LocatedValue, Member};
use crate::duplicates::first_duplicate;
use crate::file_problem::{FileProblem, Problems};
use crate::position::TextPosition;
use crate::shown::shown;

/// The maximum nesting depth.
pub const MOST_DEPTH: usize = 64;

/// The rule that a text breaks that is no YAML at all.
pub(crate) const SYNTAX: &str = "yaml_syntax";

/// Reads one document of at most `most_bytes`. An empty text is a null document.
pub fn parse(text: &str, most_bytes: usize) -> Result<Located, Vec<FileProblem>> {
    Problems::collect(|it| read(text, most_bytes, it))
}

/// As [`parse`], for a reader with further checks on the same file: the result may have problems,
/// and is present whenever further checks make sense.
pub(crate) fn read(text: &str, most_bytes: usize, problems: &mut Problems) -> Option<Located> {
    if text.len() > most_bytes {
        let message = format!("the file has {} bytes; the most is {most_bytes}", text.len());
        problems.add(TextPosition::START, "", "too_large", message);
        return None;
    }
    if let Some(offset) = text.find('\0') {
        problems.add(TextPosition::of(text, offset), "", "nul", NUL);
        return None;
    }
    // One more than our limit, so that the parser refuses nothing that we accept.
    let options = granit_parser::options! {
        disallow_directives: true,
        flow_nesting_limit: MOST_DEPTH + 1,
        block_nesting_limit: MOST_DEPTH + 1,
    };
    let mut builder = Builder { open: Vec::new(), root: None, problems };
    for next in Parser::new_from_str_with_options(text, options) {
        match next {
            Ok((event, span)) => builder.take(event, &span)?,
            Err(error) => {
                let marker = error.marker();
                let at = TextPosition { line: marker.line().max(1), column: marker.col() + 1 };
                let info = error.info();
                if info == "recursion limit exceeded" {
                    builder.refuse_depth(at);
                } else if info.contains("directives are disallowed") {
                    let message = "directives are not read; leave the line with `%` out";
                    builder.problems.add(at, "", "directive", message);
                } else {
                    builder.problems.add(at, "", SYNTAX, sentence(&info));
                }
                return None;
            }
        }
    }
    Some(builder.root.unwrap_or(Located { at: TextPosition::START, value: LocatedValue::Null }))
}

const NUL: &str = "the character U+0000 is refused everywhere";

/// The parser's message, in the form our messages have.
fn sentence(info: &str) -> String {
    let info: String = info.chars().filter(|it| !is_invisible(*it)).take(200).collect();
    format!("is not YAML: {}", info.trim_end_matches('.'))
}

/// A list or map that is still open.
enum OpenNode {
    List { at: TextPosition, items: Vec<Located> },
    Map { at: TextPosition, members: Vec<Member>, key: Option<(String, TextPosition)> },
}

struct Builder<'p> {
    open: Vec<OpenNode>,
    root: Option<Located>,
    problems: &'p mut Problems,
}

impl Builder<'_> {
    /// `None` where reading on would only mislead.
    fn take(&mut self, event: Event<'_>, span: &Span) -> Option<()> {
        let at = TextPosition { line: span.start.line().max(1), column: span.start.col() + 1 };
        match event {
            Event::DocumentStart(..) if self.root.is_some() => {
                let message = "a second document starts here; a file holds one";
                self.problems.add(at, "", "several_documents", message);
                None
            }
            Event::Scalar(text, style, anchor, tag) => {
                self.refuse_properties(at, anchor, tag.is_some());
                if text.contains('\0') {
                    self.problems.add(at, "", "nul", NUL);
                }
                // The parser reports `~` for a missing value. As a key, that is never intended.
                let is_left_out = span.start.index() >= span.end.index();
                if self.awaits_key() && is_left_out {
                    self.problems.add(at, "", "missing_key", "a key is missing before the `:`");
                    return None;
                }
                self.scalar(at, text.into_owned(), style)
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.refuse_properties(at, anchor, tag.is_some());
                self.begin(at, OpenNode::List { at, items: Vec::new() })
            }
            Event::MappingStart(_, anchor, tag) => {
                self.refuse_properties(at, anchor, tag.is_some());
                self.begin(at, OpenNode::Map { at, members: Vec::new(), key: None })
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(),
            Event::Alias(_) | Event::UnresolvedAlias(_) => {
                let message = "aliases are not read; write the value out";
                self.problems.add(at, "", "alias", message);
                self.scalar(at, String::new(), ScalarStyle::Plain)
            }
            Event::Anchor(..)
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(..)
            | Event::DocumentEnd => Some(()),
            // A newer parser may report more kinds of events; do not guess their meaning.
            _ => {
                self.problems.add(at, "", "yaml_syntax", "holds something that is not read here");
                None
            }
        }
    }

    fn awaits_key(&self) -> bool {
        matches!(self.open.last(), Some(OpenNode::Map { key: None, .. }))
    }

    fn refuse_properties(&mut self, at: TextPosition, anchor: usize, has_tag: bool) {
        if anchor != 0 {
            self.problems.add(at, "", "anchor", "anchors are not read; leave the `&name` out");
        }
        if has_tag {
            self.problems.add(at, "", "tag", "tags are not read; leave the `!name` out");
        }
    }

    fn scalar(&mut self, at: TextPosition, text: String, style: ScalarStyle) -> Option<()> {
        if let Some(OpenNode::Map { key: key @ None, .. }) = self.open.last_mut() {
            // A key is its text, whatever it would be as a value.
            *key = Some((text, at));
            return Some(());
        }
        let value = match style {
            ScalarStyle::Plain => plain(text),
            ScalarStyle::SingleQuoted
            | ScalarStyle::DoubleQuoted
            | ScalarStyle::Literal
            | ScalarStyle::Folded => LocatedValue::Text(text),
        };
        self.add(Located { at, value });
        Some(())
    }

    fn begin(&mut self, at: TextPosition, open: OpenNode) -> Option<()> {
        if let Some(OpenNode::Map { key: None, .. }) = self.open.last() {
            let message = "a key has to be text, not a list or a map";
            self.problems.add(at, "", "complex_key", message);
            return None;
        }
        if self.open.len() == MOST_DEPTH {
            self.refuse_depth(at);
            return None;
        }
        self.open.push(open);
        Some(())
    }

    fn refuse_depth(&mut self, at: TextPosition) {
        let message = format!("lists and maps are nested more than {MOST_DEPTH} deep");
        self.problems.add(at, "", "too_deep", message);
    }

    fn end(&mut self) -> Option<()> {
        let ended = match self.open.pop()? {
            OpenNode::List { at, items } => Located { at, value: LocatedValue::List(items) },
            OpenNode::Map { at, members, .. } => {
                self.refuse_duplicates(&members);
                Located { at, value: LocatedValue::Map(members) }
            }
        };
        self.add(ended);
        Some(())
    }

    fn refuse_duplicates(&mut self, members: &[Member]) {
        let keys: Vec<&str> = members.iter().map(|it| it.key.as_str()).collect();
        if first_duplicate(&keys).is_none() {
            return;
        }
        let mut seen = HashSet::with_capacity(members.len());
        for member in members {
            if self.problems.is_full() {
                break;
            }
            if !seen.insert(member.key.as_str()) {
                let key = shown(&member.key);
                let message = "stands here a second time; keep one of them";
                self.problems.add(member.key_at, key, "duplicate_key", message);
            }
        }
    }

    fn add(&mut self, value: Located) {
        match self.open.last_mut() {
            None => self.root = Some(value),
            Some(OpenNode::List { items, .. }) => items.push(value),
            Some(OpenNode::Map { members, key, .. }) => {
                if let Some((key, key_at)) = key.take() {
                    members.push(Member { key, key_at, value });
                }
            }
        }
    }
}

/// The meaning of an unquoted scalar: YAML's core schema, but with JSON's numbers.
fn plain(text: String) -> LocatedValue {
    match text.as_str() {
        "" | "~" | "null" | "Null" | "NULL" => LocatedValue::Null,
        "true" | "True" | "TRUE" => LocatedValue::Bool(true),
        "false" | "False" | "FALSE" => LocatedValue::Bool(false),
        _ => match Number::parse(&text) {
            Some(number) => LocatedValue::Number(number),
            None => LocatedValue::Text(text),
        },
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    use super::*;
    use crate::json;

    const MOST_BYTES: usize = 64 * 1024;

    #[track_caller]
    fn check_good(yaml: &str, as_json: &str) {
        let located = parse(yaml, MOST_BYTES).unwrap();
        assert_eq!(json::print(&located.to_node()), as_json, "{yaml}");
    }

    #[track_caller]
    fn check_bad(yaml: &str, expected: &Expect) {
        let problems = parse(yaml, MOST_BYTES).unwrap_err();
        let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
        expected.assert_eq(&lines.join("\n"));
    }

    #[test]
    fn plain_text_means_what_it_looks_like() {
        for (yaml, as_json) in [
            ("", "null"),
            ("# only a comment\n", "null"),
            ("a: no", r#"{"a":"no"}"#),
            ("on: yes", r#"{"on":"yes"}"#),
            ("a: 010", r#"{"a":"010"}"#),
            ("a: 0x1F", r#"{"a":"0x1F"}"#),
            ("a: .nan", r#"{"a":".nan"}"#),
            ("a: 1.50", r#"{"a":1.50}"#),
            ("a: 184467440737095516150", r#"{"a":184467440737095516150}"#),
            ("a: '1'", r#"{"a":"1"}"#),
            ("a: true\nb: \"true\"\nc: ~\nd:", r#"{"a":true,"b":"true","c":null,"d":null}"#),
            ("1: a\ntrue: b", r#"{"1":"a","true":"b"}"#),
            ("- a\n- {b: [c, 1]}\n", r#"["a",{"b":["c",1]}]"#),
            ("a: |\n  one\n  two\n", r#"{"a":"one\ntwo\n"}"#),
            ("a: >-\n  one\n  two\n", r#"{"a":"one two"}"#),
            ("<<: a", r#"{"<<":"a"}"#),
            ("--- a\n", r#""a""#),
        ] {
            check_good(yaml, as_json);
        }
    }

    #[test]
    fn json_is_read_as_it_is() {
        for text in [
            r#"{"a":[1.0,true,null,"x\/y é 🚀"],"b":{}}"#,
            "[\n\t{\n\t\t\"a\": \"\\ud83d\\ude80\\n\"\n\t}\n]",
            r#"["null","true","1"]"#,
        ] {
            check_good(text, &json::print(&json::parse(text).unwrap()));
        }
    }

    #[test]
    fn what_could_mean_two_things_is_refused() {
        for (yaml, expected) in [
            (
                "a: 1\nb: 2\na: 3\nb: 4",
                expect![[r#"
                line 3, column 1: a: stands here a second time; keep one of them [duplicate_key]
                line 4, column 1: b: stands here a second time; keep one of them [duplicate_key]"#]],
            ),
            (
                "a: &x 1\nb: *x",
                expect![[r#"
                line 1, column 7: anchors are not read; leave the `&name` out [anchor]
                line 2, column 4: aliases are not read; write the value out [alias]"#]],
            ),
            (
                "a: !include /etc/passwd",
                expect!["line 1, column 13: tags are not read; leave the `!name` out [tag]"],
            ),
            (
                "a: 1\n---\nb: 2",
                expect![
                    "line 2, column 1: a second document starts here; a file holds one [several_documents]"
                ],
            ),
            (
                "? [a, b]\n: c",
                expect![
                    "line 1, column 3: a key has to be text, not a list or a map [complex_key]"
                ],
            ),
            (
                "a: \"\\0\"",
                expect!["line 1, column 4: the character U+0000 is refused everywhere [nul]"],
            ),
            (
                "a: x\0",
                expect!["line 1, column 5: the character U+0000 is refused everywhere [nul]"],
            ),
            ("a: [1", expect!["line 1, column 4: is not YAML: unclosed bracket '[' [yaml_syntax]"]),
            (
                "a: b: c",
                expect![
                    "line 1, column 5: is not YAML: mapping values are not allowed in this context [yaml_syntax]"
                ],
            ),
            (
                "%YAML 1.2\n---\na: 1",
                expect![
                    "line 1, column 1: directives are not read; leave the line with `%` out [directive]"
                ],
            ),
        ] {
            check_bad(yaml, &expected);
        }
    }

    #[test]
    fn size_and_depth_have_bounds() {
        let too_large = "x".repeat(MOST_BYTES + 1);
        assert_eq!(parse(&too_large, MOST_BYTES).unwrap_err()[0].problem.rule, "too_large");
        let flow = "[".repeat(30_000);
        assert!(parse(&flow, MOST_BYTES).is_err());
        let mixed = format!("{}{}{}", "- ".repeat(40), "[".repeat(40), "]".repeat(40));
        assert_eq!(parse(&mixed, MOST_BYTES).unwrap_err()[0].problem.rule, "too_deep");
    }

    #[test]
    fn a_path_leads_to_its_place_or_to_the_nearest_one() {
        let root = parse("a:\n  b:\n    - c\n  d: e\n", MOST_BYTES).unwrap();
        for (path, line, column) in
            [("a", 1, 1), ("a.b", 2, 3), ("a.d", 4, 6), ("a.d.x", 4, 6), ("a.x", 1, 1), ("x", 1, 1)]
        {
            assert_eq!(root.place_of(path), TextPosition { line, column }, "{path}");
        }
        let root = parse("a:\n  - b: c\nd:\n  - e\n  - f: g\n", MOST_BYTES).unwrap();
        for (path, line, column) in [
            ("a[0].b", 2, 8),
            ("a.b", 2, 8),
            ("d[0]", 4, 5),
            ("d[0].f", 4, 5),
            ("d[1].f", 5, 8),
            ("d.f", 3, 1),
            ("d[2]", 3, 1),
            ("d[x]", 3, 1),
        ] {
            assert_eq!(root.place_of(path), TextPosition { line, column }, "{path}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in any::<String>()) {
            let _ = parse(&text, MOST_BYTES);
        }

        #[test]
        fn no_text_that_looks_like_yaml_makes_it_panic(
            text in "([a-c]|: |- |\n|\n  |\\[|\\]|\\{|\\}|, |\"|'|&a |\\*a|!t |\\| |> |---|\\.\\.\\.|\\? |#|%|\t|~|1|é){0,40}"
        ) {
            let _ = parse(&text, MOST_BYTES);
        }
    }
}
