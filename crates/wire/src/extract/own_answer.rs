//! Answers of Baton's own API in an agent's output: what `curl` printed, not what the agent hands on.

use baton_core::document::Node;

/// Words that only such an answer has, for one that was cut off.
const TELLING: [&str; 4] = ["\"isRepeat\"", "\"/errors/", "\"workflowHash\"", "\"leftOut\""];

/// True for an answer of the API, and for a part of one: a handoff, a run, a page of a list, a
/// refusal, a prompt.
pub(super) fn is_own_answer(document: &Node) -> bool {
    let Node::Map(members) = document else { return false };
    let has = |key: &str| document.member(key).is_some();
    let is_text = |key: &str, begin: &str| {
        document.member(key).and_then(Node::as_text).is_some_and(|it| it.starts_with(begin))
    };
    let has_all = |keys: &[&str]| keys.iter().all(|it| has(it));
    let is_handoff = is_text("label", "HO-") && has_all(&["number", "id", "state"]);
    let is_pipeline_row = has_all(&["id", "story_id", "from_agent", "to_agent", "created_at"]);
    let is_outcome = matches!(document.member("success"), Some(Node::Bool(_)))
        && (has("isRepeat") || document.member("handoff").is_some_and(is_own_answer));
    let is_refusal = is_text("type", "/errors/") && has("code");
    let is_dry_run = has_all(&["dryRun", "handoffs", "version"]);
    let is_run = has_all(&["workflowHash", "nHandoffs"]);
    let is_prompt = has_all(&["text", "hash", "tokens", "leftOut"]);
    let is_list = matches!(document.member("items"), Some(Node::List(_)))
        && members.iter().all(|(key, _)| matches!(key.as_str(), "items" | "next" | "previous"))
        && has("next");
    is_handoff
        || is_pipeline_row
        || is_outcome
        || is_refusal
        || is_dry_run
        || is_run
        || is_prompt
        || is_list
}

/// True for the beginning of an answer whose end is missing.
pub(super) fn is_cut_answer(text: &str) -> bool {
    TELLING.iter().any(|it| text.contains(it))
}
