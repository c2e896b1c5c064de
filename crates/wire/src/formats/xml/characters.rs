//! Which characters XML may hold, which make a name, and how the others are escaped.

use baton_core::invisible::is_formatting;

/// White space as XML has it.
pub(super) fn is_blank(it: char) -> bool {
    matches!(it, ' ' | '\t' | '\n' | '\r')
}

/// XML 1.0's `Char`: what a document may hold at all, even as a reference.
pub(super) fn is_legal(it: char) -> bool {
    !matches!(it, '\0'..='\u{8}' | '\u{B}' | '\u{C}' | '\u{E}'..='\u{1F}' | '\u{FFFE}' | '\u{FFFF}')
}

/// XML 1.0's `Name`, with at most one colon and something on both sides of it, and without
/// invisible characters.
pub(super) fn is_name(text: &str) -> bool {
    match text.split_once(':') {
        None => is_simple_name(text),
        Some((prefix, rest)) => is_simple_name(prefix) && is_simple_name(rest),
    }
}

/// A name that older readers accept too: they know fewer letters than XML 1.0 has by now.
pub(super) fn is_old_name(text: &str) -> bool {
    let is_old = |it: char| {
        it.is_ascii()
            || matches!(it, '\u{C0}'..='\u{D6}' | '\u{D8}'..='\u{F6}' | '\u{F8}'..='\u{FF}')
            || matches!(it, '\u{40E}'..='\u{44F}' | '\u{3041}'..='\u{3094}' | '\u{30A1}'..='\u{30FA}')
            || matches!(it, '\u{4E00}'..='\u{9FA5}' | '\u{AC00}'..='\u{D7A3}')
    };
    is_name(text) && text.chars().all(is_old)
}

fn is_simple_name(text: &str) -> bool {
    let mut characters = text.chars();
    characters.next().is_some_and(starts_name)
        && characters.all(continues_name)
        && !text.contains(is_formatting)
}

fn starts_name(it: char) -> bool {
    matches!(it, 'a'..='z' | 'A'..='Z' | '_'
        | '\u{C0}'..='\u{D6}' | '\u{D8}'..='\u{F6}' | '\u{F8}'..='\u{2FF}'
        | '\u{370}'..='\u{37D}' | '\u{37F}'..='\u{1FFF}' | '\u{200C}'..='\u{200D}'
        | '\u{2070}'..='\u{218F}' | '\u{2C00}'..='\u{2FEF}' | '\u{3001}'..='\u{D7FF}'
        | '\u{F900}'..='\u{FDCF}' | '\u{FDF0}'..='\u{FFFD}' | '\u{10000}'..='\u{EFFFF}')
}

fn continues_name(it: char) -> bool {
    starts_name(it)
        || matches!(it, '-' | '.' | '0'..='9' | '\u{B7}')
        || matches!(it, '\u{300}'..='\u{36F}' | '\u{203F}'..='\u{2040}')
}

/// The meaning of `&name;`: one of the five entities, or a character by its number.
pub(super) fn reference(name: &str) -> Result<char, String> {
    let number = match name.strip_prefix('#') {
        None => {
            return match name {
                "lt" => Ok('<'),
                "gt" => Ok('>'),
                "amp" => Ok('&'),
                "apos" => Ok('\''),
                "quot" => Ok('"'),
                _ => Err("only `&lt;`, `&gt;`, `&amp;`, `&apos;`, `&quot;` and numbers are read"
                    .to_owned()),
            };
        }
        Some(number) => number,
    };
    let code = match number.strip_prefix('x') {
        Some(digits) if digits.bytes().all(|it| it.is_ascii_hexdigit()) => {
            u32::from_str_radix(digits, 16).ok()
        }
        None if number.bytes().all(|it| it.is_ascii_digit()) => number.parse().ok(),
        Some(_) | None => None,
    };
    code.and_then(char::from_u32)
        .filter(|it| is_legal(*it))
        .ok_or_else(|| "the number is not that of a character which XML may hold".to_owned())
}

/// Escapes characters that XML may not hold: `\\` and `\uXXXX`.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 8);
    for it in text.chars() {
        match it {
            '\\' => escaped.push_str("\\\\"),
            _ if is_legal(it) => escaped.push(it),
            _ => escaped.push_str(&format!("\\u{:04x}", it as u32)),
        }
    }
    escaped
}

/// The inverse of [`escape`]; `None` where the text is not a result of it.
pub(super) fn unescape(text: &str) -> Option<String> {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        plain.push_str(before);
        rest = match after.strip_prefix('\\') {
            Some(rest) => {
                plain.push('\\');
                rest
            }
            None => {
                let digits = after.strip_prefix('u')?.get(..4)?;
                let is_hex = digits.bytes().all(|it| it.is_ascii_hexdigit());
                let code = u32::from_str_radix(digits, 16).ok().filter(|it| is_hex && *it != 0)?;
                plain.push(char::from_u32(code)?);
                &after[5..]
            }
        };
    }
    plain.push_str(rest);
    Some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_what_xml_calls_one() {
        for good in ["a", "_", "workflow-complete", "ns:a.b", "prénom", "x1", "é"] {
            assert!(is_name(good), "{good}");
        }
        for bad in [
            "",
            "1a",
            "-a",
            "a b",
            ":a",
            "a:",
            "a:b:c",
            "a:1",
            "@a",
            "#a",
            "a\u{1}",
            "a<",
            "a\u{FEFF}b",
        ] {
            assert!(!is_name(bad), "{bad}");
        }
    }

    #[test]
    fn an_old_name_is_one_that_every_reader_takes() {
        for good in ["a", "prénom", "имя", "名前", "이름"] {
            assert!(is_old_name(good), "{good}");
        }
        for bad in ["1", "\u{11607}", "\u{370}", "tᆤ"] {
            assert!(!is_old_name(bad), "{bad}");
        }
    }

    #[test]
    fn references_name_the_five_and_legal_characters() {
        for (name, expected) in [
            ("lt", Some('<')),
            ("quot", Some('"')),
            ("#65", Some('A')),
            ("#x1F600", Some('😀')),
            ("#13", Some('\r')),
            ("#0", None),
            ("#x1", None),
            ("#xFFFE", None),
            ("#xD800", None),
            ("#x110000", None),
            ("#99999999999999999999", None),
            ("#", None),
            ("#x", None),
            ("#+65", None),
            ("#x+41", None),
            ("nbsp", None),
            ("xxe", None),
        ] {
            assert_eq!(reference(name).ok(), expected, "{name}");
        }
    }

    #[test]
    fn an_escape_comes_back_and_nothing_else_is_taken_for_one() {
        for text in ["", "\u{1}", "a\\u0001", "\\", "\\\\", "x\u{FFFF}y\u{B}", "é\u{1}é"] {
            let escaped = escape(text);
            assert!(escaped.chars().all(is_legal));
            assert_eq!(unescape(&escaped).as_deref(), Some(text));
        }
        for bad in ["\\", "\\n", "\\u", "\\u12", "\\u+123", "\\u0000", "\\ud800", "\\u00é"] {
            assert_eq!(unescape(bad), None, "{bad}");
        }
    }
}
