//! Scenarios of what a person approves because of the run's mode, or because the sender is unsure.

use expect_test::expect;

use super::cycle_scenarios::{begun, check_asked, gate};
use super::fixture::*;
use super::scenarios::{check, check_refused};
use crate::command::Command;
use crate::document::{Node, Number};
use crate::gate::{Answer, GateCause, GateKind};
use crate::outcome::Outcome;
use crate::workflow::{ApprovalThreshold, EdgeGate, Mode, Workflow};

fn asking() -> Workflow {
    let mut workflow = pipeline();
    workflow.steps[0].edges[0].ask_in = vec![Mode::SemiAutonomous, Mode::Supervised];
    workflow.steps[1].edges[0].ask_in = vec![Mode::Supervised];
    workflow
}

#[test]
fn a_workflow_has_the_modes_that_its_edges_name() {
    assert_eq!(asking().modes(), Mode::ALL);
    assert_eq!(pipeline().modes(), [Mode::Autonomous]);
}

#[test]
fn a_person_approves_the_edges_of_the_mode_and_no_others() {
    let asked = |mode: Mode| {
        let mut tester = begun(asking().in_mode(mode), "analyst");
        let mut asked = Vec::new();
        for (from, to, package) in
            [("analyst", "implementer", plan()), ("implementer", "reviewer", nothing())]
        {
            tester.hands(from, to, package);
            if let Some((row, gate)) = tester.run.gate() {
                assert_eq!(gate.cause, GateCause::Declared);
                asked.push(from);
                let no = row.no.0;
                tester.answers(no, Answer::Approve);
            }
        }
        assert_eq!(tester.run.current_agent(), Some(&agent("reviewer")));
        asked.join(" ")
    };
    assert_eq!(asked(Mode::Autonomous), "");
    assert_eq!(asked(Mode::SemiAutonomous), "analyst");
    assert_eq!(asked(Mode::Supervised), "analyst implementer");
}

#[test]
fn nobody_gets_behind_a_gate_of_the_mode() {
    let workflow = asking().in_mode(Mode::Supervised);
    let first = create("implementer", "reviewer", nothing());
    assert!(Tester::begun_in(workflow.clone(), &first).is_err());
    assert!(Tester::begun_in(asking(), &first).is_ok());
    let mut tester = begun(workflow, "analyst");
    tester.does(&time_out(1));
    check_refused(
        &mut tester,
        &Command::Create(create("implementer", "reviewer", nothing())),
        expect![
            "behind_gate: `implement` is behind `analyze → implement` (analyze → implement), which this work has not passed; hand it to `analyze` and on from there, or waive the gate with `baton run start --at implement --reason TEXT s1`"
        ],
    );
}

fn unsure() -> Workflow {
    let mut workflow = pipeline();
    let below = Number::parse("0.7").unwrap();
    let field = "confidence".to_owned();
    workflow.steps[0].edges[0].threshold = Some(ApprovalThreshold { field, below });
    workflow
}

fn sure_of(confidence: &str) -> Node {
    Node::map([
        ("plan", Node::text("write it, then test it")),
        ("confidence", Node::text(confidence)),
        ("reasoning", Node::text("the figures are a month old")),
    ])
}

#[test]
fn work_below_the_threshold_goes_on_only_by_a_persons_word() {
    let of_numbers =
        [("0.69", true), ("0", true), ("-1", true), ("0.7", false), ("0.70", false), ("1", false)];
    // What cannot be read may be low.
    let unreadable = ["high", "40%", "90%", "7", "1.01", "NaN", "inf", ""].map(|it| (it, true));
    for (confidence, is_asked) in of_numbers.into_iter().chain(unreadable) {
        let mut tester = begun(unsure(), "analyst");
        tester.hands("analyst", "implementer", sure_of(confidence));
        assert_eq!(tester.run.gate().is_some(), is_asked, "{confidence}");
    }
    let mut tester = begun(unsure(), "analyst");
    tester.hands("analyst", "implementer", plan());
    assert!(tester.run.gate().is_none(), "a package without the field counts as sure");
}

/// A gate at which a person decides anyway asks once; an advisory one would let the work go on.
#[test]
fn an_unsure_sender_is_stopped_once_at_a_gate_of_any_kind() {
    for (kind, cause) in
        [(GateKind::Blocking, GateCause::Declared), (GateKind::Advisory, GateCause::Confidence)]
    {
        let mut workflow = unsure();
        workflow.steps[0].edges[0].gate = Some(EdgeGate::plain(kind, "Before the work"));
        let mut tester = begun(workflow, "analyst");
        tester.hands("analyst", "implementer", sure_of("0.5"));
        let (_, asked) = gate(&tester);
        assert_eq!((asked.cause, asked.kind), (cause, GateKind::Blocking), "{kind:?}");
    }
}

#[test]
fn the_person_sees_how_unsure_the_sender_is_and_why() {
    let mut tester = begun(unsure(), "analyst");
    tester.accepts(1);
    tester.completes(1, Outcome::Success, sure_of("0.5"));
    check_asked(
        &tester,
        expect![
            "The agent is less sure of its work than the workflow asks for; analyze asks, implement would work; approve reject question modify abort"
        ],
    );
    let (no, asked) = gate(&tester);
    assert_eq!(asked.cause, GateCause::Confidence);
    expect!["`confidence` is 0.5, below 0.7: the figures are a month old"]
        .assert_eq(tester.text(asked.reason.unwrap()));
    let sent = asked.package;
    let mut rejected = begun(unsure(), "analyst");
    rejected.hands("analyst", "implementer", sure_of("0.5"));
    rejected.does(&says(2, Answer::Reject, "find out"));
    check(&rejected, expect!["HO-003 human→analyst pending; offered"]);
    tester.answers(no, Answer::Approve);
    check(&tester, expect!["HO-003 analyst→implementer pending; offered"]);
    assert_eq!(tester.run.current().unwrap().package, sent, "the very same package");
}

#[test]
fn a_confidence_that_is_no_number_from_0_to_1_is_shown_as_such() {
    let mut tester = begun(unsure(), "analyst");
    let level = Node::map([("value", Node::text("0.9"))]);
    let package = Node::map([("plan", Node::text("write it")), ("confidence", level)]);
    tester.hands("analyst", "implementer", package);
    let (_, asked) = gate(&tester);
    expect!["`confidence` is not a number from 0 to 1, so it counts as too low"]
        .assert_eq(tester.text(asked.reason.unwrap()));
}

#[test]
fn a_loose_baton_does_not_lead_past_the_threshold() {
    let mut tester = begun(unsure(), "analyst");
    tester.does(&time_out(1));
    tester.hands("analyst", "implementer", sure_of("0.1"));
    assert_eq!(tester.run.gate().unwrap().1.cause, GateCause::Confidence);
}
