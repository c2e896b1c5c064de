//! Scenarios: work goes back, and in the end a person is asked.

use expect_test::expect;

use super::fixture::*;
use super::scenarios::{at_review, back_to_review, check, check_refused, created};
use crate::command::{Command, Complete, Create, Receivers};
use crate::contract::{Check, Contract, ContractRule, Profile};
use crate::document::Node;
use crate::gate::Answer;
use crate::outcome::Outcome;
use crate::run::{HandoffNo, Kind, RunStatus};

#[test]
fn a_reject_gives_the_package_back_with_the_reason() {
    let mut tester = at_review();
    let given = tester.run.current().unwrap().package;
    let decision = tester.rejects(3, "Tests failing");
    check(&tester, expect!["HO-004 reviewer→implementer pending; offered"]);
    assert_eq!(decision.done.returned, Some(HandoffNo(4)));
    let returned = tester.run.current().unwrap();
    assert_eq!((returned.kind, returned.package), (Kind::Return, given));
    tester.accepts(4);
    tester.completes(4, Outcome::Success, nothing());
    check(&tester, expect!["HO-005 implementer→reviewer pending; offered"]);
}

#[test]
fn a_create_along_a_back_edge_is_a_reject_that_answers_like_a_create() {
    let mut tester = at_review();
    let decision = tester.hands("reviewer", "implementer", findings(&["a.rs:1"]));
    assert_eq!(decision.events[0].name(), "handoff.rejected");
    assert_eq!(decision.done.handoff, Some(HandoffNo(4)));
    check(&tester, expect!["HO-004 reviewer→implementer pending; offered"]);
    assert_eq!(tester.run.all_rounds().next().unwrap().1.n, 1);
}

#[test]
fn the_fourth_reject_asks_a_person_whichever_way_it_is_said() {
    let mut tester = at_review();
    for round in 0..3 {
        let no = tester.run.n_handoffs;
        if round % 2 == 0 {
            tester.rejects(no, "not yet");
        } else {
            tester.hands("reviewer", "implementer", nothing());
        }
        assert_eq!(tester.run.gate(), None, "round {round}");
        back_to_review(&mut tester);
    }
    let no = tester.run.n_handoffs;
    let decision = tester.rejects(no, "still not");
    check(&tester, expect!["HO-010 reviewer→human pending; parked"]);
    assert_eq!((decision.done.returned, decision.done.gate), (None, Some(HandoffNo(10))));
}

#[test]
fn the_same_findings_twice_in_a_row_ask_a_person_at_once() {
    let mut tester = at_review();
    tester.hands("reviewer", "implementer", findings(&["a.rs:1", "b.rs:2"]));
    back_to_review(&mut tester);
    tester.hands("reviewer", "implementer", findings(&["a.rs:1"]));
    assert_eq!(tester.run.gate(), None, "fewer findings are progress");
    back_to_review(&mut tester);
    tester.hands("reviewer", "implementer", findings(&["a.rs:1"]));
    check(&tester, expect!["HO-008 reviewer→human pending; parked"]);
    tester.answers(8, Answer::Continue);
    back_to_review(&mut tester);
    tester.hands("reviewer", "implementer", findings(&["a.rs:1"]));
    assert_eq!(tester.run.gate(), None, "a person's answer wipes the slate");
}

#[test]
fn a_person_may_allow_three_more_rounds() {
    let mut tester = at_the_limit();
    tester.answers(10, Answer::Continue);
    check(&tester, expect!["HO-011 reviewer→implementer pending; offered"]);
    // The answer allowed the fourth reject; the fifth and sixth need no further answer.
    for _ in 5..=6 {
        back_to_review(&mut tester);
        let no = tester.run.n_handoffs;
        tester.rejects(no, "no");
        assert_eq!(tester.run.gate(), None);
    }
    back_to_review(&mut tester);
    let no = tester.run.n_handoffs;
    tester.rejects(no, "no");
    assert!(tester.run.gate().is_some(), "the seventh asks again");
    let limit = tester.run.gate().unwrap().1.limit.unwrap();
    assert_eq!((limit.n, limit.most), (6, 6), "with the rounds that were allowed");
}

#[test]
fn a_person_may_take_the_work_as_it_is() {
    let mut tester = at_the_limit();
    let rejected = tester.run.gate().unwrap().1.package;
    let decision = tester.answers(10, Answer::Accept);
    check(&tester, expect!["HO-011 reviewer→refactorer pending; offered"]);
    let current = tester.run.current().unwrap();
    assert_eq!(current.package, rejected, "the very package that was rejected");
    assert_eq!(created(&decision).approved_by.as_ref().unwrap().as_str(), "grace");
}

#[test]
fn a_person_may_hand_the_work_to_another_agent() {
    let mut tester = at_the_limit();
    check_refused(
        &mut tester,
        &answer_gate(10, Answer::HandTo(agent("nobody"))),
        expect!["unknown_agent: there is no agent `nobody`; add a file for it, or name another"],
    );
    tester.answers(10, Answer::HandTo(agent("helper")));
    check(&tester, expect!["HO-011 reviewer→helper pending; offered"]);
    tester.accepts(11);
    tester.hands("helper", "reviewer", nothing());
    check(&tester, expect!["HO-012 helper→reviewer pending; offered"]);
}

#[test]
fn a_person_may_abort() {
    let mut tester = at_the_limit();
    tester.answers(10, Answer::Abort);
    assert_eq!(tester.run.status, RunStatus::Cancelled);
    check(&tester, expect!["nothing open; done"]);
}

#[test]
fn a_gate_takes_only_its_own_answers() {
    let mut tester = at_the_limit();
    check_refused(
        &mut tester,
        &answer_gate(10, Answer::Approve),
        expect![
            "not_a_choice: HO-010 does not take the answer `approve`; it takes continue, accept, hand_to, abort"
        ],
    );
    let mut tester = Tester::started();
    check_refused(
        &mut tester,
        &answer_gate(1, Answer::Abort),
        expect![
            "not_a_gate: HO-001 is not a gate and takes no answer; accept or reject it instead"
        ],
    );
}

#[test]
fn a_failure_without_an_edge_is_tried_again_and_then_shown_to_a_person() {
    let mut tester = Tester::started();
    let given = tester.run.package;
    for attempt in 1..=3 {
        let current = tester.run.current().unwrap();
        assert_eq!((current.attempt, current.package), (attempt, given));
        tester.accepts(attempt);
        tester.completes(attempt, Outcome::Failure, nothing());
    }
    check(&tester, expect!["HO-004 analyst→human pending; parked"]);
    tester.answers(4, Answer::Continue);
    check(&tester, expect!["HO-005 human→analyst pending; offered"]);
    assert_eq!(tester.run.current().unwrap().package, given);
}

#[test]
fn blocked_work_waits_for_a_person_and_goes_back_to_the_blocked_agent() {
    let mut tester = Tester::started();
    tester.accepts(1);
    tester.completes(1, Outcome::Blocked, Node::map([("reason", Node::text("no access"))]));
    check(&tester, expect!["HO-002 orchestrator→human pending; parked"]);
    tester.answers(2, Answer::Continue);
    check(&tester, expect!["HO-003 human→analyst pending; offered"]);
}

#[test]
fn a_question_goes_to_a_person_and_the_agent_works_on_with_the_answer() {
    let mut tester = Tester::started();
    tester.accepts(1);
    let given = tester.run.package;
    let question = Node::map([("summary", Node::text("Which login: password or link?"))]);
    tester.completes(1, Outcome::NeedsClarification, question);
    check(&tester, expect!["HO-002 analyst→human pending; parked"]);
    tester.answers(2, Answer::Continue);
    check(&tester, expect!["HO-003 human→analyst pending; offered"]);
    assert_eq!(tester.run.current().unwrap().package, given, "the task is the same as before");
}

#[test]
fn questions_are_asked_of_a_person_whichever_agent_the_document_suggests() {
    let mut tester = Tester::started();
    tester.accepts(1);
    let Command::Complete(done) = complete(1, Outcome::NeedsClarification, story()) else {
        unreachable!()
    };
    let receiver = Receivers { first: agent("implementer"), others: Vec::new() };
    let suggested = Complete { to: Some(receiver), ..done };
    let decision = tester.does(&Command::Complete(suggested));
    check(&tester, expect!["HO-002 analyst→human pending; parked"]);
    let rules: Vec<&str> = decision.done.warnings.iter().map(|it| it.rule.as_str()).collect();
    assert_eq!(rules, ["routed_by_outcome"]);
}

#[test]
fn a_document_that_asks_keeps_a_contract_and_comes_with_its_questions() {
    let rule = ContractRule {
        field: "questions".to_owned(),
        others: Vec::new(),
        about: "what has to be known".to_owned(),
        check: Check::Present,
        when: Vec::new(),
    };
    let name = "implied/clarification".to_owned();
    let contract = Contract { name, must: Vec::new(), should: vec![rule] };
    let ask = |document: Node, profile: Profile| {
        let mut tester = Tester::started();
        tester.implied = vec![contract.clone()];
        tester.accepts(1);
        let Command::Complete(done) = complete(1, Outcome::NeedsClarification, document) else {
            unreachable!()
        };
        tester.tries(&Command::Complete(Complete { profile, ..done }))
    };
    let without = || Node::map([("summary", Node::text("Compared 2 logins in `a.rs`"))]);
    let warned = ask(without(), Profile::Lenient).unwrap();
    assert!(warned.done.warnings.iter().any(|it| it.path == "questions"));
    assert_eq!(ask(without(), Profile::Strict).unwrap_err().code(), "contract");
    let Node::Map(mut members) = without() else { unreachable!() };
    members.push(("questions".to_owned(), Node::List(vec![Node::text("Password or link?")])));
    ask(Node::Map(members), Profile::Strict).unwrap();
}

#[test]
fn work_that_needs_a_review_goes_on_only_by_a_persons_word() {
    let mut tester = Tester::started();
    tester.accepts(1);
    tester.completes(1, Outcome::NeedsReview, plan());
    check(&tester, expect!["HO-002 analyst→human pending; parked"]);
    let shown = tester.run.package;
    let mut other = Tester::started();
    other.accepts(1);
    other.completes(1, Outcome::NeedsReview, plan());
    tester.answers(2, Answer::Approve);
    check(&tester, expect!["HO-003 analyst→implementer pending; offered"]);
    assert_eq!(tester.run.package, shown, "what goes on is what was approved");
    other.answers(2, Answer::Reject);
    check(&other, expect!["HO-003 human→analyst pending; offered"]);
    other.rejects(3, "I cannot do that");
    check(&other, expect!["HO-004 analyst→human pending; parked"]);
}

#[test]
fn a_question_to_a_person_is_not_walked_around() {
    let mut tester = at_the_limit();
    for command in [goto("analyze"), skip(), cancel(10), time_out(10), accept(10)] {
        let refusal = tester.tries(&command).unwrap_err();
        assert_eq!(refusal.code(), "gate_open", "{command:?}");
    }
    let cleaned = tester.does(&Command::CleanUp { reason: None });
    assert_eq!(cleaned.done.kept, [HandoffNo(10)]);
    assert_eq!(cleaned.done.cancelled, []);
}

#[test]
fn a_person_may_be_asked_from_anywhere() {
    let mut tester = at_review();
    tester.hands("reviewer", "human", Node::map([("summary", Node::text("which way?"))]));
    check(
        &tester,
        expect!["HO-003 implementer→reviewer parked, HO-004 reviewer→human pending; parked"],
    );
    tester.does(&says(4, Answer::Reply, "The left one"));
    check(&tester, expect!["HO-003 implementer→reviewer accepted; held"]);
}

/// The work went back three times and once more: `HO-010` asks a person.
fn at_the_limit() -> Tester {
    let mut tester = at_review();
    for _ in 0..3 {
        let no = tester.run.n_handoffs;
        tester.rejects(no, "not yet");
        back_to_review(&mut tester);
    }
    let no = tester.run.n_handoffs;
    tester.rejects(no, "still not");
    tester
}

/// Approving and then cancelling or superseding the handoff counts as sending back.
#[test]
fn a_round_counts_whichever_way_the_work_goes_back() {
    let approve_and_cancel = |tester: &mut Tester| {
        let no = tester.run.n_handoffs;
        tester.completes(no, Outcome::Success, nothing());
        tester.does(&cancel(no + 1));
        tester.hands("reviewer", "implementer", nothing());
    };
    let approve_and_supersede = |tester: &mut Tester| {
        let no = tester.run.n_handoffs;
        tester.completes(no, Outcome::Success, nothing());
        let instead = Create {
            supersedes: Some(HandoffNo(no + 1)),
            ..create("reviewer", "implementer", nothing())
        };
        tester.does(&Command::Create(instead));
    };
    for send_back in [&approve_and_cancel as &dyn Fn(&mut Tester), &approve_and_supersede] {
        let mut tester = at_review();
        for _ in 0..3 {
            send_back(&mut tester);
            assert_eq!(tester.run.gate(), None);
            back_to_review(&mut tester);
        }
        send_back(&mut tester);
        assert!(tester.run.gate().is_some(), "{}", tester.shows());
    }
}
