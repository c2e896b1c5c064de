//! Invisible characters, which may hide or reorder their neighbours.

use super::rule::LintRule;
use super::sink::Sink;
use super::texts::Trail;
use crate::invisible::hidden;

/// Kinds of characters that are named in one finding.
const MOST_NAMED: usize = 5;

pub(super) fn check(text: &str, trail: &Trail<'_>, sink: &mut Sink) {
    let found = found(text);
    if found.is_empty() {
        return;
    }
    let mut names: Vec<String> =
        found.iter().take(MOST_NAMED).map(|it| format!("U+{:04X}", *it as u32)).collect();
    if found.len() > MOST_NAMED {
        names.push("others".to_owned());
    }
    let characters = if found.len() == 1 { "character" } else { "characters" };
    let message = format!("holds the invisible {characters} {}", names.join(", "));
    sink.say(LintRule::InvisibleCharacter, trail.to_string(), message);
}

/// Each kind once, in the order of the text; one more than is named is enough.
fn found(text: &str) -> Vec<char> {
    // The common case by bytes; below 0x20 only the three layout characters are allowed.
    if text.is_ascii() {
        let is_bad = |it: &u8| *it < 0x20 && !matches!(it, b'\t' | b'\n' | b'\r') || *it == 0x7F;
        return distinct(text.bytes().filter(is_bad).map(char::from));
    }
    let is_fine = |at: usize, it: char| it == '\r' || (at == 0 && it == '\u{FEFF}');
    distinct(hidden(text).filter(|&(at, it)| !is_fine(at, it)).map(|(_, it)| it))
}

fn distinct(all: impl Iterator<Item = char>) -> Vec<char> {
    let mut found = Vec::new();
    for it in all {
        if !found.contains(&it) {
            found.push(it);
        }
        if found.len() > MOST_NAMED {
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_invisible_is_found_and_what_belongs_there_is_not() {
        for (text, expected) in [
            ("plain\ttext\nwith\r\nlines", None),
            ("Grüße, 日本語, مرحبا", None),
            ("👩\u{200D}💻 and 🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}", None),
            ("می\u{200C}خواهم", None),
            ("\u{FEFF}first", None),
            ("bell\u{7}", Some('\u{7}')),
            ("é\u{1B}[31m", Some('\u{1B}')),
            ("admin\u{202E}nimda", Some('\u{202E}')),
            ("pass\u{200B}word", Some('\u{200B}')),
            ("a\u{200D}b", Some('\u{200D}')),
            ("hidden\u{E0041}", Some('\u{E0041}')),
            ("inside\u{FEFF}", Some('\u{FEFF}')),
            ("soft\u{AD}hyphen", Some('\u{AD}')),
            ("I ❤\u{FE0F} it", None),
            ("❤\u{FE0F}\u{200D}🔥", None),
            ("ok\u{FE01}\u{FE02}", Some('\u{FE01}')),
            ("😀\u{E0158}\u{E0159}", Some('\u{E0158}')),
            ("Hangul\u{3164}filler", Some('\u{3164}')),
            ("braille\u{2800}blank", Some('\u{2800}')),
        ] {
            assert_eq!(found(text).first().copied(), expected, "{text:?}");
        }
    }

    #[test]
    fn every_kind_of_invisible_character_is_named_once() {
        assert_eq!(found("a\u{1B} b\u{202E} c\u{1B}"), ['\u{1B}', '\u{202E}']);
        assert_eq!(found("\u{1}\u{2}\u{1}"), ['\u{1}', '\u{2}']);
        assert_eq!(found("\u{1}\u{2}\u{3}\u{4}\u{5}\u{6}\u{7}").len(), MOST_NAMED + 1);
    }
}
