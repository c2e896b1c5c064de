//! A terminal's text without escape sequences, with a map back to the original offsets.

use std::ops::Range;

/// The text without escape sequences.
pub(super) struct Plain {
    pub(super) text: String,
    /// The start of each stretch, in the plain text and in the original.
    stretches: Vec<(usize, usize)>,
}

const ESCAPE: char = '\u{1B}';
const BELL: char = '\u{7}';

impl Plain {
    pub(super) fn of(original: &str) -> Self {
        let mut plain = Self { text: String::with_capacity(original.len()), stretches: Vec::new() };
        let mut start = 0;
        while let Some(length) = original[start..].find(ESCAPE) {
            plain.push(original, start..start + length);
            start += length + sequence_length(&original[start + length..]);
        }
        plain.push(original, start..original.len());
        plain
    }

    fn push(&mut self, original: &str, range: Range<usize>) {
        if !range.is_empty() {
            self.stretches.push((self.text.len(), range.start));
            self.text.push_str(&original[range]);
        }
    }

    /// The bytes of the original from the first to the last of these.
    pub(super) fn original(&self, range: &Range<usize>) -> Range<usize> {
        match range.end.checked_sub(1).filter(|_| !range.is_empty()) {
            Some(last) => self.offset(range.start)..self.offset(last) + 1,
            None => self.offset(range.start)..self.offset(range.start),
        }
    }

    fn offset(&self, at: usize) -> usize {
        let after = self.stretches.partition_point(|(plain, _)| *plain <= at);
        match after.checked_sub(1).and_then(|it| self.stretches.get(it)) {
            Some((plain, original)) => original + (at - plain),
            None => at,
        }
    }
}

/// The length of the escape sequence that the text begins with. None extends beyond its line.
fn sequence_length(text: &str) -> usize {
    let mut length = 0;
    let mut line = text
        .chars()
        .take_while(|it| !matches!(it, '\n' | '\r'))
        .inspect(|it| length += it.len_utf8());
    line.next();
    // Whatever ends it is the last that is taken from the line.
    match line.next() {
        Some('[') => _ = line.find(|it| matches!(it, '@'..='~')),
        Some(']' | 'P' | '_' | '^') => {
            let mut before = ' ';
            _ = line.find(|it| {
                let is_end = *it == BELL || (before == ESCAPE && *it == '\\');
                before = *it;
                is_end
            });
        }
        Some(_) | None => {}
    }
    length
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_titles_and_links_are_left_out() {
        for (original, expected) in [
            ("plain", "plain"),
            ("\u{1B}[1;31mred\u{1B}[0m!", "red!"),
            ("\u{1B}]0;title\u{7}a\u{1B}]8;;x\u{1B}\\b", "ab"),
            ("\u{1B}(Ba", "Ba"),
            ("a\u{1B}[31", "a"),
            ("a\u{1B}[\nb", "a\nb"),
            ("a\u{1B}]never ended\nb", "a\nb"),
            ("a\u{1B}", "a"),
            ("a\u{1B}é", "a"),
        ] {
            assert_eq!(Plain::of(original).text, expected, "{original:?}");
        }
    }

    #[test]
    fn a_piece_is_found_again_in_the_original() {
        let original = "a\u{1B}[1mbc\u{1B}[0md";
        let plain = Plain::of(original);
        assert_eq!(plain.text, "abcd");
        for (range, expected) in [(0..1, "a"), (1..3, "bc"), (3..4, "d"), (0..4, original)] {
            assert_eq!(&original[plain.original(&range)], expected);
        }
        assert_eq!(plain.original(&(4..4)), original.len()..original.len());
    }
}
