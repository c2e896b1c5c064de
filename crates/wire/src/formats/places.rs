//! Where the values of a document stand in its text, for tools that show findings beside the lines.

use std::collections::HashMap;

use baton_core::package::Format;
use quick_xml::Reader;
use quick_xml::events::Event;

use super::markdown;
use crate::located::{self, Located, LocatedValue, Member};
use crate::position::TextPosition;

/// The positions in one document.
pub struct Places {
    root: Option<Located>,
    /// Where the part begins that was read.
    start: TextPosition,
}

impl Places {
    /// Of a text that was read as this format; of any other nothing is known.
    pub fn of(format: Format, text: &str) -> Self {
        let whole = |root| Self { root, start: TextPosition::START };
        match format {
            // JSON is YAML.
            Format::Json | Format::Yaml => whole(located::yaml::parse(text, text.len()).ok()),
            Format::Xml => whole(xml(text)),
            Format::Markdown => match markdown::metadata_range(text) {
                Some(range) => {
                    let start = TextPosition::of(text, range.start);
                    let inner = &text[range];
                    Self { root: located::yaml::parse(inner, inner.len()).ok(), start }
                }
                None => whole(None),
            },
        }
    }

    /// The position of a path such as `handoff.context.artifacts[1]`, or of as much of it as there is.
    pub fn place_of(&self, path: &str) -> TextPosition {
        match &self.root {
            Some(root) if !path.starts_with('#') => root.place_of(path).after(self.start),
            Some(_) | None => TextPosition::START,
        }
    }
}

/// An element that is still open.
struct OpenTag {
    name: String,
    at: TextPosition,
    members: Vec<Member>,
}

/// The elements of a text; where it is no XML, as far as it is.
fn xml(text: &str) -> Option<Located> {
    let text_before = text.len() - text.trim_start_matches('\u{FEFF}').len();
    let text = &text[text_before..];
    let mut reader = Reader::from_str(text);
    let mut open: Vec<OpenTag> = Vec::new();
    let (mut reached, mut place) = (0, TextPosition::START);
    loop {
        let start = usize::try_from(reader.buffer_position()).ok()?.min(text.len());
        place = place.behind(text.get(reached..start)?);
        reached = start;
        let (name, is_empty) = match reader.read_event().ok()? {
            Event::Start(tag) => (tag.name().as_ref().to_owned(), false),
            Event::Empty(tag) => (tag.name().as_ref().to_owned(), true),
            Event::End(_) => match (open.pop(), open.last_mut()) {
                (Some(tag), Some(parent)) => {
                    parent.members.push(tag.into_member());
                    continue;
                }
                (Some(tag), None) => {
                    let value = LocatedValue::Map(vec![tag.into_member()]);
                    return Some(Located { at: TextPosition::START, value });
                }
                (None, _) => return None,
            },
            Event::Eof => return None,
            _ => continue,
        };
        let tag = OpenTag { name, at: place, members: Vec::new() };
        match (is_empty, open.last_mut()) {
            (false, _) => open.push(tag),
            (true, Some(parent)) => parent.members.push(tag.into_member()),
            (true, None) => {
                let value = LocatedValue::Map(vec![tag.into_member()]);
                return Some(Located { at: TextPosition::START, value });
            }
        }
    }
}

impl OpenTag {
    /// Repeated elements are a list, as in the document.
    fn into_member(self) -> Member {
        let mut by_name: HashMap<String, usize> = HashMap::new();
        let mut members: Vec<Member> = Vec::new();
        for member in self.members {
            match by_name.get(&member.key) {
                None => {
                    by_name.insert(member.key.clone(), members.len());
                    members.push(member);
                }
                Some(first) => add_item(&mut members[*first].value, member.value),
            }
        }
        let value = match members.is_empty() {
            true => LocatedValue::Text(String::new()),
            false => LocatedValue::Map(members),
        };
        Member { key: self.name, key_at: self.at, value: Located { at: self.at, value } }
    }
}

fn add_item(list: &mut Located, item: Located) {
    if let LocatedValue::List(items) = &mut list.value {
        items.push(item);
        return;
    }
    let at = list.at;
    let first = std::mem::replace(&mut list.value, LocatedValue::Null);
    list.value = LocatedValue::List(vec![Located { at, value: first }, item]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(format: Format, text: &str, cases: &[(&str, usize, usize)]) {
        let places = Places::of(format, text);
        for (path, line, column) in cases {
            let expected = TextPosition { line: *line, column: *column };
            assert_eq!(places.place_of(path), expected, "{path} in {text}");
        }
    }

    #[test]
    fn a_finding_has_its_place_in_every_format() {
        let yaml = "handoff:\n  from: a\n  context:\n    artifacts:\n      - path: x\n      - y\n";
        check(
            Format::Yaml,
            yaml,
            &[
                ("handoff.from", 2, 9),
                ("handoff.context.artifacts[1]", 6, 9),
                ("handoff.context.summary", 3, 3),
                ("", 1, 1),
            ],
        );
        let json = "{\n\t\"summary\": \"x\",\n  \"files\": [\"a\", \"b\"]\n}";
        check(Format::Json, json, &[("summary", 2, 13), ("files[1]", 3, 18), ("other", 1, 1)]);
        let xml = "<?xml version=\"1.0\"?>\n<handoff>\n  <from>a</from>\n  <issues>\n    \
                   <issue severity=\"x\">1</issue>\n    <issue>2</issue>\n  </issues>\n</handoff>";
        check(
            Format::Xml,
            xml,
            &[
                ("handoff.from", 3, 3),
                ("handoff.issues[0].severity", 5, 5),
                ("handoff.issues[1]", 6, 5),
                ("handoff.to", 2, 1),
            ],
        );
        let markdown = "# Done\n\n## Metadata\n\n```json\n{\n  \"status\": \"x\"\n}\n```\n";
        check(Format::Markdown, markdown, &[("status", 7, 13), ("#markdown.before", 1, 1)]);
        let front = "---\nfrom: a\nstatus: x\n---\n# Done\n";
        check(Format::Markdown, front, &[("status", 3, 9)]);
    }
}
