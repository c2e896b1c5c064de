//! Scenarios: holders die, or only seem to have died.

use expect_test::expect;

use super::fixture::*;
use super::project::*;
use super::scenarios::check;
use crate::command::{Accept, Command, Create, LeaseTime, Token};
use crate::gate::Answer;
use crate::run::{HandoffNo, Kind};

#[test]
fn a_dead_holder_is_replaced_twice_and_then_a_person_decides() {
    let mut tester = at_the_gate();
    tester.answers(2, Answer::Approve);
    let mut no = 3;
    for (attempt, seconds) in [(1, 1), (2, 2)] {
        let granted = tester.does(&accept_with(no, 20));
        let fence = granted.done.fence.unwrap();
        let package = tester.run.current().unwrap().package;
        tester.wait_seconds(20);
        tester.does(&lose(no, fence));
        assert_eq!(tester.run.baton().name(), "parked");
        let next = tester.run.current().unwrap().clone();
        assert_eq!((next.attempt, next.package), (attempt + 1, package));
        // The previous holder is still alive: refused, with its token and without.
        let late = create("architecture", "estimation", summary("API designed"));
        let token = Some(Token { handoff: HandoffNo(no), fence });
        let with = Command::Create(Create { token, ..late.clone() });
        assert_eq!(tester.tries(&with).unwrap_err().code(), "stale_fence");
        assert_eq!(tester.tries(&Command::Create(late)).unwrap_err().code(), "fence_required");
        no = next.no.0;
        assert_eq!(tester.tries(&accept(no)).unwrap_err().code(), "not_yet");
        tester.wait_seconds(seconds);
        tester.does(&Command::Wake { handoff: HandoffNo(no) });
        assert_eq!(tester.run.baton().name(), "offered");
    }
    let granted = tester.does(&accept_with(no, 20));
    tester.does(&lose(no, granted.done.fence.unwrap()));
    let (row, gate) = tester.run.gate().unwrap();
    assert_eq!(gate.cause.name(), "lost_lease");
    let row = row.no.0;
    tester.answers(row, Answer::Continue);
    check(&tester, expect!["HO-007 human→architecture pending; offered"]);
    // If rejected, it goes to the original sender, not to the person.
    tester.accepts(7);
    tester.rejects(7, "The specs contradict each other");
    check(&tester, expect!["HO-008 architecture→specification pending; offered"]);
}

#[test]
fn released_work_may_be_taken_by_anybody_and_its_old_holder_is_told() {
    let mut tester = at_the_gate();
    tester.answers(2, Answer::Approve);
    let first = tester.does(&accept_with(3, 20)).done.fence.unwrap();
    tester.does(&release(3));
    let second = tester.does(&accept_with(3, 20)).done.fence.unwrap();
    assert!(second > first);
    let late = create("architecture", "estimation", summary("API designed"));
    let token = Some(Token { handoff: HandoffNo(3), fence: first });
    let refusal = tester.tries(&Command::Create(Create { token, ..late })).unwrap_err();
    assert_eq!(refusal.code(), "stale_fence");
}

/// A holder that lost its lease and still writes, without a fencing token.
fn late(tester: &mut Tester) -> &'static str {
    let late = create("architecture", "estimation", summary("API designed"));
    tester.tries(&Command::Create(late)).unwrap_err().code()
}

#[test]
fn a_holder_that_lost_its_work_cannot_finish_it_by_any_way_around() {
    // By the person's answer after the last attempt.
    let mut tester = all_died();
    let gate = tester.run.current().unwrap().no.0;
    tester.answers(gate, Answer::Continue);
    assert_eq!(late(&mut tester), "fence_required");
    // By a goto.
    tester.does(&goto("architecture"));
    assert_eq!(late(&mut tester), "fence_required");
    // By the operator's time-out, and the orchestrator's offering it again.
    tester.does(&time_out(tester.run.n_handoffs));
    assert_eq!(late(&mut tester), "not_holder");
    tester.hands("orchestrator", "architecture", nothing());
    assert_eq!(late(&mut tester), "fence_required");
    // A holder that accepted without a lease never needs a fencing token.
    tester.accepts(tester.run.n_handoffs);
    let done = create("architecture", "estimation", summary("API designed"));
    tester.does(&Command::Create(done));
}

#[test]
fn a_question_whose_reader_died_is_asked_again_and_in_the_end_of_a_person() {
    let mut tester = at_architecture();
    tester.does(&clarify(3, "Which database?"));
    let mut question = 4;
    for _ in 0..2 {
        let fence = tester.does(&accept_with(question, 20)).done.fence.unwrap();
        tester.does(&lose(question, fence));
        question = tester.run.questions().next().unwrap().no.0;
        assert_eq!(tester.run.current_agent().unwrap().as_str(), "specification");
    }
    let fence = tester.does(&accept_with(question, 20)).done.fence.unwrap();
    tester.does(&lose(question, fence));
    let asked = tester.run.questions().next().unwrap().clone();
    assert_eq!((asked.kind, asked.to.agent.as_str()), (Kind::Question, "human"));
    tester.does(&says(asked.no.0, Answer::Reply, "PostgreSQL"));
    check(&tester, expect!["HO-003 specification→architecture pending; offered"]);
}

#[test]
fn an_answer_needs_no_accept_even_after_a_reader_died() {
    let mut tester = at_architecture();
    tester.does(&clarify(3, "Which database?"));
    let fence = tester.does(&accept_with(4, 20)).done.fence.unwrap();
    tester.does(&lose(4, fence));
    tester.does(&reply(5, "PostgreSQL"));
    check(&tester, expect!["HO-003 specification→architecture pending; offered"]);
}

#[test]
fn the_caller_holds_what_comes_back_under_the_lease_it_asks_for() {
    let mut tester = at_architecture();
    tester.hands("architecture", "security-check", task("Risk report"));
    tester.accepts(4);
    tester.hands("security-check", "architecture", summary("2 risks"));
    let taken = tester.does(&accept_with(5, 20));
    assert_eq!(taken.done.handoff, Some(HandoffNo(3)));
    assert_eq!(tester.run.handoff(HandoffNo(3)).unwrap().lease, Some(20));
    // While it waits for a delegate it need not send heartbeats.
    tester.hands("architecture", "security-check", task("Another report"));
    assert_eq!(tester.run.handoff(HandoffNo(3)).unwrap().lease, None);
}

#[test]
fn a_lease_lasts_from_a_second_to_an_hour() {
    assert_eq!(LeaseTime::from_seconds(0), None);
    assert_eq!(LeaseTime::from_seconds(3601), None);
    assert_eq!(LeaseTime::from_seconds(3600).map(LeaseTime::seconds), Some(3600));
    let lease = Some(LeaseTime::USUAL);
    let handoff = HandoffNo(1);
    let mut tester = Tester::started();
    tester.does(&Command::Accept(Accept { handoff, by: None, acknowledgement: None, lease }));
    assert_eq!(tester.run.current().unwrap().lease, Some(20));
}

/// Three holders have lost their leases; a person is asked.
fn all_died() -> Tester {
    let mut tester = at_the_gate();
    tester.answers(2, Answer::Approve);
    for _ in 0..3 {
        tester.wait_seconds(10);
        let no = tester.run.current().unwrap().no.0;
        let fence = tester.does(&accept_with(no, 20)).done.fence.unwrap();
        tester.does(&lose(no, fence));
    }
    assert!(tester.run.gate().is_some());
    tester
}
