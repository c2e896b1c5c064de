//! What an agent prints: its end is kept for the result, and all of it becomes messages on the run,
//! up to a bound.

use std::collections::VecDeque;

use crate::masking::Masking;
use crate::transcript::TranscriptPart;

/// Kept for the result: a handoff has at most 1 MiB.
const MOST_KEPT: usize = 4 << 20;
/// An agent that prints more is ended.
pub(crate) const MOST_PRINTED: u64 = 64 << 20;
/// A message has at most 10,000 characters.
const MOST_MESSAGE: usize = 8_000;
/// Later output is kept, but not shown.
const MOST_MESSAGES: usize = 200;

/// The output of one attempt.
pub(crate) struct AgentOutput {
    kept: VecDeque<u8>,
    pub(crate) n_bytes: u64,
    /// Not said yet.
    unsaid: String,
    /// The beginning of a character whose rest has not come.
    partial: Vec<u8>,
    n_messages: usize,
    n_unsaid: u64,
    masking: Masking,
    is_finished: bool,
}

impl AgentOutput {
    pub(crate) fn new(masking: Masking) -> Self {
        Self {
            kept: VecDeque::new(),
            n_bytes: 0,
            unsaid: String::new(),
            partial: Vec::new(),
            n_messages: 0,
            n_unsaid: 0,
            masking,
            is_finished: false,
        }
    }

    /// Output that is the agent's words as it is.
    pub(crate) fn push(&mut self, chunk: &[u8]) {
        self.n_bytes += chunk.len() as u64;
        self.keep(chunk);
        self.show(chunk);
    }

    /// Output of `n_bytes` that was read as a transcript.
    pub(crate) fn push_read(&mut self, n_bytes: usize, part: &TranscriptPart) {
        self.n_bytes += n_bytes as u64;
        self.keep(part.words.as_bytes());
        self.show(part.shown.as_bytes());
    }

    fn keep(&mut self, words: &[u8]) {
        self.kept.extend(words);
        let n_over = self.kept.len().saturating_sub(MOST_KEPT);
        self.kept.drain(..n_over);
    }

    fn show(&mut self, chunk: &[u8]) {
        if self.n_messages >= MOST_MESSAGES {
            self.n_unsaid += chunk.len() as u64;
            return;
        }
        self.partial.extend_from_slice(chunk);
        let whole = self.partial.len() - n_unfinished(&self.partial);
        let text = String::from_utf8_lossy(&self.partial[..whole]).into_owned();
        self.partial.drain(..whole);
        self.unsaid += &text;
        let most = MOST_MESSAGE * 4;
        if self.unsaid.len() > most {
            // Before the cut, so that none of it shows the end of a secret.
            let begun =
                self.unsaid.split_off(self.unsaid.len() - self.masking.n_begun(&self.unsaid));
            self.unsaid = self.masking.mask(&self.unsaid) + &begun;
        }
        if self.unsaid.len() > most {
            let cut = self.unsaid.floor_char_boundary(self.unsaid.len() - most);
            self.n_unsaid += cut as u64;
            self.unsaid.drain(..cut);
        }
    }

    /// Nothing more comes: what was held back is said too.
    pub(crate) fn finish(&mut self) {
        self.unsaid += &String::from_utf8_lossy(&self.partial);
        self.partial.clear();
        self.is_finished = true;
    }

    /// True if there is enough to say for a message of its own.
    pub(crate) fn is_much(&self) -> bool {
        self.unsaid.len() >= MOST_MESSAGE
    }

    /// The next message; whole lines, as far as there are any.
    pub(crate) fn next_message(&mut self) -> Option<String> {
        if self.n_messages >= MOST_MESSAGES || self.unsaid.trim().is_empty() {
            return None;
        }
        let most = self.unsaid.floor_char_boundary(MOST_MESSAGE.min(self.unsaid.len()));
        let cut = match self.unsaid[..most].rfind('\n') {
            Some(at) if at > 0 => at + 1,
            Some(_) | None => most,
        };
        // The first part of a secret waits for the rest of it.
        let cut = cut - self.n_held_back(&self.unsaid[..cut]);
        if cut == 0 {
            return None;
        }
        let part: String = self.unsaid.drain(..cut).collect();
        self.n_messages += 1;
        let text = self.masking.mask(&plain(&part));
        let text = text.trim_matches('\n').to_owned();
        (!text.trim().is_empty()).then_some(text)
    }

    /// How many bytes at the end of a text may be the beginning of a value that is masked.
    fn n_held_back(&self, text: &str) -> usize {
        if self.is_finished { 0 } else { self.masking.n_begun(text) }
    }

    /// What no message has, for a last one.
    pub(crate) fn left_out(&self) -> Option<String> {
        let n = self.n_unsaid;
        (n > 0).then(|| format!("({n} bytes of output are not shown)"))
    }

    /// The end of the output. What is masked in messages is masked in it, too.
    pub(crate) fn text(&self) -> String {
        let (first, second) = self.kept.as_slices();
        self.masking.mask(&String::from_utf8_lossy(&[first, second].concat()))
    }
}

/// How many bytes at the end are the beginning of a character whose rest has not come.
fn n_unfinished(bytes: &[u8]) -> usize {
    let n_of = |lead: u8| match lead {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => 1,
    };
    let is_lead = |n: &usize| bytes[bytes.len() - n] & 0xc0 != 0x80;
    match (1..=bytes.len().min(3)).find(is_lead) {
        Some(n) if n_of(bytes[bytes.len() - n]) > n => n,
        Some(_) | None => 0,
    }
}

/// Without colours and other control sequences.
pub(crate) fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(it) = chars.next() {
        match it {
            '\n' | '\t' => plain.push(it),
            '\r' => {
                if chars.peek() != Some(&'\n') {
                    plain.push('\n');
                }
            }
            '\u{1b}' => skip_sequence(&mut chars),
            it if it.is_control() => {}
            it => plain.push(it),
        }
    }
    plain
}

/// Skips what follows an escape character: `[...m`, `]...BEL` or one character.
fn skip_sequence(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match chars.next() {
        Some('[') => {
            for it in chars.by_ref() {
                if ('@'..='~').contains(&it) {
                    return;
                }
            }
        }
        Some(']') => {
            while let Some(it) = chars.next() {
                if it == '\u{7}' || (it == '\u{1b}' && chars.next_if_eq(&'\\').is_some()) {
                    return;
                }
            }
        }
        Some(_) | None => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token() -> Masking {
        Masking::default().with_secret("secret-token")
    }

    #[test]
    fn what_is_kept_for_the_result_holds_no_secret() {
        let mut output = AgentOutput::new(token());
        output.push(b"my token is secret-");
        output.push(b"token");
        assert_eq!(output.text(), "my token is secret.masked");
    }

    #[test]
    fn a_character_that_comes_in_two_parts_is_whole_and_colours_are_gone() {
        let mut output = AgentOutput::new(Masking::default());
        output.push(b"caf\xc3");
        assert_eq!(output.next_message().as_deref(), Some("caf"));
        output.push(b"\xa9 \x1b[31mred\x1b[0m \x1b]0;title\x07done\r\n");
        assert_eq!(output.next_message().as_deref(), Some("é red done"));
        assert_eq!(output.next_message(), None);
        assert!(output.text().starts_with("café"));
    }

    #[test]
    fn much_output_is_bounded_and_its_end_is_kept() {
        let mut output = AgentOutput::new(Masking::default());
        let line = [b'x'; 1023].iter().chain(b"\n").copied().collect::<Vec<u8>>();
        for _ in 0..10_000 {
            output.push(&line);
            if output.is_much() {
                output.next_message();
            }
        }
        output.push(b"the end");
        assert_eq!(output.text().len(), MOST_KEPT);
        assert!(output.text().ends_with("the end"));
        assert_eq!(output.n_messages, MOST_MESSAGES);
        assert!(output.left_out().is_some());
    }

    #[test]
    fn a_secret_is_not_half_said_where_much_output_is_cut() {
        let mut output = AgentOutput::new(token());
        let n_after = MOST_MESSAGE * 4 - "-token".len();
        output.push(format!("{}secret-token{}", "x".repeat(100), "y".repeat(n_after)).as_bytes());
        let mut said = String::new();
        while let Some(message) = output.next_message() {
            said += &message;
        }
        assert!(!said.contains("token"), "{}", &said[..40]);
    }

    #[test]
    fn a_token_is_not_said() {
        let mut output = AgentOutput::new(token());
        output.push(b"my token is secret-token, x\n");
        assert_eq!(output.next_message().as_deref(), Some("my token is secret.masked, x"));
    }

    #[test]
    fn a_token_that_comes_in_parts_is_not_said_either() {
        let mut output = AgentOutput::new(token());
        output.push(b"it is secret-");
        assert_eq!(output.next_message().as_deref(), Some("it is "));
        assert_eq!(output.next_message(), None);
        output.push(b"token, a secret-");
        assert_eq!(output.next_message().as_deref(), Some("secret.masked, a "));
        output.finish();
        assert_eq!(output.next_message().as_deref(), Some("secret-"), "it was none");
    }

    #[test]
    fn what_is_no_text_is_said_as_far_as_it_is_one() {
        let mut output = AgentOutput::new(Masking::default());
        output.push(b"a\xff\xfeb\xe2\x82");
        assert_eq!(output.next_message().as_deref(), Some("a\u{fffd}\u{fffd}b"));
        output.push(b"\xac!\xf0\x9f");
        assert_eq!(output.next_message().as_deref(), Some("\u{20ac}!"));
        output.finish();
        assert_eq!(output.next_message().as_deref(), Some("\u{fffd}"));
    }
}
