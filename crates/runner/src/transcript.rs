//! What coding agents' programs print, a JSON object a line, read as it comes: the agent's words, its use
//! of tools, the session, what was used, and whether a rate limit ended it. One file for each program.

mod claude;
mod codex;
mod gemini;

use baton_core::budget::Usage;
use baton_wire::project_file::agent_program::AgentProgram;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::rate_limit::is_rate_limit_line;

/// What is known of an agent's program from what it printed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct AgentReport {
    /// Names the conversation, so that it can be taken up again.
    pub(crate) session: Option<String>,
    pub(crate) usage: Usage,
    pub(crate) rate_limit: Option<RateLimit>,
    /// The last message whose usage is counted: it is repeated with each part of the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) counted: Option<String>,
    /// What the program was not allowed to do, as far as it says so.
    pub(crate) n_denied: usize,
}

/// The provider refuses further requests for a while.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RateLimit {
    /// The program's own words.
    pub(crate) message: String,
    /// When it ends, where the program says so.
    pub(crate) until: Option<Timestamp>,
}

/// Reads the output of one program.
pub(crate) struct Transcript {
    program: AgentProgram,
    /// The beginning of a line whose rest has not come.
    partial: Vec<u8>,
    /// The line is longer than is kept: the rest of it is left out.
    is_skipping: bool,
    report: AgentReport,
}

/// What a part of the output says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct TranscriptPart {
    /// For the run: the agent's words, and a line for each use of a tool.
    pub(crate) shown: String,
    /// The agent's own words, where its handoff is looked for. What it read with a tool is not among them.
    pub(crate) words: String,
}

/// A longer line is no message: a file that a tool has read, say.
const MOST_LINE_BYTES: usize = 4 << 20;
const MOST_SHOWN_OF_TOOL: usize = 200;

impl Transcript {
    pub(crate) fn new(program: AgentProgram) -> Self {
        Self { program, partial: Vec::new(), is_skipping: false, report: AgentReport::default() }
    }

    pub(crate) fn push(&mut self, chunk: &[u8]) -> TranscriptPart {
        let mut part = TranscriptPart::default();
        let mut lines = chunk.split_inclusive(|it| *it == b'\n');
        for piece in &mut lines {
            if !self.is_skipping {
                self.partial.extend_from_slice(piece);
            }
            if self.partial.len() > MOST_LINE_BYTES {
                self.partial.clear();
                self.is_skipping = true;
            }
            if piece.ends_with(b"\n") {
                self.is_skipping = false;
                let line = std::mem::take(&mut self.partial);
                self.line(&line, &mut part);
            }
        }
        part
    }

    /// What is known so far.
    pub(crate) fn report(&self) -> &AgentReport {
        &self.report
    }

    /// The last line may have no end; and what is known now.
    pub(crate) fn finish(mut self) -> (TranscriptPart, AgentReport) {
        let mut part = TranscriptPart::default();
        let line = std::mem::take(&mut self.partial);
        self.line(&line, &mut part);
        (part, self.report)
    }

    fn line(&mut self, line: &[u8], part: &mut TranscriptPart) {
        let text = String::from_utf8_lossy(line);
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        // A warning of the program's own, or not the output that was asked for.
        let Ok(object @ Value::Object(_)) = serde_json::from_str::<Value>(text) else {
            if is_rate_limit_line(text) {
                self.report.limited(text, None);
            }
            part.show(text);
            part.add_words(text);
            return;
        };
        match self.program {
            AgentProgram::Claude => claude::read(&object, &mut self.report, part),
            AgentProgram::Codex => codex::read(&object, &mut self.report, part),
            AgentProgram::Gemini => gemini::read(&object, &mut self.report, part),
        }
    }
}

impl TranscriptPart {
    pub(crate) fn show(&mut self, text: &str) {
        self.shown += text;
        self.shown.push('\n');
    }

    fn add_words(&mut self, text: &str) {
        self.words += text;
        self.words.push('\n');
    }

    pub(crate) fn say(&mut self, text: &str) {
        self.show(text);
        self.add_words(text);
    }

    /// One line: the tool, and what it was used on.
    pub(crate) fn use_tool(&mut self, name: &str, subject: &str) {
        let subject = subject.split_whitespace().collect::<Vec<_>>().join(" ");
        let end = subject.floor_char_boundary(MOST_SHOWN_OF_TOOL.min(subject.len()));
        let dots = if end < subject.len() { " ..." } else { "" };
        self.show(&format!("[{name}] {}{dots}", &subject[..end]));
    }
}

impl AgentReport {
    /// Recorded once: the first message is the program's answer, later ones repeat it.
    pub(crate) fn limited(&mut self, message: &str, until: Option<Timestamp>) {
        match &mut self.rate_limit {
            Some(known) => known.until = known.until.or(until),
            None => self.rate_limit = Some(RateLimit { message: message.to_owned(), until }),
        }
    }
}

/// An amount in dollars, as millionths: the program prints a number with a decimal point.
pub(crate) fn micro_usd(dollars: f64) -> Option<u64> {
    if !dollars.is_finite() || dollars < 0.0 {
        return None;
    }
    let (whole, part) =
        format!("{dollars:.6}").split_once('.').map(|(a, b)| (a.to_owned(), b.to_owned()))?;
    whole.parse::<u64>().ok()?.checked_mul(1_000_000)?.checked_add(part.parse().ok()?)
}

fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

fn count(value: &Value, pointer: &str) -> u64 {
    value.pointer(pointer).and_then(Value::as_u64).unwrap_or_default()
}

/// The first of these members that is there, as a text.
pub(crate) fn first_of(value: &Value, members: &[&str]) -> String {
    let found = members.iter().find_map(|it| value.get(it));
    found.map(|it| it.as_str().map_or_else(|| it.to_string(), str::to_owned)).unwrap_or_default()
}

#[cfg(test)]
mod tests;
