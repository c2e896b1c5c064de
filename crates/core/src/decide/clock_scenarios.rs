//! Scenarios: when a handoff is due, and what becomes of one that was not accepted in time.

use expect_test::{Expect, expect};
use jiff::{SignedDuration, Timestamp};

use super::clock::{due_at, expires_at, stale_at};
use super::fixture::*;
use super::project::at_architecture;
use super::scenarios::at_review;
use super::states::{in_state, stands};
use super::tables::cell;
use crate::command::Command;
use crate::outcome::Outcome;
use crate::run::{HandoffNo, State};
use crate::workflow::{Expiry, OnExpire};

/// Each time limit has its own length: 10 minutes to become stale, 12 at `implement` to be accepted
/// and 45 elsewhere, 60 to work.
fn set_limits(tester: &mut Tester, then: OnExpire) {
    let expiry = |minutes| Some(Expiry { after: SignedDuration::from_mins(minutes), then });
    tester.workflow.limits.stale_after = SignedDuration::from_mins(10);
    tester.workflow.limits.expiry = expiry(45);
    for step in &mut tester.workflow.steps {
        step.work_within = SignedDuration::from_mins(60);
        step.expiry = None;
        if step.id.as_str() == "implement" {
            step.expiry = expiry(12);
        }
    }
}

/// Minutes after the run was started.
fn minute(at: Option<Timestamp>) -> String {
    at.map_or_else(|| "never".to_owned(), |at| at.duration_since(START).as_mins().to_string())
}

#[test]
fn every_handoff_is_due_by_its_state_and_never_where_a_person_is_asked() {
    let mut table = String::new();
    for mut stand in stands() {
        set_limits(&mut stand.tester, OnExpire::Loose);
        let Some(handoff) = stand.tester.run.handoff(HandoffNo(stand.no)) else { continue };
        let workflow = &stand.tester.workflow;
        let (stale, expires) = (stale_at(workflow, handoff), expires_at(workflow, handoff));
        table +=
            &format!("{:<14}stale {:<6} expires {}\n", stand.name, minute(stale), minute(expires));
    }
    expect![[r#"
        pending       stale 10     expires 12
        held back     stale 72     expires never
        clarification stale never  expires never
        accepted      stale 60     expires never
        leased        stale never  expires never
        parked        stale never  expires never
        delegation    stale 10     expires 45
        return        stale 41     expires 43
        question      stale 10     expires never
        gate          stale never  expires never
        approvers     stale never  expires never
        permission    stale never  expires never
        escalation    stale never  expires never
        advisory      stale never  expires never
        automatic     stale never  expires never
        checks        stale never  expires never
        branch        stale 10     expires 45
        last branch   stale 60     expires never
    "#]]
    .assert_eq(&table);
}

#[test]
fn a_question_waits_as_long_as_a_handoff_and_no_person_is_hurried() {
    let check = |tester: &mut Tester, no: u32, stale: &str| {
        set_limits(tester, OnExpire::Loose);
        let question = tester.run.handoff(HandoffNo(no)).unwrap();
        assert_eq!(minute(stale_at(&tester.workflow, question)), stale, "{}", tester.shows());
        assert_eq!(expires_at(&tester.workflow, question), None, "{}", tester.shows());
    };
    let mut asked = in_state(State::Clarification);
    check(&mut asked, 3, "10");
    asked.accepts(3);
    check(&mut asked, 3, "41");
    // Only a person can say what the orchestrator meant.
    let mut of_a_person = Tester::started();
    of_a_person.does(&clarify(1, "Which story?"));
    check(&mut of_a_person, 2, "never");
}

#[test]
fn a_run_is_due_when_the_first_of_its_handoffs_is() {
    let due = |tester: &Tester| minute(due_at(&tester.workflow, &tester.run));
    let mut tester = in_state(State::Pending);
    set_limits(&mut tester, OnExpire::Loose);
    assert_eq!(due(&tester), "10", "it becomes stale");
    tester.does(&Command::MarkStale { handoff: HandoffNo(2) });
    assert_eq!(due(&tester), "12", "it is stale already, and expires");
    tester.accepts(2);
    assert_eq!(due(&tester), "91", "its holder has an hour");
    tester.does(&clarify(2, "Which database?"));
    assert_eq!(due(&tester), "41", "the question becomes stale");
    tester.does(&Command::CancelRun { reason: None });
    assert_eq!(due(&tester), "never");
}

#[test]
fn what_was_not_accepted_in_time_is_returned_only_to_where_work_may_be() {
    check_expiry(
        OnExpire::Return,
        expect![[r#"
            from the orchestrator: handoff.timed_out baton.loose → loose
            from a step: handoff.timed_out handoff.created → offered
            a return: handoff.timed_out baton.loose → loose
            a part: handoff.timed_out handoff.created → offered
            a part that comes back: handoff.timed_out frame.closed → held
            from behind a gate: handoff.timed_out baton.loose → loose
        "#]],
    );
}

#[test]
fn what_was_not_accepted_in_time_asks_a_person_unless_its_receiver_can_go_on_without_it() {
    check_expiry(
        OnExpire::Ask,
        expect![[r#"
            from the orchestrator: handoff.timed_out handoff.created gate.opened → parked
            from a step: handoff.timed_out handoff.created gate.opened → parked
            a return: handoff.timed_out handoff.created gate.opened → parked
            a part: handoff.timed_out handoff.created gate.opened → parked
            a part that comes back: handoff.timed_out frame.closed → held
            from behind a gate: handoff.timed_out handoff.created gate.opened → parked
        "#]],
    );
}

#[test]
fn what_was_not_accepted_in_time_lies_loose_unless_a_caller_waits_for_it() {
    check_expiry(
        OnExpire::Loose,
        expect![[r#"
            from the orchestrator: handoff.timed_out baton.loose → loose
            from a step: handoff.timed_out baton.loose → loose
            a return: handoff.timed_out baton.loose → loose
            a part: handoff.timed_out handoff.created → offered
            a part that comes back: handoff.timed_out frame.closed → held
            from behind a gate: handoff.timed_out baton.loose → loose
        "#]],
    );
}

#[track_caller]
fn check_expiry(then: OnExpire, expected: Expect) {
    let mut rejected = at_review();
    rejected.rejects(3, "the tests fail");
    let mut part_back = in_state(State::Parked);
    part_back.accepts(3);
    part_back.completes(3, Outcome::Success, nothing());
    let mut table = String::new();
    for (name, mut tester) in [
        ("from the orchestrator", Tester::started()),
        ("from a step", in_state(State::Pending)),
        ("a return", rejected),
        ("a part", in_state(State::Parked)),
        ("a part that comes back", part_back),
        ("from behind a gate", from_behind_a_gate()),
    ] {
        set_limits(&mut tester, then);
        tester.wait(60);
        let handoff = tester.run.current().unwrap().no;
        table += &format!("{name}: {}\n", cell(&tester, &Command::Expire { handoff }));
    }
    expected.assert_eq(&table);
}

/// The orchestrator offers the specification what architecture had sent back to it: a reject would
/// go to architecture, which is behind a gate that has to be passed again.
fn from_behind_a_gate() -> Tester {
    let mut tester = at_architecture();
    tester.rejects(3, "no measurable goals");
    tester.accepts(4);
    tester.does(&time_out(4));
    tester.hands("orchestrator", "specification", nothing());
    tester
}

#[test]
fn a_returned_handoff_goes_from_the_late_receiver_to_the_sender() {
    let mut tester = in_state(State::Pending);
    set_limits(&mut tester, OnExpire::Return);
    let given = tester.run.current().unwrap().package;
    let decision = tester.does(&Command::Expire { handoff: HandoffNo(2) });
    assert_eq!(decision.done.returned, Some(HandoffNo(3)));
    assert_eq!(tester.shows(), "HO-003 implementer→analyst pending; offered");
    assert_eq!(tester.run.current().unwrap().package, given);
    // What the orchestrator offers again goes back to the agent that had sent it.
    let mut tester = at_review();
    set_limits(&mut tester, OnExpire::Return);
    tester.does(&time_out(3));
    tester.hands("orchestrator", "reviewer", nothing());
    tester.wait(60);
    tester.does(&Command::Expire { handoff: HandoffNo(4) });
    assert_eq!(tester.shows(), "HO-005 reviewer→implementer pending; offered");
}

/// The way back leads to a step behind a gate that the work has not passed again: it stays where it is.
#[test]
fn an_expired_handoff_does_not_go_back_behind_a_gate() {
    let mut workflow = pipeline();
    workflow.steps[0].edges[0].gate =
        Some(crate::workflow::EdgeGate::plain(crate::gate::GateKind::Blocking, "Before the work"));
    // A way around the gate leads to the review, and from there none back.
    workflow.steps[0].edges.push(to("review"));
    workflow.steps[2].edges.truncate(1);
    let expiry = Expiry { after: SignedDuration::from_mins(20), then: OnExpire::Return };
    workflow.steps[2].expiry = Some(expiry);
    let first = create("orchestrator", "analyst", story());
    let offered = || {
        let mut tester = Tester::begun_in(workflow.clone(), &first).unwrap();
        tester.hands("analyst", "implementer", plan());
        tester.answers(2, crate::gate::Answer::Approve);
        tester.accepts(3);
        tester.hands("implementer", "reviewer", nothing());
        tester.does(&time_out(4));
        tester
    };
    let start = crate::command::Command::StartAt(crate::command::StartAt {
        step: crate::names::StepId::parse("review").unwrap(),
        to: None,
        package: sent(nothing()),
        reason: reason("it is built"),
        by: crate::names::Principal::parse("ada").unwrap(),
    });
    for (goes_back_first, expected) in
        [(false, "HO-006 reviewer→implementer pending; offered"), (true, "nothing open; loose")]
    {
        let mut tester = offered();
        if goes_back_first {
            tester.does(&goto("analyze"));
            tester.accepts(5);
            tester.does(&time_out(5));
        }
        tester.does(&start);
        tester.wait(21);
        let no = tester.run.n_handoffs;
        tester.does(&Command::Expire { handoff: HandoffNo(no) });
        assert_eq!(tester.shows(), expected);
    }
}
