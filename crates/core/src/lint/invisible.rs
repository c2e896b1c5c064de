//! Characters that nobody sees, and that may hide or turn around what stands beside them.

use super::rule::Rule;
use super::sink::Sink;
use super::texts::Trail;
use crate::names::is_invisible;

/// After this, tags spell out a flag: England's is a black flag and six of them.
const BLACK_FLAG: char = '\u{1F3F4}';

pub(super) fn look(text: &str, trail: &Trail<'_>, sink: &mut Sink) {
    if let Some(code) = first(text) {
        let message = format!("holds the invisible character U+{:04X}", code as u32);
        sink.say(Rule::InvisibleCharacter, trail.to_string(), message);
    }
}

fn first(text: &str) -> Option<char> {
    // The common case by bytes; below 0x20 only the three that a text is laid out with.
    if text.is_ascii() {
        let is_bad = |it: &u8| *it < 0x20 && !matches!(it, b'\t' | b'\n' | b'\r') || *it == 0x7F;
        return text.bytes().find(|it| is_bad(it)).map(char::from);
    }
    let mut before = ' ';
    let mut is_flag = false;
    for (at, it) in text.char_indices() {
        is_flag = it == BLACK_FLAG || (is_flag && is_tag(it));
        let is_fine = !is_invisible(it) && it != '\u{AD}'
            || matches!(it, '\t' | '\n' | '\r')
            || is_flag
            || (it == '\u{FEFF}' && at == 0)
            || is_joining(it, before, text[at + it.len_utf8()..].chars().next());
        if !is_fine {
            return Some(it);
        }
        before = it;
    }
    None
}

fn is_tag(it: char) -> bool {
    matches!(it, '\u{E0020}'..='\u{E007F}')
}

/// Joiners belong between emoji and between the letters of many scripts, not between ASCII.
fn is_joining(it: char, before: char, after: Option<char>) -> bool {
    matches!(it, '\u{200C}' | '\u{200D}')
        && !before.is_ascii()
        && after.is_none_or(|it| !it.is_ascii())
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
        ] {
            assert_eq!(first(text), expected, "{text:?}");
        }
    }
}
