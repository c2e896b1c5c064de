//! Foreign text inside one of our messages.

use baton_core::invisible::is_invisible;

const MOST_CHARS: usize = 64;

/// Shortened, and with every invisible character escaped.
pub(crate) fn shown(text: &str) -> String {
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
        assert_eq!(shown(&"x".repeat(1000)), format!("{}…", "x".repeat(64)));
    }
}
