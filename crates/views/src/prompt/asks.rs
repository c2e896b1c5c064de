//! The fields that a contract requires, in words, and an example package to fill in.

use baton_core::contract::{Check, Contract, ContractRule, Profile, ValueKind};
use baton_core::document::Node;
use baton_core::lint::{Facts, Settings};
use baton_core::outcome::Outcome;
use baton_core::skeleton::{self, PackageRules};
use baton_core::workflow::{Edge, Step, Workflow};
use baton_wire::json;
use minijinja::context;
use minijinja::value::Value;

/// What the example of a contract does not show: the fields without which every profile refuses it, those whose
/// values alone it judges, and the rules that hold in some cases only.
pub(super) fn fields(contract: &Contract) -> Value {
    let refused = |rule: &ContractRule| refused_words(contract, rule);
    let all = || contract.must.iter().chain(&contract.should);
    let cases: Vec<Value> =
        all().filter(|it| !it.when.is_empty()).map(|it| rule_value(it, &refused(it))).collect();
    let is_needed = |field: &String| {
        contract.must.iter().any(|it| it.field == *field && it.check.needs_field())
    };
    let is_shown = |field: &String| contract.should.iter().any(|it| it.field == *field);
    let (mut must, mut judged): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for ContractRule { field, .. } in contract.must.iter().filter(|it| it.when.is_empty()) {
        let list = if is_needed(field) { &mut must } else { &mut judged };
        if !list.contains(field) && (is_needed(field) || is_shown(field)) {
            list.push(field.clone());
        }
    }
    context! { needs_several => must.len() > 1, must, judged, cases }
}

/// A package as an agent fills it in: a mark that stands for text is in quotes, one that stands for a
/// number, a truth value, a list or a map is not.
pub(super) fn print(example: &Node) -> String {
    const OPENING: char = '\u{E000}';
    const CLOSING: char = '\u{E001}';
    fn unquoted(node: &Node) -> Node {
        match node {
            Node::Null | Node::Bool(_) | Node::Number(_) => node.clone(),
            Node::Text(text) if text.starts_with('<') && text.contains(NO_QUOTES) => {
                Node::Text(format!("{OPENING}{}{CLOSING}", text.replacen(NO_QUOTES, ": ", 1)))
            }
            Node::Text(_) => node.clone(),
            Node::List(items) => Node::List(items.iter().map(unquoted).collect()),
            Node::Map(members) => {
                Node::Map(members.iter().map(|(key, it)| (key.clone(), unquoted(it))).collect())
            }
        }
    }
    let printed = json::print_pretty(&unquoted(example));
    printed.replace(&format!("\"{OPENING}"), "").replace(&format!("{CLOSING}\""), "")
}

/// In a mark of the skeleton, which is JSON and has every mark in quotes.
const NO_QUOTES: &str = ", without quotes: ";

/// The field in which work that was sent back answers each point.
pub(super) const REVIEW_ANSWERS: &str = "review_answers";

/// The example with a place to answer what the work was sent back for, point by point.
pub(super) fn with_review_answers(mut example: Node) -> Node {
    let point = Node::map([
        ("point", Node::text("<text: one point of the review>")),
        ("answer", Node::text("<text: what you changed and where, or why nothing>")),
    ]);
    let is_there = example.member(REVIEW_ANSWERS).is_some();
    if let Node::Map(members) = &mut example
        && !is_there
    {
        members.push((REVIEW_ANSWERS.to_owned(), Node::List(vec![point])));
    }
    example
}

/// The example of a question to a person with a place for each thing to decide.
pub(super) fn with_open_questions(mut example: Node) -> Node {
    const OPEN_QUESTIONS: &str = "open_questions";
    let question = Node::map([
        ("question", Node::text("<text: one thing to decide, with its choices>")),
        ("priority", Node::text("<one of `critical`, `high`, `medium`, `normal`, `low`>")),
    ]);
    if let Node::Map(members) = &mut example {
        members.push((OPEN_QUESTIONS.to_owned(), Node::List(vec![question])));
    }
    example
}

/// A package that satisfies the contract in strict mode once every mark is filled in; without a
/// contract a summary, with these words about it.
pub(super) fn example(
    contract: Option<&Contract>,
    outcome: Option<Outcome>,
    summary: &str,
) -> Node {
    let rules = PackageRules {
        contract,
        facts: &Facts::default(),
        settings: &Settings::default(),
        profile: Profile::Strict,
        min_score: None,
        outcome,
    };
    skeleton::template(&rules, summary)
}

/// As [`example`], along an edge: with the phases of this very step, where the contract asks for them.
pub(super) fn example_along(
    workflow: &Workflow,
    step: Option<&Step>,
    edge: &Edge,
    summary: &str,
) -> Node {
    let contract = edge.contract.as_ref().and_then(|it| workflow.contract(it));
    let Some(step) = step else { return example(contract, Some(edge.on), summary) };
    let rules = PackageRules {
        contract,
        facts: &Facts::default(),
        settings: &Settings::default(),
        profile: Profile::Strict,
        min_score: None,
        outcome: Some(edge.on),
    };
    skeleton::template_of_phase(&rules, summary, &step.phase, workflow.phase_after(edge))
}

/// What a blocked agent says: with the word by which the workflow finds an agent that helps.
pub(super) fn blocked_example(workflow: &Workflow) -> Node {
    let reasons: Vec<&str> = workflow.blocked_reasons().collect();
    skeleton::with_blocked_reason(skeleton::stuck_template(), &reasons)
}

/// The words that other rules refuse for the field of a rule: both say one thing together.
fn refused_words<'a>(contract: &'a Contract, rule: &ContractRule) -> Vec<&'a str> {
    let others = contract.must.iter().chain(&contract.should).filter(|it| it.field == rule.field);
    let words = others.flat_map(|it| match &it.check {
        Check::NoneOf(words) => words.as_slice(),
        Check::Present
        | Check::Kind(_)
        | Check::OneOf(_)
        | Check::AtLeast(_)
        | Check::AtMost(_)
        | Check::Absent
        | Check::SameAs(_)
        | Check::CountedBy(_) => &[],
    });
    words.map(String::as_str).collect()
}

fn rule_value(rule: &ContractRule, refused: &[&str]) -> Value {
    let check = match &rule.check {
        Check::Present => String::new(),
        Check::Kind(ValueKind::Bool) if refused.contains(&"false") => "true".to_owned(),
        Check::Kind(ValueKind::Bool) if refused.contains(&"true") => "false".to_owned(),
        Check::Kind(kind) => kind_words(*kind).to_owned(),
        Check::OneOf(words) => format!("one of {}", quoted(words)),
        Check::NoneOf(words) => format!("not {}", quoted(words)),
        Check::AtLeast(_)
        | Check::AtMost(_)
        | Check::Absent
        | Check::SameAs(_)
        | Check::CountedBy(_) => rule.check.words(),
    };
    // One spelling of the field is enough: the one in the example.
    context! { field => rule.field.as_str(), check, case => rule.case(), about => rule.about.as_str() }
}

fn kind_words(kind: ValueKind) -> &'static str {
    match kind {
        ValueKind::Text => "text",
        ValueKind::Number => "a number",
        ValueKind::Bool => "true or false",
        ValueKind::List => "a list",
        ValueKind::Map => "a map",
    }
}

fn quoted(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|it| format!("`{it}`")).collect();
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use baton_core::contract::When;
    use expect_test::expect;

    use super::*;
    use crate::prompt::templates;

    fn rule(field: &str, check: Check) -> ContractRule {
        let (about, others) = (format!("about {field}"), Vec::new());
        ContractRule { field: field.to_owned(), others, about, check, when: Vec::new() }
    }

    #[test]
    fn what_the_example_does_not_show_has_its_words() {
        let words = |words: &[&str]| words.iter().map(|it| (*it).to_owned()).collect();
        let when = vec![When::is("status", &["merged"])];
        let contract = Contract {
            name: "c".to_owned(),
            must: vec![
                ContractRule { others: words(&["story_id"]), ..rule("story", Check::Present) },
                rule("build", Check::NoneOf(words(&["false"]))),
            ],
            should: vec![
                rule("build", Check::Kind(ValueKind::Bool)),
                rule("files", Check::Kind(ValueKind::List)),
                rule("priority", Check::OneOf(words(&["high", "low"]))),
                ContractRule { when, ..rule("sha", Check::Kind(ValueKind::Text)) },
            ],
        };
        expect!["- where status is merged, `sha` (text): about sha"]
            .assert_eq(templates::phrase("cases", fields(&contract)).trim());
        expect!["It is refused without `story`, and where one of them or `build` is not what its `<...>` says."]
            .assert_eq(&templates::phrase("refused", fields(&contract)));
    }

    #[test]
    fn only_text_stands_in_quotes() {
        let mark = |words: &str| Node::text(format!("<{words}: about it>"));
        let example = Node::map([
            ("text", mark("text")),
            ("truth", mark("true or false, without quotes")),
            ("list", Node::List(vec![mark("a number, without quotes")])),
            ("own", Node::text("a < b, without quotes: c")),
        ]);
        expect![[r#"
            {
              "text": "<text: about it>",
              "truth": <true or false: about it>,
              "list": [
                <a number: about it>
              ],
              "own": "a < b, without quotes: c"
            }"#]]
        .assert_eq(&print(&example));
    }
}
