//! Open questions and decisions: each needs the details that make it useful to the receiver.

use super::blanks::is_placeholder;
use super::rule::LintRule;
use super::sink::Sink;
use crate::contract::{Body, items};
use crate::document::Node;

pub(super) const QUESTIONS: &[&str] = &["open_questions", "context.open_questions"];
pub(super) const DECISIONS: &[&str] = &["decisions", "context.decisions"];

pub(super) const PRIORITIES: &[&str] = &["critical", "high", "medium", "normal", "low"];
const WHY: &[&str] = &["rationale", "@rationale", "reason", "reasoning", "why", "because"];
/// In a one-sentence decision these words introduce the reason.
const BECAUSE: &[&str] =
    &["because", " since ", "so that", " due to ", " to avoid ", " as it ", " as they "];

pub(super) fn check(body: &Body<'_>, sink: &mut Sink) {
    for path in QUESTIONS {
        each(body, path, |item, place| {
            if !has_priority(item) {
                let message = "does not say how urgent it is";
                sink.say(LintRule::QuestionWithoutPriority, place(), message);
            }
        });
    }
    for path in DECISIONS {
        each(body, path, |item, place| {
            if !has_rationale(item) {
                sink.say(LintRule::DecisionWithoutRationale, place(), "does not say why");
            }
        });
    }
}

fn each(body: &Body<'_>, path: &str, mut visit: impl FnMut(&Node, &dyn Fn() -> String)) {
    let Some(items) = body.fields().at(path).and_then(items) else { return };
    for (index, item) in items.iter().enumerate().filter(|(_, it)| !it.is_blank()) {
        visit(item, &|| format!("{}[{index}]", body.field_path(path)));
    }
}

fn has_priority(item: &Node) -> bool {
    let word = ["priority", "@priority"].iter().find_map(|it| item.member(it)?.as_text());
    // Template placeholders have a rule of their own.
    word.is_some_and(is_placeholder)
        || word.is_some_and(|it| PRIORITIES.iter().any(|word| word.eq_ignore_ascii_case(it.trim())))
}

fn has_rationale(item: &Node) -> bool {
    let says_why = |text: &str| {
        let text = text.to_lowercase();
        BECAUSE.iter().any(|it| text.contains(it))
    };
    let is_said = |key: &&str| item.member(key).is_some_and(|it| !it.is_blank());
    match item {
        Node::Text(text) => says_why(text),
        Node::Map(_) => {
            let itself = ["decision", "#text"].iter().find_map(|it| item.member(it)?.as_text());
            WHY.iter().any(is_said) || itself.is_some_and(says_why)
        }
        Node::Null | Node::Bool(_) | Node::Number(_) | Node::List(_) => false,
    }
}
