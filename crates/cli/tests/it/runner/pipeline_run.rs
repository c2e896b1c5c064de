//! `/api/run` drives the runner: start, stop, continue, reset, and the progress meanwhile.

use serde_json::{Value, json};

use super::Workshop;
use crate::serve::Served;

/// The implementer works until its story may go on: there is a file of that name then.
const SCRIPT: &str = r#"
agents:
  analyst:
    - hand_on: { to: implementer, package: { plan: "1. Write src/app.txt. 2. Check that it greets.", files_to_modify: [README.md], approach: "One file, so that it can be tested alone", risks: [A typo in the greeting], questions_resolved: true } }
  implementer:
    - run: while [ ! -e "$PROJECT/go-$STORY_ID" ]; do sleep 0.05; done
    - write: { file: src/app.txt, text: "hello\n" }
    - commit: Add the greeting
    - hand_on: { to: reviewer, package: { files_changed: [src/app.txt], summary: "src/app.txt greets; 1 test covers it", tests_added: true, build_passes: true, discoveries: { learnings: [The greeting is read at start], gotchas: [No newline no greeting], decisions: [One file instead of a table] } } }
  reviewer:
    - hand_on: { to: refactorer, package: { approved: true, files_changed: [src/app.txt], summary: src/app.txt greets as the plan says, review_notes: "Read src/app.txt and ran its test: both good", discoveries: { learnings: [The greeting is read at start], gotchas: [No newline no greeting], decisions: [One file instead of a table] } } }
  refactorer:
    - hand_on: { to: documenter, package: { files_changed: [src/app.txt], refactored: false, refactor_summary: "src/app.txt has one line, and stays as it is", discoveries: { learnings: [The greeting is read at start], gotchas: [No newline no greeting], decisions: [One file instead of a table] } } }
  documenter:
    - hand_on: { package: { learnings_added: 1, gotchas_added: 1, docs_updated: true, notes: README.md says where the greeting is } }
"#;

fn workshop(stories: &[&str]) -> Workshop {
    let workshop = Workshop::new("curl", "");
    workshop.write("tools/agents.yaml", SCRIPT);
    let project = workshop.path().display();
    workshop.write(
        ".baton/baton.toml",
        &format!(
            "[runner]\nlease = \"5s\"\nenv = {{ PROJECT = \"{project}\" }}\n[executors.played]\n\
             kind = \"scripted\"\nscript = \"tools/agents.yaml\"\n[agents.\"*\"]\n\
             executors = [\"played\"]\n"
        ),
    );
    workshop.commit("Play instead");
    workshop.ok(&["trust", "--yes"]);
    for story in stories {
        workshop.ok(&["story", "add", story, "--title", "Say hello"]);
    }
    workshop
}

#[track_caller]
fn post(served: &Served, body: &Value) -> Value {
    let got = served.curl(&["-X", "POST", "-d", &body.to_string()], "/api/run");
    assert_eq!(got.status, 200, "{body}: {got:?}");
    got.body
}

/// Waits until `GET /api/run` looks like this.
#[track_caller]
fn until(served: &Served, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    let begun = std::time::Instant::now();
    loop {
        let got = served.curl(&[], "/api/run");
        if got.status == 200 && is_so(&got.body) {
            return got.body;
        }
        assert!(begun.elapsed().as_secs() < 60, "{what}: {got:?}");
    }
}

/// The progress of one story.
fn story<'a>(state: &'a Value, key: &str) -> &'a Value {
    let stories = state["stories"].as_array().unwrap();
    stories.iter().find(|it| it["storyId"] == key).unwrap_or(&Value::Null)
}

#[test]
fn what_is_stopped_is_finished_but_not_passed_on_until_it_is_continued() {
    let workshop = workshop(&["s1", "s2"]);
    workshop.write("go-s2", "");
    let served = workshop.serves();
    let started = post(&served, &json!({ "action": "start", "storyId": "s1" }));
    assert_eq!(started["status"], "running", "{started}");
    let state = until(&served, "the implementer works", |it| {
        story(it, "s1")["currentAgent"] == "implementer" && story(it, "s1")["isHeld"] == true
    });
    assert_eq!(story(&state, "s1")["phase"], "implementing", "{state}");
    assert_eq!(story(&state, "s1")["attempt"], 1, "{state}");
    assert_eq!(state["runner"]["isThere"], true, "{state}");
    assert!(state["runner"]["agents"].as_array().unwrap().contains(&json!("reviewer")), "{state}");
    assert_eq!(state["progress"], json!({ "total": 2, "passed": 0, "percentage": 0 }));

    let stopped = post(&served, &json!({ "action": "stop", "storyId": "s1" }));
    assert_eq!(stopped["status"], "paused", "{stopped}");
    workshop.write("go-s1", "");
    let offered = |it: &Value| story(it, "s1")["currentAgent"] == "reviewer";
    until(&served, "held work is finished", offered);

    // The runner is at work all the time: it takes another story from its start to its end.
    post(&served, &json!({ "action": "start", "config": { "singleStoryId": "s2" } }));
    let state = until(&served, "the other story is done", |it| it["progress"]["passed"] == 1);
    assert_eq!(story(&state, "s1")["currentAgent"], "reviewer", "{state}");
    assert_eq!(story(&state, "s1")["isHeld"], false, "nothing new is taken: {state}");
    assert_eq!(story(&state, "s1")["status"], "paused");

    post(&served, &json!({ "action": "continue", "storyId": "s1" }));
    let done = until(&served, "both are done", |it| it["progress"]["passed"] == 2);
    assert_eq!(done["progress"]["percentage"], 100);
    assert_eq!(done["stories"], json!([]));
    assert_eq!(workshop.git(&["show", "feat/story-s1:src/app.txt"]), "hello");
}

#[test]
fn a_reset_takes_back_what_is_offered_and_a_start_hands_it_in_again() {
    let workshop = workshop(&["s1"]);
    let served = workshop.serves();
    post(&served, &json!({ "action": "start", "storyId": "s1" }));
    until(&served, "the implementer works", |it| {
        story(it, "s1")["isHeld"] == true && story(it, "s1")["currentAgent"] == "implementer"
    });
    post(&served, &json!({ "action": "stop" }));
    workshop.write("go-s1", "");
    until(&served, "it is offered", |it| story(it, "s1")["currentAgent"] == "reviewer");
    let reset = post(&served, &json!({ "action": "reset" }));
    assert_eq!(reset["clearedHandoffs"], 1, "{reset}");
    let state = until(&served, "no agent has it", |it| story(it, "s1")["currentAgent"].is_null());
    assert_eq!(story(&state, "s1")["status"], "running", "the pause is over: {state}");
    post(&served, &json!({ "action": "start", "storyId": "s1" }));
    until(&served, "it is done", |it| it["progress"]["passed"] == 1);
}

#[test]
fn a_server_without_a_runner_says_so() {
    let workshop = workshop(&["s1"]);
    let served = workshop.serves_alone();
    let started = post(&served, &json!({ "action": "start", "storyId": "s1" }));
    assert_eq!(started["runner"], json!({ "isThere": false, "agents": [] }));
    assert_eq!(story(&started, "s1")["isHeld"], false, "{started}");
    // A start goes on with what was stopped.
    post(&served, &json!({ "action": "stop" }));
    let again = post(&served, &json!({ "action": "start", "storyId": "s1" }));
    assert_eq!(again["status"], "running", "{again}");
}
