//! The fields that a contract requires, in words, and an example package to fill in.

use baton_core::contract::{Check, Contract, ContractRule, Profile, ValueKind};
use baton_core::document::Node;
use baton_core::lint::{Facts, Settings};
use baton_core::outcome::Outcome;
use baton_core::skeleton::{self, PackageRules};
use minijinja::context;
use minijinja::value::Value;

/// The fields of a contract, as the templates print them.
pub(super) fn fields(contract: &Contract) -> Value {
    let refused = |rule: &ContractRule| refused_words(contract, rule);
    let rules = |rules: &[ContractRule]| {
        rules.iter().map(|it| rule_value(it, &refused(it))).collect::<Vec<_>>()
    };
    context! { must => rules(&contract.must), should => rules(&contract.should) }
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
                rule("build", Check::Kind(ValueKind::Bool)),
                rule("files", Check::Kind(ValueKind::List)),
                rule("priority", Check::OneOf(words(&["high", "low"]))),
                ContractRule { when, ..rule("sha", Check::Kind(ValueKind::Text)) },
            ],
        };
        expect![[r#"
            must (refused without):
            - `story`: about story
            - `build` (not `false`): about build
            should (in strict refused without):
            - `build` (true): about build
            - `files` (a list): about files
            - `priority` (one of `high`, `low`): about priority
            - `sha` (text), where status is merged: about sha"#]]
        .assert_eq(&templates::phrase("fields", fields(&contract)));
    }
}
