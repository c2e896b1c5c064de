//! A position in a text, as editors count it.

/// A line and a column, both from 1; columns count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TextPosition {
    pub line: usize,
    pub column: usize,
}

impl TextPosition {
    pub const START: Self = Self { line: 1, column: 1 };

    /// This position in a text that itself begins at `start` of another.
    pub(crate) fn after(self, start: Self) -> Self {
        let column = if self.line == 1 { start.column + self.column - 1 } else { self.column };
        Self { line: start.line + self.line - 1, column }
    }

    /// The position after a text that begins here.
    pub(crate) fn behind(self, text: &str) -> Self {
        Self::of(text, text.len()).after(self)
    }

    /// The position of a byte offset. Scans the text before it, so it is for errors and small
    /// files.
    pub fn of(text: &str, offset: usize) -> Self {
        let before = &text[..text.floor_char_boundary(offset)];
        let line_start = before.rfind('\n').map_or(0, |it| it + 1);
        Self {
            line: 1 + before.bytes().filter(|it| *it == b'\n').count(),
            column: 1 + before[line_start..].chars().count(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_in_a_piece_is_a_place_in_the_whole() {
        let start = TextPosition { line: 3, column: 5 };
        for ((line, column), expected) in [((1, 1), (3, 5)), ((1, 4), (3, 8)), ((2, 4), (4, 4))] {
            let (line_after, column_after) = expected;
            let expected = TextPosition { line: line_after, column: column_after };
            assert_eq!(TextPosition { line, column }.after(start), expected);
        }
    }

    #[test]
    fn columns_count_characters_and_lines_start_at_one() {
        for (text, offset, line, column) in [
            ("", 0, 1, 1),
            ("abc", 2, 1, 3),
            ("ä\nöx", 5, 2, 2),
            ("a\n", 2, 2, 1),
            ("ä", 1, 1, 1),
            ("a", 99, 1, 2),
        ] {
            assert_eq!(
                TextPosition::of(text, offset),
                TextPosition { line, column },
                "{text:?} {offset}"
            );
        }
    }
}
