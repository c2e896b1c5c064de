//! What single corrections look like. That every one of them passes once it is filled in is tested
//! on the built-in contracts, in `baton-wire`.

use expect_test::{Expect, expect};

use super::*;
use crate::contract::{Counted, ValueKind};

fn rule(fields: &[&str], check: Check, about: &str) -> ContractRule {
    let mut fields = fields.iter().map(|it| (*it).to_owned());
    let field = fields.next().unwrap();
    let about = about.to_owned();
    ContractRule { field, others: fields.collect(), about, check, when: Vec::new() }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|it| (*it).to_owned()).collect()
}

#[track_caller]
fn check(must: Vec<ContractRule>, document: &Node, expected: Expect) {
    let contract = Contract { name: "c".to_owned(), must, should: Vec::new() };
    let (facts, settings) = (Facts::default(), Settings::default());
    let rules = PackageRules {
        contract: Some(&contract),
        facts: &facts,
        settings: &settings,
        profile: Profile::Strict,
        min_score: None,
        outcome: None,
    };
    let sketch = corrected(document, &rules);
    let report = report(&sketch.sample, &rules);
    assert_eq!(report.refusing(Profile::Strict).count(), 0, "{:?}", report.findings);
    expected.assert_eq(&crate::canonical::text(&sketch.shown));
}

#[test]
fn what_is_right_is_kept_and_what_is_wrong_is_marked_in_place() {
    let rules = vec![
        rule(&["plan"], Check::Present, "the steps"),
        rule(&["files"], Check::Kind(ValueKind::List), "the files, each with its `path`"),
        rule(&["built"], Check::Kind(ValueKind::Bool), "whether it builds"),
        rule(&["built"], Check::NoneOf(words(&["false"])), "a failing build goes to nobody"),
        rule(&["n"], Check::Kind(ValueKind::Number), "how many"),
        rule(&["context.kind"], Check::OneOf(words(&["a", "b"])), "which kind"),
        rule(&["tried"], Check::AtLeast(2), "what was tried"),
    ];
    let document = Node::map([
        ("plan", Node::text("mine, in 3 steps")),
        ("files", Node::text("a.rs")),
        ("built", Node::Bool(false)),
        ("context", Node::text("all of it")),
        ("tried", Node::List(vec![Node::text("rebooting it")])),
    ]);
    check(
        rules,
        &document,
        expect![[
            r#"{"built":"<true, without quotes: whether it builds; a failing build goes to nobody; refused was 'false'>","context":{"kind":"<one of `a`, `b`: which kind; refused was 'all of it'>"},"files":[{"path":"<a path relative to the project's root: the files; refused was 'a.rs'>"}],"n":"<a number, without quotes: how many>","plan":"mine, in 3 steps","tried":["rebooting it","<text: what was tried>"]}"#
        ]],
    );
}

#[test]
fn what_the_linter_refuses_is_marked_and_the_rest_of_it_kept() {
    let text = |it: &str| Node::text(it);
    let document = Node::map([
        ("summary", text("Done with the work")),
        ("success_criteria", Node::List(vec![text("Build passes in CI"), text("It is good")])),
        ("decisions", Node::List(vec![text("Use PostgreSQL")])),
        ("open_questions", Node::List(vec![Node::map([("question", text("Which port?"))])])),
        ("artifacts", Node::List(vec![text("/etc/passwd"), Node::map([("type", text("doc"))])])),
        ("notes", text("DB_PASSWORD=hunter2hunter9x works")),
        ("hint", text("admin\u{202E}nimda")),
        ("status", text("success|failure|blocked")),
        ("risks", Node::List(vec![text("TBD"), text("")])),
    ]);
    check(
        Vec::new(),
        &document,
        expect![[
            r#"{"artifacts":["<a path relative to the project's root: where it is; refused was '/etc/passwd'>",{"path":"<a path relative to the project's root: where it is>","type":"doc"}],"decisions":[{"decision":"Use PostgreSQL","rationale":"<text: why this and nothing else>"}],"hint":"adminU+202Enimda","notes":"DB_PASSWORD=[redacted] works","open_questions":[{"priority":"<one of `critical`, `high`, `medium`, `normal`, `low`: how urgent it is>","question":"Which port?"}],"risks":["<text: what belongs in `risks`; refused was 'TBD'>","<text: what belongs in `risks`>"],"status":"<one of `success`, `failure`, `blocked`: what belongs in `status`; refused was 'success|failure|blocked'>","success_criteria":["Build passes in CI","<text that can be checked, with a number, a command or a result: what belongs in `success_criteria`; refused was 'It is good'>"],"summary":"<text of 1 to 3 sentences, at most 600 characters, with names, numbers or paths: what belongs in `summary`; refused was 'Done with the work'>"}"#
        ]],
    );
}

#[test]
fn a_number_is_corrected_where_it_may_be_greater_and_else_the_list() {
    let issue = || Node::map([("severity", Node::text("critical")), ("at", Node::text("a.rs:1"))]);
    let document = |n: i64| {
        let issues = Node::List(vec![issue(), issue()]);
        Node::map([("critical_count", Node::Number(n.into())), ("issues", issues)])
    };
    let only = Some(("severity".to_owned(), "critical".to_owned()));
    let counted = || {
        let check =
            Check::CountedBy(Counted { by: "critical_count".to_owned(), only: only.clone() });
        rule(&["issues"], check, "never more than were counted")
    };
    check(
        vec![counted()],
        &document(1),
        expect![[
            r#"{"critical_count":"<a number, not less than the items of `issues` whose `severity` is `critical`, without quotes: how many there are; refused was '1'>","issues":[{"at":"a.rs:1","severity":"critical"},{"at":"a.rs:1","severity":"critical"}]}"#
        ]],
    );
    let none = rule(&["critical_count"], Check::AtMost(0), "nothing critical is left");
    check(
        vec![counted(), none],
        &document(0),
        expect![[
            r#"{"critical_count":0,"issues":["<null, without quotes: `critical_count` is at most 0 here>","<null, without quotes: `critical_count` is at most 0 here>"]}"#
        ]],
    );
}

#[test]
fn only_words_that_pass_are_offered() {
    let status = rule(&["status"], Check::OneOf(words(&["done", "blocked"])), "how it ended");
    let reason = ContractRule {
        when: vec![crate::contract::When::is("status", &["blocked"])],
        ..rule(&["reason"], Check::Present, "what blocks")
    };
    check(
        vec![status.clone(), reason.clone()],
        &Node::map([]),
        expect![[r#"{"status":"<the word `done`: how it ended>"}"#]],
    );
    let said = Node::map([("reason", Node::text("the database is down"))]);
    check(
        vec![status, reason],
        &said,
        expect![[
            r#"{"reason":"the database is down","status":"<one of `done`, `blocked`: how it ended>"}"#
        ]],
    );
}

#[test]
fn a_template_has_marks_even_if_nothing_is_asked_for() {
    let (facts, settings) = (Facts::default(), Settings::default());
    let rules = PackageRules {
        contract: None,
        facts: &facts,
        settings: &settings,
        profile: Profile::Strict,
        min_score: None,
        outcome: None,
    };
    let template = template(&rules, "what was done");
    assert_eq!(marks(&template).len(), 1);
    let paths: Vec<String> = marks(&stuck_template()).into_iter().map(|(path, _)| path).collect();
    assert_eq!(paths, ["reason", "blockers[0]", "attempted[0]"]);
}
