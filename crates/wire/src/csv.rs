//! CSV for spreadsheets (RFC 4180), written only.
//!
//! A spreadsheet takes a cell that begins like a formula for one and computes it, whatever stands
//! around it. Such a cell gets an apostrophe before it, so that it is text.

use baton_core::invisible::is_invisible;

/// One record with its line end.
pub fn record<'a>(cells: impl IntoIterator<Item = &'a str>) -> String {
    let mut line = String::new();
    for (index, text) in cells.into_iter().enumerate() {
        if index > 0 {
            line.push(',');
        }
        push_cell(&mut line, text);
    }
    line.push_str("\r\n");
    line
}

fn push_cell(line: &mut String, text: &str) {
    let is_computed = is_formula(text);
    let needs_quotes = is_computed
        || text.starts_with(char::is_whitespace)
        || text.ends_with(char::is_whitespace)
        || text.contains([',', '"', '\r', '\n', ';', '\t']);
    if !needs_quotes {
        line.push_str(text);
        return;
    }
    line.push('"');
    if is_computed {
        line.push('\'');
    }
    for (at, it) in text.char_indices() {
        line.push(it);
        match it {
            '"' => line.push('"'),
            // Where spreadsheets separate cells by these, what follows begins another one.
            ';' | '\t' if is_formula(&text[at + it.len_utf8()..]) => line.push('\''),
            _ => {}
        }
    }
    line.push('"');
}

/// Whether a spreadsheet may compute it: programs skip blanks and what cannot be seen before the sign,
/// and take full-width, small and mathematical signs too. A tab or a line end at the beginning starts
/// another cell in some.
fn is_formula(text: &str) -> bool {
    const SIGNS: [char; 14] =
        ['=', '+', '-', '@', '＝', '＋', '－', '＠', '−', '﹢', '﹣', '﹦', '﹫', '‐'];
    let first = text
        .trim_start_matches(|it: char| it.is_whitespace() || it.is_control() || is_invisible(it));
    let begins = first.starts_with(SIGNS);
    begins || text.starts_with(['\t', '\r', '\n'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_where_they_must_be() {
        for (cells, expected) in [
            (&["a", "b"][..], "a,b\r\n"),
            (
                &["a,b", "say \"no\"", "two\r\nlines"],
                "\"a,b\",\"say \"\"no\"\"\",\"two\r\nlines\"\r\n",
            ),
            (&["", "", "ü 🚀"], ",,ü 🚀\r\n"),
            (&[" a", "b "], "\" a\",\"b \"\r\n"),
            (&["2025-06-15T15:06:40Z", "a=b", "x-1"], "2025-06-15T15:06:40Z,a=b,x-1\r\n"),
        ] {
            assert_eq!(record(cells.iter().copied()), expected);
        }
    }

    #[test]
    fn what_follows_another_separator_is_no_formula_either() {
        for (cell, expected) in [
            (";=1", "\";'=1\"\r\n"),
            ("a; =1; b", "\"a;' =1; b\"\r\n"),
            ("a\t@x", "\"a\t'@x\"\r\n"),
            ("a; b-c", "\"a; b-c\"\r\n"),
        ] {
            assert_eq!(record([cell]), expected, "{cell}");
        }
    }

    #[test]
    fn no_cell_is_a_formula() {
        for formula in [
            "=1+1",
            "+1",
            "-1",
            "@SUM(A1)",
            "\t=1",
            "\r=1",
            "\n=1",
            "  =1",
            "\u{a0}=1",
            "＝1",
            "=HYPERLINK(\"http://x\",\"y\")",
            "-2+3+cmd|' /C calc'!A0",
        ] {
            let line = record([formula]);
            assert!(line.starts_with("\"'"), "{line:?}");
            assert!(line.ends_with("\"\r\n"), "{line:?}");
        }
    }
}
