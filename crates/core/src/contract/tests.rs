use expect_test::{Expect, expect};

use super::*;

#[test]
fn what_is_missing_is_marked_where_the_sender_would_have_written_it() {
    let rule = ContractRule {
        field: "context.artifacts".to_owned(),
        others: vec!["handoff.context.artifacts".to_owned(), "artifacts".to_owned()],
        about: "the files".to_owned(),
        check: Check::Kind(ValueKind::List),
        when: Vec::new(),
    };
    let contract = Contract { name: "c".to_owned(), must: vec![rule], should: Vec::new() };
    let context = || Node::map([("summary", Node::text("s"))]);
    let rooted = Node::map([("handoff", Node::map([("context", context())]))]);
    for (document, path) in [
        (Node::map([]), "context.artifacts"),
        (Node::map([("context", context())]), "context.artifacts"),
        (rooted, "handoff.context.artifacts"),
    ] {
        assert_eq!(contract.check(&document).must[0].path, path);
    }
}

fn rule(fields: &[&str], check: Check) -> ContractRule {
    let mut fields = fields.iter().map(|it| (*it).to_owned());
    let field = fields.next().unwrap();
    let about = "what it is for".to_owned();
    ContractRule { field, others: fields.collect(), about, check, when: Vec::new() }
}

fn contract(must: Vec<ContractRule>) -> Contract {
    Contract { name: "test".to_owned(), must, should: Vec::new() }
}

#[track_caller]
fn check(rule: ContractRule, document: Node, expected: Expect) {
    let report = contract(vec![rule]).check(&document);
    let problems: Vec<String> = report.must.iter().map(ToString::to_string).collect();
    expected.assert_eq(&problems.join("\n"));
}

#[test]
fn a_field_has_to_be_there_and_say_something() {
    let plan = || rule(&["plan"], Check::Present);
    check(plan(), Node::map([]), expect!["plan: is missing: what it is for [missing]"]);
    check(
        plan(),
        Node::map([("plan", Node::text(" \n"))]),
        expect!["plan: is missing: what it is for [missing]"],
    );
    check(plan(), Node::map([("plan", Node::text("..."))]), expect![""]);
}

#[test]
fn either_spelling_will_do() {
    let story = || rule(&["story", "story_id"], Check::Present);
    check(story(), Node::map([("story_id", Node::text("1"))]), expect![""]);
    check(story(), Node::map([("story", Node::Null), ("story_id", Node::text("1"))]), expect![""]);
    check(
        story(),
        Node::map([]),
        expect!["story: is missing (one of `story` or `story_id`): what it is for [missing]"],
    );
}

#[test]
fn a_contradiction_is_one_only_where_it_is_said() {
    let build = || rule(&["build_passes"], Check::NoneOf(vec!["false".to_owned()]));
    check(build(), Node::map([]), expect![""]);
    check(build(), Node::map([("build_passes", Node::Bool(true))]), expect![""]);
    for failing in [Node::Bool(false), Node::text("false")] {
        check(
            build(),
            Node::map([("build_passes", failing)]),
            expect!["build_passes: cannot be `false` here: what it is for [contradiction]"],
        );
    }
}

#[test]
fn a_contradiction_counts_in_every_spelling() {
    let rule = rule(&["approved", "ok"], Check::NoneOf(vec!["false".to_owned()]));
    let contract = contract(vec![rule]);
    let both = Node::map([("approved", Node::Bool(false)), ("ok", Node::Bool(false))]);
    assert_eq!(contract.check(&both).must.len(), 1);
}

#[test]
fn a_rule_may_hold_in_one_case_only() {
    let merged = || ContractRule {
        when: vec![When::is("status", &["merged"])],
        ..rule(&["sha"], Check::Present)
    };
    check(merged(), Node::map([("status", Node::text("open"))]), expect![""]);
    check(
        merged(),
        Node::map([("status", Node::text("merged"))]),
        expect!["sha: is missing: what it is for [missing]"],
    );
}

#[test]
fn numbers_and_booleans_are_read_from_text_too() {
    let number = || rule(&["n"], Check::Kind(ValueKind::Number));
    check(number(), Node::map([("n", Node::text("12"))]), expect![""]);
    check(
        number(),
        Node::map([("n", Node::text("12 or so"))]),
        expect!["n: is text, not a number: what it is for [wrong_type]"],
    );
}

#[test]
fn how_something_ended_is_compared_by_its_meaning() {
    let words = |all: &[&str]| all.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
    let is_one = |field: &'static str, said: &str| {
        let rule = rule(&[field], Check::OneOf(words(&["complete", "needs-review", "blocked"])));
        let document = Node::map([(field, Node::text(said))]);
        contract(vec![rule]).check(&document).must.is_empty()
    };
    for said in
        ["complete", "success", "passed", "completed", "Complete", "BLOCKED", "needs_review"]
    {
        assert!(is_one("status", said), "{said}");
    }
    for said in ["failed", "ready", "merged", "", "done"] {
        assert!(!is_one("status", said), "{said}");
    }
    assert!(!is_one("phase", "Complete"), "only what says how something ended");
    // What follows from a status follows from each of its words.
    let refused = ContractRule {
        when: vec![When::is("status", &["complete"])],
        ..rule(&["tests_passed"], Check::NoneOf(words(&["false"])))
    };
    let failing =
        |said: &str| Node::map([("status", Node::text(said)), ("tests_passed", Node::Bool(false))]);
    for (said, n_problems) in [("Passed", 1), ("success", 1), ("blocked", 0)] {
        let report = contract(vec![refused.clone()]).check(&failing(said));
        assert_eq!(report.must.len(), n_problems, "{said}");
    }
    let contradiction = rule(&["validation_status"], Check::NoneOf(words(&["passed"])));
    let document = Node::map([("validation_status", Node::text("SUCCESS"))]);
    assert_eq!(contract(vec![contradiction]).check(&document).must.len(), 1);
}
