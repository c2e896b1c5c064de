//! Scenarios: what comes from outside, beside the handoffs.

use super::fixture::*;
use super::scenarios::at_review;
use super::states::{cancelled, completed, in_state};
use super::tables::cell;
use crate::command::{Command, Signal};
use crate::event::{Event, MessageEvent};
use crate::names::CommitId;
use crate::run::{RunStatus, State};
use crate::workflow::{Edge, Target};

const PASSED: Command = Command::Signal(Signal::Passed);

fn merged() -> Command {
    let commit = CommitId::parse("4f2c9a1").unwrap();
    Command::Signal(Signal::Merged { commit: Some(commit) })
}

/// The documenter, whose success ends the run, holds `HO-005`.
fn at_the_last_step() -> Tester {
    let mut tester = at_review();
    tester.hands("reviewer", "refactorer", nothing());
    tester.hands("refactorer", "documenter", nothing());
    tester.accepts(5);
    tester
}

#[test]
fn good_work_at_the_last_step_ends_the_run() {
    let mut tester = at_the_last_step();
    tester.does(&PASSED);
    assert_eq!((tester.run.status, tester.run.is_passed), (RunStatus::Completed, true));
}

#[test]
fn good_work_is_only_noted_where_the_run_does_not_end_next() {
    let mut offered = at_the_last_step();
    offered.does(&release(5));
    let mut two_ends = at_the_last_step();
    two_ends.workflow.steps[4].edges.push(to("review"));
    let mut two_ways_on = at_the_last_step();
    two_ways_on.workflow.steps[4].edges.insert(0, to("review"));
    for mut tester in [at_review(), in_state(State::Parked), offered, two_ends, two_ways_on] {
        let before = tester.shows();
        tester.does(&PASSED);
        assert_eq!((tester.shows(), tester.run.is_passed), (before, true));
    }
}

/// Success has one edge, to the end; a failure edge is no other way on.
#[test]
fn only_the_edges_of_success_count_for_good_work() {
    let mut tester = at_the_last_step();
    let edge = Edge { on: crate::outcome::Outcome::Failure, is_back: true, ..to("review") };
    tester.workflow.steps[4].edges.insert(0, edge);
    assert_eq!(tester.workflow.steps[4].edges[1].to, Target::Complete);
    tester.does(&PASSED);
    assert_eq!(tester.run.status, RunStatus::Completed);
}

#[test]
fn work_is_merged_whether_its_run_is_open_or_completed() {
    for mut tester in [at_review(), completed()] {
        let before = tester.run.status;
        tester.does(&merged());
        assert_eq!((tester.run.is_merged, tester.run.status), (true, before));
        assert_eq!(tester.run.merge_commit.as_ref().unwrap().as_str(), "4f2c9a1");
    }
    assert_eq!(cell(&cancelled(), &merged()), "(run_finished)");
    assert_eq!(cell(&completed(), &Command::Pause { reason: None }), "(run_finished)");
}

#[test]
fn a_note_is_recorded_and_moves_nothing() {
    let mut tester = at_review();
    let before = tester.shows();
    let by = Some(agent("reviewer"));
    let decision =
        tester.does(&Command::Post { by: by.clone(), words: words("half of it is read") });
    let [Event::Message(MessageEvent::Posted { by: posted_by, text, .. })] = &decision.events[..]
    else {
        panic!("{decision:?}")
    };
    assert_eq!((posted_by, tester.text(*text)), (&by, "half of it is read"));
    assert_eq!(tester.shows(), before);
}
