//! Agents that hang, flood, fork, vanish or go on for ever each come to a clear end.

use serde_json::Value;

use super::{Workshop, text};

/// A run that waits for a person, after an attempt that failed like this.
#[track_caller]
fn fails(way: &str, timeout: &str, why: &str) -> Workshop {
    let workshop = Workshop::new(way, "");
    let settings = std::fs::read_to_string(workshop.path().join(".baton/baton.toml")).unwrap();
    workshop.write(".baton/baton.toml", &settings.replace("timeout = \"20s\"", timeout));
    workshop.ok(&["trust", "--yes"]);
    let served = workshop.serves();
    workshop.start("s1");
    let is_stuck = |it: &Value| it["currentAgent"] == "human";
    workshop.until("s1", "a person is asked", is_stuck);
    let shown = workshop.ok(&["run", "show", "s1"]);
    let handoffs = workshop.handoffs("s1");
    let reasons: Vec<&str> = handoffs.iter().map(|it| text(it, "reason")).collect();
    assert!(reasons.iter().any(|it| it.contains(why)), "{way}: {reasons:#?}\n{shown}");
    drop(served);
    workshop
}

#[test]
fn an_agent_that_hangs_is_ended_when_its_time_is_over() {
    fails("hang", "timeout = \"1s\"", "did not end within 1 s, and was ended");
}

#[test]
fn an_agent_that_prints_a_gigabyte_is_ended() {
    fails("flood", "timeout = \"60s\"", "printed more than 67108864 bytes, and was ended");
}

#[test]
fn an_agent_that_ends_at_once_has_failed() {
    fails("nothing", "timeout = \"20s\"", "exited without handing off (exit code 0)");
}

#[test]
fn an_agent_that_forks_and_exits_leaves_nothing_running() {
    let workshop = fails("fork", "timeout = \"20s\"", "exited without handing off");
    for child in written(&workshop, "child") {
        assert!(!is_running(&child), "{child}");
    }
}

#[test]
fn an_agent_that_hands_off_and_goes_on_is_ended_and_its_handoff_stands() {
    let workshop = Workshop::new("goes-on", "");
    let served = workshop.serves();
    workshop.start("s1");
    workshop.until_completed("s1");
    assert_eq!(served.stop(), Some(0), "it waits for its agents");
    for agent in written(&workshop, "self") {
        assert!(!is_running(&agent), "{agent}");
    }
}

#[test]
fn an_agent_that_is_killed_is_tried_again_and_its_changes_are_kept() {
    let workshop = Workshop::new("dies-once", "");
    let _served = workshop.serves();
    workshop.start("s1");
    workshop.until("s1", "it comes to an end", |it| {
        it["status"] == "completed" || it["currentAgent"] == "human"
    });
    let kept = workshop.git(&["for-each-ref", "--format=%(refname)", "refs/baton"]);
    assert!(!kept.is_empty(), "what it left is kept");
    let name = kept.lines().next().unwrap();
    let files = workshop.git(&["ls-tree", "--name-only", name]);
    assert!(files.lines().any(|it| it == "died-once"), "{files}");
}

#[test]
fn what_is_not_committed_survives_the_cleaning_of_a_workspace() {
    let workshop = Workshop::new("curl", "");
    let _served = workshop.serves();
    workshop.start("s1");
    workshop.until_completed("s1");
    let tree = workshop.ok(&["workspace", "path", "s1"]);
    let tree = std::path::Path::new(tree.trim());
    std::fs::write(tree.join("notes.txt"), "not committed\n").unwrap();
    let said = workshop.ok(&["workspace", "clean"]);
    assert!(said.contains("under refs/baton/run-1/cleaned"), "{said}");
    assert!(!tree.exists());
    let kept = workshop.git(&["show", "refs/baton/run-1/cleaned:notes.txt"]);
    assert_eq!(kept, "not committed");
    assert_eq!(workshop.git(&["show", "feat/story-s1:src/app.txt"]), "hello");
    assert_eq!(workshop.json(&["workspace", "list"])["items"], serde_json::json!([]));
}

/// What the agents wrote into a file of this name.
fn written(workshop: &Workshop, name: &str) -> Vec<String> {
    let attempts = workshop.path().join(".baton/data/runner/attempts");
    let folders = std::fs::read_dir(attempts).unwrap().map(|it| it.unwrap().path());
    let files = folders.filter_map(|it| std::fs::read_to_string(it.join("output").join(name)).ok());
    let texts: Vec<String> = files.map(|it| it.trim().to_owned()).collect();
    assert!(!texts.is_empty());
    texts
}

fn is_running(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim().starts_with('Z'))
}
