//! The forms in which a person answers, or starts a story. The script sends them as JSON to the API;
//! without it the commands to type are shown, and the buttons are not.
//!
//! A button says where it sends (`data-send`) and what (`data-body`); the fields of its form that have
//! a name and a value are added to that.

use baton_core::gate::GateCause;
use baton_core::names::{AgentId, StoryKey};
use baton_core::run::HandoffNo;
use baton_views::{InboxChoice, InboxItem, Then, Waits};
use serde_json::json;

use super::html::Html;
use super::inbox::AskedPerson;

/// As long as a comment, and as a reason, may be.
const MOST_COMMENT: u64 = 10_000;
const MOST_REASON: u64 = 1_000;

/// The answers that the gate has, each with its consequence.
pub(super) fn render(html: &mut Html, asked: &AskedPerson) {
    let item = &asked.item;
    let Some(form) = Form::of(item) else { return };
    html.raw("<form class=\"say\" id=\"say-").text(&form.id).raw("\">");
    if let Some(field) = form.words {
        html.raw("<p class=\"with-script\"><label for=\"words-").text(&form.id).raw("\">");
        html.raw(field.label).raw("</label><textarea id=\"words-").text(&form.id);
        html.raw("\" name=\"").raw(field.name).raw("\" rows=\"2\" maxlength=\"");
        html.number(field.most).raw("\"></textarea></p>");
    }
    html.raw("<dl class=\"choices\">");
    for choice in &item.choices {
        html.raw("<div><dt>");
        button(html, asked, &form, choice);
        html.raw("<code>").text(&item.command(choice)).text(&asked.as_flag());
        html.raw("</code></dt><dd>");
        html.words(&item.consequence(choice)).raw("</dd></div>");
    }
    html.raw("</dl>");
    delegate(html, asked, &form);
    html.raw("<p class=\"answered\" id=\"answered-").text(&form.id);
    html.raw("\" role=\"alert\" hidden></p></form>");
}

/// Passes the vote of the person on, at a gate that names its approvers.
fn delegate(html: &mut Html, asked: &AskedPerson, form: &Form) {
    let approval = asked.item.gate().and_then(|it| it.approval.as_ref());
    let Some(approval) = approval.filter(|it| !it.is_for_all) else { return };
    let AnswerTarget::Handoff(number) = form.target else { return };
    let has_vote = approval.open().any(|it| *it == asked.by);
    html.raw("<details class=\"with-script\" id=\"delegate-").text(&form.id);
    html.raw("\"><summary>Pass your vote on</summary><label for=\"to-").text(&form.id);
    html.raw("\">To whom</label> <input name=\"to\" maxlength=\"200\" id=\"to-");
    html.text(&form.id).raw("\"> <button type=\"submit\" value=\"delegate\" id=\"pass-");
    html.text(&form.id).raw("\" data-send=\"/api/v1/inbox/").number(number);
    html.raw("/delegate\" data-body=\"{}\"");
    html.raw(if has_vote { "" } else { " disabled" }).raw(">Pass the vote on</button> <code>");
    html.text(&format!("baton delegate {number} --to PERSON{}", asked.as_flag()));
    html.raw("</code></details>");
}

/// The button that starts a story.
pub(super) fn start(html: &mut Html, key: &StoryKey) {
    let id = baton_views::in_url(key.as_str());
    html.raw("<form class=\"say start with-script\" id=\"say-").attribute(&id);
    html.raw("\"><button type=\"submit\" value=\"start\" data-send=\"/api/v1/runs\" data-body=\"");
    html.attribute(&ascii_json(&json!({ "story": key.as_str() }))).raw("\">Start</button>");
    html.raw("<p class=\"answered\" id=\"answered-").attribute(&id);
    html.raw("\" role=\"alert\" hidden></p></form>");
}

/// Where the form of an item sends its answers to.
struct Form {
    /// Unique on the page.
    id: String,
    /// None where no answer takes words.
    words: Option<WordsField>,
    target: AnswerTarget,
}

enum AnswerTarget {
    /// The number of the handoff that asks.
    Handoff(u64),
    /// The number of the run whose baton is loose.
    LooseRun(u64),
}

#[derive(Clone, Copy)]
struct WordsField {
    label: &'static str,
    /// The member of the body.
    name: &'static str,
    most: u64,
}

impl Form {
    fn of(item: &InboxItem) -> Option<Self> {
        let run = item.run.number;
        let words = |label, name, most| Some(WordsField { label, name, most });
        match &item.why {
            Waits::Gate { handoff, .. } => {
                let number = number(item, *handoff)?;
                let words = words("Your comment", "comment", MOST_COMMENT);
                Some(Self { id: number.to_string(), words, target: AnswerTarget::Handoff(number) })
            }
            Waits::Question { handoff, .. } => {
                let number = number(item, *handoff)?;
                let words = words("Your answer", "comment", MOST_COMMENT);
                Some(Self { id: number.to_string(), words, target: AnswerTarget::Handoff(number) })
            }
            Waits::Loose { branch, .. } => {
                let words = words("Your reason", "reason", MOST_REASON);
                let of = branch.as_ref().map(|it| format!("-{it}")).unwrap_or_default();
                let id = format!("run-{run}{of}");
                Some(Self { id, words, target: AnswerTarget::LooseRun(run) })
            }
        }
    }

    fn path(&self, choice: &InboxChoice) -> String {
        match self.target {
            AnswerTarget::Handoff(number) => format!("/api/v1/inbox/{number}/answer"),
            AnswerTarget::LooseRun(_) if choice.name == "start" => "/api/v1/runs".to_owned(),
            AnswerTarget::LooseRun(run) => format!("/api/v1/runs/{run}/{}", choice.name),
        }
    }

    fn body(&self, item: &InboxItem, choice: &InboxChoice) -> String {
        ascii_json(&match self.target {
            // The answer is about the package that this page shows.
            AnswerTarget::Handoff(_) => match item.asked.content_hash {
                Some(hash) => json!({ "answer": choice.name, "contentHash": hash.to_string() }),
                None => json!({ "answer": choice.name }),
            },
            AnswerTarget::LooseRun(_) if choice.name == "start" => {
                let story = item.run.run.story.as_str();
                match item.starts_with(choice) {
                    Some(agent) => json!({ "story": story, "toAgent": agent.as_str() }),
                    None => json!({ "story": story }),
                }
            }
            AnswerTarget::LooseRun(_) => json!({}),
        })
    }
}

fn number(item: &InboxItem, no: HandoffNo) -> Option<u64> {
    item.trail.iter().find(|it| it.no == no).map(|it| it.number)
}

/// With what the answer needs besides words: an agent, or a package.
fn button(html: &mut Html, asked: &AskedPerson, form: &Form, choice: &InboxChoice) {
    match choice.name {
        "hand_to" => {
            html.raw("<label class=\"with-script\">Agent <select name=\"toAgent\" id=\"agent-");
            html.text(&form.id).raw("\"><option value=\"\">choose one</option>");
            receivers(html, "In this workflow", &asked.agents.own);
            receivers(html, "Outside of it", &asked.agents.others);
            html.raw("</select></label>");
        }
        "modify" => {
            html.raw("<details class=\"with-script\" id=\"modify-").text(&form.id);
            html.raw("\"><summary>Edit the package</summary><label for=\"package-").text(&form.id);
            html.raw("\">The package, as JSON</label><textarea name=\"package\" id=\"package-");
            html.text(&form.id).raw("\" rows=\"12\" spellcheck=\"false\"");
            if let AnswerTarget::Handoff(number) = form.target {
                html.raw(" data-from=\"/api/v1/handoffs/").number(number).raw("/package\"");
            }
            html.raw("></textarea>");
        }
        _ => {}
    }
    html.raw("<button type=\"submit\" class=\"with-script\" id=\"").raw(choice.name).raw("-");
    html.text(&form.id).raw("\" value=\"").raw(choice.name);
    html.raw("\" data-send=\"").attribute(&form.path(choice));
    html.raw("\" data-body=\"").attribute(&form.body(&asked.item, choice)).raw("\"");
    // At a gate the API takes a reject without words; a person who rejects here is asked for them.
    if choice.needs_words || (choice.name == "reject" && !is_permission(&asked.item)) {
        html.raw(" data-needs=\"words\"");
    }
    if matches!(choice.then, Then::Refused { .. }) {
        html.raw(" disabled");
    }
    html.raw(">").raw(label(&asked.item, choice.name)).raw("</button>");
    if choice.name == "modify" {
        html.raw("</details>");
    }
}

fn receivers(html: &mut Html, which: &'static str, agents: &[AgentId]) {
    if agents.is_empty() {
        return;
    }
    html.raw("<optgroup label=\"").raw(which).raw("\">");
    for agent in agents {
        html.raw("<option>").text(agent.as_str()).raw("</option>");
    }
    html.raw("</optgroup>");
}

fn is_permission(item: &InboxItem) -> bool {
    item.gate().is_some_and(|it| it.cause == GateCause::Permission)
}

fn label(item: &InboxItem, choice: &'static str) -> &'static str {
    let is_permission = is_permission(item);
    match choice {
        "approve" if is_permission => "Allow once",
        "continue" if is_permission => "Allow this kind",
        "reject" if is_permission => "Deny",
        "answer" => "Answer",
        "approve" => "Approve",
        "reject" => "Reject",
        "question" => "Ask first",
        "modify" => "Hand on this package",
        "continue" => "Continue",
        "accept" => "Accept as it is",
        "hand_to" => "Hand to this agent",
        "abort" => "Abort the run",
        "start" => "Start again",
        "cancel" => "Cancel the run",
        other => other,
    }
}

/// JSON in plain ASCII, so that a character which cannot be seen is still sent as it is.
fn ascii_json(body: &serde_json::Value) -> String {
    let mut ascii = String::new();
    for it in body.to_string().chars() {
        if it.is_ascii() {
            ascii.push(it);
        } else {
            let mut units = [0; 2];
            for unit in it.encode_utf16(&mut units) {
                ascii.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    ascii
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_ascii_and_reads_as_it_was_written() {
        let body = json!({ "story": "a\u{202e}é🎉\"<b>\n" });
        let ascii = ascii_json(&body);
        assert!(ascii.is_ascii(), "{ascii}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&ascii).unwrap(), body);
    }
}
