//! The content of a summary, and its length.

use super::rule::LintRule;
use super::sink::Sink;
use super::vague::is_vague;
use crate::contract::Body;
use crate::document::Node;

pub(super) const MOST_CHARS: usize = 600;
pub(super) const MOST_SENTENCES: usize = 3;

/// Where the source documents write what was done, and what the next agent has to know.
pub(super) const SUMMARIES: &[&str] = &["summary", "context.summary", "refactor_summary"];
pub(super) const CONTEXT: &str = "handoff.context";

/// A full stop after these does not end a sentence.
const ABBREVIATIONS: &[&str] = &["e.g", "i.e", "etc", "vs", "approx", "no", "cf", "incl", "resp"];

pub(super) fn check(body: &Body<'_>, sink: &mut Sink) {
    for path in SUMMARIES {
        let Some(text) = text_at(body, path) else { continue };
        tell_vague(text, body, path, sink);
        let n_sentences = n_sentences(text);
        if n_sentences > MOST_SENTENCES {
            sink.say(
                LintRule::LongSummary,
                body.field_path(path),
                format!("has {n_sentences} sentences"),
            );
        } else if text.len() > MOST_CHARS && text.chars().count() > MOST_CHARS {
            let n_chars = text.chars().count();
            sink.say(
                LintRule::LongSummary,
                body.field_path(path),
                format!("has {n_chars} characters"),
            );
        }
    }
    if let Some(text) = text_at(body, CONTEXT) {
        tell_vague(text, body, CONTEXT, sink);
    }
}

fn tell_vague(text: &str, body: &Body<'_>, path: &str, sink: &mut Sink) {
    if !super::blanks::is_placeholder(text) && is_vague(text) {
        sink.say(
            LintRule::VagueSummary,
            body.field_path(path),
            "says nothing about this work in particular",
        );
    }
}

/// A text that exists and is not blank: blank ones have a rule of their own.
pub(super) fn text_at<'a>(body: &Body<'a>, path: &str) -> Option<&'a str> {
    body.fields().at(path).and_then(Node::as_text).map(str::trim).filter(|it| !it.is_empty())
}

/// A sentence ends with a mark that is followed by a capital letter, a new line, or nothing.
fn n_sentences(text: &str) -> usize {
    let mut n_sentences = 0;
    let mut is_open = false;
    for (at, it) in text.char_indices() {
        if it.is_whitespace() {
            continue;
        }
        if !matches!(it, '.' | '!' | '?' | '…') {
            is_open = true;
            continue;
        }
        let rest = &text[at + it.len_utf8()..];
        let next = rest.trim_start_matches(['"', '\'', ')', '”', '`']);
        let ends = next.is_empty() || next.starts_with(char::is_whitespace);
        let goes_on = next.trim_start().starts_with(|it: char| it.is_lowercase());
        if is_open && ends && !goes_on && !(it == '.' && is_abbreviated(&text[..at])) {
            n_sentences += 1;
            is_open = false;
        }
    }
    n_sentences + usize::from(is_open)
}

fn is_abbreviated(before: &str) -> bool {
    let last = before.rsplit(char::is_whitespace).next().unwrap_or_default();
    ABBREVIATIONS.iter().any(|it| it.eq_ignore_ascii_case(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_counted_as_a_reader_would() {
        for (text, expected) in [
            ("One", 1),
            ("One. Two! Three?", 3),
            ("Version 2.4.1 is out, e.g. for src/a.rs. Done.", 2),
            ("Use approx. 4 days. (Or 5.) Then \"stop.\" End", 4),
            ("and so on... then more", 1),
            ("Wait. what?", 1),
            ("", 0),
        ] {
            assert_eq!(n_sentences(text), expected, "{text}");
        }
    }
}
