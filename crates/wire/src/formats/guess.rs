//! Which format a text is in, by how it begins.

use baton_core::package::Format;

use super::markdown::front_matter;

/// A guess for input without a stated format. `None` where there is no evidence.
pub fn guess(text: &str) -> Option<Format> {
    let text = text.trim_start_matches('\u{FEFF}').trim_start();
    match text.chars().next()? {
        '{' | '[' => return Some(Format::Json),
        '<' => return Some(Format::Xml),
        _ => {}
    }
    if front_matter::begins(text) {
        return Some(Format::Markdown);
    }
    let mut lines = text.lines().map(str::trim_end);
    // YAML uses neither at the beginning of a line.
    if lines.clone().any(|it| it.starts_with("```") || it.starts_with("~~~")) {
        return Some(Format::Markdown);
    }
    match lines.find(|it| !it.is_empty() && !it.starts_with('#')) {
        Some(first) if begins_yaml(first) => Some(Format::Yaml),
        Some(_) | None => text.starts_with('#').then_some(Format::Markdown),
    }
}

/// A key of one word with its colon, a list item, or a document marker.
pub(super) fn begins_yaml(line: &str) -> bool {
    let key = line.split_once(':').filter(|(_, rest)| rest.is_empty() || rest.starts_with(' '));
    let is_word = |it: &str| it.chars().all(|it| it.is_alphanumeric() || "_-\"'".contains(it));
    key.is_some_and(|(key, _)| !key.is_empty() && is_word(key)) || line == "---"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bytes_tell_the_format() {
        for (text, expected) in [
            ("", None),
            (" \n", None),
            ("\u{FEFF}{\"a\":1}", Some(Format::Json)),
            ("\n [1]", Some(Format::Json)),
            ("<handoff/>", Some(Format::Xml)),
            ("<?xml version=\"1.0\"?><a/>", Some(Format::Xml)),
            ("handoff:\n  from: a\n", Some(Format::Yaml)),
            ("# a comment\nhandoff:\n", Some(Format::Yaml)),
            ("---\nhandoff: {}\n", Some(Format::Yaml)),
            ("---\na: 1\n---\nb: 2\n", Some(Format::Yaml)),
            ("---\na: 1\n---\n", Some(Format::Markdown)),
            ("---\nfrom: a\nto: b\n---\n\n# Done\n", Some(Format::Markdown)),
            (
                "# Report\n\nDone: all of it.\n\n## Metadata\n\n```json\n{}\n```\n",
                Some(Format::Markdown),
            ),
            ("All of it is done.\n\n~~~json\n{}\n~~~\n", Some(Format::Markdown)),
            ("# Report\n", Some(Format::Markdown)),
            ("just words", None),
        ] {
            assert_eq!(guess(text), expected, "{text:?}");
        }
    }
}
