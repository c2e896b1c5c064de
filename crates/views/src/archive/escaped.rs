//! Escapes text of others for a page of Markdown: it stays plain text, on one line.

use crate::prompt::fence::one_line;

/// Longer than a reader needs on one line.
const MOST_CHARS: usize = 2000;

/// Characters that could begin markup, end a cell, mention a user or be taken for HTML.
const MARKUP: &str = "\\`*_[]<>|#~&!$@";

/// Line breaks are made visible, invisible characters are spelled out, and no character is markup.
pub(super) fn escaped(text: &str) -> String {
    let lines: Vec<&str> = text.trim().lines().collect();
    let mut escaped = String::new();
    for it in one_line(&lines.join(" ⏎ "), MOST_CHARS).chars() {
        if MARKUP.contains(it) {
            escaped.push('\\');
        }
        escaped.push(it);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn text_of_others_is_no_markup() {
        for (text, expected) in [
            ("plain, with a full stop.", "plain, with a full stop."),
            ("a\n# Forged heading", r"a ⏎ \# Forged heading"),
            ("| a | b |\r\n|---|---|", r"\| a \| b \| ⏎ \|---\|---\|"),
            ("<script>&amp;", r"\<script\>\&amp;"),
            ("[x](javascript:1)", r"\[x\](javascript:1)"),
            (r"\| already", r"\\\| already"),
            ("\u{202E}back", "⟦U+202E⟧back"),
        ] {
            assert_eq!(escaped(text), expected);
        }
    }

    proptest! {
        #[test]
        fn no_text_leaves_its_line_or_ends_its_cell(text in any::<String>()) {
            let escaped = escaped(&text);
            let breaks = ['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}'];
            prop_assert!(!escaped.contains(breaks), "{}", escaped);
            let mut is_escaped = false;
            for it in escaped.chars() {
                prop_assert!(is_escaped || it == '\\' || !MARKUP.contains(it), "{}", escaped);
                is_escaped = it == '\\' && !is_escaped;
            }
            prop_assert!(!is_escaped, "{}", escaped);
        }
    }
}
