//! Foreign text inside one of our messages.

use baton_core::invisible::is_invisible;
use baton_core::lint::redacted;

const MOST_CHARS: usize = 64;
const MOST_LOOKED_AT: usize = 2048;

/// Shortened, without secrets, and with every invisible character escaped.
pub(crate) fn shown(text: &str) -> String {
    // A secret that is cut would not be known as one, so it goes first; none is this long.
    let start = &text[..text.floor_char_boundary(MOST_LOOKED_AT)];
    let text = &redacted(start);
    let mut shown = String::new();
    for (index, it) in text.chars().enumerate() {
        if index == MOST_CHARS {
            shown.push('…');
            break;
        }
        if is_invisible(it) {
            shown.push_str(&format!("U+{:04X}", it as u32));
        } else {
            shown.push(it);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_invisible_or_long_cannot_disturb_a_sentence() {
        assert_eq!(shown("plain"), "plain");
        assert_eq!(shown("a\u{202E}b\n"), "aU+202EbU+000A");
        assert_eq!(shown("AKIAQ7RT2WLM5NZX8KVD"), "[redacted]");
        assert_eq!(shown(&"x".repeat(1000)), format!("{}…", "x".repeat(64)));
    }
}
