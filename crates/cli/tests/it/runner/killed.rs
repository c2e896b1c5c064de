//! A runner, an agent or a server that is killed: the run ends as if nothing had happened.

use std::process::Stdio;

use super::{Workshop, text};

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

/// Each stage is on disk before the next begins, so a kill before each write is a kill between any two
/// stages.
#[test]
fn a_runner_that_is_killed_before_any_of_its_writes_loses_nothing_and_does_nothing_twice() {
    let workshop = Workshop::new("json", "");
    let _served = workshop.serves_alone();
    let mut n_killed = 0;
    for step in (3..90).step_by(9) {
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
    assert!(n_killed > 5, "{n_killed} were killed");
}

#[test]
fn a_server_that_is_killed_while_its_agent_works_ends_that_agent_first_when_it_is_back() {
    let workshop = Workshop::new("slow", "");
    let served = workshop.serves();
    workshop.start("s1");
    workshop.until("s1", "an agent is at work", |it| it["baton"] == "held");
    served.kill();
    let _served = workshop.serves();
    workshop.until_completed("s1");
    is_done_once(&workshop, "s1");
}

#[test]
fn a_server_that_is_killed_beside_its_runner_is_waited_for() {
    let workshop = Workshop::new("slow", "[runner]\nlease = \"5s\"\n");
    let served = workshop.serves_alone();
    let address = served.url.strip_prefix("http://").unwrap().to_owned();
    workshop.start("s1");
    let mut command = workshop.command(&["runner"]);
    let runner = command.stderr(Stdio::null()).spawn().unwrap();
    let mut runner = crate::runner::killed::Ended(runner);
    workshop.until("s1", "an agent is at work", |it| it["baton"] == "held");
    served.kill();
    let again = workshop.command(&["serve", "--listen", &address, "--no-runner"]);
    let _served = crate::serve::Served::listening(again);
    workshop.until_completed("s1");
    is_done_once(&workshop, "s1");
    assert_eq!(runner.0.try_wait().unwrap(), None, "it goes on");
}

/// Ended with the test.
struct Ended(std::process::Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
