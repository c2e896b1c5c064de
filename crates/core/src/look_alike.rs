//! Keys that readers confuse: `login` and `lοgin` with a Greek omicron, `Issue-1` and `issue-l`.

use unicode_normalization::UnicodeNormalization as _;
use unicode_security::skeleton;

/// The version of [`outline`]: our own, and that of Unicode's table of confusables. When it
/// changes, stored outlines must be recomputed.
pub fn rule() -> String {
    let (major, minor, update) = unicode_security::UNICODE_VERSION;
    format!("1, Unicode {major}.{minor}.{update}")
}

/// The visual skeleton of a text, for comparing keys by appearance.
///
/// Two texts with the same outline look alike. It is the skeleton of UTS 39, but ignores width, the
/// case of Latin letters, and the difference between `i`, `l` and `1`.
pub fn outline(text: &str) -> String {
    let wide: String = text.nfkc().collect();
    let first: String = skeleton(&wide).collect::<String>().to_lowercase();
    // A capital may look like no other letter while its lower-case form does.
    skeleton(&first).flat_map(char::to_lowercase).map(stroke).collect()
}

/// Whether two names could be taken for one person's: they look alike, whatever separates their words.
pub fn is_same_person(one: &str, other: &str) -> bool {
    one == other || name_outline(one) == name_outline(other)
}

/// The look of a name without what separates its words: `Code Reviewer` is `code-reviewer`.
pub fn name_outline(name: &str) -> String {
    let is_separator = |it: char| it.is_whitespace() || matches!(it, '-' | '_' | '.');
    outline(name).chars().filter(|it| !is_separator(*it)).collect()
}

fn stroke(it: char) -> char {
    match it {
        'i' => 'l',
        it => it,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_alike_has_one_outline() {
        for (one, other) in [
            ("login", "lοgin"),
            ("paypal", "pаypаl"),
            ("Issue-1", "issue-l"),
            ("ISSUE-10", "issue-lO"),
            ("café", "cafe\u{301}"),
            ("story", "ｓｔｏｒｙ"),
            ("a b", "a\u{A0}b"),
            ("modern", "rnodern"),
            ("a\u{200B}b", "ab"),
            ("it's", "it’s"),
            ("KEY-B", "КЕУ-В"),
            ("never", "neνer"),
            ("ÉTÉ", "été"),
        ] {
            assert_eq!(outline(one), outline(other), "{one} and {other}");
        }
        for (one, other) in
            [("s1", "s2"), ("v0.1:1.1.1", "v0.1:1.1.2"), ("café", "cafe"), ("7", "1")]
        {
            assert_ne!(outline(one), outline(other), "{one} and {other}");
        }
    }
}
