//! `claude -p --output-format stream-json --verbose`.

use baton_core::budget::Usage;
use jiff::Timestamp;
use serde_json::Value;

use super::{AgentReport, TranscriptPart, count, first_of, micro_usd, text};
use crate::rate_limit::is_rate_limit;

const TOOL_SUBJECTS: [&str; 6] = ["command", "file_path", "path", "pattern", "url", "description"];

pub(super) fn read(object: &Value, report: &mut AgentReport, part: &mut TranscriptPart) {
    match text(object, "/type") {
        "system" => {
            let session = text(object, "/session_id");
            if !session.is_empty() {
                report.session = Some(session.to_owned());
            }
        }
        "assistant" if object["is_api_error_message"] == true => {
            let message = text(object, "/message/content/0/text");
            part.show(message);
            if text(object, "/error") == "rate_limit" || is_rate_limit(message) {
                report.limited(message, None);
            }
        }
        "assistant" => {
            let message = text(object, "/message/id");
            // The sum of all comes with the result; until then, what is known of each.
            if !message.is_empty() && report.counted.as_deref() != Some(message) {
                report.counted = Some(message.to_owned());
                report.usage = report.usage.plus(used(&object["message"]["usage"]));
            }
            for block in object["message"]["content"].as_array().into_iter().flatten() {
                match text(block, "/type") {
                    "text" => part.say(text(block, "/text")),
                    "tool_use" => {
                        let subject = first_of(&block["input"], &TOOL_SUBJECTS);
                        part.use_tool(text(block, "/name"), &subject);
                    }
                    _ => {}
                }
            }
        }
        "rate_limit_event" if text(object, "/rate_limit_info/status") == "rejected" => {
            let until = object["rate_limit_info"]["resetsAt"].as_i64();
            let until = until.and_then(|it| Timestamp::from_second(it).ok());
            report.limited("the rate limit of the account is reached", until);
        }
        "result" => result(object, report, part),
        _ => {}
    }
}

fn used(usage: &Value) -> Usage {
    let input = ["/input_tokens", "/cache_creation_input_tokens", "/cache_read_input_tokens"];
    Usage {
        input_tokens: input.iter().map(|it| count(usage, it)).sum(),
        cached_tokens: count(usage, "/cache_read_input_tokens"),
        output_tokens: count(usage, "/output_tokens"),
        ..Usage::default()
    }
}

fn used_of_models(models: &Value) -> Usage {
    let input = ["/inputTokens", "/cacheCreationInputTokens", "/cacheReadInputTokens"];
    let models = models.as_object().into_iter().flat_map(|it| it.values());
    let used = models.map(|it| Usage {
        input_tokens: input.iter().map(|part| count(it, part)).sum(),
        cached_tokens: count(it, "/cacheReadInputTokens"),
        output_tokens: count(it, "/outputTokens"),
        ..Usage::default()
    });
    used.fold(Usage::default(), Usage::plus)
}

/// What is known of the tokens from two sides, each of which may have missed some.
fn largest(one: Usage, other: Usage) -> Usage {
    Usage {
        input_tokens: one.input_tokens.max(other.input_tokens),
        cached_tokens: one.cached_tokens.max(other.cached_tokens),
        output_tokens: one.output_tokens.max(other.output_tokens),
        ..Usage::default()
    }
}

fn result(object: &Value, report: &mut AgentReport, part: &mut TranscriptPart) {
    // A program that a budget ended says zero in `usage`, and the truth of each model.
    let told = largest(used(&object["usage"]), used_of_models(&object["modelUsage"]));
    report.usage = Usage {
        micro_usd: object["total_cost_usd"].as_f64().and_then(micro_usd),
        ..largest(report.usage, told)
    };
    report.n_denied = object["permission_denials"].as_array().map_or(0, Vec::len);
    let message = text(object, "/result");
    if object["is_error"] == true {
        if object["api_error_status"] == 429 || is_rate_limit(message) {
            report.limited(message, None);
        }
    } else {
        // The last words once more: they alone hold the result where nothing else was said.
        part.add_words(message);
    }
}
