//! `POST /v1/messages`, streamed.

use serde_json::{Value, json};

use crate::{ModelStep, ScriptedConversation, tool_named};

pub(crate) fn tools(request: &Value) -> Vec<String> {
    let tools = request["tools"].as_array().into_iter().flatten();
    tools.filter_map(|it| it["name"].as_str()).map(str::to_owned).collect()
}

pub(crate) fn conversation(request: &Value) -> ScriptedConversation {
    let (mut text, mut n_results, mut last_result) = (String::new(), 0, String::new());
    for message in request["messages"].as_array().into_iter().flatten() {
        match &message["content"] {
            Value::String(it) => text += &format!("{it}\n"),
            Value::Array(blocks) => {
                for block in blocks {
                    if block["type"] == "tool_result" {
                        n_results += 1;
                        last_result = block["content"].to_string();
                    }
                    text += &format!("{}\n", block["text"].as_str().unwrap_or_default());
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {}
        }
    }
    ScriptedConversation { text, n_results, last_result, key: String::new() }
}

pub(crate) fn events(request: &Value, n: usize, tools: &[String], step: &ModelStep) -> Vec<Value> {
    let usage = json!({"input_tokens": 100, "output_tokens": 20, "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0});
    let message = json!({"id": format!("msg_{n}"), "type": "message", "role": "assistant",
        "model": request["model"], "content": [], "stop_reason": null, "stop_sequence": null,
        "usage": usage});
    let (block, delta, stop) = match step {
        ModelStep::Tool { name, input } => (
            json!({"type": "tool_use", "id": format!("toolu_{n}"), "name": tool_named(tools, name),
                "input": {}}),
            json!({"type": "input_json_delta", "partial_json": input.to_string()}),
            "tool_use",
        ),
        ModelStep::Text(text) => (
            json!({"type": "text", "text": ""}),
            json!({"type": "text_delta", "text": text}),
            "end_turn",
        ),
        ModelStep::RateLimited { .. } | ModelStep::Silence => {
            unreachable!("these are not answered by events")
        }
    };
    vec![
        json!({"type": "message_start", "message": message}),
        json!({"type": "content_block_start", "index": 0, "content_block": block}),
        json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": null},
            "usage": {"output_tokens": 20}}),
        json!({"type": "message_stop"}),
    ]
}
