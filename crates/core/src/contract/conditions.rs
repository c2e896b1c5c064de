//! The conditional rules, on the source documents.

use super::*;

fn rule(field: &str, check: Check) -> ContractRule {
    let about = "why".to_owned();
    ContractRule { field: field.to_owned(), others: Vec::new(), about, check, when: Vec::new() }
}

#[track_caller]
fn check(rule: ContractRule, document: &Node, expected: &str) {
    let contract = Contract { name: "c".to_owned(), must: vec![rule], should: Vec::new() };
    let problem: Vec<String> =
        contract.check(document).must.iter().map(ToString::to_string).collect();
    assert_eq!(problem.join("\n"), expected, "{document:?}");
    // Whatever was wrong, the skeleton is valid once it is filled in.
    let sample = crate::skeleton::sample(document, &contract);
    assert_eq!(contract.check(&sample), ContractReport::default(), "{sample:?}");
}

fn texts(words: &[&str]) -> Node {
    Node::List(words.iter().map(|it| Node::text(*it)).collect())
}

#[test]
fn a_list_may_have_to_hold_something() {
    let attempted = || rule("attempted", Check::AtLeast(1));
    check(attempted(), &Node::map([("attempted", texts(&["read the docs"]))]), "");
    check(attempted(), &Node::map([]), "attempted: is missing: why [missing]");
    let empty = Node::map([("attempted", texts(&[]))]);
    check(attempted(), &empty, "attempted: needs at least 1, and has none: why [missing]");
    let text = Node::map([("attempted", Node::text("much"))]);
    check(attempted(), &text, "attempted: is text, not a list: why [wrong_type]");
}

#[test]
fn what_xml_writes_for_a_list_is_one() {
    let one = Node::map([("attempted", Node::map([("try", Node::text("once"))]))]);
    let two = Node::map([("attempted", Node::map([("try", texts(&["once", "twice"]))]))]);
    for document in [one, two] {
        check(rule("attempted", Check::AtLeast(1)), &document, "");
        check(rule("attempted", Check::Kind(ValueKind::List)), &document, "");
    }
}

#[test]
fn a_field_may_have_to_be_null() {
    let next = || rule("handoff.next_agent", Check::Absent);
    let says =
        |next: Node| Node::map([("handoff", Node::map([("next_agent", next)])), ("a", Node::Null)]);
    check(next(), &says(Node::Null), "");
    check(next(), &Node::map([]), "");
    let problem = "handoff.next_agent: has to be null here: why [contradiction]";
    check(next(), &says(Node::text("frontend-lead")), problem);
}

#[test]
fn a_number_may_have_a_bound() {
    let none = || rule("critical_count", Check::AtMost(0));
    check(none(), &Node::map([]), "");
    for zero in [Node::Number(0.into()), Node::text("0")] {
        check(none(), &Node::map([("critical_count", zero)]), "");
    }
    let problem = "critical_count: cannot be more than 0 here: why [contradiction]";
    check(none(), &Node::map([("critical_count", Node::text("2"))]), problem);
}

#[test]
fn a_bound_holds_for_what_is_no_plain_number_too() {
    let none = || rule("critical_count", Check::AtMost(0));
    let says = |count: Node| Node::map([("critical_count", count)]);
    let beside = |text: &str| Node::map([("@by", Node::text("x")), ("#text", Node::text(text))]);
    check(none(), &says(beside("0")), "");
    check(none(), &says(Node::text(" ")), "");
    let problem = "critical_count: cannot be more than 0 here: why [contradiction]";
    check(none(), &says(beside("1")), problem);
    let problem = "critical_count: is not a number up to 0: why [wrong_type]";
    let list = Node::List(vec![Node::text("0"), Node::text("2")]);
    for other in [Node::text("two"), Node::text("NaN"), beside("two"), list, Node::Bool(true)] {
        check(none(), &says(other), problem);
    }
    let either = ContractRule { others: vec!["open.critical".to_owned()], ..none() };
    let open = Node::map([("critical", Node::text("1"))]);
    let document = Node::map([("critical_count", Node::text("0")), ("open", open)]);
    check(either, &document, "open.critical: cannot be more than 0 here: why [contradiction]");
}

#[test]
fn a_word_beside_attributes_is_read_by_every_check() {
    let beside = |text: &str| Node::map([("@by", Node::text("x")), ("#text", Node::text(text))]);
    let says = |text: &str| Node::map([("status", beside(text))]);
    let words = || vec!["failed".to_owned()];
    check(rule("status", Check::OneOf(words())), &says("failed"), "");
    let problem = "status: cannot be `failed` here: why [contradiction]";
    check(rule("status", Check::NoneOf(words())), &says("failed"), problem);
    check(rule("status", Check::Kind(ValueKind::Number)), &says("4"), "");
    let when = vec![When::is("status", &["failed"])];
    let due = ContractRule { when, ..rule("error", Check::Present) };
    check(due, &says("failed"), "error: is missing: why [missing]");
}

#[test]
fn two_fields_may_have_to_agree() {
    let same = || rule("pr_number", Check::SameAs("pull".to_owned()));
    let numbers = |one: Node, two: Node| Node::map([("pr_number", one), ("pull", two)]);
    check(same(), &numbers(Node::text("4"), Node::Number(4.into())), "");
    check(same(), &Node::map([("pr_number", Node::text("4"))]), "");
    let problem = "pr_number: is not what `pull` says: why [contradiction]";
    check(same(), &numbers(Node::text("4"), Node::text("5")), problem);
}

#[test]
fn a_list_may_be_shorter_than_its_count_but_never_longer() {
    let issue = |severity: &str| {
        Node::map([("@severity", Node::text(severity)), ("#text", Node::text("x"))])
    };
    let document = |n: i64, issues: Vec<Node>| {
        let list = Node::map([("issue", Node::List(issues))]);
        Node::map([("critical_count", Node::Number(n.into())), ("blocking_issues", list)])
    };
    let counted = || {
        let only = Some(("severity".to_owned(), "critical".to_owned()));
        rule("blocking_issues", Check::CountedBy(Counted { by: "critical_count".to_owned(), only }))
    };
    check(counted(), &document(2, vec![issue("critical")]), "");
    check(counted(), &document(1, vec![issue("critical"), issue("important")]), "");
    check(counted(), &Node::map([("blocking_issues", texts(&["a"]))]), "");
    let problem =
        "blocking_issues: lists 2 critical where `critical_count` says 1: why [contradiction]";
    check(counted(), &document(1, vec![issue("critical"), issue("critical")]), problem);
}

#[test]
fn a_case_may_be_several_words_or_none_at_all() {
    let when = |test: WhenTest| ContractRule {
        when: vec![When { field: "status".to_owned(), others: Vec::new(), test }],
        ..rule("context", Check::Present)
    };
    let words = || vec!["blocked".to_owned(), "needs_review".to_owned()];
    let is = |word: &str| Node::map([("status", Node::text(word))]);
    let problem = "context: is missing: why [missing]";
    for (test, due, not_due) in [
        (
            WhenTest::Is(words()),
            vec![is("blocked"), is("needs_review")],
            vec![is("complete"), Node::map([])],
        ),
        (WhenTest::IsNot(words()), vec![is("complete"), Node::map([])], vec![is("blocked")]),
        (WhenTest::Present, vec![is("complete")], vec![is(" "), Node::map([])]),
        (WhenTest::Absent, vec![is(""), Node::map([])], vec![is("complete")]),
    ] {
        for document in due {
            check(when(test.clone()), &document, problem);
        }
        for document in not_due {
            check(when(test.clone()), &document, "");
        }
    }
}

#[test]
fn every_case_has_to_hold() {
    let cases = vec![When::is("status", &["complete"]), When::is("phase", &["testing"])];
    let both = || ContractRule { when: cases.clone(), ..rule("summary", Check::Present) };
    let says =
        |phase: &str| Node::map([("status", Node::text("complete")), ("phase", Node::text(phase))]);
    check(both(), &says("testing"), "summary: is missing: why [missing]");
    check(both(), &says("architecture"), "");
}

#[test]
fn a_path_is_counted_from_inside_the_root_as_well() {
    let handoff = |members: &[(&'static str, &str)]| {
        Node::map([(
            "handoff",
            Node::map(members.iter().map(|(key, text)| (*key, Node::text(*text)))),
        )])
    };
    let sha = || ContractRule {
        when: vec![When::is("status", &["merged"])],
        ..rule("sha", Check::Present)
    };
    check(sha(), &handoff(&[("status", "merged"), ("sha", "abc")]), "");
    let problem = "handoff.sha: is missing: why [missing]";
    check(sha(), &handoff(&[("status", "merged"), ("more", "x")]), problem);
}
