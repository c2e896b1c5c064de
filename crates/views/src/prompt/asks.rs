//! The fields that a contract requires, in words, and an example package to fill in.

use baton_core::contract::{Check, Contract, ContractRule, ValueKind};
use baton_core::document::Node;
use minijinja::context;
use minijinja::value::Value;

/// The fields of a contract, as the templates print them.
pub(super) fn fields(contract: &Contract) -> Value {
    let rules = |rules: &[ContractRule]| rules.iter().map(rule_value).collect::<Vec<_>>();
    context! { must => rules(&contract.must), should => rules(&contract.should) }
}

/// A package that satisfies the contract in strict mode once every `<mark>` is replaced.
pub(super) fn example(contract: &Contract) -> Node {
    contract.skeleton(&Node::Map(Vec::new()))
}

fn rule_value(rule: &ContractRule) -> Value {
    let check = match &rule.check {
        Check::Present => String::new(),
        Check::Kind(kind) => kind_words(*kind).to_owned(),
        Check::OneOf(words) => format!("one of {}", quoted(words)),
        Check::NoneOf(words) => format!("never {}", quoted(words)),
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
    fn every_kind_of_rule_has_its_words() {
        let words = |words: &[&str]| words.iter().map(|it| (*it).to_owned()).collect();
        let when = vec![When::is("status", &["merged"])];
        let contract = Contract {
            name: "c".to_owned(),
            must: vec![
                ContractRule { others: words(&["story_id"]), ..rule("story", Check::Present) },
                rule("build", Check::NoneOf(words(&["false"]))),
            ],
            should: vec![
                rule("files", Check::Kind(ValueKind::List)),
                rule("priority", Check::OneOf(words(&["high", "low"]))),
                ContractRule { when, ..rule("sha", Check::Kind(ValueKind::Text)) },
            ],
        };
        expect![[r#"
            must (refused without):
            - `story`: about story
            - `build` (never `false`): about build
            should (in strict refused without):
            - `files` (a list): about files
            - `priority` (one of `high`, `low`): about priority
            - `sha` (text), where status is merged: about sha"#]]
        .assert_eq(&templates::phrase("fields", fields(&contract)));
    }
}
