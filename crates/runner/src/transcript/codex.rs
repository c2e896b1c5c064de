//! `codex exec --json`.

use serde_json::Value;

use super::{AgentReport, TranscriptPart, count, first_of, text};
use crate::rate_limit::is_rate_limit;

pub(super) fn read(object: &Value, report: &mut AgentReport, part: &mut TranscriptPart) {
    match text(object, "/type") {
        "thread.started" => report.session = Some(text(object, "/thread_id").to_owned()),
        "item.completed" => item(&object["item"], part),
        "turn.completed" => {
            // Each turn has its own.
            report.usage.input_tokens += count(object, "/usage/input_tokens");
            report.usage.cached_tokens += count(object, "/usage/cached_input_tokens");
            report.usage.output_tokens += count(object, "/usage/output_tokens");
        }
        "error" => failed(text(object, "/message"), report, part),
        "turn.failed" => failed(text(object, "/error/message"), report, part),
        _ => {}
    }
}

fn item(item: &Value, part: &mut TranscriptPart) {
    match text(item, "/type") {
        "agent_message" => part.say(text(item, "/text")),
        "command_execution" => part.use_tool("command", text(item, "/command")),
        "file_change" => {
            let changes = item["changes"].as_array().into_iter().flatten();
            let paths: Vec<&str> = changes.map(|it| text(it, "/path")).collect();
            part.use_tool("files", &paths.join(", "));
        }
        "mcp_tool_call" => part.use_tool(text(item, "/tool"), &first_of(item, &["arguments"])),
        "web_search" => part.use_tool("search", text(item, "/query")),
        // Also for what is only a warning; a failure has an event of its own.
        "error" => part.show(text(item, "/message")),
        _ => {}
    }
}

fn failed(message: &str, report: &mut AgentReport, part: &mut TranscriptPart) {
    if is_rate_limit(message) || message.contains("429") {
        report.limited(message, None);
    }
    part.show(message);
}
