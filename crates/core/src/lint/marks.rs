//! Which punctuation marks a text holds, found in one pass over its bytes. Most texts hold few of
//! them, and a rule that needs a `:` can skip the others.

/// A set of marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct CharMarks(u8);

impl CharMarks {
    pub(super) const DIGIT: u8 = 1;
    pub(super) const COLON: u8 = 2;
    pub(super) const DASH: u8 = 4;
    pub(super) const AT: u8 = 8;
    /// `<` and `[`.
    pub(super) const BRACKET: u8 = 16;
    /// `?` and `|`.
    pub(super) const CHOICE: u8 = 32;
    /// Control characters and everything that is not ASCII.
    pub(super) const STRANGE: u8 = 64;

    pub(super) fn of(text: &str) -> Self {
        Self(text.bytes().fold(0, |marks, byte| marks | TABLE[usize::from(byte)]))
    }

    pub(super) fn has(self, mark: u8) -> bool {
        self.0 & mark == mark
    }
}

const TABLE: [u8; 256] = table();

const fn table() -> [u8; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b'0'..=b'9' => CharMarks::DIGIT,
            b':' => CharMarks::COLON,
            b'-' => CharMarks::DASH,
            b'@' => CharMarks::AT,
            b'<' | b'[' => CharMarks::BRACKET,
            b'?' | b'|' => CharMarks::CHOICE,
            b'\t' | b'\n' | b'\r' => 0,
            0..0x20 | 0x7F..=0xFF => CharMarks::STRANGE,
            _ => 0,
        };
        byte += 1;
    }
    table
}
