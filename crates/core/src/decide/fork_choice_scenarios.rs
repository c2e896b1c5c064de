//! In which branch a command is carried out: that of the handoff it names, else where its sender has the
//! work.

use super::fixture::*;
use super::fork::branch_of;
use super::fork_scenarios::{fanned, forked, forked_in};
use super::records::draft_plan;
use crate::command::{Command, Create, StartAt};
use crate::event::{Event, HandoffEvent};
use crate::gate::GateCause;
use crate::names::{Principal, StepId};
use crate::outcome::Outcome;
use crate::run::{HandoffNo, Kind};
use crate::workflow::JoinNeed;

/// The branches are `build` (1, `HO-002`), `write` (2, `HO-003`) and `probe` (3, `HO-004`).
#[track_caller]
fn check_branch(tester: &Tester, from: &str, to: &str, expected: u16) {
    let command = Command::Create(create(from, to, nothing()));
    assert_eq!(branch_of(&tester.run, &tester.workflow, &command), expected, "{from} → {to}");
}

#[test]
fn an_agent_that_was_offered_work_hands_on_in_that_branch() {
    let tester = forked(JoinNeed::All);
    check_branch(&tester, "implementer", "refactorer", 1);
    check_branch(&tester, "documenter", "reviewer", 2);
    check_branch(&tester, "estimation", "reviewer", 3);
    check_branch(&tester, "reviewer", "documenter", 1);
}

#[test]
fn a_sender_that_hands_over_again_means_the_branch_of_the_receiver() {
    let tester = forked(JoinNeed::All);
    check_branch(&tester, "analyst", "implementer", 1);
    check_branch(&tester, "analyst", "documenter", 2);
    check_branch(&tester, "analyst", "estimation", 3);
    let by_number =
        Create { supersedes: Some(HandoffNo(4)), ..create("analyst", "documenter", nothing()) };
    let by_number = Command::Create(by_number);
    assert_eq!(branch_of(&tester.run, &tester.workflow, &by_number), 3, "the number goes first");
}

#[test]
fn a_loose_baton_is_taken_up_in_its_branch() {
    let mut tester = forked(JoinNeed::All);
    tester.accepts(2);
    tester.does(&time_out(4));
    check_branch(&tester, "orchestrator", "estimation", 3);
    check_branch(&tester, "analyst", "estimation", 3);
    check_branch(&tester, "estimation", "reviewer", 3);
    check_branch(&tester, "documenter", "reviewer", 2);
    check_branch(&tester, "orchestrator", "documenter", 3);
    tester.does(&time_out(3));
    check_branch(&tester, "orchestrator", "documenter", 2);
    check_branch(&tester, "analyst", "documenter", 2);
    check_branch(&tester, "analyst", "estimation", 3);
    check_branch(&tester, "implementer", "refactorer", 1);
}

#[test]
fn a_caller_that_waits_for_a_part_is_in_the_branch_of_its_frame() {
    let mut tester = forked(JoinNeed::All);
    tester.accepts(3);
    tester.hands("documenter", "human", nothing());
    check_branch(&tester, "documenter", "reviewer", 2);
    tester.does(&time_out(4));
    check_branch(&tester, "documenter", "reviewer", 2);
}

/// The limit of every first step counts, not only that of the first branch.
#[test]
fn a_fan_out_that_enters_any_of_its_steps_too_often_asks_a_person() {
    for limited in ["build", "write", "probe"] {
        let mut workflow = fanned(JoinNeed::Any);
        let step = workflow.steps.iter_mut().find(|it| it.id.as_str() == limited).unwrap();
        step.limits.entries = Some(1);
        let mut tester = forked_in(workflow);
        tester.completes(4, Outcome::Success, nothing());
        let review = tester.run.n_handoffs;
        tester.completes(review, Outcome::Failure, nothing());
        let back = tester.run.n_handoffs;
        tester.completes(back, Outcome::Success, plan());
        let cause = tester.run.gate().map(|(_, it)| it.cause);
        assert_eq!(cause, Some(GateCause::Entries), "{limited}: {}", tester.shows());
    }
}

#[test]
fn a_step_of_a_branch_is_refused_with_what_fans_out_to_it() {
    let mut tester =
        Tester::begun_in(fanned(JoinNeed::All), &create("orchestrator", "analyst", story()))
            .unwrap();
    tester.does(&time_out(1));
    let start = StartAt {
        step: StepId::parse("write").unwrap(),
        to: None,
        package: sent(nothing()),
        reason: reason("Only the text"),
        by: Principal::parse("ada").unwrap(),
    };
    let refused = tester.tries(&Command::StartAt(start)).unwrap_err().to_string();
    assert!(refused.contains("which `analyze` fans out to"), "{refused}");
    assert!(!refused.contains("`orchestrator`"), "{refused}");
}

/// What the sender is told of its package it is told once; every receiver gets it.
#[test]
fn warnings_of_a_fan_out_are_told_to_the_sender_once_and_to_every_receiver() {
    let mut workflow = fanned(JoinNeed::All);
    workflow.steps[0].edges[0].contract = Some("plan".to_owned());
    let mut tester =
        Tester::begun_in(workflow, &create("orchestrator", "analyst", story())).unwrap();
    tester.accepts(1);
    let decision = tester.hands("analyst", "implementer", draft_plan("look, then write"));
    assert_eq!(decision.done.warnings.len(), 1, "{:?}", decision.done.warnings);
    let told: Vec<(Kind, usize)> = decision
        .events
        .iter()
        .filter_map(|it| {
            let Event::Handoff(HandoffEvent::Created(it)) = it else { return None };
            Some((it.kind, it.warnings.len()))
        })
        .collect();
    assert_eq!(told, [(Kind::Sequential, 1); 3]);
}

/// Two branches of one agent: it says which of them it hands on.
#[test]
fn an_agent_that_has_the_work_of_two_branches_names_the_handoff() {
    let mut workflow = fanned(JoinNeed::All);
    let of = |it: &crate::workflow::Workflow, id: &str| {
        it.steps.iter().position(|step| step.id.as_str() == id).unwrap()
    };
    let (write, probe) = (of(&workflow, "write"), of(&workflow, "probe"));
    workflow.steps[probe].agents = workflow.steps[write].agents.clone();
    let mut tester = forked_in(workflow);
    let sends = |hands_on: Option<u32>| {
        let hands_on = hands_on.map(HandoffNo);
        Command::Create(Create { hands_on, ..create("documenter", "reviewer", nothing()) })
    };
    let refused = tester.tries(&sends(None)).unwrap_err();
    assert_eq!(refused.code(), "which_handoff", "{refused}");
    assert_eq!(refused.mentioned(), [HandoffNo(3), HandoffNo(4)]);
    // What it has accepted is meant before what it is only offered.
    tester.accepts(4);
    assert_eq!(branch_of(&tester.run, &tester.workflow, &sends(None)), 3);
    tester.accepts(3);
    assert_eq!(tester.tries(&sends(None)).unwrap_err().code(), "which_handoff");
    assert_eq!(tester.tries(&sends(Some(1))).unwrap_err().code(), "finished");
    tester.does(&sends(Some(4)));
    assert_eq!(tester.run.fork.as_ref().unwrap().arrived[0].branch, 3);
    tester.does(&sends(None));
    assert_eq!(tester.run.fork.as_ref().unwrap().arrived.len(), 2);
}
