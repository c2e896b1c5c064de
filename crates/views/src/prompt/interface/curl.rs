//! Actions as curl lines. The body is a here-document, so that no quote in it can end it.

use baton_core::document::Node;
use baton_wire::json;

use super::{ANSWER, END, PromptAction, PromptContext, QUESTION, envelope, passed};
use crate::prompt::PromptToken;
use baton_engine::shell_word;

pub(super) fn say(desk: &PromptContext<'_>, act: &PromptAction) -> String {
    match act {
        PromptAction::Accept
        | PromptAction::HandOn { .. }
        | PromptAction::Delegate { .. }
        | PromptAction::Escalate { .. }
        | PromptAction::Return { .. }
        | PromptAction::Reject => post(desk, "/api/handoffs", &envelope(desk, act)),
        // The pipeline API has no terms for these: the native API does.
        PromptAction::Clarify => {
            native(desk, desk.handoff, "clarify", said(desk, "question", QUESTION))
        }
        PromptAction::Answer => native(desk, desk.handoff, "answer", said(desk, "answer", ANSWER)),
        PromptAction::Record { check } => native(desk, desk.work, "evidence", passed(check)),
    }
}

type Members = Vec<(&'static str, Node)>;

fn native(desk: &PromptContext<'_>, number: u64, verb: &str, members: Members) -> String {
    post(desk, &format!("/api/v1/handoffs/{number}/{verb}"), &Node::map(members))
}

fn said(desk: &PromptContext<'_>, name: &'static str, words: &str) -> Members {
    let said = [("agent", Node::text(desk.agent.as_str())), (name, Node::text(words))];
    let fence = desk.fence.map(|it| ("fence", Node::Number(i64::from(it).into())));
    said.into_iter().chain(fence).collect()
}

fn post(desk: &PromptContext<'_>, path: &str, body: &Node) -> String {
    let url = shell_word(&format!("{}{path}", desk.url));
    let credentials = match desk.token {
        None => String::new(),
        Some(PromptToken::Environment) => " -H \"Authorization: Bearer $BATON_TOKEN\"".to_owned(),
        Some(PromptToken::Written(token)) => {
            format!(" -H {}", shell_word(&format!("Authorization: Bearer {token}")))
        }
    };
    let body = json::print_pretty(body);
    format!(
        "curl -sS -X POST {url} -H 'Content-Type: application/json'{credentials} \
         --data-binary @- <<'{END}'\n{body}\n{END}"
    )
}
