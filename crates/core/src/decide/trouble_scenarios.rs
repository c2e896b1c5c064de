//! Scenarios: work that makes no progress, takes too long or falls silent comes to a person.

use expect_test::expect;
use jiff::SignedDuration;

use super::fixture::*;
use super::scenarios::{at_review, back_to_review, check};
use crate::command::{ClaimChecks, Command, LeaseTime, LoseLease, RanCheck, ReportChecks};
use crate::document::Node;
use crate::evidence::{CheckRun, Verdict};
use crate::gate::{Answer, GateCause};
use crate::hash::Hash;
use crate::names::{CheckName, CommitId};
use crate::outcome::Outcome;
use crate::run::HandoffNo;

/// The lease of the newest handoff is lost, and this was printed.
fn lose_with(tester: &mut Tester, output: Option<&str>) {
    let no = tester.run.n_handoffs;
    tester.wait_seconds(5);
    let wake = Command::Wake { handoff: HandoffNo(no) };
    let _ = tester.tries(&wake);
    tester.does(&accept_with(no, 20));
    let output = output.map(|it| Hash::of(it.as_bytes()));
    let lost = LoseLease { output, ..LoseLease::unheard(HandoffNo(no), 1) };
    tester.does(&Command::LoseLease(lost));
}

#[track_caller]
fn asks(tester: &Tester, cause: GateCause) {
    assert_eq!(tester.run.gate().map(|(_, it)| it.cause), Some(cause), "{}", tester.shows());
}

#[test]
fn two_attempts_that_print_the_very_same_ask_a_person_before_the_retries_are_used_up() {
    let mut same = Tester::started();
    lose_with(&mut same, Some("no API key"));
    lose_with(&mut same, Some("no API key"));
    asks(&same, GateCause::NoProgress);
    let choices = same.run.gate().unwrap().1.choices();
    assert_eq!(choices, ["continue", "hand_to", "abort"], "it has left nothing to accept");
    let no = same.run.n_handoffs;
    same.answers(no, Answer::Continue);
    assert_eq!(same.run.current().unwrap().to.agent.as_str(), "analyst");

    for outputs in [[Some("a"), Some("b")], [None, None], [Some("a"), None]] {
        let mut other = Tester::started();
        outputs.into_iter().for_each(|it| lose_with(&mut other, it));
        assert!(other.run.gate().is_none(), "{outputs:?}");
        lose_with(&mut other, Some("c"));
        asks(&other, GateCause::LostLease);
    }
}

#[test]
fn a_step_may_be_tried_less_often_than_the_workflow_says() {
    let mut tester = Tester::started();
    tester.workflow.steps[0].limits.retries = Some(0);
    lose_with(&mut tester, None);
    asks(&tester, GateCause::LostLease);
}

/// The work goes to the review, checked with this tree.
fn reviewed_with(tester: &mut Tester, tree: &str) {
    let no = tester.run.n_handoffs;
    tester.accepts(no);
    tester.completes(no, Outcome::Success, nothing());
    let (handoff, lease) = (HandoffNo(tester.run.n_handoffs), LeaseTime::USUAL);
    let tests = CheckName::parse("tests").unwrap();
    let can_run = vec![tests.clone()];
    tester.does(&Command::ClaimChecks(ClaimChecks { handoff, lease, can_run }));
    let (commit, tree) = (None, CommitId::parse(tree).ok());
    let ran = CheckRun { exit_code: Some(0), millis: 1, commit, tree };
    let result = RanCheck { check: tests, verdict: Verdict::Passed, detail: words("ok"), ran };
    let results = vec![result];
    tester.does(&Command::ReportChecks(ReportChecks { handoff, fence: 1, results }));
    let no = tester.run.n_handoffs;
    tester.accepts(no);
}

fn checked() -> Tester {
    let mut tester = Tester::started();
    let step = tester.workflow.steps.iter_mut().find(|it| it.id.as_str() == "implement").unwrap();
    step.edges[0].checks = vec![CheckName::parse("tests").unwrap()];
    tester.checks = vec![CheckName::parse("tests").unwrap()];
    tester.accepts(1);
    tester.hands("analyst", "implementer", plan());
    tester
}

#[test]
fn work_that_comes_back_from_a_review_with_nothing_changed_is_not_sent_round_again() {
    let mut same = checked();
    reviewed_with(&mut same, "aaaa");
    let no = same.run.n_handoffs;
    same.rejects(no, "the first line");
    assert!(same.run.gate().is_none());
    reviewed_with(&mut same, "aaaa");
    let no = same.run.n_handoffs;
    same.rejects(no, "still the first line");
    asks(&same, GateCause::NoProgress);
    let no = same.run.n_handoffs;
    same.answers(no, Answer::Continue);
    assert_eq!(same.run.current().unwrap().to.agent.as_str(), "implementer");
    reviewed_with(&mut same, "aaaa");
    let no = same.run.n_handoffs;
    same.rejects(no, "and again");
    assert!(same.run.gate().is_none(), "a person's answer wipes the slate");

    let mut other = checked();
    for tree in ["aaaa", "bbbb"] {
        reviewed_with(&mut other, tree);
        let no = other.run.n_handoffs;
        other.rejects(no, "not yet");
    }
    assert!(other.run.gate().is_none());
}

#[test]
fn a_run_that_takes_too_long_or_too_many_handoffs_asks_whether_it_goes_on() {
    let mut long = at_review();
    long.workflow.limits.run_within = Some(SignedDuration::from_mins(60));
    long.wait(61);
    long.hands("reviewer", "refactorer", nothing());
    asks(&long, GateCause::RunLimit);
    let no = long.run.n_handoffs;
    long.answers(no, Answer::Continue);
    assert_eq!(long.run.current().unwrap().to.agent.as_str(), "refactorer");
    long.hands("refactorer", "documenter", nothing());
    assert!(long.run.gate().is_none(), "as long again");
    long.wait(61);
    long.hands("documenter", "orchestrator", nothing());
    assert!(long.run.is_finished(), "the end is not held up");

    let mut many = at_review();
    many.workflow.limits.run_handoffs = Some(5);
    let no = many.run.n_handoffs;
    many.rejects(no, "no");
    back_to_review(&mut many);
    let no = many.run.n_handoffs;
    many.rejects(no, "no again");
    asks(&many, GateCause::RunLimit);
}

#[test]
fn a_stale_step_that_stays_silent_comes_to_a_person_where_the_workflow_says_so() {
    let stale = |tester: &mut Tester, no| {
        tester.wait(31);
        tester.does(&Command::MarkStale { handoff: HandoffNo(no) });
    };
    let mut tester = Tester::started();
    tester.workflow.limits.escalate_after = Some(SignedDuration::from_mins(30));
    tester.accepts(1);
    let expire = Command::Expire { handoff: HandoffNo(1) };
    assert!(tester.tries(&expire).is_err(), "it has not been reminded of");
    stale(&mut tester, 1);
    assert!(tester.tries(&expire).is_err(), "it was only just reminded");
    tester.wait(30);
    tester.does(&expire);
    check(&tester, expect!["HO-002 analyst→human pending; parked"]);
    asks(&tester, GateCause::Stalled);

    let mut patient = Tester::started();
    patient.accepts(1);
    stale(&mut patient, 1);
    patient.wait(10_000);
    assert!(patient.tries(&expire).is_err(), "a mark is all, unless the workflow says more");
}

/// The newest handoff fails with this error.
fn fails_with(tester: &mut Tester, error: Node) {
    let no = tester.run.n_handoffs;
    tester.wait_seconds(5);
    let _ = tester.tries(&Command::Wake { handoff: HandoffNo(no) });
    tester.accepts(no);
    tester.completes(no, Outcome::Failure, Node::map([("error", error)]));
}

fn error(kind: &str, message: &str) -> Node {
    Node::map([("type", Node::text(kind)), ("message", Node::text(message))])
}

#[test]
fn the_same_error_twice_in_a_row_asks_a_person_unless_it_may_pass_by_itself() {
    let mut same = Tester::started();
    fails_with(&mut same, error("BuildError", "Cannot find module"));
    assert!(same.run.gate().is_none());
    fails_with(&mut same, error("BuildError", " Cannot find module "));
    asks(&same, GateCause::NoProgress);
    let choices = same.run.gate().unwrap().1.choices();
    assert_eq!(choices, ["continue", "accept", "hand_to", "abort"]);

    let mut other = Tester::started();
    fails_with(&mut other, error("BuildError", "Cannot find module a"));
    fails_with(&mut other, error("BuildError", "Cannot find module b"));
    assert!(other.run.gate().is_none());
    fails_with(&mut other, error("BuildError", "Cannot find module c"));
    asks(&other, GateCause::Failure);

    let mut passing = Tester::started();
    for _ in 0..2 {
        fails_with(&mut passing, error("NetworkTimeout", "The registry does not answer"));
    }
    assert!(passing.run.gate().is_none(), "it is tried again after a while");
}
