//! How a text is written so that every reader takes it for text.

use baton_core::invisible::is_formatting;

/// True where the text needs no quotes, as a key or as a value in block style.
pub(super) fn is_plain(text: &str) -> bool {
    let Some(first) = text.chars().next() else { return false };
    starts_plain(first)
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        && !text.contains(" #")
        && text.chars().all(is_printable)
        && !is_word(text)
        && !looks_like_number(text)
}

/// No indicator of YAML, and nothing that could be the beginning of one.
fn starts_plain(it: char) -> bool {
    it.is_alphanumeric() || matches!(it, '_' | '/' | '.' | '(' | '$' | '+' | '<' | '^' | ';')
}

/// Visible in every reader, and a line break in none.
fn is_printable(it: char) -> bool {
    !is_formatting(it) && !matches!(it, '\u{FFFE}' | '\u{FFFF}' | '\u{FFF9}'..='\u{FFFB}')
}

/// Words that some readers take for something else than text.
fn is_word(text: &str) -> bool {
    const WORDS: [&str; 10] = ["y", "n", "yes", "no", "on", "off", "true", "false", "null", "<<"];
    WORDS.iter().any(|it| it.eq_ignore_ascii_case(text))
}

/// Numbers, dates, times and infinities, in any notation of YAML 1.1 or 1.2. Errs towards quotes.
fn looks_like_number(text: &str) -> bool {
    let begins = |it: char| it.is_ascii_digit() || matches!(it, '+' | '.');
    let is_sure = |it: char| {
        let is_digit_like =
            matches!(it.to_ascii_lowercase(), 'a'..='f' | 'x' | 'o' | 't' | 'z' | 'i' | 'n');
        (it.is_alphabetic() && !is_digit_like) || matches!(it, '/' | '%' | '(' | ')')
    };
    text.starts_with(begins) && !text.contains(is_sure)
}

/// True where a text of several lines can be written literally, under a `|`.
pub(super) fn is_literal(text: &str) -> bool {
    let is_good_line = |it: &str| {
        it.is_empty() || (!it.starts_with('\t') && !it.chars().all(|it| it == ' ' || it == '\t'))
    };
    text.contains('\n')
        && text.chars().any(|it| it != '\n')
        && text.chars().all(|it| matches!(it, '\n' | '\t') || is_printable(it))
        && text.split('\n').all(is_good_line)
}

/// The indicator behind `|`: the indentation, where the first line does not show it, and the
/// handling of the line breaks at its end.
pub(super) fn literal_header(text: &str) -> String {
    let indentation = if text.starts_with([' ', '\n']) { "2" } else { "" };
    let chomping = match text.len() - text.trim_end_matches('\n').len() {
        0 => "-",
        1 => "",
        _ => "+",
    };
    format!("|{indentation}{chomping}")
}

/// The text in double quotes.
pub(super) fn quoted(text: &str, out: &mut String) {
    out.push('"');
    for it in text.chars() {
        match it {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            _ if is_printable(it) => out.push(it),
            _ => {
                let code = it as u32;
                out.push_str(&match code {
                    0..=0xFF => format!("\\x{code:02x}"),
                    0x100..=0xFFFF => format!("\\u{code:04x}"),
                    _ => format!("\\U{code:08x}"),
                });
            }
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_everybody_reads_as_text_stands_without_quotes() {
        let plain = "a|security-check|Specs validated, moving to design|it's [fine] {here}|a:b|é|日本\
            |http://x.y/z#a|96%|2 days 4 hours|.project/02|/path|nothing|Yesterday|12 passed|a'b\"c\
            |null and void|(x)|$HOME|v1.2.3";
        for text in plain.split('|') {
            assert!(is_plain(text), "{text}");
        }
        let quoted = "\u{7F}|| a|a |a: b|a #b|a:|-|- a|? a|: a|, a|[a|]|{a|}|#a|&a|*a|!a|>|'a|\"a|%a|@a|`a\
            |=|~|null|Null|NULL|true|False|yes|No|ON|off|y|N|<<|...|---|0|1|-1|+1|1.5|1e3|0x1F|0o17|017\
            |0b1|1_000|.5|.inf|-.inf|.NaN|12:30:45|2024-01-15|2001-12-14t21:59:43.10-05:00\
            |2024-01-15T14:30:00Z|a\nb|a\tb|a\u{85}|a\u{200B}|\u{FEFF}a|a\u{2028}b|a\u{FFFF}";
        for text in quoted.split('|') {
            assert!(!is_plain(text), "{text}");
        }
    }

    #[test]
    fn lines_stand_as_they_are_only_where_nothing_can_be_lost() {
        for (text, header) in
            [("a\nb", "|-"), ("a\nb\n", "|"), ("a\n\n", "|+"), (" a\nb", "|2-"), ("\na", "|2-")]
        {
            assert!(is_literal(text), "{text:?}");
            assert_eq!(literal_header(text), header);
        }
        for text in ["a", "", "\n", "\n\n", "a\n ", "a\n \nb", "a\r\nb", "a\nb\u{85}", "a\n\tb"] {
            assert!(!is_literal(text), "{text:?}");
        }
    }
}
