//! Text from agents and people on a terminal, shown beside Baton's own.
//!
//! It can neither hide nor forge output: invisible characters are escaped, and only its first line
//! can begin where a line of Baton's could.

use baton_core::invisible;

use super::table;

/// Prefix of every further line of foreign text, and of every line of a [`block`].
const MARGIN: &str = "  | ";

/// Foreign text inside a line or a cell. Its further lines are behind a margin.
pub(crate) fn visible(text: &str) -> String {
    spelled(text).replace('\n', &format!("\n{MARGIN}"))
}

/// Foreign text in lines of its own, all behind a margin. Lines wider than the terminal are wrapped
/// here: the terminal would continue at its left edge.
pub(crate) fn block(text: &str) -> String {
    let text = spelled(text);
    let lines = text.lines().flat_map(|it| table::wrapped(it, MARGIN.len()));
    let lines: Vec<String> =
        lines.map(|it| format!("{MARGIN}{it}").trim_end().to_owned()).collect();
    lines.join("\n")
}

/// One line of at most `most` characters.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    let line = one_line(text);
    if line.chars().count() <= most {
        return line;
    }
    let cut: String = line.chars().take(most.saturating_sub(1)).collect();
    format!("{cut}…")
}

/// As [`shortened`], with its blanks as they are: an indented line stays one.
pub(crate) fn shortened_line(line: &str, most: usize) -> String {
    let line = spelled(line);
    if line.chars().count() <= most {
        return line;
    }
    let cut: String = line.chars().take(most.saturating_sub(1)).collect();
    format!("{cut}…")
}

/// All of it on one line.
pub(crate) fn one_line(text: &str) -> String {
    spelled(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn spelled(text: &str) -> String {
    invisible::spelled(text, |it| format!("\\u{{{:x}}}", it as u32))
}

#[cfg(test)]
mod tests {
    use baton_hostile::{PatternTarget, Steep, patterns_for};

    use super::*;

    #[test]
    fn text_of_others_cannot_play_tricks_on_a_terminal() {
        assert_eq!(visible("a\u{1b}[2Jb"), "a\\u{1b}[2Jb");
        assert_eq!(visible("\u{202e}gpj"), "\\u{202e}gpj");
        assert_eq!(visible("back\rover"), "back\\u{d}over");
        assert_eq!(visible("next\u{85}\u{2028}line"), "next\\u{85}\\u{2028}line");
        assert_eq!(visible("a\u{e0151}"), "a\\u{e0151}");
        assert_eq!(visible("I ❤\u{fe0f} it"), "I ❤\u{fe0f} it");
    }

    #[test]
    fn only_the_first_line_of_others_begins_where_a_line_of_ours_could() {
        assert_eq!(visible("line\n\ttab\n"), "line\n  | \ttab\n  | ");
        assert_eq!(
            block("TYPE  AND THEN\n\nbaton approve 1"),
            "  | TYPE  AND THEN\n  |\n  | baton approve 1"
        );
        assert_eq!(block(""), "");
    }

    #[test]
    fn a_long_text_is_cut_to_a_line() {
        assert_eq!(shortened("one\n two  three", 20), "one two three");
        assert_eq!(shortened("one two three", 8), "one two…");
    }
    #[test]
    fn making_characters_visible_is_linear() {
        let mut steep = Steep::default();
        for pattern in patterns_for(PatternTarget::Text) {
            steep.look(pattern.name, |n| pattern.text(n), |text| visible(text));
        }
        steep.assert_none();
    }
}
