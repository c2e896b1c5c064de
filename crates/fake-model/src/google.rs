//! `POST /v1beta/models/MODEL:generateContent` and `:streamGenerateContent`.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::{ModelStep, ScriptedConversation, tool_named};

pub(crate) fn tools(request: &Value) -> Vec<String> {
    let tools = request["tools"].as_array().into_iter().flatten();
    let functions =
        tools.flat_map(|it| it["functionDeclarations"].as_array().into_iter().flatten());
    functions.filter_map(|it| it["name"].as_str()).map(str::to_owned).collect()
}

pub(crate) fn conversation(request: &Value) -> ScriptedConversation {
    let (mut text, mut n_results, mut last_result) = (String::new(), 0, String::new());
    for content in request["contents"].as_array().into_iter().flatten() {
        for part in content["parts"].as_array().into_iter().flatten() {
            if let Some(result) = part.get("functionResponse") {
                n_results += 1;
                last_result = result["response"].to_string();
            }
            text += &format!("{}\n", part["text"].as_str().unwrap_or_default());
        }
    }
    ScriptedConversation { text, n_results, last_result, key: String::new() }
}

/// The whole response, which is also the only part of a streamed one.
pub(crate) fn response(n: usize, tools: &[String], step: &ModelStep) -> Value {
    let part = match step {
        ModelStep::Tool { name, input } => json!({"functionCall": {"id": format!("call_{n}"),
            "name": tool_named(tools, name), "args": input}}),
        ModelStep::Text(text) => json!({ "text": text }),
        ModelStep::RateLimited { .. } | ModelStep::Silence => {
            unreachable!("these have no content")
        }
    };
    json!({"candidates": [{"index": 0, "finishReason": "STOP",
            "content": {"role": "model", "parts": [part]}}],
        "usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 20,
            "totalTokenCount": 120},
        "modelVersion": "fake-1", "responseId": format!("response_{n}")})
}

/// The refusal of a quota, with the time to wait before the next request.
#[expect(clippy::disallowed_methods, reason = "the real one counts from its own clock, too")]
pub(crate) fn rate_limited(resets_at: i64) -> Value {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |it| it.as_secs());
    let seconds = u64::try_from(resets_at).unwrap_or(0).saturating_sub(now);
    let kind = |name: &str| format!("type.googleapis.com/google.rpc.{name}");
    json!({"error": {"code": 429, "status": "RESOURCE_EXHAUSTED",
        "message": "You exceeded your current quota, please check your plan and billing details.",
        "details": [
            {"@type": kind("QuotaFailure"), "violations": [{
                "quotaMetric": "generativelanguage.googleapis.com/generate_content_free_tier_requests",
                "quotaId": "GenerateRequestsPerHourPerProjectPerModel-FreeTier"}]},
            {"@type": kind("RetryInfo"), "retryDelay": format!("{seconds}s")}]}})
}
