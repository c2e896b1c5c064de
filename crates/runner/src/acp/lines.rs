//! The lines of a program that speaks a protocol: whole, bounded, and objects of JSON alone.

/// Cuts output into lines.
#[derive(Default)]
pub(crate) struct LineSplitter {
    partial: Vec<u8>,
    /// The line is longer than is taken: the rest of it is left out.
    is_skipping: bool,
}

/// What a line is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum OutputLine {
    /// May be a message of the protocol.
    Message(String),
    /// Printed by the program or its libraries, beside the protocol.
    Other(String),
    /// Longer than any message that is taken.
    TooLong,
}

/// A message holds at most a large file, twice.
const MOST_LINE_BYTES: usize = 8 << 20;

impl LineSplitter {
    pub(crate) fn push(&mut self, chunk: &[u8]) -> Vec<OutputLine> {
        let mut lines = Vec::new();
        for piece in chunk.split_inclusive(|it| *it == b'\n') {
            if !self.is_skipping {
                self.partial.extend_from_slice(piece);
            }
            if self.partial.len() > MOST_LINE_BYTES {
                self.partial.clear();
                self.is_skipping = true;
                lines.push(OutputLine::TooLong);
            }
            if piece.ends_with(b"\n") {
                self.is_skipping = false;
                let line = std::mem::take(&mut self.partial);
                let text = String::from_utf8_lossy(&line);
                let text = text.trim();
                if text.starts_with('{') {
                    lines.push(OutputLine::Message(text.to_owned()));
                } else if !text.is_empty() {
                    lines.push(OutputLine::Other(text.to_owned()));
                }
            }
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_told_from_other_output_and_may_come_in_parts() {
        let mut splitter = LineSplitter::default();
        assert_eq!(splitter.push(b"{\"a\""), []);
        let lines = splitter.push(b":1}\r\nwarning: old\n\n{}");
        let expected = [
            OutputLine::Message("{\"a\":1}".to_owned()),
            OutputLine::Other("warning: old".to_owned()),
        ];
        assert_eq!(lines, expected);
        assert_eq!(splitter.push(b"\n"), [OutputLine::Message("{}".to_owned())]);
    }

    #[test]
    fn a_line_without_an_end_is_bounded() {
        let mut splitter = LineSplitter::default();
        let chunk = vec![b'x'; 1 << 20];
        let n_told: usize = (0..20).map(|_| splitter.push(&chunk).len()).sum();
        assert_eq!(n_told, 1, "it is told once");
        assert!(splitter.partial.len() <= MOST_LINE_BYTES);
        assert_eq!(splitter.push(b"\n{}\n"), [OutputLine::Message("{}".to_owned())]);
    }
}
