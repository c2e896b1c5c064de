//! Scenarios: who may hand off, under which profile, which way, and with which fencing token.

use expect_test::{Expect, expect};
use jiff::SignedDuration;

use super::fixture::*;
use super::scenarios::{at_review, check_refused};
use super::states::{advised, batons, in_state, loose};
use super::tables::cell;
use crate::command::{Command, Complete, Create, Token, Way};
use crate::contract::Profile;
use crate::document::Node;
use crate::outcome::Outcome;
use crate::run::{HandoffNo, State};

/// A stranger is refused, and learns where the baton is.
#[test]
fn a_refusal_says_where_the_baton_is() {
    let mut table = String::new();
    for (name, tester) in batons() {
        let stranger = Command::Create(create("documenter", "reviewer", nothing()));
        let refusal = tester.would(&stranger).unwrap_err();
        table += &format!("{name}: {refusal}\n");
    }
    expect![[r#"
        offered: `documenter` does not have the baton: HO-002 offers it to `implementer`
        asked: `documenter` does not have the baton: HO-002 waits for an answer from `analyst`
        held: `documenter` does not have the baton: `implementer` holds it with HO-002
        delegated: `documenter` does not have the baton: HO-003 offers it to `helper`
        held back: `documenter` does not have the baton: HO-003 is held back for `implementer`
        parked: HO-002 is a gate and takes only an answer: continue, accept, hand_to, abort
        loose: there is no edge from `document` to `reviewer` here; from there it may go to `orchestrator` on success
        branches: `documenter` does not have the baton: in the branch `build` `implementer` holds it with HO-002; in the branch `probe` HO-004 offers it to `estimation`
        paused: `documenter` does not have the baton: HO-002 offers it to `implementer`
        completed: the run is completed and takes no more commands; start a new one
        cancelled: the run is cancelled and takes no more commands; start a new one
    "#]].assert_eq(&table);
}

#[test]
fn only_the_sender_and_the_orchestrator_cancel() {
    let cancel =
        |by: &str| Command::Cancel { handoff: HandoffNo(2), by: Some(agent(by)), reason: None };
    let tester = in_state(State::Pending);
    for by in ["analyst", "orchestrator"] {
        assert_eq!(cell(&tester, &cancel(by)), "handoff.cancelled baton.loose → loose", "{by}");
    }
    for by in ["implementer", "reviewer"] {
        assert_eq!(cell(&tester, &cancel(by)), "(not_yours)", "{by}");
    }
}

/// The orchestrator only offers the work again: it begins when that is accepted.
#[test]
fn a_paused_run_is_offered_again_but_not_taken_up() {
    let mut tester = loose();
    tester.does(&Command::Pause { reason: None });
    let by_agent = Command::Create(create("analyst", "implementer", plan()));
    assert_eq!(cell(&tester, &by_agent), "(paused)");
    let by_orchestrator = Command::Create(create("orchestrator", "analyst", story()));
    assert_eq!(cell(&tester, &by_orchestrator), "handoff.created → offered");
}

/// Only success ends a run.
#[test]
fn an_error_from_a_loose_baton_goes_on_along_its_edge_but_does_not_end_the_run() {
    let error = || Node::map([("plan", Node::text("none")), ("error", Node::text("no disk"))]);
    let mut tester = loose();
    tester.does(&Command::Create(create("documenter", "orchestrator", error())));
    assert_eq!(tester.shows(), "nothing open; loose");
    let mut tester = loose();
    tester.does(&Command::Create(create("analyst", "implementer", error())));
    assert_eq!(tester.shows(), "HO-003 analyst→implementer pending; offered");
}

fn with_token(handoff: u32, fence: u32) -> Command {
    let token = Some(Token { handoff: HandoffNo(handoff), fence });
    Command::Create(Create { token, ..create("reviewer", "refactorer", nothing()) })
}

#[test]
fn a_token_names_the_handoff_and_the_acceptance_of_it() {
    let tester = at_review();
    let fence = tester.run.current().unwrap().fence;
    let done = "handoff.completed step.completed handoff.created → offered";
    assert_eq!(cell(&tester, &with_token(3, fence)), done);
    assert_eq!(cell(&tester, &with_token(3, fence + 1)), "(stale_fence)");
    assert_eq!(cell(&tester, &with_token(2, fence)), "(stale_fence)", "of another handoff");
    let mut offered = at_review();
    offered.does(&release(3));
    let fence = offered.run.current().unwrap().fence;
    assert_eq!(cell(&offered, &with_token(2, fence)), "(stale_fence)", "of another handoff");
    let mut loose = at_review();
    loose.does(&time_out(3));
    assert_eq!(cell(&loose, &with_token(3, fence)), "(stale_fence)", "of a finished one");
}

#[test]
fn the_profile_of_an_edge_wins_over_the_workflows_and_that_over_the_callers() {
    let hand_on = |profile| {
        Command::Create(Create { profile, ..create("implementer", "reviewer", nothing()) })
    };
    let implied =
        "handoff.accepted step.started handoff.completed step.completed handoff.created → offered";
    for (of_edge, of_workflow, asked, expected) in [
        (None, None, Profile::Lenient, implied),
        (None, None, Profile::Strict, "(accept_first)"),
        (None, Some(Profile::Strict), Profile::Lenient, "(accept_first)"),
        (None, Some(Profile::Lenient), Profile::Strict, implied),
        (Some(Profile::Strict), Some(Profile::Lenient), Profile::Lenient, "(accept_first)"),
        (Some(Profile::Lenient), Some(Profile::Strict), Profile::Strict, implied),
    ] {
        let mut tester = in_state(State::Pending);
        tester.workflow.profile = of_workflow;
        tester.workflow.steps[1].edges[0].profile = of_edge;
        let case = (of_edge, of_workflow, asked);
        assert_eq!(cell(&tester, &hand_on(asked)), expected, "{case:?}");
    }
    // A failure that is tried again goes along no edge.
    for (of_workflow, expected) in [
        (
            None,
            "handoff.accepted step.started handoff.completed step.completed handoff.created → offered",
        ),
        (Some(Profile::Strict), "(accept_first)"),
    ] {
        let mut tester = in_state(State::Pending);
        tester.workflow.profile = of_workflow;
        assert_eq!(cell(&tester, &complete(2, Outcome::Failure, nothing())), expected);
    }
}

#[test]
fn the_stated_way_has_to_fit_the_receiver() {
    check_ways(
        "implementer",
        &in_state(State::Accepted),
        expect![[r#"
            unstated
              reviewer     handoff.completed step.completed handoff.created → offered
              helper       frame.opened handoff.created → offered
              implementer  (not_an_edge)
              human        frame.opened handoff.created gate.opened → parked
              orchestrator (not_an_edge)
            sequential
              reviewer     handoff.completed step.completed handoff.created → offered
              helper       (not_an_edge)
              implementer  (not_an_edge)
              human        (not_an_edge)
              orchestrator (not_an_edge)
            delegation
              reviewer     frame.opened handoff.created → offered
              helper       frame.opened handoff.created → offered
              implementer  (not_an_edge)
              human        (not_an_edge)
              orchestrator (not_an_edge)
            escalation
              reviewer     (not_an_edge)
              helper       (not_an_edge)
              implementer  (not_an_edge)
              human        frame.opened handoff.created gate.opened → parked
              orchestrator (not_an_edge)
            return
              reviewer     (not_in_frame)
              helper       (not_in_frame)
              implementer  (not_in_frame)
              human        (not_in_frame)
              orchestrator (not_in_frame)
        "#]],
    );
}

#[test]
fn a_delegate_returns_delegates_or_asks_and_nothing_else() {
    let mut helping = in_state(State::Parked);
    helping.accepts(3);
    check_ways(
        "helper",
        &helping,
        expect![[r#"
            unstated
              reviewer     (not_an_edge)
              helper       (not_an_edge)
              implementer  handoff.completed handoff.created → offered
              human        frame.opened handoff.created gate.opened → parked
              orchestrator (not_an_edge)
            sequential
              reviewer     (not_an_edge)
              helper       (not_an_edge)
              implementer  (not_an_edge)
              human        (not_an_edge)
              orchestrator (not_an_edge)
            delegation
              reviewer     frame.opened handoff.created → offered
              helper       (not_an_edge)
              implementer  frame.opened handoff.created → offered
              human        (not_an_edge)
              orchestrator (not_an_edge)
            escalation
              reviewer     (not_an_edge)
              helper       (not_an_edge)
              implementer  (not_an_edge)
              human        frame.opened handoff.created gate.opened → parked
              orchestrator (not_an_edge)
            return
              reviewer     (not_an_edge)
              helper       (not_an_edge)
              implementer  handoff.completed handoff.created → offered
              human        (not_an_edge)
              orchestrator (not_an_edge)
        "#]],
    );
}

#[track_caller]
fn check_ways(from: &str, tester: &Tester, expected: Expect) {
    let ways = std::iter::once(None).chain(Way::ALL.map(Some));
    let mut table = String::new();
    for way in ways {
        table += &format!("{}\n", way.map_or("unstated", Way::name));
        for to in ["reviewer", "helper", "implementer", "human", "orchestrator"] {
            let create = Create { way, ..create(from, to, nothing()) };
            table += &format!("  {to:<13}{}\n", cell(tester, &Command::Create(create)));
        }
    }
    expected.assert_eq(&table);
}

/// Only a create may hand over a part: a complete ends the work.
#[test]
fn a_complete_is_no_delegation() {
    let Command::Complete(done) = complete(2, Outcome::Success, nothing()) else { unreachable!() };
    let to_helper = Command::Complete(Complete { to: Some(agent("helper").into()), ..done });
    check_refused(
        &mut in_state(State::Accepted),
        &to_helper,
        expect![
            "not_an_edge: there is no edge from `implement` to `helper` on success here; from there it may go to `reviewer` on success"
        ],
    );
}

/// It is completed like any other advice; only the work is superseded.
#[test]
fn advice_ends_with_the_work_it_is_about_when_the_operator_goes_elsewhere() {
    let moved = "handoff.superseded handoff.created handoff.completed → offered";
    assert_eq!(cell(&advised(), &goto("implement")), moved);
}

#[test]
fn work_whose_agent_is_at_its_rate_limit_waits_for_the_end_of_it_and_no_attempt_is_counted() {
    let mut tester = in_state(State::Pending);
    for (no, seconds) in [(2, 3600), (3, 1), (4, 3600), (5, 60), (6, 30 * 24 * 3600)] {
        tester.does(&accept_with(no, 20));
        let at = tester.now.checked_add(SignedDuration::from_secs(seconds)).unwrap();
        tester.does(&lose_until(no, 1, at));
        let again = tester.run.handoff(HandoffNo(no + 1)).unwrap();
        let most = SignedDuration::from_hours(8 * 24);
        let least = SignedDuration::from_mins(1);
        let expected = at
            .min(tester.now.checked_add(most).unwrap())
            .max(tester.now.checked_add(least).unwrap());
        assert_eq!((again.attempt, again.held_back_until), (1, Some(expected)));
        tester.wait_seconds(again.held_back_until.unwrap().duration_since(tester.now).as_secs());
    }
}

#[test]
fn what_was_held_back_may_be_accepted_from_the_very_moment() {
    let mut tester = in_state(State::Pending);
    tester.does(&accept_with(2, 20));
    tester.does(&lose(2, 1));
    assert_eq!(cell(&tester, &accept(3)), "(not_yet)");
    tester.wait_seconds(1);
    assert_eq!(cell(&tester, &accept(3)), "handoff.accepted step.started → held");
}
