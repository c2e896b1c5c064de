//! A contract that asks for `dispositions`: every finding of the review gets an answer.

use super::asks_for_answers;
use super::dispositions::missing;
use super::fixture::{Tester, complete, create, pipeline, step, story, to};
use crate::command::{Command, Complete};
use crate::contract::{Check, Contract, ContractRule, Profile};
use crate::document::Node;
use crate::outcome::Outcome;
use crate::package::{Format, Package};
use crate::problem::Problem;
use crate::refusal::Refusal;
use crate::view::{FindingToAnswer, findings_to_answer};
use crate::workflow::{Edge, Target, Workflow};

fn rule() -> ContractRule {
    ContractRule {
        field: "dispositions".to_owned(),
        others: Vec::new(),
        about: "every finding with its `location` and its `answer`".to_owned(),
        check: Check::AtLeast(1),
        when: Vec::new(),
    }
}

/// A fixer that hands on along an edge with this contract.
fn fixing(contract: Contract) -> Workflow {
    let mut workflow = pipeline();
    let edge = Edge { contract: Some(contract.name.clone()), ..to("review") };
    let end = Edge { to: Target::Complete, ..to("x") };
    workflow.steps =
        vec![step("analyze", "analyst", vec![edge]), step("review", "reviewer", vec![end])];
    workflow.contracts = vec![contract];
    workflow
}

fn should() -> Contract {
    Contract { name: "fixes".to_owned(), must: Vec::new(), should: vec![rule()] }
}

fn must() -> Contract {
    Contract { name: "fixes".to_owned(), must: vec![rule()], should: Vec::new() }
}

/// A fixer at work on findings at `a.rs:1` and `b.rs:2`.
fn at_work(contract: Contract) -> Tester {
    let first = create("orchestrator", "analyst", story());
    let mut tester = Tester::begun_in(fixing(contract), &first).unwrap();
    tester.accepts(1);
    tester.to_answer = vec![finding("a.rs:1", true), finding(" b.rs:2 ", false)];
    tester
}

/// At a place, or without one.
fn finding(location: &str, is_blocking: bool) -> FindingToAnswer {
    let location = (!location.is_empty()).then(|| location.to_owned());
    FindingToAnswer { location, is_blocking }
}

fn answer(location: &str, answer: &str, reason: &str) -> Node {
    let keys = [("location", location), ("answer", answer), ("reason", reason)];
    let keys = keys.into_iter().filter(|(_, it)| !it.is_empty());
    Node::map(keys.map(|(key, it)| (key, Node::text(it))))
}

fn with(answers: Vec<Node>) -> Node {
    let summary = Node::text("Bound 2 parameters in `a.rs`; every test passes");
    Node::map([("summary", summary), ("dispositions", Node::List(answers))])
}

fn hands(package: Package, profile: Profile) -> Command {
    let Command::Complete(done) = complete(1, Outcome::Success, Node::Null) else { unreachable!() };
    Command::Complete(Complete { package, profile, ..done })
}

fn json(document: Node) -> Package {
    Package::new(Format::Json, "{}", document)
}

/// `path rule` of each problem.
fn told(problems: &[Problem]) -> Vec<String> {
    problems.iter().map(|it| format!("{} {}", it.path, it.rule)).collect()
}

#[track_caller]
fn check_refused(
    contract: Contract,
    package: Package,
    profile: Profile,
    expected: &[&str],
) -> Node {
    let refusal = at_work(contract).tries(&hands(package, profile)).unwrap_err();
    assert_eq!(refusal.code(), "contract", "{refusal}");
    let Refusal::Contract { problems, skeleton, .. } = refusal else { panic!("{refusal:?}") };
    assert_eq!(told(&problems), expected);
    *skeleton
}

#[test]
fn every_finding_has_an_answer_or_the_work_is_not_taken_in_strict() {
    let all = || {
        with(vec![answer("a.rs:1", "accept", ""), answer("b.rs:2", "Decline", "It is a setting")])
    };
    at_work(should()).does(&hands(json(all()), Profile::Strict));
    at_work(must()).does(&hands(json(all()), Profile::Lenient));

    let one = || with(vec![answer("a.rs:1", "defer", "")]);
    let expected = ["dispositions unanswered_finding"];
    let skeleton = check_refused(should(), json(one()), Profile::Strict, &expected);
    check_refused(must(), json(one()), Profile::Lenient, &expected);
    let added = answer(
        "b.rs:2",
        "<one of `accept`, `decline`, `defer`: what becomes of the finding>",
        "<text: what was done, or why it is not done>",
    );
    let expected = Node::List(vec![answer("a.rs:1", "defer", ""), added]);
    assert_eq!(skeleton.member("dispositions"), Some(&expected), "the others are kept");
}

#[test]
fn where_answers_are_only_asked_for_lenient_warns_of_what_is_missing() {
    let package = json(with(vec![answer("a.rs:1", "fixed", "")]));
    let decision = at_work(should()).does(&hands(package, Profile::Lenient));
    assert_eq!(told(&decision.done.warnings), ["dispositions unanswered_finding"]);
    assert!(decision.done.warnings[0].message.contains("1 of the 2"), "{:?}", decision.done);
}

#[test]
fn where_none_is_given_the_skeleton_has_a_place_for_each() {
    let none = Node::map([("summary", Node::text("Bound 2 parameters in `a.rs`"))]);
    let skeleton = check_refused(must(), json(none), Profile::Lenient, &["dispositions missing"]);
    let places = skeleton.member("dispositions").unwrap();
    let Node::List(places) = places else { panic!("{places:?}") };
    let of = |it: &Node| it.member("location").and_then(Node::as_text).map(str::to_owned);
    let places: Vec<Option<String>> = places.iter().map(of).collect();
    assert_eq!(places, [Some("a.rs:1".to_owned()), Some("b.rs:2".to_owned())]);
}

#[test]
fn an_answer_is_one_of_three_and_a_finding_is_declined_with_a_reason() {
    let unclear = |it: Node| {
        let package = json(with(vec![answer("a.rs:1", "accept", ""), it]));
        check_refused(should(), package, Profile::Strict, &["dispositions[1] unclear_disposition"])
    };
    unclear(answer("b.rs:2", "perhaps", ""));
    unclear(answer("b.rs:2", "", ""));
    let skeleton = unclear(answer("b.rs:2", "wontfix", ""));
    let Some(Node::List(places)) = skeleton.member("dispositions") else { panic!("{skeleton:?}") };
    assert_eq!(places.len(), 2, "the unclear one is replaced: {places:?}");
    assert_eq!(places[1].member("location"), Some(&Node::text("b.rs:2")));
    assert!(places[1].member("reason").is_some(), "{places:?}");
}

#[test]
fn in_xml_answers_are_attributes_and_the_reason_is_the_text() {
    let item = |location: &str, answer: &str| {
        Node::map([
            ("@location", Node::text(location)),
            ("@answer", Node::text(answer)),
            ("#text", Node::text("Fixed in 71c0b3e")),
        ])
    };
    let package = |items: Vec<Node>| {
        let inside = Node::map([
            ("from", Node::text("analyst")),
            ("to", Node::text("reviewer")),
            ("dispositions", Node::map([("disposition", Node::List(items))])),
        ]);
        let document = Node::Map(vec![("handoff".to_owned(), inside)]);
        Package::new(Format::Xml, "<a/>", document)
    };
    let both = package(vec![item("a.rs:1", "decline"), item("b.rs:2", "accept")]);
    at_work(must()).does(&hands(both, Profile::Lenient));

    let one = package(vec![item("b.rs:2", "accept")]);
    let expected = ["handoff.dispositions unanswered_finding"];
    let skeleton = check_refused(must(), one, Profile::Lenient, &expected);
    let places = skeleton.at("handoff.dispositions.disposition");
    let Some(Node::List(places)) = places else { panic!("{skeleton:?}") };
    assert_eq!(places[0], item("b.rs:2", "accept"));
    assert_eq!(places[1].member("@location"), Some(&Node::text("a.rs:1")));
}

#[test]
fn a_contract_that_does_not_ask_for_answers_gets_none() {
    let plain = Contract { name: "fixes".to_owned(), must: Vec::new(), should: Vec::new() };
    let none = Node::map([("summary", Node::text("Bound 2 parameters in `a.rs`"))]);
    assert!(!asks_for_answers(&plain) && asks_for_answers(&should()) && asks_for_answers(&must()));
    at_work(plain.clone()).does(&hands(json(none), Profile::Strict));
    let unclear = with(vec![answer("a.rs:1", "perhaps", "")]);
    at_work(plain).does(&hands(json(unclear), Profile::Strict));
}

/// A skeleton that has other members gets the answers beside them.
#[test]
fn a_place_for_the_answers_is_made_where_the_document_has_none() {
    let none = json(Node::map([("summary", Node::text("Bound 2 parameters in `a.rs`"))]));
    let to_answer = at_work(must()).to_answer;
    let missing = missing(Some(&must()), Some(&to_answer), &none, None).unwrap();
    let marked = missing.marked(Node::map([("summary", Node::text("kept"))]), &none);
    let Node::Map(members) = marked else { panic!("{marked:?}") };
    let keys: Vec<&str> = members.iter().map(|(key, _)| key.as_str()).collect();
    assert_eq!(keys, ["summary", "dispositions"]);
    let again = missing.marked(with(Vec::new()), &none);
    let Node::Map(members) = again else { panic!("{again:?}") };
    assert_eq!(members.len(), 2, "not twice: {members:?}");
}

/// As of an issue: `branch` and `issue_number`.
#[test]
fn the_branch_of_an_issue_is_refused_in_strict_and_a_warning_in_lenient() {
    let field = |key: &str| ContractRule {
        field: key.to_owned(),
        about: "the issue".to_owned(),
        check: Check::Present,
        ..rule()
    };
    let must = vec![field("branch"), field("issue_number")];
    let contract = || Contract { name: "prep".to_owned(), must: must.clone(), should: Vec::new() };
    let named = |branch: &str| {
        let keys = [("issue_number", "5"), ("branch", branch)];
        let summary = ("summary", Node::text("Made 1 workspace with `cargo build`"));
        json(Node::map(keys.into_iter().map(|(k, it)| (k, Node::text(it))).chain([summary])))
    };
    let skeleton =
        check_refused(contract(), named("master"), Profile::Strict, &["branch branch_name"]);
    let mark = skeleton.member("branch").and_then(Node::as_text).unwrap_or_default();
    assert!(mark.starts_with("<text: "), "{mark}");
    let warnings =
        at_work(contract()).does(&hands(named("master"), Profile::Lenient)).done.warnings;
    assert!(warnings.iter().any(|it| it.rule == "branch_name"), "{warnings:?}");
    at_work(contract()).does(&hands(named("feature/issue-5-log-in"), Profile::Strict));
}

fn skips(package: Package, profile: Profile) -> Command {
    let Command::Complete(done) = hands(package, profile) else { unreachable!() };
    Command::Complete(Complete { outcome: Outcome::Skipped, ..done })
}

/// A fixer whose step is optional; with an edge of its own for a skip, or without.
fn optional(contract: Contract, on_skip: Option<Contract>) -> Tester {
    let mut tester = at_work(contract);
    tester.workflow.steps[0].is_optional = true;
    if let Some(contract) = on_skip {
        let name = Some(contract.name.clone());
        let edge = Edge { on: Outcome::Skipped, contract: name, ..to("review") };
        tester.workflow.steps[0].edges.push(edge);
        tester.workflow.contracts.push(contract);
    }
    tester
}

#[test]
fn a_skip_is_no_way_around_the_answers_to_a_review() {
    let with_number = || {
        let number =
            ContractRule { field: "pr_number".to_owned(), check: Check::Present, ..rule() };
        Contract { must: vec![number, rule()], ..must() }
    };
    let all =
        || with(vec![answer("a.rs:1", "decline", "A setting"), answer("b.rs:2", "defer", "")]);
    let none = || Node::map([("summary", Node::text("Nothing to fix in `a.rs`"))]);
    let refused = |tester: &mut Tester, document: Node, profile: Profile| {
        let refusal = tester.tries(&skips(json(document), profile)).unwrap_err();
        let Refusal::Contract { problems, .. } = refusal else { panic!("{refusal:?}") };
        told(&problems)
    };
    // Along the success edge, its contract asks for nothing else: there is no work to tell of.
    for profile in [Profile::Lenient, Profile::Strict] {
        let mut tester = optional(with_number(), None);
        assert_eq!(refused(&mut tester, none(), profile), ["dispositions missing"]);
        assert_eq!(refused(&mut tester, Node::Null, profile)[0], "dispositions missing");
        tester.does(&skips(json(all()), profile));
    }
    let mut tester = optional(should(), None);
    assert_eq!(refused(&mut tester, none(), Profile::Strict), ["dispositions missing"]);
    // With nothing to answer, nothing is asked for.
    tester.to_answer.clear();
    tester.does(&skips(json(Node::Null), Profile::Strict));

    // An edge of its own for skips has a contract for them, which holds.
    let own = || Contract { name: "skips".to_owned(), ..with_number() };
    let mut tester = optional(should(), Some(own()));
    assert_eq!(refused(&mut tester, all(), Profile::Lenient), ["pr_number missing"]);
    tester.to_answer.clear();
    let expected = ["pr_number missing", "dispositions missing"];
    assert_eq!(refused(&mut tester, none(), Profile::Lenient), expected);
}

/// At work on these findings alone.
fn on(contract: Contract, findings: Vec<FindingToAnswer>) -> Tester {
    let mut tester = at_work(contract);
    tester.to_answer = findings;
    tester
}

#[track_caller]
fn check_taken(tester: Tester, answers: Vec<Node>, profile: Profile, expected: &[&str]) {
    let mut tester = tester;
    let Err(refusal) = tester.tries(&hands(json(with(answers)), profile)) else {
        assert_eq!(expected, [""; 0]);
        return;
    };
    let Refusal::Contract { problems, .. } = refusal else { panic!("{refusal:?}") };
    assert_eq!(told(&problems), expected);
}

#[test]
fn two_findings_at_one_place_need_two_answers() {
    let two = || on(should(), vec![finding("a.rs:1", true), finding("a.rs:1", true)]);
    let fixed = || answer("a.rs:1", "accept", "");
    let expected = ["dispositions unanswered_finding"];
    check_taken(two(), vec![fixed()], Profile::Strict, &expected);
    check_taken(two(), vec![fixed(), fixed()], Profile::Strict, &[]);
    check_taken(two(), vec![fixed(), answer("a.rs:1", "defer", "")], Profile::Strict, &[]);
    let Refusal::Contract { skeleton, .. } =
        two().tries(&hands(json(with(vec![fixed()])), Profile::Strict)).unwrap_err()
    else {
        unreachable!()
    };
    let Some(Node::List(places)) = skeleton.member("dispositions") else { panic!("{skeleton:?}") };
    assert_eq!(places.len(), 2, "{places:?}");
}

#[test]
fn a_finding_without_a_place_needs_an_answer_too() {
    let both = || on(should(), vec![finding("a.rs:1", true), finding("", true)]);
    let fixed = || answer("a.rs:1", "accept", "");
    let expected = ["dispositions unanswered_finding"];
    check_taken(both(), vec![fixed()], Profile::Strict, &expected);
    for other in ["", "the password in the log"] {
        check_taken(both(), vec![fixed(), answer(other, "accept", "")], Profile::Strict, &[]);
    }
}

#[test]
fn one_finding_has_one_answer() {
    let one = || on(should(), vec![finding("a.rs:1", false)]);
    let (fixed, not) = (answer("a.rs:1", "accept", ""), answer("a.rs:1", "decline", "A setting"));
    let expected = ["dispositions contradictory_disposition"];
    for profile in Profile::ALL {
        check_taken(one(), vec![fixed.clone(), not.clone()], profile, &expected);
        check_taken(one(), vec![fixed.clone(), fixed.clone()], profile, &[]);
    }
}

/// As `nothing-to-fix` of the built-in workflow: past the review.
fn nothing_to_fix() -> Contract {
    let nothing = ContractRule {
        field: "blocking_issues".to_owned(),
        about: "what blocks has to be fixed and reviewed again".to_owned(),
        check: Check::Absent,
        ..rule()
    };
    Contract { must: vec![nothing], ..should() }
}

#[test]
fn what_was_fixed_or_blocks_does_not_go_past_the_review() {
    let minor = || on(nothing_to_fix(), vec![finding("a.rs:1", false)]);
    let blocking = || on(nothing_to_fix(), vec![finding("a.rs:1", true)]);
    let fixed = || vec![answer("a.rs:1", "accept", "")];
    let declined = || vec![answer("a.rs:1", "decline", "A setting")];
    for profile in Profile::ALL {
        check_taken(minor(), declined(), profile, &[]);
        check_taken(minor(), fixed(), profile, &["dispositions[0] contradictory_disposition"]);
        check_taken(blocking(), declined(), profile, &["dispositions blocking_finding"]);
        let deferred = vec![answer("a.rs:1", "defer", "")];
        check_taken(blocking(), deferred, profile, &["dispositions blocking_finding"]);
    }
    // To the reviewer all of it may go.
    check_taken(on(should(), vec![finding("a.rs:1", true)]), declined(), Profile::Strict, &[]);
}

#[test]
fn a_skip_fixes_nothing_whichever_edge_it_takes() {
    for own in [None, Some(Contract { name: "skips".to_owned(), ..nothing_to_fix() })] {
        let mut tester = optional(nothing_to_fix(), own);
        tester.to_answer = vec![finding("a.rs:1", true)];
        let fixed = with(vec![answer("a.rs:1", "accept", "")]);
        let refusal = tester.tries(&skips(json(fixed), Profile::Lenient)).unwrap_err();
        let Refusal::Contract { problems, skeleton, .. } = refusal else { panic!("{refusal:?}") };
        let expected =
            ["dispositions[0] contradictory_disposition", "dispositions blocking_finding"];
        assert_eq!(told(&problems), expected);
        let mark = skeleton.at("dispositions").map(|it| format!("{it:?}")).unwrap_or_default();
        assert!(mark.contains("`decline`, `defer`") && !mark.contains("`accept`"), "{mark}");
    }
}

#[test]
fn every_listed_finding_is_to_be_answered_once() {
    let issue = |location: &str, severity: &str, words: &str| {
        let keys = [("@location", location), ("@severity", severity), ("#text", words)];
        Node::map(keys.into_iter().filter(|it| !it.1.is_empty()).map(|(k, it)| (k, Node::text(it))))
    };
    let two = vec![issue("a.ts:1", "critical", "SQL"), issue("a.ts:1", "critical", "log")];
    let list = |issues: Vec<Node>| Node::map([("issue", Node::List(issues))]);
    let critical = finding("a.ts:1", true);
    for (key, issues, expected) in [
        ("blocking_issues", two.clone(), vec![critical.clone(), critical.clone()]),
        ("blocking_issues", vec![two[0].clone(), two[0].clone()], vec![critical.clone()]),
        ("blocking_issues", vec![Node::text("SQL")], vec![finding("", true)]),
        ("findings", vec![Node::text("A name")], vec![finding("", false)]),
        ("findings", vec![issue("b.ts:2", "minor", "")], vec![finding("b.ts:2", false)]),
    ] {
        let document = Node::map([(key, list(issues))]);
        assert_eq!(findings_to_answer(&document), expected, "{document:?}");
    }
    // What blocks is often listed among all findings as well.
    let twice = Node::map([("findings", list(two.clone())), ("blocking_issues", list(two))]);
    assert_eq!(findings_to_answer(&twice), [critical.clone(), critical]);
}
