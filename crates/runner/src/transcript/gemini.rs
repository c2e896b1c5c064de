//! `gemini -o stream-json`.

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::{AgentReport, TranscriptPart, count, first_of, text};
use crate::rate_limit::is_rate_limit;

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
        "tool_result" if text(object, "/error/type") == "policy_violation" => report.n_denied += 1,
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
                    let now = text(object, "/timestamp").parse().ok();
                    report.limited(message, now.and_then(|now| reset(message, now)));
                }
            }
        }
        _ => {}
    }
}

/// The end of the time in "... Suggested retry after 3600s.", or in the provider's own "Please retry in 34.5s.".
pub(super) fn reset(message: &str, now: Timestamp) -> Option<Timestamp> {
    let (_, time) = ["Suggested retry after ", "Please retry in "]
        .iter()
        .find_map(|it| message.split_once(it))?;
    let end = time.find(|it: char| !it.is_ascii_digit() && it != '.')?;
    let (number, unit) = time.split_at(end);
    let number: f64 = number.parse().ok()?;
    let seconds = if unit.starts_with("ms") {
        number / 1000.0
    } else if unit.starts_with('s') {
        number
    } else {
        return None;
    };
    now.checked_add(SignedDuration::try_from_secs_f64(seconds).ok()?).ok()
}
