//! An agent's turn as it becomes messages on the run: its words whole, everything else in a line each.

use std::collections::HashMap;
use std::path::PathBuf;

use agent_client_protocol::v1::schema::{
    ContentBlock, Diff, Plan, PlanEntryStatus, PromptResponse, RequestPermissionRequest,
    SessionUpdate, ToolCall, ToolCallContent, ToolCallStatus, ToolCallUpdate, ToolCallUpdateFields,
    ToolKind, UsageUpdate,
};
use baton_core::budget::Usage;
use baton_core::plural::counted;

use super::permission::{PermissionQuestion, kind_word};
use crate::transcript::{AgentReport, TranscriptPart, first_of, micro_usd};

/// Reads the updates of one turn.
#[derive(Default)]
pub(crate) struct AcpTranscript {
    tools: HashMap<String, ToolUse>,
    /// The beginning of a thought that goes on.
    thought: String,
    speaks: Speaks,
}

/// A tool at work, as far as it is shown.
#[derive(Default, Clone)]
struct ToolUse {
    kind: Option<ToolKind>,
    title: String,
    paths: Vec<PathBuf>,
    detail: String,
    /// What it would change, as it said last.
    changes: Vec<String>,
    /// What was shown of it last.
    line: String,
    is_over: bool,
    n_diffs: usize,
}

#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Speaks {
    #[default]
    No,
    Words,
}

const DETAILS: [&str; 6] = ["command", "cmd", "file_path", "path", "url", "query"];
const MOST_TOOLS: usize = 1000;
const MOST_THOUGHT: usize = 200;
const MOST_DETAIL: usize = 2000;
/// Over all changes of one request: with the rest of it they have to fit into one text.
const MOST_CHANGED_CHARS: usize = 5000;

impl AcpTranscript {
    pub(crate) fn update(
        &mut self,
        update: &SessionUpdate,
        report: &mut AgentReport,
    ) -> TranscriptPart {
        let mut part = TranscriptPart::default();
        match update {
            SessionUpdate::AgentMessageChunk(chunk) => {
                self.end_thought(&mut part);
                if let ContentBlock::Text(text) = &chunk.content {
                    part.shown += &text.text;
                    part.words += &text.text;
                    self.speaks = Speaks::Words;
                }
            }
            SessionUpdate::AgentThoughtChunk(chunk) => {
                self.end_words(&mut part);
                if let ContentBlock::Text(text) = &chunk.content
                    && self.thought.len() < MOST_THOUGHT * 4
                {
                    self.thought += &text.text;
                }
            }
            SessionUpdate::ToolCall(call) => self.tool(&changes_of(call), &mut part),
            SessionUpdate::ToolCallUpdate(update) => self.tool(update, &mut part),
            SessionUpdate::Plan(plan) => {
                self.end_line(&mut part);
                part.use_tool("plan", &plan_line(plan));
            }
            SessionUpdate::UsageUpdate(usage) => cost(usage, report),
            SessionUpdate::UserMessageChunk(_)
            | SessionUpdate::AvailableCommandsUpdate(_)
            | SessionUpdate::CurrentModeUpdate(_)
            | SessionUpdate::ConfigOptionUpdate(_)
            | SessionUpdate::SessionInfoUpdate(_)
            | SessionUpdate::Notice(_)
            | SessionUpdate::CompactionUpdate(_)
            | SessionUpdate::CompactionSummaryChunk(_) => {}
            // What the protocol may have one day is left out, never an error.
            _ => {}
        }
        part
    }

    /// What was begun and is not shown yet.
    pub(crate) fn finish(&mut self) -> TranscriptPart {
        let mut part = TranscriptPart::default();
        self.end_line(&mut part);
        part
    }

    /// The request, with what is known of its tool.
    pub(crate) fn question(&mut self, request: &RequestPermissionRequest) -> PermissionQuestion {
        self.remember(&request.tool_call);
        let id = request.tool_call.tool_call_id.to_string();
        let tool = self.tools.get(&id).cloned().unwrap_or_default();
        PermissionQuestion {
            kind: kind_word(tool.kind.unwrap_or(ToolKind::Other)),
            title: if tool.title.is_empty() {
                "a tool without a name".to_owned()
            } else {
                tool.title
            },
            paths: tool.paths,
            detail: tool.detail,
            changes: tool.changes,
        }
    }

    fn tool(&mut self, update: &ToolCallUpdate, part: &mut TranscriptPart) {
        self.end_line(part);
        self.remember(update);
        let Some(tool) = self.tools.get_mut(&update.tool_call_id.to_string()) else { return };
        let line = match tool.detail.is_empty() || tool.title.contains(&tool.detail) {
            true => tool.title.clone(),
            false => format!("{}: {}", tool.title, tool.detail),
        };
        let kind = kind_word(tool.kind.unwrap_or(ToolKind::Other));
        // Agents name a tool first, and say later what it is used on.
        if !line.is_empty() && line != tool.line && !tool.is_over {
            part.use_tool(kind, &line);
            tool.line = line;
        }
        let diffs = update.fields.content.iter().flatten().filter_map(|it| match it {
            ToolCallContent::Diff(diff) => Some(diff),
            ToolCallContent::Content(_) | ToolCallContent::Terminal(_) => None,
            _ => None,
        });
        for diff in diffs.skip(tool.n_diffs) {
            tool.n_diffs += 1;
            part.use_tool("diff", &diff_line(diff));
        }
        let has_failed = update.fields.status == Some(ToolCallStatus::Failed);
        if has_failed && !tool.is_over {
            part.use_tool(kind, &format!("failed: {}", tool.title));
        }
        tool.is_over |= has_failed || update.fields.status == Some(ToolCallStatus::Completed);
    }

    fn remember(&mut self, update: &ToolCallUpdate) {
        let id = update.tool_call_id.to_string();
        if self.tools.len() >= MOST_TOOLS && !self.tools.contains_key(&id) {
            return;
        }
        let tool = self.tools.entry(id).or_default();
        let ToolCallUpdateFields { kind, title, content, locations, raw_input, .. } =
            &update.fields;
        tool.kind = kind.or(tool.kind);
        if let Some(title) = title {
            tool.title = shortened(title);
        }
        let located = locations.iter().flatten().map(|it| &it.path);
        let diffs = || {
            content.iter().flatten().filter_map(|it| match it {
                ToolCallContent::Diff(diff) => Some(diff),
                ToolCallContent::Content(_) | ToolCallContent::Terminal(_) => None,
                _ => None,
            })
        };
        let changes = changed_lines(diffs());
        if !changes.is_empty() {
            tool.changes = changes;
        }
        let changed = diffs().map(|it| &it.path);
        for path in located.chain(changed) {
            if !tool.paths.contains(path) && tool.paths.len() < MOST_TOOLS {
                tool.paths.push(path.clone());
            }
        }
        if let Some(input) = raw_input {
            let detail = match input.is_object() {
                true => first_of(input, &DETAILS),
                false => input.to_string(),
            };
            if !detail.is_empty() {
                tool.detail = shortened(&detail);
            }
        }
    }

    fn end_line(&mut self, part: &mut TranscriptPart) {
        self.end_words(part);
        self.end_thought(part);
    }

    fn end_words(&mut self, part: &mut TranscriptPart) {
        if self.speaks == Speaks::Words {
            part.say("");
            self.speaks = Speaks::No;
        }
    }

    fn end_thought(&mut self, part: &mut TranscriptPart) {
        let thought = std::mem::take(&mut self.thought);
        if !thought.trim().is_empty() {
            part.use_tool("thought", &thought);
        }
    }
}

/// The figures of a whole turn, where the agent has them.
pub(crate) fn turn_usage(response: &PromptResponse, report: &mut AgentReport) {
    let Some(usage) = &response.usage else { return };
    let cached = usage.cached_read_tokens.unwrap_or(0) + usage.cached_write_tokens.unwrap_or(0);
    let cached_tokens = usage.cached_read_tokens.unwrap_or(0);
    let (input_tokens, thought) = (usage.input_tokens + cached, usage.thought_tokens.unwrap_or(0));
    // Some agents count thoughts as output already: the total tells.
    let is_apart = usage.total_tokens >= input_tokens + usage.output_tokens + thought;
    let output_tokens = usage.output_tokens + if is_apart { thought } else { 0 };
    report.usage = Usage { input_tokens, cached_tokens, output_tokens, ..report.usage };
}

fn cost(usage: &UsageUpdate, report: &mut AgentReport) {
    let dollars = usage.cost.as_ref().filter(|it| it.currency == "USD");
    let spent = dollars.and_then(|it| micro_usd(it.amount));
    report.usage.micro_usd = spent.or(report.usage.micro_usd);
}

fn changes_of(call: &ToolCall) -> ToolCallUpdate {
    let mut fields = ToolCallUpdateFields::default();
    fields.kind = Some(call.kind);
    fields.status = Some(call.status);
    fields.title = Some(call.title.clone());
    fields.content = Some(call.content.clone());
    fields.locations = Some(call.locations.clone());
    fields.raw_input.clone_from(&call.raw_input);
    ToolCallUpdate::new(call.tool_call_id.clone(), fields)
}

fn plan_line(plan: &Plan) -> String {
    let is_done = |it: PlanEntryStatus| it == PlanEntryStatus::Completed;
    let n_done = plan.entries.iter().filter(|it| is_done(it.status.clone())).count();
    let now = plan.entries.iter().find(|it| it.status == PlanEntryStatus::InProgress);
    let now = now.or_else(|| plan.entries.iter().find(|it| !is_done(it.status.clone())));
    let now = now.map(|it| format!("; now: {}", it.content)).unwrap_or_default();
    format!("{n_done} of {} done{now}", plan.entries.len())
}

/// The file, and how many lines came and went.
fn diff_line(diff: &Diff) -> String {
    let (old, new) = differing_lines(diff);
    format!("{} +{} -{}", diff.path.display(), new.len(), old.len())
}

/// The lines of each change. What does not fit is counted: a person who allows it has to know that there is more.
fn changed_lines<'d>(diffs: impl Iterator<Item = &'d Diff>) -> Vec<String> {
    let mut room = MOST_CHANGED_CHARS;
    let (mut changes, mut n_files_left_out) = (Vec::new(), 0_u64);
    let mut is_cut = false;
    for diff in diffs {
        if is_cut {
            n_files_left_out += 1;
            continue;
        }
        let (old, new) = differing_lines(diff);
        let lines =
            old.iter().map(|it| format!("- {it}")).chain(new.iter().map(|it| format!("+ {it}")));
        let mut shown = Vec::new();
        let mut n_left_out = 0_u64;
        for line in lines {
            match room.checked_sub(line.chars().count() + 1).filter(|_| n_left_out == 0) {
                Some(rest) => {
                    room = rest;
                    shown.push(line);
                }
                None => n_left_out += 1,
            }
        }
        is_cut = n_left_out > 0;
        if is_cut {
            let lines = counted(n_left_out, "line");
            shown.push(format!("(CUT HERE: {lines} of {} left out)", diff.path.display()));
        }
        changes.push(shown.join("\n"));
    }
    if n_files_left_out > 0 {
        let files = counted(n_files_left_out, "more file");
        changes.push(format!("(CUT HERE: the changes of {files} left out)"));
    }
    changes
}

/// What is between the lines at both ends that stay as they are.
fn differing_lines(diff: &Diff) -> (Vec<&str>, Vec<&str>) {
    let old: Vec<&str> = diff.old_text.iter().flat_map(|it| it.lines()).collect();
    let new: Vec<&str> = diff.new_text.lines().collect();
    let n_before = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let (old, new) = (&old[n_before..], &new[n_before..]);
    let pairs = old.iter().rev().zip(new.iter().rev());
    let n_after = pairs.take_while(|(old, new)| old == new).count();
    (old[..old.len() - n_after].to_vec(), new[..new.len() - n_after].to_vec())
}

fn shortened(text: &str) -> String {
    let end = text.floor_char_boundary(MOST_DETAIL.min(text.len()));
    text[..end].to_owned()
}

#[cfg(test)]
mod tests {
    use agent_client_protocol::v1::schema::SessionNotification;
    use expect_test::expect;
    use serde_json::Value;

    use super::*;

    #[test]
    fn a_long_change_is_shown_as_far_as_it_fits_and_says_what_is_left_out() {
        let lines = |n: usize| (0..n).map(|it| format!("line {it}\n")).collect::<String>();
        let shown = changed_lines([Diff::new("b.txt", lines(300))].iter());
        assert_eq!(shown[0].lines().count(), 300, "{shown:?}");
        let shown = changed_lines(["a", "b", "c"].map(|it| Diff::new(it, lines(500))).iter());
        let last: Vec<&str> = shown.iter().filter_map(|it| it.lines().last()).collect();
        expect![[r#"
            [
                "(CUT HERE: 36 lines of a left out)",
                "(CUT HERE: the changes of 2 more files left out)",
            ]
        "#]]
        .assert_debug_eq(&last);
    }

    /// A turn as an agent sent it, and what it comes to.
    fn read(recorded: &str) -> (String, String, AgentReport, Vec<PermissionQuestion>) {
        let (mut transcript, mut report) = (AcpTranscript::default(), AgentReport::default());
        let (mut shown, mut words, mut asked) = (String::new(), String::new(), Vec::new());
        let mut add = |part: TranscriptPart| {
            shown += &part.shown;
            words += &part.words;
        };
        for line in recorded.lines() {
            let message: Value = serde_json::from_str(line).unwrap();
            let params = message["params"].clone();
            match message["method"].as_str() {
                Some("session/update") => {
                    let it: SessionNotification = serde_json::from_value(params).unwrap();
                    add(transcript.update(&it.update, &mut report));
                }
                Some("session/request_permission") => {
                    let it: RequestPermissionRequest = serde_json::from_value(params).unwrap();
                    asked.push(transcript.question(&it));
                }
                Some(_) => {}
                None if message["result"]["stopReason"].is_string() => {
                    let it = serde_json::from_value(message["result"].clone()).unwrap();
                    turn_usage(&it, &mut report);
                }
                None => {}
            }
        }
        add(transcript.finish());
        (shown, words, report, asked)
    }

    #[test]
    fn what_claude_agent_acp_sends_is_read() {
        let recorded = include_str!("../../tests/fixtures/acp/claude.jsonl");
        let (shown, words, report, asked) = read(recorded);
        expect![[r#"
            [edit] Write
            [edit] Write app.txt: /project/app.txt
            [diff] /project/app.txt +1 -0
            [edit] failed: Write app.txt
            [execute] Terminal
            [execute] touch made-by-bash
            [execute] failed: touch made-by-bash
            done **block**
        "#]]
        .assert_eq(&shown);
        assert_eq!(words, "done **block**\n");
        assert_eq!((report.usage.input_tokens, report.usage.output_tokens), (30, 15));
        assert!(report.usage.micro_usd.is_some_and(|it| it > 0));
        let kinds: Vec<_> = asked.iter().map(|it| (it.kind, it.paths.len())).collect();
        assert_eq!(kinds, [("edit", 1), ("execute", 0)]);
    }

    #[test]
    fn what_codex_acp_sends_is_read() {
        let recorded = include_str!("../../tests/fixtures/acp/codex.jsonl");
        let (shown, words, report, _) = read(recorded);
        assert!(shown.contains("[execute] echo hi > app.txt"), "{shown}");
        assert!(words.ends_with("done\n"), "{words}");
        assert_eq!((report.usage.input_tokens, report.usage.output_tokens), (30, 15));
    }
}
