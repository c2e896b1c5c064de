//! `POST /v1/responses`, streamed.

use serde_json::{Value, json};

use crate::{ModelStep, ScriptedConversation, tool_named};

pub(crate) fn tools(request: &Value) -> Vec<String> {
    let tools = request["tools"].as_array().into_iter().flatten();
    tools.filter_map(|it| it["name"].as_str()).map(str::to_owned).collect()
}

pub(crate) fn conversation(request: &Value) -> ScriptedConversation {
    let (mut text, mut n_results, mut last_result) = (String::new(), 0, String::new());
    for item in request["input"].as_array().into_iter().flatten() {
        let kind = item["type"].as_str().unwrap_or_default();
        if kind.ends_with("call_output") {
            n_results += 1;
            last_result = item["output"].to_string();
        }
        for part in item["content"].as_array().into_iter().flatten() {
            text += &format!("{}\n", part["text"].as_str().unwrap_or_default());
        }
    }
    ScriptedConversation { text, n_results, last_result, key: String::new() }
}

pub(crate) fn events(n: usize, tools: &[String], step: &ModelStep) -> Vec<Value> {
    let item = match step {
        ModelStep::Tool { name, input } => json!({"type": "function_call", "id": format!("fc_{n}"),
            "call_id": format!("call_{n}"), "name": tool_named(tools, name),
            "arguments": input.to_string()}),
        ModelStep::Text(text) => json!({"type": "message", "id": format!("it_{n}"),
            "role": "assistant",
            "content": [{"type": "output_text", "text": text, "annotations": []}]}),
        ModelStep::RateLimited { .. } | ModelStep::Silence => {
            unreachable!("these are not answered by events")
        }
    };
    let response = json!({"id": format!("resp_{n}"), "object": "response", "status": "completed",
        "output": [item], "usage": {"input_tokens": 100, "output_tokens": 20, "total_tokens": 120,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0}}});
    let mut created = response.clone();
    created["output"] = json!([]);
    vec![
        json!({"type": "response.created", "response": created}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
        json!({"type": "response.completed", "response": response}),
    ]
}
