//! `gemini -o stream-json`.

use serde_json::Value;

use super::{AgentReport, TranscriptPart, count, first_of, is_rate_limit, text};

const TOOL_SUBJECTS: [&str; 6] =
    ["command", "file_path", "absolute_path", "path", "pattern", "prompt"];

pub(super) fn read(object: &Value, report: &mut AgentReport, part: &mut TranscriptPart) {
    match text(object, "/type") {
        "init" => report.session = Some(text(object, "/session_id").to_owned()),
        // Words come in pieces, which belong together without a line's end between them.
        "message" if text(object, "/role") == "assistant" => {
            let words = text(object, "/content");
            part.shown += words;
            part.words += words;
        }
        "tool_use" => {
            let subject = first_of(&object["parameters"], &TOOL_SUBJECTS);
            part.shown.push('\n');
            part.words.push('\n');
            part.use_tool(text(object, "/tool_name"), &subject);
        }
        "error" => part.show(text(object, "/message")),
        "result" => {
            part.shown.push('\n');
            part.words.push('\n');
            report.usage.input_tokens = count(object, "/stats/input_tokens");
            report.usage.cached_tokens = count(object, "/stats/cached");
            report.usage.output_tokens = count(object, "/stats/output_tokens");
            let message = text(object, "/error/message");
            if !message.is_empty() {
                part.show(message);
                if is_rate_limit(message) {
                    report.limited(message, None);
                }
            }
        }
        _ => {}
    }
}
