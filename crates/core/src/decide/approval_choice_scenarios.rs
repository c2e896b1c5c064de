//! Scenarios: a choice that a package leaves open, at a gate of several people.

use expect_test::expect;

use super::approval_scenarios::{approvers_on, approves, person};
use super::fixture::*;
use super::scenarios::check;
use super::shared_scenarios::deciding;
use super::states::{gate_on, in_state};
use crate::approval::Approvers;
use crate::collaboration::DecisionState;
use crate::command::{Command, GateAnswer};
use crate::event::{Event, GateEvent};
use crate::gate::{Answer, GateKind};
use crate::outcome::Outcome;
use crate::run::State;

/// Two approvals are needed, and the package leaves one choice open.
fn asked_to_choose(of: &[&str]) -> Tester {
    let mut tester = in_state(State::Accepted);
    let of = of.iter().map(|it| person(it)).collect();
    approvers_on(&mut tester, Approvers { need: 2, of, author_may_approve: false });
    tester.completes(2, Outcome::Success, deciding(&[("pending", "A or B?")]));
    tester
}

fn approves_with(by: &str, comment: &str) -> Command {
    let Command::Answer(said) = says(3, Answer::Approve, comment) else { unreachable!() };
    Command::Answer(GateAnswer { by: person(by), ..said })
}

#[test]
fn an_open_decision_is_decided_by_those_who_wrote_about_it() {
    let mut tester = asked_to_choose(&["ana", "ben"]);
    let first = tester.does(&approves_with("ana", "B, robust"));
    assert!(
        matches!(&first.events[..], [Event::Gate(GateEvent::Approved { decisions, .. })] if *decisions == [1]),
        "{:?}",
        first.events
    );
    assert_eq!(tester.run.decision(1).unwrap().state, DecisionState::Open, "not before the gate");
    tester.does(&approves("ben"));
    assert_eq!(tester.run.decision(1).unwrap().state, DecisionState::Answered);
}

#[test]
fn an_open_decision_that_no_words_are_about_stays_open() {
    let mut tester = asked_to_choose(&["ana", "ben"]);
    tester.does(&approves("ana"));
    tester.does(&approves("ben"));
    check(&tester, expect!["HO-004 implementer→reviewer pending; offered"]);
    assert_eq!(tester.run.decision(1).unwrap().state, DecisionState::Open);
    // The same at a gate that any person opens alone.
    let mut plain = in_state(State::Accepted);
    gate_on(&mut plain, GateKind::Blocking);
    plain.completes(2, Outcome::Success, deciding(&[("pending", "A or B?")]));
    plain.answers(3, Answer::Approve);
    assert_eq!(plain.run.decision(1).unwrap().state, DecisionState::Open);
}
