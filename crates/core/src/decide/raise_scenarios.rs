//! Scenarios: what a package says raises an edge to a blocking gate.

use expect_test::{Expect, expect};

use super::approval_scenarios::person;
use super::fixture::*;
use super::scenarios::check;
use super::states::{gate_on, in_state};
use crate::approval::Approvers;
use crate::document::{Node, Number};
use crate::evidence::Verdict;
use crate::gate::{Answer, GateCause, GateKind};
use crate::names::CheckName;
use crate::outcome::Outcome;
use crate::run::{HandoffNo, State};
use crate::workflow::{Edge, RaiseCondition, RaiseKind, RaiseRule};

fn edge(tester: &mut Tester) -> &mut Edge {
    let mut steps = tester.workflow.steps.iter_mut();
    &mut steps.find(|it| it.id.as_str() == "implement").unwrap().edges[0]
}

/// `HO-002` is held; its way to the review asks for a cost over 500 and for breaking changes.
fn raised(gate: Option<GateKind>) -> Tester {
    let mut tester = in_state(State::Accepted);
    if let Some(kind) = gate {
        gate_on(&mut tester, kind);
    }
    let over = RaiseCondition::Over(Number::parse("500").unwrap());
    edge(&mut tester).raise = vec![
        RaiseRule { kind: RaiseKind::Cost, field: None, when: over },
        RaiseRule { kind: RaiseKind::BreakingChange, field: None, when: RaiseCondition::Stated },
    ];
    tester
}

fn cost(usd: &str) -> Node {
    Node::map([("cost_usd", Node::Number(Number::parse(usd).unwrap()))])
}

#[track_caller]
fn check_gate(tester: &Tester, cause: GateCause, expected: Expect) {
    let (_, gate) = tester.run.gate().unwrap();
    assert_eq!((gate.cause, gate.kind, gate.is_raised), (cause, GateKind::Blocking, true));
    expected.assert_eq(tester.text(gate.reason.unwrap()));
}

#[test]
fn an_edge_without_a_gate_asks_for_what_the_package_says() {
    let mut tester = raised(None);
    tester.completes(2, Outcome::Success, cost("800"));
    check(&tester, expect!["HO-003 implementer→human pending; parked"]);
    check_gate(
        &tester,
        GateCause::Raised,
        expect!["A person is asked because the cost is 800 (`cost_usd`), over 500"],
    );
    tester.answers(3, Answer::Approve);
    check(&tester, expect!["HO-004 implementer→reviewer pending; offered"]);
}

#[test]
fn within_the_limits_nobody_is_asked() {
    for package in [cost("500"), nothing(), Node::map([("breaking_change", Node::Bool(false))])] {
        let mut tester = raised(None);
        tester.completes(2, Outcome::Success, package);
        check(&tester, expect!["HO-003 implementer→reviewer pending; offered"]);
    }
}

#[test]
fn an_advisory_gate_becomes_blocking_with_its_approvers() {
    let mut tester = raised(Some(GateKind::Advisory));
    let of = vec![person("ana"), person("ben")];
    let approvers = Approvers { need: 2, of, author_may_approve: false };
    edge(&mut tester).gate.as_mut().unwrap().approvers = Some(approvers);
    let mut quiet = raised(Some(GateKind::Advisory));
    quiet.completes(2, Outcome::Success, cost("1"));
    check(
        &quiet,
        expect!["HO-003 implementer→human pending, HO-004 implementer→reviewer pending; offered"],
    );
    tester.completes(2, Outcome::Success, cost("501"));
    check(&tester, expect!["HO-003 implementer→human pending; parked"]);
    check_gate(
        &tester,
        GateCause::Raised,
        expect!["A person is asked because the cost is 501 (`cost_usd`), over 500"],
    );
    assert_eq!(tester.run.gate().unwrap().1.approval.as_ref().unwrap().need, 2);
}

/// The checks of the gate have passed, and would have opened it.
#[test]
fn an_automatic_gate_becomes_blocking_and_counts_as_passed_by_the_answer() {
    let mut tester = raised(Some(GateKind::Automatic));
    tester.does(&record(2, "lint", Verdict::Passed));
    tester.completes(2, Outcome::Success, Node::map([("breaking_change", Node::Bool(true))]));
    check_gate(
        &tester,
        GateCause::Declared,
        expect!["A person is asked because it has a breaking change (`breaking_change`)"],
    );
    // More results do not open it any more.
    tester.does(&record(3, "lint", Verdict::Passed));
    check(&tester, expect!["HO-003 implementer→human pending; parked"]);
    tester.answers(3, Answer::Approve);
    check(&tester, expect!["HO-004 implementer→reviewer pending; offered"]);
}

#[test]
fn a_blocking_gate_stays_as_it_is() {
    let mut tester = raised(Some(GateKind::Blocking));
    tester.completes(2, Outcome::Success, cost("800"));
    let (_, gate) = tester.run.gate().unwrap();
    assert_eq!((gate.cause, gate.is_raised), (GateCause::Declared, false));
}

#[test]
fn the_checks_come_first_and_the_reason_is_kept() {
    let mut tester = raised(Some(GateKind::Automatic));
    edge(&mut tester).checks = vec![CheckName::parse("tests").unwrap()];
    tester.completes(2, Outcome::Success, cost("800"));
    assert!(tester.run.gate().is_none());
    tester.does(&record(3, "tests", Verdict::Passed));
    let (row, _) = tester.run.gate().unwrap();
    assert_eq!(row.no, HandoffNo(4));
    check_gate(
        &tester,
        GateCause::Declared,
        expect!["A person is asked because the cost is 800 (`cost_usd`), over 500"],
    );
}
