//! Words of a text, with and without quotations. Slices only: nothing is allocated.

/// A longer stretch is no quotation: a mark was left open. This also bounds the work.
const MOST_QUOTED: usize = 400;

/// The words of a text without the punctuation around them.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace().map(bare).filter(|it| !it.is_empty())
}

/// The words outside of quotation marks and code.
pub(super) fn unquoted_words(text: &str) -> impl Iterator<Item = &str> {
    unquoted(text).flat_map(words)
}

/// A word without the punctuation around it.
fn bare(word: &str) -> &str {
    word.trim_matches(|it: char| !it.is_alphanumeric())
}

/// A set of lower-case words that rejects most words quickly, by first letter and length.
pub(super) struct Table {
    words: &'static [&'static str],
    /// By the first letter, a bit for each length.
    lengths: [u32; 256],
}

impl Table {
    pub(super) const fn new(words: &'static [&'static str]) -> Self {
        let mut lengths = [0; 256];
        let mut at = 0;
        while at < words.len() {
            let word = words[at].as_bytes();
            lengths[word[0] as usize] |= 1 << word.len();
            at += 1;
        }
        Self { words, lengths }
    }

    pub(super) fn has(&self, word: &str) -> bool {
        let Some(first) = word.bytes().next() else { return false };
        let lengths = self.lengths[usize::from(first.to_ascii_lowercase())];
        word.len() < 32 && lengths >> word.len() & 1 == 1 && is_word(word, self.words)
    }
}

/// True where a table of lower-case words contains this one, ignoring case.
pub(super) fn is_word(word: &str, table: &[&str]) -> bool {
    let Some(first) = word.bytes().next().map(|it| it.to_ascii_lowercase()) else { return false };
    table.iter().any(|it| {
        it.len() == word.len() && it.as_bytes()[0] == first && it.eq_ignore_ascii_case(word)
    })
}

/// The pieces of a text outside of `"..."`, `'...'`, `` `...` ``, `“...”` and `«...»`.
pub(super) fn unquoted(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        match opening(rest) {
            Some((at, after)) => {
                let piece = &rest[..at];
                rest = &rest[after..];
                Some(piece)
            }
            None => Some(std::mem::take(&mut rest)),
        }
    })
}

/// Where the first quotation begins and ends, if it is closed.
fn opening(text: &str) -> Option<(usize, usize)> {
    let mut before = ' ';
    for (at, it) in text.char_indices() {
        let close = match it {
            '"' | '`' => Some(it),
            '“' => Some('”'),
            '«' => Some('»'),
            // An apostrophe inside a word is no quotation mark.
            '\'' if !before.is_alphanumeric() => Some('\''),
            _ => None,
        };
        before = it;
        let Some(close) = close else { continue };
        let inside = at + it.len_utf8();
        if let Some(end) = closing(&text[inside..], close) {
            return Some((at, inside + end));
        }
    }
    None
}

fn closing(text: &str, close: char) -> Option<usize> {
    let text = &text[..text.floor_char_boundary(MOST_QUOTED)];
    let ends_here = |at: usize| {
        let next = text[at + close.len_utf8()..].chars().next();
        close != '\'' || !next.is_some_and(char::is_alphanumeric)
    };
    let mut places = text.match_indices(close).map(|(at, _)| at);
    places.find(|at| ends_here(*at)).map(|at| at + close.len_utf8())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert_eq!(unquoted_words(text).collect::<Vec<_>>(), expected, "{text}");
    }

    #[test]
    fn what_is_quoted_is_left_out() {
        check("keep \"try again quickly\" as is", &["keep", "as", "is"]);
        check("run `good code` (now).", &["run", "now"]);
        check("it's 'fast enough', isn't it", &["it's", "isn't", "it"]);
        check("“well” said", &["said"]);
        check("never \"closed", &["never", "closed"]);
        check("", &[]);
    }
}
