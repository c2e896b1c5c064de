//! Linter findings when a package is handed over: refused in strict, warnings in lenient.

use super::fixture::{Tester, create, plan};
use crate::command::{Command, Create};
use crate::contract::Profile;
use crate::document::Node;
use crate::event::{Event, HandoffEvent};
use crate::lint::{self, Facts, LintRule, LintSubject, Silence};
use crate::refusal::Refusal;

/// Keeps the contract of the edge, but has no substance.
fn vague() -> Node {
    let files = Node::List(vec![Node::text("src/a.rs")]);
    Node::map([
        ("plan", Node::text("write it, then test it")),
        ("files_to_modify", files),
        ("summary", Node::text("It's done")),
    ])
}

fn hand(package: Node, profile: Profile) -> Command {
    Command::Create(Create { profile, ..create("analyst", "implementer", package) })
}

fn at_work() -> Tester {
    let mut tester = Tester::started();
    tester.accepts(1);
    tester
}

#[track_caller]
fn check_refused(tester: &mut Tester, command: &Command, code: &str, rules: &[&str]) {
    let refusal = tester.tries(command).unwrap_err();
    assert_eq!(refusal.code(), code, "{refusal}");
    let Refusal::Contract { problems, .. } = refusal else { panic!("{refusal:?}") };
    assert_eq!(problems.iter().map(|it| it.rule.as_str()).collect::<Vec<_>>(), rules);
}

#[test]
fn strict_refuses_what_the_linter_warns_of() {
    check_refused(&mut at_work(), &hand(vague(), Profile::Strict), "lint", &["vague_summary"]);
}

#[test]
fn a_broken_contract_and_the_linter_are_told_at_once() {
    let package = Node::map([("summary", Node::text("It's done"))]);
    let rules = ["missing", "missing", "vague_summary"];
    check_refused(&mut at_work(), &hand(package, Profile::Strict), "contract", &rules);
}

#[test]
fn lenient_tells_it_to_both_sides() {
    let decision = at_work().does(&hand(vague(), Profile::Lenient));
    let rules: Vec<&str> = decision.done.warnings.iter().map(|it| it.rule.as_str()).collect();
    assert_eq!(rules, ["vague_summary"]);
    let Event::Handoff(HandoffEvent::Created(created)) = &decision.events[2] else {
        panic!("{:?}", decision.events)
    };
    assert_eq!(created.warnings, ["vague_summary summary"]);
}

#[test]
fn info_neither_refuses_nor_is_recorded() {
    let Node::Map(mut members) = vague() else { panic!() };
    members.retain(|(key, _)| key != "summary");
    members.push(("build_passes".to_owned(), Node::Bool(true)));
    let decision = at_work().does(&hand(Node::Map(members), Profile::Strict));
    assert_eq!(decision.done.warnings, []);
}

#[test]
fn a_project_may_silence_a_rule() {
    let mut tester = at_work();
    let (rule, reason) = (LintRule::VagueSummary, "because".to_owned());
    tester.lint.silences.push(Silence { rule, reason, path: None });
    tester.does(&hand(vague(), Profile::Strict));
}

#[test]
fn an_edge_asks_for_its_score_in_every_profile_and_a_project_in_strict() {
    let mut tester = at_work();
    tester.workflow.steps[0].edges[0].min_score = Some(101);
    for profile in [Profile::Lenient, Profile::Strict] {
        check_refused(&mut tester, &hand(plan_with_files(), profile), "lint", &["low_score"]);
    }
    let mut tester = at_work();
    tester.lint.min_score = Some(101);
    check_refused(&mut tester, &hand(plan_with_files(), Profile::Strict), "lint", &["low_score"]);
    tester.does(&hand(plan(), Profile::Lenient));
}

fn plan_with_files() -> Node {
    let Node::Map(mut members) = vague() else { panic!() };
    members.retain(|(key, _)| key != "summary");
    Node::Map(members)
}

#[test]
fn exactly_the_least_score_is_enough() {
    let package = plan_with_files();
    let mut tester = at_work();
    let score = lint::lint(&LintSubject {
        document: &package,
        contract: tester.workflow.contract("plan"),
        facts: &Facts::default(),
        settings: &tester.lint,
        file: None,
    });
    let points = score.score.points;
    tester.workflow.steps[0].edges[0].min_score = Some(points + 1);
    let command = hand(package, Profile::Lenient);
    check_refused(&mut tester, &command, "lint", &["low_score"]);
    tester.workflow.steps[0].edges[0].min_score = Some(points);
    tester.does(&command);
}

#[test]
fn the_senders_idea_of_the_workflow_is_compared_with_the_run() {
    let rules = |completed: &str| -> Vec<String> {
        let Node::Map(mut members) = plan_with_files() else { panic!() };
        let completed = Node::List(vec![Node::text(completed)]);
        let state = Node::map([("completed_steps", completed)]);
        members.push(("workflow_state".to_owned(), state));
        let decision = at_work().does(&hand(Node::Map(members), Profile::Lenient));
        decision.done.warnings.into_iter().map(|it| it.rule).collect()
    };
    assert_eq!(rules("analyze"), [""; 0]);
    assert_eq!(rules("review"), ["stale_workflow_state"], "the run has not been there");
    assert_eq!(rules("deploy"), ["stale_workflow_state"], "the workflow has no such step");
}

#[test]
fn a_record_holds_no_more_than_it_has_room_for() {
    let blank = || Node::text(" ");
    let members = (0..1000).map(|n| (format!("field_{n}"), blank()));
    let plan = ("plan".to_owned(), Node::text("write it"));
    let package = Node::Map(std::iter::once(plan).chain(members).collect());
    let decision = at_work().does(&hand(package, Profile::Lenient));
    let Event::Handoff(HandoffEvent::Created(created)) = &decision.events[2] else {
        panic!("{:?}", decision.events)
    };
    assert_eq!(created.warnings.len(), 50);
}
