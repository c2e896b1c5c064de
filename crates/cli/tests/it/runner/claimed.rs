//! What a runner claims, and what becomes of it when the runner stops.

use std::process::{Command, Stdio};

use super::killed::Ended;
use super::{Workshop, text};

#[test]
fn a_server_that_is_stop_signal_lets_its_agent_finish_and_claims_nothing_more() {
    let workshop = Workshop::new("slow", "");
    let served = workshop.serves();
    workshop.start("s1");
    workshop.until("s1", "an agent is at work", |it| it["baton"] == "held");
    assert_eq!(served.stop(), Some(0));
    let handoffs = workshop.handoffs("s1");
    let states: Vec<&str> = handoffs.iter().map(|it| text(it, "state")).collect();
    assert_eq!(states, ["completed", "pending"], "{handoffs:#?}");
}

#[test]
fn an_agent_that_does_not_come_to_its_end_is_ended_and_its_work_is_given_back() {
    let workshop = Workshop::new("hang", "[runner]\nlease = \"1s\"\ndrain = \"1s\"\n");
    let served = workshop.serves();
    workshop.start("s1");
    workshop.until("s1", "an agent is at work", |it| it["baton"] == "held");
    assert_eq!(served.stop(), Some(0));
    let handoffs = workshop.handoffs("s1");
    assert_eq!((text(&handoffs[0], "state"), &handoffs[0]["attempt"]), ("pending", &1.into()));
}

#[test]
fn a_runner_that_is_killed_while_it_waits_takes_no_work_with_it() {
    let workshop = Workshop::new("json", "[runner]\nlease = \"60s\"\n");
    let _served = workshop.serves_alone();
    let mut command = workshop.command(&["runner"]);
    let mut waiting = Ended(command.stderr(Stdio::null()).spawn().unwrap());
    let begun = std::time::Instant::now();
    while workshop.json(&["runner", "status"])["pid"].is_null() {
        assert!(begun.elapsed().as_secs() < 60, "it does not begin");
    }
    waiting.0.kill().unwrap();
    waiting.0.wait().unwrap();
    workshop.start("s1");
    workshop.ok(&["runner", "--once"]);
    workshop.until_completed("s1");
    assert!(workshop.handoffs("s1").iter().all(|it| it["attempt"] == 1));
}

#[test]
fn an_agent_at_its_limit_keeps_no_other_waiting() {
    let settings = "[runner]\nat_once = 4\nlease = \"1s\"\n[agents.analyst]\nexecutors = [\"mine\"]\nat_once = 1\n";
    let workshop = Workshop::new("stuck", settings);
    let served = workshop.serves_alone();
    workshop.start("s1");
    let on = r#"{"action":"create","storyId":"s1","fromAgent":"analyst","toAgent":"implementer","payload":{"plan":"1. Write src/app.txt. 2. Check that it greets.","files_to_modify":["README.md"],"approach":"One file, so that it can be tested alone","risks":["A typo in the greeting"],"questions_resolved":true}}"#;
    assert_eq!(served.curl(&["-d", on], "/api/handoffs").status, 200);
    workshop.start("stuck");
    let mut command = workshop.command(&["runner"]);
    let _runner = Ended(command.stderr(Stdio::null()).spawn().unwrap());
    workshop.until("stuck", "the analyst is at work", |it| it["baton"] == "held");
    workshop.start("s2");
    workshop.until_completed("s1");
    assert_eq!(workshop.json(&["run", "show", "s2"])["baton"], "offered", "one analyst at a time");
    let status = workshop.json(&["runner", "status"]);
    let attempts = status["attempts"].as_array().unwrap();
    assert!(attempts.iter().any(|it| it["story"] == "stuck" && it["stage"] == "agent_started"));
}

#[test]
fn the_most_urgent_story_is_claimed_first() {
    let workshop = Workshop::new("json", "[runner]\nat_once = 1\nlease = \"1s\"\n");
    let _served = workshop.serves_alone();
    workshop.start("s1");
    workshop.ok(&["story", "add", "s2", "--title", "Say hello", "--priority", "5"]);
    workshop.ok(&["run", "start", "s2"]);
    workshop.ok(&["runner", "--once"]);
    workshop.until_completed("s1");
    let number = |it: Option<&serde_json::Value>| it.unwrap()["number"].as_u64().unwrap();
    let (first, second) = (workshop.handoffs("s2"), workshop.handoffs("s1"));
    assert!(number(first.last()) < number(second.get(1)), "one agent at a time: all of s2 first");
}

const QUESTION: &str = r#"
agents:
  analyst:
    - - hand_on:
          to: implementer
          package: { plan: "1. Write src/app.txt. 2. Check that it greets.", files_to_modify: [README.md], approach: "One file, so that it can be tested alone", risks: [A typo in the greeting], questions_resolved: true }
    - - answer: In English
  implementer:
    - - ask: In which language?
    - - exit: 0
"#;

#[test]
fn a_question_is_claimed_like_other_work_and_answered_by_the_agent_that_sent_the_work() {
    let workshop = Workshop::new("curl", "");
    workshop.write("tools/agents.yaml", QUESTION);
    workshop.write(
        ".baton/baton.toml",
        "[runner]\nlease = \"1s\"\n[executors.played]\nkind = \"scripted\"\nscript = \"tools/agents.yaml\"\n\
         [agents.\"*\"]\nexecutors = [\"played\"]\n",
    );
    workshop.ok(&["trust", "--yes"]);
    let _served = workshop.serves();
    workshop.start("s1");
    workshop.until("s1", "a person is asked", |it| it["currentAgent"] == "human");
    let shown = workshop.ok(&["run", "show", "s1"]);
    let handoffs = workshop.handoffs("s1");
    assert!(
        handoffs.iter().any(|it| it["kind"] == "question" && it["state"] == "completed"),
        "{handoffs:#?}\n{shown}"
    );
}

/// Nothing that others can read has the token of an attempt.
#[test]
fn a_token_is_in_no_message_no_package_and_no_file_that_others_can_read() {
    let workshop = Workshop::new("tells-token", "");
    let served = workshop.serves();
    workshop.start("s1");
    workshop.until_completed("s1");
    assert_eq!(served.stop(), Some(0));
    let shown = workshop.ok(&["run", "show", "s1"]);
    assert!(shown.contains("my token is secret.masked"), "{shown}");
    let found = Command::new("grep")
        .args(["-rla", "baton-attempt\\.", "."])
        .current_dir(workshop.path())
        .output()
        .unwrap();
    let found = String::from_utf8(found.stdout).unwrap();
    assert!(found.lines().count() >= 5, "the records have it: {found}");
    for file in found.lines() {
        assert!(file.contains("/.baton/data/runner/attempts/"), "{file}");
        let mode = std::fs::metadata(workshop.path().join(file)).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::mode(&mode.permissions());
        assert_eq!(mode & 0o077, 0, "{file}: {mode:o}");
    }
}
