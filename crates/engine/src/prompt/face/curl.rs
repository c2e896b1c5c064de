//! Acts as curl lines. The body is read from a here-document, so that no quote in it can end it.

use baton_core::document::Node;
use baton_wire::json;

use super::{ANSWER, Act, Desk, END, QUESTION, envelope};
use crate::prompt::PromptToken;
use crate::prompt::quoting::shell_word;

pub(super) fn say(desk: &Desk<'_>, act: &Act) -> String {
    match act {
        Act::Accept
        | Act::HandOn { .. }
        | Act::Delegate { .. }
        | Act::Escalate { .. }
        | Act::Return { .. }
        | Act::Reject => post(desk, "/api/handoffs", &envelope(desk, act)),
        // Seed 000 has no words for these: the native API does.
        Act::Clarify => native(desk, "clarify", ("question", QUESTION)),
        Act::Answer => native(desk, "answer", ("answer", ANSWER)),
    }
}

fn native(desk: &Desk<'_>, verb: &str, (name, words): (&'static str, &str)) -> String {
    let path = format!("/api/v1/handoffs/{}/{verb}", desk.handoff);
    let said = [("agent", Node::text(desk.agent.as_str())), (name, Node::text(words))];
    let fence = desk.fence.map(|it| ("fence", Node::Number(i64::from(it).into())));
    post(desk, &path, &Node::map(said.into_iter().chain(fence)))
}

fn post(desk: &Desk<'_>, path: &str, body: &Node) -> String {
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
