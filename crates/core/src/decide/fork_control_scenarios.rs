//! What operators and the clock do to a run in several branches.

use super::First;
use super::fixture::*;
use super::fork_scenarios::{agents_of, fanned, forked};
use crate::command::{Command, Create, StartAt};
use crate::names::{Principal, StepId};
use crate::outcome::Outcome;
use crate::refusal::Refusal;
use crate::run::{Baton, HandoffNo, RunStatus};
use crate::workflow::JoinNeed;

fn start_at(step: &str) -> StartAt {
    StartAt {
        step: StepId::parse(step).unwrap(),
        to: None,
        package: sent(nothing()),
        reason: reason("on it goes"),
        by: Principal::parse("ada").unwrap(),
    }
}

#[test]
fn a_paused_run_is_paused_in_every_branch() {
    let mut tester = forked(JoinNeed::All);
    tester.accepts(2);
    tester.does(&Command::Pause { reason: None });
    assert_eq!(tester.tries(&accept(3)), Err(Refusal::Paused));
    tester.completes(2, Outcome::Success, nothing());
    tester.does(&Command::Resume);
    tester.accepts(3);
    assert_eq!(agents_of(&tester), ["refactorer", "documenter", "estimation"]);
}

#[test]
fn a_cancelled_run_has_no_branch_left() {
    let mut tester = forked(JoinNeed::All);
    let decision = tester.does(&Command::CancelRun { reason: None });
    assert_eq!(decision.done.cancelled.len(), 3);
    assert_eq!(tester.run.status, RunStatus::Cancelled);
    assert_eq!((tester.run.fork.as_ref(), tester.run.branches.len()), (None, 1));
}

#[test]
fn a_goto_in_a_branch_leaves_the_others_alone() {
    let mut tester = forked(JoinNeed::All);
    for no in 2..=4 {
        tester.accepts(no);
    }
    tester.completes(2, Outcome::Success, nothing());
    tester.does(&goto("build"));
    assert_eq!(
        tester.shows(),
        "HO-003 analyst→documenter accepted, HO-004 analyst→estimation accepted, \
         HO-006 orchestrator→implementer pending; offered + held + held"
    );
}

#[test]
fn a_goto_out_of_the_branches_ends_them() {
    let mut tester = forked(JoinNeed::All);
    tester.completes(3, Outcome::Success, nothing());
    tester.completes(4, Outcome::Blocked, nothing());
    let refused = tester.tries(&goto("analyze"));
    assert!(matches!(refused, Err(Refusal::GateOpen { .. })), "{refused:?}");
    tester.answers(6, crate::gate::Answer::Continue);
    tester.does(&goto("analyze"));
    assert_eq!(tester.shows(), "HO-008 orchestrator→analyst pending; offered");
    assert_eq!(tester.run.fork, None);
    tester.completes(8, Outcome::Success, plan());
    assert_eq!(tester.run.branches.len(), 3);
}

#[test]
fn a_branch_that_has_arrived_is_not_gone_to() {
    let mut tester = forked(JoinNeed::All);
    tester.completes(3, Outcome::Success, nothing());
    let refused = tester.tries(&goto("write"));
    assert!(matches!(refused, Err(Refusal::OutsideBranch { .. })), "{refused:?}");
}

#[test]
fn a_step_of_a_branch_is_not_begun_at_alone() {
    let mut tester = forked(JoinNeed::All);
    for no in [2, 3, 4] {
        tester.completes(no, Outcome::Success, nothing());
    }
    let polish = tester.run.handoffs[0].no.0;
    tester.completes(polish, Outcome::Success, nothing());
    let refused = tester.tries(&goto("write"));
    assert!(matches!(refused, Err(Refusal::OutsideBranch { .. })), "{refused:?}");
    let joined = tester.run.handoffs[0].no.0;
    tester.does(&time_out(joined));
    let refused = tester.tries(&Command::StartAt(start_at("build")));
    assert!(matches!(refused, Err(Refusal::OutsideBranch { .. })), "{refused:?}");
    tester.does(&Command::StartAt(start_at("review")));
    assert_eq!(agents_of(&tester), ["reviewer"]);
    let begun = Tester::begun_by(fanned(JoinNeed::All), First::AtStep(start_at("polish")));
    assert!(matches!(begun, Err(Refusal::OutsideBranch { .. })), "{:?}", begun.err());
    let adopted =
        Tester::begun_in(fanned(JoinNeed::All), &create("documenter", "reviewer", nothing()));
    assert!(matches!(adopted, Err(Refusal::OutsideBranch { .. })), "{:?}", adopted.err());
    let adopted = Tester::begun_in(fanned(JoinNeed::All), &create("analyst", "documenter", plan()));
    assert_eq!(agents_of(&adopted.unwrap()), ["implementer", "documenter", "estimation"]);
}

#[test]
fn clean_up_and_time_outs_leave_each_branch_loose_by_itself() {
    let mut tester = forked(JoinNeed::All);
    tester.accepts(2);
    let decision = tester.does(&Command::CleanUp { reason: None });
    assert_eq!(decision.done.cancelled, [HandoffNo(3), HandoffNo(4)]);
    assert_eq!(tester.shows(), "HO-002 analyst→implementer accepted; held + loose + loose");
    // An agent of another branch does not take it up, and neither does one of the trunk.
    let refused = tester.tries(&Command::Create(create("refactorer", "reviewer", nothing())));
    assert!(refused.is_err(), "{refused:?}");
    // The analyst sends to the branch again that it names.
    tester.hands("analyst", "estimation", plan());
    assert!(matches!(tester.run.baton_in(3), Baton::Offered { .. }));
    tester.does(&Command::Create(Create { ..create("orchestrator", "documenter", nothing()) }));
    assert_eq!(agents_of(&tester), ["implementer", "documenter", "estimation"]);
    tester.does(&time_out(2));
    assert_eq!(tester.run.loose_branch(), Some(1));
    tester.does(&Command::StartAt(start_at("polish")));
    assert_eq!(agents_of(&tester), ["refactorer", "documenter", "estimation"]);
}

#[test]
fn a_skip_is_of_the_optional_step() {
    let mut tester = forked(JoinNeed::All);
    tester.accepts(2);
    tester.does(&skip());
    assert_eq!(agents_of(&tester), ["implementer", "estimation"]);
    let arrival = &tester.run.fork.as_ref().unwrap().arrived[0];
    assert_eq!((arrival.branch, arrival.package.is_some()), (2, true));
}

#[test]
fn the_sender_replaces_what_it_sent_to_one_branch() {
    let mut tester = forked(JoinNeed::All);
    let better =
        Create { supersedes: Some(HandoffNo(3)), ..create("analyst", "documenter", plan()) };
    tester.does(&Command::Create(better));
    assert_eq!(tester.run.branches.len(), 3);
    assert_eq!(tester.run.handoff(HandoffNo(5)).unwrap().branch, 2);
}

#[test]
fn every_command_in_a_branch_keeps_to_it() {
    let tester = forked(JoinNeed::All);
    for (name, command) in super::states::ON_HANDOFF {
        for no in 2..=4 {
            let Ok(decision) = tester.would(&command(&tester, no)) else { continue };
            let own = u16::try_from(no - 1).unwrap();
            let others = |it: &&crate::run::Handoff| it.branch != own;
            let before: Vec<_> = tester.run.handoffs.iter().filter(others).collect();
            let after: Vec<_> = decision.run.handoffs.iter().filter(others).collect();
            assert_eq!(before, after, "{name} {no}");
        }
    }
}
