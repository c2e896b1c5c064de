//! Fields without content: blank ones, and leftover template placeholders.

use super::marks::CharMarks;
use super::rule::LintRule;
use super::sink::Sink;
use super::texts::Trail;

/// Placeholders that people write for later, in any case.
const LATER: &[&str] = &[
    "tbd",
    "tba",
    "todo",
    "to do",
    "to be done",
    "to be determined",
    "to be defined",
    "xxx",
    "wip",
    "placeholder",
    "fill me in",
    "fill in",
    "lorem ipsum",
    "...",
    "…",
    "?",
    "??",
    "???",
    "-",
    "--",
    "string",
    "example",
];

/// The longest of them.
const MOST_LATER: usize = 20;

/// A text that begins with one of these is still to be written.
const LATER_AT_FIRST: &[&str] = &["TODO:", "TBD:", "WIP:", "Lorem ipsum"];

pub(super) fn check(text: &str, marks: CharMarks, trail: &Trail<'_>, sink: &mut Sink) {
    let text = text.trim();
    if text.is_empty() {
        sink.say(LintRule::BlankField, trail.to_string(), "is blank");
    } else if is_marked(text, marks) {
        sink.say(LintRule::Placeholder, trail.to_string(), "still holds what a template had there");
    }
}

/// Matches the whole of a text, not a part of it.
pub(super) fn is_placeholder(text: &str) -> bool {
    is_marked(text.trim(), CharMarks::of(text))
}

fn is_marked(text: &str, marks: CharMarks) -> bool {
    (text.len() <= MOST_LATER && is_later(text))
        || LATER_AT_FIRST.iter().any(|it| text.starts_with(it))
        || (marks.has(CharMarks::BRACKET)
            && (is_mark(text, '<', '>')
                || is_mark(text, '[', ']')
                || crate::skeleton::is_mark(text)))
        || (marks.has(CharMarks::CHOICE) && (text.contains("???") || is_choice(text)))
}

fn is_later(text: &str) -> bool {
    let bare = text.trim_end_matches('.');
    LATER.iter().any(|it| it.eq_ignore_ascii_case(bare) || *it == text)
}

/// `<what belongs there>` or `[what was done]`: several words, or an id such as `[agent-id]`. A tag
/// such as `<Dashboard>` and a link such as `[text](url)` are not.
fn is_mark(text: &str, open: char, close: char) -> bool {
    let Some(inside) = text.strip_prefix(open).and_then(|it| it.strip_suffix(close)) else {
        return false;
    };
    let is_plain = !inside.contains([open, close, '=', '"', '/']) && !inside.is_empty();
    let has_words = inside.contains(' ') || (open == '[' && inside.chars().all(is_id));
    is_plain && has_words && inside.chars().any(char::is_alphabetic)
}

fn is_id(it: char) -> bool {
    it.is_ascii_lowercase() || it == '-' || it == '_'
}

/// `success|failure|blocked`: a choice that was not made.
fn is_choice(text: &str) -> bool {
    let is_name = |it: &str| {
        it.len() > 1 && it.chars().all(|it| it.is_ascii_lowercase() || matches!(it, '-' | '_'))
    };
    text.matches('|').count() >= 2 && text.split('|').all(|it| is_name(it.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_template_left_is_told_from_what_somebody_wrote() {
        for left in [
            "TBD",
            "todo",
            "...",
            "<the steps to take, in order>",
            "[what was done]",
            "[agent-id]",
            "success|failure|blocked",
            "<`high` or `low`: how soon it is needed>",
        ] {
            assert!(is_placeholder(left), "{left}");
        }
        for written in [
            "Removed the last TODO from src/a.rs",
            "<Dashboard>",
            "<a href=\"x\">y z</a>",
            "[link](https://example.org)",
            "GET|POST",
            "7d|30d|90d",
            "none",
            "n/a",
            "[1, 2]",
            "x < y and y > z",
            "todo-list",
            "Todo list with 3 views",
        ] {
            assert!(!is_placeholder(written), "{written}");
        }
    }
}
