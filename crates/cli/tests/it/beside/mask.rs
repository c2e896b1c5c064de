//! What is different every time: ids, hashes, times, and the blanks that a table puts around them.

/// The same text for two runs of the same command.
pub(crate) fn masked(text: &str) -> String {
    let mut shown = String::new();
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let (mask, n_bytes) = match (time(rest), hex(rest), ago(rest)) {
            (Some(n), _, _) => ("TIME", n),
            (None, Some(n), _) => ("HEX", n),
            (None, None, Some(n)) => ("AGO", n),
            (None, None, None) => ("", next.len_utf8()),
        };
        if mask.is_empty() {
            // How wide a column is depends on what stands in it.
            if next != ' ' || !shown.ends_with(' ') {
                shown.push(next);
            }
        } else {
            shown += mask;
        }
        rest = &rest[n_bytes..];
    }
    shown
}

/// `2026-11-15T14:03:21.5Z`, or with a blank in the middle.
fn time(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    for (index, wanted) in b"0000-00-00T00:00:00".iter().enumerate() {
        let found = bytes.get(index)?;
        let fits = match wanted {
            b'0' => found.is_ascii_digit(),
            b'T' => matches!(found, b'T' | b' '),
            wanted => found == wanted,
        };
        if !fits {
            return None;
        }
    }
    let tail = |it: &&u8| it.is_ascii_digit() || matches!(it, b'.' | b'Z');
    Some(19 + bytes[19..].iter().take_while(tail).count())
}

/// An id or a hash.
fn hex(text: &str) -> Option<usize> {
    let is_hex = |it: &u8| it.is_ascii_digit() || (b'a'..=b'f').contains(it) || *it == b'-';
    let run = text.as_bytes().iter().take_while(|it| is_hex(it)).count();
    let has_digit = text.as_bytes()[..run].iter().any(u8::is_ascii_digit);
    (run >= 8 && has_digit).then_some(run)
}

/// `3 s ago`.
fn ago(text: &str) -> Option<usize> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let unit = [" s ago", " min ago"].into_iter().find(|it| text[digits..].starts_with(it))?;
    (digits > 0).then_some(digits + unit.len())
}

#[test]
fn only_what_differs_is_masked() {
    for (text, expected) in [
        ("at 2026-11-15T14:03:21.5Z", "at TIME"),
        ("at 2026-11-15 14:03:21, then", "at TIME, then"),
        ("1    s1  12 s ago  x", "1 s1 AGO x"),
        ("\"id\": \"01a1e219-3341-7716-acde-58dd614316ef\"", "\"id\": \"HEX\""),
        ("HO-001 facade-added 12345", "HO-001 facade-added 12345"),
    ] {
        assert_eq!(masked(text), expected);
    }
}
