//! Scenarios of what else comes to a person: too many parts given away, blocked steps, errors, and
//! batons that lie loose.

use expect_test::expect;

use super::cycle_scenarios::{begun, check_asked, done, gate, on};
use super::fixture::*;
use super::scenarios::check;
use crate::command::{Command, Complete, Way};
use crate::document::Node;
use crate::event::{Event, HandoffEvent};
use crate::gate::Answer;
use crate::outcome::Outcome;
use crate::run::{Baton, CounterScope, HandoffNo};
use crate::workflow::{Edge, Workflow};

pub(super) fn delegate(from: &str, to: &str) -> Command {
    way(Way::Delegation, create(from, to, plan()))
}

/// The analyst gives its helper a part, and gets it back.
pub(super) fn part(tester: &mut Tester) {
    tester.does(&delegate("analyst", "helper"));
    if tester.run.gate().is_none() {
        tester.hands("helper", "analyst", plan());
        let back = tester.run.n_handoffs;
        tester.accepts(back);
    }
}

#[test]
fn the_ninth_part_of_one_holding_asks_a_person() {
    let mut tester = Tester::started();
    tester.accepts(1);
    for _ in 0..8 {
        part(&mut tester);
    }
    assert_eq!(tester.run.count_of(0, &CounterScope::Delegations(HandoffNo(1))), 8);
    part(&mut tester);
    check_asked(
        &tester,
        expect![
            "`analyze` delegated 8 parts of this work; its limit is 8; analyze asks, helper would work; continue accept hand_to abort"
        ],
    );
    let (no, _) = gate(&tester);
    let accepted = tester.would(&answer_gate(no, Answer::Accept)).unwrap().run;
    assert_eq!(*accepted.baton(), Baton::Held { handoff: HandoffNo(1) }, "it goes on without");
    tester.answers(no, Answer::Continue);
    assert_eq!(tester.run.current_agent(), Some(&agent("helper")));
    assert_eq!(tester.run.counters.len(), 1, "the delegations are counted anew");
    tester.hands("helper", "analyst", plan());
    let back = tester.run.n_handoffs;
    tester.accepts(back);
    for _ in 0..8 {
        part(&mut tester);
    }
    assert!(tester.run.gate().is_none());
    tester.completes(1, Outcome::Success, plan());
    let has_delegations = |it: &CounterScope| matches!(it, CounterScope::Delegations(_));
    assert!(!tester.run.counters.iter().any(|it| has_delegations(&it.scope)), "forgotten");
}

#[test]
fn parts_of_parts_count_for_the_holding_of_the_step() {
    let mut workflow = pipeline();
    workflow.steps[0].limits.delegations = 2;
    let mut tester = begun(workflow, "analyst");
    tester.accepts(1);
    tester.does(&delegate("analyst", "helper"));
    tester.does(&delegate("helper", "reviewer"));
    tester.does(&delegate("reviewer", "documenter"));
    check_asked(
        &tester,
        expect![
            "`reviewer` delegated 2 parts of this work; its limit is 2; reviewer asks, documenter would work; continue accept hand_to abort"
        ],
    );
    let (no, _) = gate(&tester);
    tester.answers(no, Answer::Accept);
    assert_eq!(tester.run.current_agent(), Some(&agent("reviewer")));
}

/// A step whose blocks go to a helper.
fn helped() -> Workflow {
    let blocked = on(Outcome::Blocked, "help");
    Workflow {
        start: to("build"),
        steps: vec![
            step("build", "implementer", vec![done(), blocked, on(Outcome::Failure, "help")]),
            step("help", "helper", vec![to("build")]),
        ],
        ..pipeline()
    }
}

#[test]
fn the_second_block_in_a_row_goes_to_a_person() {
    let mut tester = begun(helped(), "implementer");
    tester.accepts(1);
    tester.completes(1, Outcome::Blocked, nothing());
    check(&tester, expect!["HO-002 implementer→helper pending; offered"]);
    tester.hands("helper", "implementer", plan());
    tester.accepts(3);
    tester.completes(3, Outcome::Blocked, nothing());
    check_asked(
        &tester,
        expect![
            "`build` is blocked again; an agent was sent to help once, its limit is 1; build asks, build would work; continue accept hand_to abort"
        ],
    );
    assert_eq!(tester.run.blockers.len(), 1);
    // A person has decided: the next block may go to the helper again.
    tester.answers(4, Answer::Continue);
    tester.accepts(5);
    tester.completes(5, Outcome::Blocked, nothing());
    check(&tester, expect!["HO-006 implementer→helper pending; offered"]);

    // Not in a row: the step came further in between.
    let mut tester = begun(helped(), "implementer");
    tester.accepts(1);
    tester.completes(1, Outcome::Blocked, nothing());
    tester.hands("helper", "implementer", plan());
    tester.accepts(3);
    tester.completes(3, Outcome::Failure, nothing());
    tester.hands("helper", "implementer", plan());
    tester.accepts(5);
    tester.completes(5, Outcome::Blocked, nothing());
    check(&tester, expect!["HO-006 implementer→helper pending; offered"]);
}

#[test]
fn a_step_may_send_every_block_to_a_person() {
    let mut workflow = helped();
    workflow.steps[0].limits.blocks = 0;
    let mut tester = begun(workflow, "implementer");
    tester.accepts(1);
    tester.completes(1, Outcome::Blocked, nothing());
    check(&tester, expect!["HO-002 orchestrator→human pending; parked"]);
}

#[test]
fn an_error_that_cannot_be_recovered_from_goes_to_a_person_at_once() {
    let error = |recoverable| {
        Node::map([(
            "error",
            Node::map([("message", Node::text("no")), ("recoverable", recoverable)]),
        )])
    };
    for hopeless in [Node::Bool(false), Node::text("false")] {
        let mut tester = Tester::started();
        tester.accepts(1);
        tester.completes(1, Outcome::Failure, error(hopeless));
        check_asked(
            &tester,
            expect![
                "The step failed with an error that trying again would not help; analyze asks, analyze would work; continue accept hand_to abort"
            ],
        );
    }
    let mut tester = Tester::started();
    tester.accepts(1);
    tester.completes(1, Outcome::Failure, error(Node::Null));
    check(&tester, expect!["HO-002 orchestrator→analyst pending; offered"]);
}

#[test]
fn an_error_that_may_pass_by_itself_is_tried_again_after_one_two_and_four_seconds() {
    let error = |key: &'static str, word: Node| Node::map([("error", Node::map([(key, word)]))]);
    for transient in [
        error("recoverable", Node::Bool(true)),
        error("recoverable", Node::text("true")),
        error("type", Node::text("RateLimitError")),
        error("type", Node::text("network-timeout")),
    ] {
        let mut tester = Tester::started();
        tester.workflow.limits.retries = 3;
        for (no, seconds) in [(1, 1), (2, 2), (3, 4)] {
            tester.accepts(no);
            tester.completes(no, Outcome::Failure, transient.clone());
            assert_eq!(tester.run.baton().name(), "parked", "{transient:?}");
            let next = HandoffNo(no + 1);
            let early = tester.would(&accept(no + 1)).unwrap_err();
            assert_eq!(early.code(), "not_yet");
            tester.wait_seconds(seconds - 1);
            assert!(tester.would(&Command::Wake { handoff: next }).is_err(), "after {seconds} s");
            tester.wait_seconds(1);
            tester.does(&Command::Wake { handoff: next });
        }
        tester.accepts(4);
        tester.completes(4, Outcome::Failure, transient);
        assert!(tester.run.gate().is_some(), "a person is asked after the last try");
    }
    let conflict = error("type", Node::text("MergeConflict"));
    let mut tester = Tester::started();
    tester.accepts(1);
    tester.completes(1, Outcome::Failure, conflict);
    assert!(tester.run.gate().is_some(), "a merge conflict does not pass by itself");
}

fn says(outcome: Outcome, to: &str) -> Command {
    let Command::Complete(complete) = complete(1, outcome, plan()) else { unreachable!() };
    Command::Complete(Complete { to: Some(agent(to).into()), ..complete })
}

#[test]
fn a_blocked_step_is_blocked_whichever_next_agent_it_names() {
    for (to, warnings) in [("orchestrator", 0), ("implementer", 1)] {
        let mut tester = Tester::started();
        tester.accepts(1);
        let decision = tester.does(&says(Outcome::Blocked, to));
        assert_eq!(decision.done.warnings.len(), warnings, "{to}");
        assert!(decision.done.warnings.iter().all(|it| it.rule == "routed_by_outcome"));
        check(&tester, expect!["HO-002 orchestrator→human pending; parked"]);
        assert_eq!(tester.run.blockers.len(), 1);
    }
    let mut tester = Tester::started();
    tester.accepts(1);
    let refusal = tester.tries(&says(Outcome::Blocked, "documenter")).unwrap_err();
    assert_eq!(refusal.code(), "not_an_edge");
}

#[test]
fn a_failure_for_the_next_agent_is_refused_with_what_to_do() {
    let mut tester = Tester::started();
    tester.accepts(1);
    let refusal = tester.tries(&says(Outcome::Failure, "implementer")).unwrap_err();
    expect!["there is no edge from `analyze` to `implementer` on failure here; from there it may go to `implementer` on success; leave `to` out, and the step is tried again before a person is asked, or send it to `orchestrator` with the error"].assert_eq(&refusal.to_string());
}

#[test]
fn an_error_for_the_orchestrator_is_a_failure_on_record() {
    let mut tester = Tester::started();
    tester.accepts(1);
    let decision = tester.does(&says(Outcome::Failure, "orchestrator"));
    let ended: Vec<String> = (decision.events.iter())
        .filter_map(|it| {
            let Event::Handoff(HandoffEvent::Completed { handoff, outcome, .. }) = it else {
                return None;
            };
            Some(format!("{handoff} {}", outcome.name()))
        })
        .collect();
    assert_eq!(ended, ["HO-001 failure", "HO-002 failure"]);
    check(&tester, expect!["nothing open; loose"]);
}

#[test]
fn a_loose_baton_goes_back_to_the_agent_that_had_it() {
    let mut workflow = pipeline();
    workflow.steps[0].agents.push(agent("helper"));
    for is_accepted in [false, true] {
        let mut tester = begun(workflow.clone(), "helper");
        if is_accepted {
            tester.accepts(1);
        }
        tester.does(&time_out(1));
        assert_eq!(tester.run.restarts_with(&workflow), Some(agent("helper")), "{is_accepted}");
    }
    let mut tester = begun(workflow.clone(), "analyst");
    tester.does(&time_out(1));
    assert_eq!(tester.run.restarts_with(&workflow), Some(agent("analyst")));
    // As its sender's, where it was not taken.
    let mut tester = begun(workflow.clone(), "helper");
    tester.hands("helper", "implementer", plan());
    tester.does(&time_out(2));
    assert_eq!(tester.run.restarts_with(&workflow), Some(agent("helper")));
}

#[test]
fn a_workflow_that_no_run_can_end_names_the_cycle_that_holds_the_work() {
    let mut workflow = pipeline();
    // The review leads back to the implementer, whatever it finds; the end is behind it.
    for edge in workflow.steps[2].edges.iter_mut().filter(|it| it.on == Outcome::Success) {
        *edge = Edge { is_back: edge.is_back, ..to("implement") };
    }
    let problems: Vec<String> = workflow.problems().iter().map(ToString::to_string).collect();
    let (first, others) = problems.split_first().unwrap();
    expect!["steps.review.on.success: no run can end: all work goes round between implement, review for ever; let `review` or another of them lead towards `complete` [no_end]"]
    .assert_eq(first);
    assert!(others.iter().all(|it| it.ends_with("[unreachable]")), "{others:?}");
}
