//! A runner, an agent or a server that is killed at each stage of an attempt: the run ends as if nothing
//! had happened.

use std::process::{Child, Stdio};

use super::{Workshop, text};
use crate::serve::Served;

/// Where an attempt can be when something is killed: before and after each stage is on disk.
const STAGES: [&str; 8] = [
    "answered",
    "claimed",
    "workspace_ready",
    "agent_started",
    "agent_ended",
    "agent_finished",
    "sent",
    "handed_off",
];

/// The run of a story has gone its way once, and the work is there once.
#[track_caller]
fn is_done_once(workshop: &Workshop, story: &str) {
    let handoffs = workshop.handoffs(story);
    let completed = handoffs.iter().filter(|it| text(it, "state") == "completed");
    let ways: Vec<String> =
        completed.map(|it| format!("{}>{}", text(it, "fromAgent"), text(it, "toAgent"))).collect();
    let mut once = ways.clone();
    once.sort();
    once.dedup();
    assert_eq!(once.len(), ways.len(), "{story}: {ways:?}");
    assert_eq!(ways.len(), 6, "{story}: {ways:?}");
    let log = workshop.git(&["log", "--format=%s", &format!("feat/story-{story}")]);
    assert_eq!(log.lines().filter(|it| *it == "Add the greeting").count(), 1, "{story}: {log}");
}

/// The implementer has the commit, so it is its attempt that is struck.
fn at(stage: &str) -> String {
    format!("implementer:{stage}")
}

fn story_of(stage: &str) -> String {
    stage.replace('_', "-")
}

#[test]
fn a_runner_that_is_killed_at_any_stage_loses_nothing_and_does_nothing_twice() {
    let workshop = Workshop::new("json", "");
    let _served = workshop.serves_alone();
    for stage in STAGES {
        let story = story_of(stage);
        workshop.start(&story);
        let mut dying = workshop.command(&["runner", "--once"]);
        dying.env("BATON_KILL_AT_STAGE", at(stage)).stderr(Stdio::null());
        assert!(!dying.status().unwrap().success(), "{stage}: it was killed");
        workshop.until(&story, "it is done", |it| {
            workshop.ok(&["runner", "--once"]);
            it["status"] == "completed"
        });
        is_done_once(&workshop, &story);
        let n_attempts = workshop.attempts(&story, "implementer");
        let is_finished = ["agent_finished", "sent", "handed_off"].contains(&stage);
        if is_finished {
            assert_eq!(n_attempts, 1, "{stage}: what was finished is not started again");
        }
    }
}

/// Each stage is on disk before the next begins, so a kill before each write is a kill between any two
/// stages.
#[test]
fn a_runner_that_is_killed_before_any_of_its_writes_loses_nothing_and_does_nothing_twice() {
    let workshop = Workshop::new("json", "");
    let _served = workshop.serves_alone();
    let mut n_killed = 0;
    for step in (3..90).step_by(23) {
        let story = format!("k{step}");
        workshop.start(&story);
        let mut dying = workshop.command(&["runner", "--once"]);
        dying.env("BATON_KILL_AT_STEP", step.to_string()).stderr(Stdio::null());
        n_killed += usize::from(!dying.status().unwrap().success());
        workshop.until(&story, "it is done", |it| {
            workshop.ok(&["runner", "--once"]);
            it["status"] == "completed"
        });
        is_done_once(&workshop, &story);
    }
    assert!(n_killed > 2, "{n_killed} were killed");
}

/// The runner goes on beside it, and the server comes back at the same address.
#[track_caller]
fn survives_a_kill_of_the_server_at(stages: &[&str]) {
    for stage in stages {
        let workshop = Workshop::new("json", "[runner]\nlease = \"3s\"\n");
        let served = workshop.serves_alone();
        let address = served.url.strip_prefix("http://").unwrap().to_owned();
        workshop.start("s1");
        let mut command = workshop.command(&["runner"]);
        command
            .env("BATON_KILL_AT_STAGE", at(stage))
            .env("BATON_KILL_PID", served.id().to_string());
        let mut runner = Ended(command.stderr(Stdio::null()).spawn().unwrap());
        served.until_killed();
        let again = workshop.command(&["serve", "--listen", &address, "--no-runner"]);
        let _served = Served::listening(again);
        workshop.until_completed("s1");
        is_done_once(&workshop, "s1");
        assert_eq!(workshop.attempts("s1", "implementer"), 1, "{stage}: it was waited for");
        assert_eq!(runner.0.try_wait().unwrap(), None, "{stage}: it goes on");
    }
}

#[test]
fn a_server_that_is_killed_before_the_agent_works_is_waited_for() {
    survives_a_kill_of_the_server_at(&STAGES[..3]);
}

#[test]
fn a_server_that_is_killed_while_the_agent_works_is_waited_for() {
    survives_a_kill_of_the_server_at(&STAGES[3..5]);
}

#[test]
fn a_server_that_is_killed_when_the_agent_is_done_is_waited_for() {
    survives_a_kill_of_the_server_at(&STAGES[5..]);
}

#[test]
fn a_server_that_is_killed_with_its_runner_ends_the_orphaned_agent_first_when_it_is_back() {
    let workshop = Workshop::new("outlives", "");
    let served = workshop.serves();
    workshop.start("s1");
    let kept = workshop.path().join(".baton/data/runner");
    let first = || std::fs::read_to_string(kept.join("first-pid")).unwrap_or_default();
    workshop.until("s1", "an agent is at work", |_| !first().is_empty());
    served.kill();
    assert!(std::path::Path::new("/proc").join(first().trim()).exists(), "it outlives the server");
    let _served = workshop.serves();
    workshop.until_completed("s1");
    is_done_once(&workshop, "s1");
    assert!(!kept.join("still-there").exists(), "two agents were at one piece of work");
    let shown = workshop.ok(&["run", "show", "s1"]);
    assert!(shown.contains("of the attempt before were still there, and are ended"), "{shown}");
}

/// An agent that is killed at each stage, as far as it is there: in the set-up, as its first act, in the
/// middle, and after its last.
#[track_caller]
fn survives_its_death(way: &str, settings: &str, attempts: usize) {
    let workshop = Workshop::new(way, settings);
    let _served = workshop.serves();
    workshop.start("s1");
    workshop.until_completed("s1");
    is_done_once(&workshop, "s1");
    assert_eq!(workshop.attempts("s1", "implementer"), attempts, "{way}");
}

#[test]
fn a_set_up_that_is_killed_is_tried_again() {
    let once = "test -e ../once || { touch ../once; kill -9 $$; }";
    let settings = format!("[runner]\nlease = \"1s\"\nsetup = [\"{once}\"]\n");
    survives_its_death("json", &settings, 1);
}

#[test]
fn an_agent_that_is_killed_as_its_first_act_is_tried_again() {
    survives_its_death("dies-first", "", 2);
}

#[test]
fn an_agent_that_is_killed_after_its_block_is_not_tried_again() {
    survives_its_death("dies-after-block", "", 1);
}

#[test]
fn an_agent_that_is_killed_after_it_has_handed_on_is_not_tried_again() {
    survives_its_death("dies-after-http", "", 1);
}

#[test]
fn an_agent_that_is_killed_in_the_middle_is_tried_again_and_its_changes_are_kept() {
    let workshop = Workshop::new("dies-once", "");
    let _served = workshop.serves();
    workshop.start("s1");
    workshop.until_completed("s1");
    is_done_once(&workshop, "s1");
    let kept = workshop.git(&["for-each-ref", "--format=%(refname)", "refs/baton"]);
    assert!(!kept.is_empty(), "what it left is kept");
    let name = kept.lines().next().unwrap();
    let files = workshop.git(&["ls-tree", "--name-only", name]);
    assert!(files.lines().any(|it| it == "died-once"), "{files}");
    let prompts = workshop.written_prompts();
    assert!(prompts.iter().any(|it| it.contains(name)), "the next attempt is told of it");
}

/// Ended with the test.
pub(super) struct Ended(pub(super) Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
