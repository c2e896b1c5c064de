//! Invisible characters, which may hide or reorder their neighbours.

use super::rule::LintRule;
use super::sink::Sink;
use super::texts::Trail;
use crate::invisible::hidden;

pub(super) fn check(text: &str, trail: &Trail<'_>, sink: &mut Sink) {
    if let Some(code) = first(text) {
        let message = format!("holds the invisible character U+{:04X}", code as u32);
        sink.say(LintRule::InvisibleCharacter, trail.to_string(), message);
    }
}

fn first(text: &str) -> Option<char> {
    // The common case by bytes; below 0x20 only the three layout characters are allowed.
    if text.is_ascii() {
        let is_bad = |it: &u8| *it < 0x20 && !matches!(it, b'\t' | b'\n' | b'\r') || *it == 0x7F;
        return text.bytes().find(|it| is_bad(it)).map(char::from);
    }
    let is_fine = |at: usize, it: char| it == '\r' || (at == 0 && it == '\u{FEFF}');
    hidden(text).find(|&(at, it)| !is_fine(at, it)).map(|(_, it)| it)
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
            assert_eq!(first(text), expected, "{text:?}");
        }
    }
}
