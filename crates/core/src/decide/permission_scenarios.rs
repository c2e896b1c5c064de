//! Scenarios: the program of a holder asks a person for permission, and waits.

use expect_test::expect;

use super::fixture::*;
use super::scenarios::check;
use crate::command::{AskPermission, Command};
use crate::gate::{Answer, GateCause};
use crate::outcome::Outcome;
use crate::run::HandoffNo;

fn ask(no: u32, fence: u32) -> Command {
    Command::AskPermission(AskPermission {
        handoff: HandoffNo(no),
        fence,
        question: words("`analyst` wants to run `npm publish`"),
    })
}

/// The analyst holds HO-001 under a lease.
fn at_work() -> (Tester, u32) {
    let mut tester = Tester::started();
    let fence = tester.does(&accept_with(1, 20)).done.fence.unwrap();
    (tester, fence)
}

#[test]
fn a_permission_is_asked_beside_the_work_and_the_baton_stays() {
    let (mut tester, fence) = at_work();
    let asked = tester.does(&ask(1, fence));
    assert_eq!(asked.done.handoff, Some(HandoffNo(2)));
    let held = tester.run.handoff(HandoffNo(1)).unwrap().clone();
    assert_eq!((tester.run.baton().name(), held.fence), ("held", fence));
    assert!(held.lease.is_some() && tester.run.is_current(HandoffNo(1)));
    let (row, gate) = tester.run.gates().next().unwrap();
    assert_eq!((row.no.0, gate.cause), (2, GateCause::Permission));
    assert_eq!(gate.choices(), ["approve", "continue", "reject"]);
    // One question at a time.
    assert_eq!(tester.tries(&ask(1, fence)).unwrap_err().code(), "wrong_state");
    for answer in [Answer::Approve, Answer::Reject, Answer::Continue] {
        let no = tester.run.gates().next().unwrap().0.no.0;
        tester.answers(no, answer);
        assert_eq!(tester.run.baton().name(), "held");
        assert_eq!(tester.run.gates().count(), 0);
        assert_eq!(tester.run.handoff(HandoffNo(1)).unwrap().fence, fence, "the same holding");
        tester.does(&ask(1, fence));
    }
}

#[test]
fn only_the_live_holding_may_ask() {
    let (mut tester, fence) = at_work();
    assert_eq!(tester.tries(&ask(1, fence + 1)).unwrap_err().code(), "stale_fence");
    tester.does(&release(1));
    assert!(tester.tries(&ask(1, fence)).is_err(), "it is offered, and no program works on it");
}

#[test]
fn a_permission_ends_with_the_holding_that_asked_for_it() {
    for (what, end) in [
        ("handed on", complete(1, Outcome::Success, plan())),
        ("released", release(1)),
        ("asked", clarify(1, "Which registry?")),
    ] {
        let (mut tester, fence) = at_work();
        tester.does(&ask(1, fence));
        tester.does(&end);
        let open = tester.run.gates().filter(|(_, it)| it.cause == GateCause::Permission).count();
        assert_eq!(open, 0, "{what}");
    }
    let (mut tester, fence) = at_work();
    tester.does(&ask(1, fence));
    tester.does(&lose(1, fence));
    assert_eq!(tester.run.gates().count(), 0, "its lease was lost");
}

#[test]
fn a_permission_that_no_one_answered_is_withdrawn_and_nothing_else_is() {
    let (mut tester, fence) = at_work();
    tester.does(&ask(1, fence));
    tester.does(&Command::WithdrawPermission { gate: HandoffNo(2) });
    check(&tester, expect!["HO-001 orchestrator→analyst accepted; held"]);
    let error = tester.tries(&Command::WithdrawPermission { gate: HandoffNo(1) }).unwrap_err();
    assert_eq!(error.code(), "not_a_gate");
    assert!(tester.tries(&answer_gate(2, Answer::Approve)).is_err(), "it is over");
}
