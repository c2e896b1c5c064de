//! What holds of every run in several branches, whatever was done to it.

use baton_core::event::{BranchEvent, Event};
use baton_core::run::{Baton, Handoff, Kind, Run};
use baton_core::workflow::{Place, Workflow};
use jiff::Timestamp;

/// How much of it there was.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) n_forked: u64,
    pub(super) n_joined: u64,
    pub(super) n_cancelled: u64,
}

impl Seen {
    pub(super) fn add(&mut self, log: &[(Event, Timestamp)]) {
        for (event, _) in log {
            let Event::Branch(event) = event else { continue };
            match event {
                BranchEvent::Forked { .. } => self.n_forked += 1,
                BranchEvent::Joined { .. } => self.n_joined += 1,
                BranchEvent::Cancelled { .. } => self.n_cancelled += 1,
                BranchEvent::Arrived { .. } => {}
            }
        }
    }
}

/// One place where the baton is holds in each branch, and every branch keeps to its steps.
#[track_caller]
pub(crate) fn check(workflow: &Workflow, run: &Run, story: impl Fn() -> String) {
    let Some(fork) = &run.fork else {
        let numbers: Vec<u16> = run.branches.iter().map(|it| it.no).collect();
        assert_eq!(numbers, [0], "{}", story());
        assert!(run.given.iter().all(|it| it.branch == 0), "{}", story());
        return;
    };
    // Enough have not arrived, and those that are under way and those that have are all there are.
    assert!(!fork.is_enough() && !run.branches.is_empty(), "{}", story());
    let arrived = fork.arrived.iter().map(|it| it.branch);
    let mut numbers: Vec<u16> = run.branches.iter().map(|it| it.no).chain(arrived).collect();
    numbers.sort_unstable();
    let all: Vec<u16> = (1..).take(fork.firsts.len()).collect();
    assert_eq!(numbers, all, "{}", story());
    assert!(run.branches.is_sorted_by_key(|it| it.no), "{}", story());
    for branch in &run.branches {
        let is_own = match &branch.baton {
            Baton::Offered { handoff }
            | Baton::Held { handoff }
            | Baton::Parked { handoff, .. } => {
                run.handoff(*handoff).is_some_and(|it| it.branch == branch.no)
            }
            Baton::Loose { .. } => true,
            Baton::Done => false,
        };
        assert!(is_own, "{}", story());
    }
    let is_work = |it: &&Handoff| it.kind != Kind::Question;
    for handoff in &run.handoffs {
        assert!(run.branch(handoff.branch).is_some(), "{}", story());
    }
    for handoff in run.handoffs.iter().filter(is_work) {
        let Place::Step(step) = &handoff.to.place else { continue };
        let own = workflow.branch_of(step).map(|(_, branch)| branch);
        let is_source = handoff.to.place == fork.from.place;
        assert!(own == Some(handoff.branch) || is_source, "{}", story());
    }
    for frame in &run.frames {
        let caller = run.handoff(frame.caller).expect("a caller is open");
        assert_eq!(caller.branch, frame.branch, "{}", story());
    }
}
