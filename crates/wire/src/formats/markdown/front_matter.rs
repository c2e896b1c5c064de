//! YAML between two lines `---` at the beginning of a Markdown text.

use std::ops::Range;

use baton_core::document::Node;
use baton_core::package::Format;

use crate::formats::{FormatError, FormatFault, guess, yaml};
use crate::position::TextPosition;

/// Front matter, by the bytes of its parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FrontMatter {
    pub(super) open: Range<usize>,
    pub(super) content: Range<usize>,
    pub(super) close: Range<usize>,
}

/// Longer text between two rules is prose.
const MOST_BYTES: usize = 64 * 1024;

impl FrontMatter {
    /// The front matter that a text begins with; blank lines may stand before it.
    pub(super) fn of(text: &str) -> Option<Self> {
        let before = text.len() - text.trim_start().len();
        // The rule begins its line.
        let start = text[..before].rfind('\n').map_or(0, |it| it + 1);
        let (first, second) = blocks_of(&text[start..]).next()?;
        (first.start == 0).then(|| Self {
            open: start..start + first.end,
            content: start + first.end..start + second.start,
            close: start + second.start..start + second.end,
        })
    }

    /// Its YAML, which is a map. Errors are reported at their position in the whole text.
    pub(super) fn read(&self, text: &str) -> Result<Node, FormatError> {
        let start = TextPosition::of(text, self.content.start);
        let wrong = |at: TextPosition, sentence: String| FormatError {
            format: Format::Markdown,
            at,
            fault: FormatFault::NoMetadata(sentence),
        };
        match yaml::decode(&text[self.content.clone()]) {
            Ok(node @ Node::Map(_)) => Ok(node),
            Ok(_) => Err(wrong(start, "the front matter holds no keys".to_owned())),
            Err(error) => {
                let at = TextPosition { line: start.line + error.at.line - 1, ..error.at };
                Err(wrong(at, format!("the front matter cannot be read: {}", error.fault)))
            }
        }
    }
}

/// True for a text that begins with front matter. Where YAML follows it, the text is two documents of
/// YAML.
pub(crate) fn begins(text: &str) -> bool {
    FrontMatter::of(text).is_some_and(|it| {
        let mut rest = text[it.close.end..].lines().filter(|it| !it.trim().is_empty());
        !rest.next().is_some_and(guess::begins_yaml)
    })
}

/// Everything in a text that could be front matter: from a rule to the end of the next one.
pub(crate) fn blocks(text: &str) -> impl Iterator<Item = Range<usize>> {
    blocks_of(text).map(|(first, second)| first.start..second.end)
}

/// Pairs of lines `---` with YAML between them.
fn blocks_of(text: &str) -> impl Iterator<Item = (Range<usize>, Range<usize>)> {
    let mut start = 0;
    let mut last: Option<Range<usize>> = None;
    text.split_inclusive('\n').filter_map(move |line| {
        let range = start..start + line.len();
        start = range.end;
        if line.trim_end() != "---" {
            return None;
        }
        let first = last.replace(range.clone())?;
        let content = &text[first.end..range.start];
        let is_yaml = content.len() <= MOST_BYTES
            && content.lines().find(|it| !it.trim().is_empty()).is_some_and(guess::begins_yaml);
        is_yaml.then_some((first, range))
    })
}

/// True for an opening line of front matter.
pub(super) fn is_rule(line: &str) -> bool {
    line.trim_end() == "---"
}

/// The YAML between the two rules, without its last line break.
pub(super) fn print(metadata: &Node) -> String {
    let mut text = yaml::encode(metadata);
    text.truncate(text.strip_suffix('\n').map_or(text.len(), str::len));
    text
}
