//! What the viewer reads: few lines, aligned, at most 80 columns wide.

mod order;
mod spoken;

use std::collections::HashMap;

use baton_api::EventDocument;
use baton_core::agent::Agent;
use baton_core::event::{
    BlockerEvent, Created, Event, GateEvent, HandoffEvent, MessageEvent, QuestionEvent, RunEvent,
    StepEntry,
};
use baton_core::gate::{Gate, GateCause, GateKind};
use baton_core::names::AgentId;
use baton_core::run::Kind;
use baton_engine::{Clock as _, SystemClock};
use jiff::Timestamp;

pub(in crate::commands) use self::order::in_reading_order;
use self::spoken::spoken;
use crate::show;

const WIDTH: usize = 80;
/// The columns of the time and of the name.
const TIME: usize = 7;
const NAME: usize = 18;
/// Lines of one message that are shown.
const MOST_SPOKEN: usize = 30;

/// Tells the events of one run.
pub(in crate::commands) struct Narrator {
    names: HashMap<String, String>,
    started: Timestamp,
}

impl Narrator {
    pub(in crate::commands) fn new(names: HashMap<String, String>, started: Timestamp) -> Self {
        Self { names, started }
    }

    /// One event. Most are in the log alone.
    pub(in crate::commands) fn tell(&self, document: &EventDocument, event: &Event, text: &str) {
        let at = document.at;
        match event {
            Event::Handoff(event) => self.tell_handoff(at, event, text),
            Event::Message(MessageEvent::Posted { by: Some(_), .. }) => {
                let is_refusal = text.contains("breaks the contract");
                if is_refusal {
                    promise("no agent has to work with half a package");
                }
                quote(&spoken(text));
                if is_refusal {
                    shown("what is missing is said at once, with a skeleton to fill in");
                }
            }
            Event::Message(MessageEvent::Posted { by: None, .. }) => {
                // What the runner itself says is for the log, but for work that it saved.
                if text.contains("is kept as commit") {
                    self.line(at, "Runner", text);
                }
            }
            Event::Question(QuestionEvent::Asked { by, .. }) => {
                self.line(
                    at,
                    &self.name(by),
                    &show::warn("has a question, and gives the baton back"),
                );
            }
            Event::Question(QuestionEvent::Answered { .. }) => {
                self.line(
                    at,
                    &person(&document.by),
                    &format!("answer: {}", show::bold(&show::visible(text))),
                );
            }
            Event::Gate(GateEvent::Opened { gate, .. }) if may_object(gate) => {
                self.line(at, "You", &show::warn("may object while the work goes on"));
            }
            Event::Gate(GateEvent::Answered { answer, by, .. }) => {
                let words = if text.is_empty() { String::new() } else { format!(": {text}") };
                let said = format!("{}{}", answer.kind().name(), show::visible(&words));
                self.line(at, &person(by.as_str()), &show::good(&said));
            }
            Event::Gate(GateEvent::Approved { by, .. }) => {
                self.line(at, &person(by.as_str()), &show::good("approves"));
            }
            Event::Gate(GateEvent::Passed { evidence, .. }) => {
                let checks: Vec<&str> = evidence.iter().map(|it| it.check.as_str()).collect();
                let said = format!("{} passed: the gate opens by itself", checks.join(", "));
                self.line(at, "Checks", &show::good(&said));
            }
            Event::Blocker(BlockerEvent::Raised { by, .. }) => {
                self.line(at, &self.name(by), &show::warn("is blocked, and says so"));
            }
            Event::Run(RunEvent::Completed) => {
                self.line(at, "Story", &show::good("complete"));
            }
            Event::Gate(
                GateEvent::Opened { .. }
                | GateEvent::Delegated { .. }
                | GateEvent::Reminded { .. }
                | GateEvent::Waived { .. }
                | GateEvent::Lost { .. }
                | GateEvent::Carried { .. },
            )
            | Event::Run(_)
            | Event::Step(_)
            | Event::Lease(_)
            | Event::Frame(_)
            | Event::Evidence(_)
            | Event::Checks(_)
            | Event::Branch(_)
            | Event::Message(_)
            | Event::Decision(_)
            | Event::Context(_)
            | Event::Content(_)
            | Event::Usage(_)
            | Event::File(_)
            | Event::Blocker(_) => {}
        }
    }

    fn tell_handoff(&self, at: Timestamp, event: &HandoffEvent, text: &str) {
        match event {
            HandoffEvent::Created(created) => self.tell_created(at, created, text),
            HandoffEvent::Accepted { by, is_implicit: false, .. } if !by.is_orchestrator() => {
                let name = self.name(by);
                self.line(at, &name, &show::mark("has the baton"));
            }
            HandoffEvent::Rejected { by, .. } => {
                let why = format!("sends it back: {}", show::visible(text));
                self.line(at, &self.name(by), &show::warn(&why));
            }
            HandoffEvent::Released { by, .. } => {
                self.line(at, &self.name(by), &format!("gives it back: {}", show::visible(text)));
            }
            HandoffEvent::TimedOut { .. } => {
                self.line(at, "Baton", &show::warn(&show::visible(text)));
            }
            HandoffEvent::Accepted { .. }
            | HandoffEvent::Completed { .. }
            | HandoffEvent::Woken { .. }
            | HandoffEvent::Stale { .. }
            | HandoffEvent::Cancelled { .. }
            | HandoffEvent::Superseded { .. } => {}
        }
    }

    fn tell_created(&self, at: Timestamp, created: &Created, text: &str) {
        let (from, to) = (self.name(&created.from.agent), self.name(&created.to.agent));
        if created.to.agent.is_human() || created.to.agent.is_orchestrator() {
            return;
        }
        let is_blocked = matches!(created.entry, Some(StepEntry::Blocked));
        let what = match created.kind {
            Kind::Delegation if created.from.agent.is_orchestrator() => {
                format!("sends what blocks it to {to}, who may know")
            }
            Kind::Delegation => format!("asks {to} for a part of it, and waits"),
            // The rejection before it says the same.
            Kind::Return if created.rework_reason.is_some() => return,
            Kind::Return if created.brings.is_some() => format!("gives its part back to {to}"),
            Kind::Return => format!("gives it back to {to}: {}", show::visible(text)),
            Kind::Question => return,
            Kind::Sequential | Kind::Escalation if is_blocked => {
                format!("sends what blocks it to {to}: {}", show::visible(text))
            }
            Kind::Sequential | Kind::Escalation if created.attempt > 1 => {
                format!("offers it to {to} once more")
            }
            // It waits: why and until when was said with the attempt before.
            Kind::Sequential | Kind::Escalation if created.held_back_until.is_some() => return,
            Kind::Sequential | Kind::Escalation if created.from.agent.is_orchestrator() => {
                format!("hands the story to {to}")
            }
            Kind::Sequential | Kind::Escalation => format!("hands on to {to}"),
        };
        self.line(at, &from, &what);
    }

    /// `  1.2s  Analyst           has the baton`, with further lines below the text.
    pub(in crate::commands) fn line(&self, at: Timestamp, who: &str, what: &str) {
        let seconds = at.duration_since(self.started).as_secs_f64().max(0.0);
        let time = show::dim(&format!("{:>TIME$}", format!("{seconds:.1}s")));
        let who = show::bold(&format!("{who:<NAME$}"));
        let below = " ".repeat(TIME + NAME + 4);
        let lines = wrapped(what, WIDTH - below.len());
        show::answer(&format!("{time}  {who}  {}", lines.join(&format!("\n{below}"))));
    }

    /// As [`Narrator::line`], for what the demo itself does at this moment.
    pub(in crate::commands) fn line_now(&self, who: &str, what: &str) {
        self.line(SystemClock.now(), who, what);
    }

    fn name(&self, agent: &AgentId) -> String {
        let known = self.names.get(agent.as_str()).cloned();
        show::visible(&known.unwrap_or_else(|| Agent::without_file(agent.clone()).name))
    }

    /// The name of an agent, as the project has it.
    pub(in crate::commands) fn name_of(&self, agent: &str) -> String {
        show::visible(self.names.get(agent).map_or(agent, String::as_str))
    }
}

/// The work goes on beside the gate. A program that asks for permission waits, and is shown with its answers.
fn may_object(gate: &Gate) -> bool {
    gate.kind == GateKind::Advisory && gate.cause != GateCause::Permission
}

/// The person behind a principal: the viewer in the terminal, or on the page.
fn person(principal: &str) -> String {
    match principal {
        "you" => "You".to_owned(),
        "local" => "You, on the page".to_owned(),
        other => show::visible(other),
    }
}

/// What an agent prints.
fn quote(lines: &[String]) {
    let indent = " ".repeat(TIME + 2);
    let width = WIDTH - indent.len() - 2;
    let shown: Vec<String> = lines.iter().flat_map(|it| quoted(it, width)).collect();
    for line in shown.iter().take(MOST_SPOKEN) {
        show::answer(&show::dim(&format!("{indent}│ {line}")));
    }
    if shown.len() > MOST_SPOKEN {
        show::answer(&show::dim(&format!("{indent}│ …")));
    }
}

/// A line in parts that fit; a command is cut.
fn quoted(line: &str, width: usize) -> Vec<String> {
    if line.starts_with("$ ") || line.chars().count() <= width {
        return vec![show::shortened_line(line, width)];
    }
    let text = line.trim_start();
    let indent = " ".repeat((line.len() - text.len()).min(width / 2));
    let parts = wrapped(text, width - indent.len() - 2).into_iter().enumerate();
    let part = |(index, part): (usize, String)| {
        let further = if index == 0 { "" } else { "  " };
        show::shortened_line(&format!("{indent}{further}{part}"), width)
    };
    parts.map(part).collect()
}

/// A story begins.
pub(in crate::commands) fn title(title: &str, about: &str, n: usize, n_all: usize) {
    let which = if n_all > 1 { format!("  ({n} of {n_all})") } else { String::new() };
    show::answer(&format!("\n{} {}{}", show::mark("▶"), show::bold(title), show::dim(&which)));
    for line in wrapped(about.trim(), WIDTH - 2) {
        show::answer(&format!("  {}", show::dim(&line)));
    }
    show::answer("");
}

/// What is promised, before it is shown.
pub(in crate::commands) fn promise(text: &str) {
    let lines = wrapped(text, WIDTH - 12);
    show::answer(&format!("\n  {} {}", show::mark("promised:"), lines.join("\n            ")));
}

/// What was just shown.
pub(in crate::commands) fn shown(text: &str) {
    let lines = wrapped(text, WIDTH - 12);
    show::answer(&format!("  {} {}\n", show::good("✔  shown:"), lines.join("\n            ")));
}

/// A text in lines of at most so many columns, broken at blanks and where it has lines of its own.
pub(in crate::commands) fn wrapped(text: &str, width: usize) -> Vec<String> {
    text.lines().flat_map(|it| wrapped_line(it, width)).collect()
}

fn wrapped_line(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut n_columns = 0;
    for word in text.split(' ') {
        let n = anstream::adapter::strip_str(word).to_string().chars().count();
        match lines.last_mut() {
            Some(line) if n_columns + 1 + n <= width => {
                line.push(' ');
                line.push_str(word);
                n_columns += 1 + n;
            }
            Some(_) | None => {
                lines.push(word.to_owned());
                n_columns = n;
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quoted_line_fits_and_keeps_its_indent() {
        assert_eq!(quoted("  - one two three four", 14), ["  - one two", "    three four"]);
        assert_eq!(quoted("$ a command that is long", 10), ["$ a comma…"]);
        assert_eq!(quoted("short", 10), ["short"]);
    }

    #[test]
    fn lines_are_broken_at_blanks_and_colours_take_no_room() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("unbreakable", 4), ["unbreakable"]);
        let reason = "sends it back: the checks failed\n  | `script` failed: exit code 1";
        let expected =
            ["sends it back:", "the checks", "failed", "  | `script`", "failed: exit", "code 1"];
        assert_eq!(wrapped(reason, 14), expected);
        let coloured = format!("{} two", show::good("one"));
        assert_eq!(wrapped(&coloured, 7).len(), 1);
    }
}
