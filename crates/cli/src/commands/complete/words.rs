//! A command line as a shell splits it.

/// The words of a line that is complete.
#[cfg(test)]
pub(crate) fn split(line: &str) -> Vec<String> {
    typed(line.trim_end())
}

/// The words of a line that is being typed: the last one is what stands before the cursor, and may be
/// empty. Quotes may still be open.
pub(super) fn typed(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let (mut quote, mut is_begun) = (None, false);
    let mut characters = line.chars();
    while let Some(it) = characters.next() {
        let Some(word) = words.last_mut() else { break };
        match (quote, it) {
            (None, ' ' | '\t') => {
                if is_begun || !word.is_empty() {
                    words.push(String::new());
                }
                is_begun = false;
            }
            (None, '\'' | '"') => (quote, is_begun) = (Some(it), true),
            (None | Some('"'), '\\') => word.extend(characters.next()),
            (Some(open), it) if it == open => quote = None,
            (_, it) => word.push(it),
        }
    }
    words
}

/// A word as it has to be typed: bash inserts candidates unchanged.
pub(super) fn escaped(word: &str) -> String {
    let is_plain = |it: char| it.is_alphanumeric() || "-_./:=@%+,#".contains(it);
    let mut escaped = String::new();
    for (index, it) in word.chars().enumerate() {
        if !is_plain(it) || (index == 0 && it == '#') {
            escaped.push('\\');
        }
        escaped.push(it);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_a_shell_does() {
        for (line, expected) in [
            ("baton ", &["baton", ""][..]),
            ("baton  run\tsh", &["baton", "run", "sh"]),
            (
                "baton story add 'a b' --title \"c \\\"d",
                &["baton", "story", "add", "a b", "--title", "c \"d"],
            ),
            ("baton run show a\\ b", &["baton", "run", "show", "a b"]),
            ("baton '' \"\" a", &["baton", "", "", "a"]),
            ("", &[""]),
        ] {
            assert_eq!(typed(line), expected, "{line}");
        }
    }

    #[test]
    fn an_inserted_word_is_one_word() {
        for word in ["shop:12", "owner/repo#1", "a b", "it's", "$HOME", "#1", "Straße"] {
            assert_eq!(split(&format!("baton {}", escaped(word))), ["baton", word]);
        }
    }
}
