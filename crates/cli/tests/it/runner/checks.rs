//! Baton checks what agents claim: a handoff along an edge with checks reaches its receiver only once
//! they have passed.

use std::process::Stdio;

use serde_json::{Value, json};

use super::{Workshop, text};

const WORKFLOW: &str = "\
name: checked
start: implement
limits: { checks_within: 60s, retries: 1 }
steps:
  implement:
    agent: implementer
    on: { success: { to: review, checks: [tests], rounds: 2 } }
  review:
    agent: reviewer
    on: { success: complete }
";

/// `tests` passes once `src/app.txt` greets.
const CHECK: &str = "echo \"looking for a greeting\"\ngrep -q hello src/app.txt 2>/dev/null && exit 0\n\
                     echo 'FAILED: no greeting'\nexit 3\n";

/// Says that all is well, whatever it did. It writes down what it is told.
const AGENT: &str = r#"#!/bin/sh
set -eu
cat > "$OUTPUT_DIRECTORY/prompt"
n=$(cat turn 2>/dev/null || echo 0); n=$((n + 1)); echo $n > turn
mkdir -p src
if [ "$BATON_AGENT" = implementer ]; then
    case "$1:$n" in
        honest:*|links:*|learns:2) echo hello > src/app.txt ;;
        *) echo "turn $n" > src/app.txt ;;
    esac
    if [ "$1" = idle ]; then rm -f turn; fi
    if [ "$1" = forges ]; then mkdir -p tools; echo 'touch was-run' > tools/check.sh; fi
    if [ "$1" = makes ]; then printf 'check:\n\ttrue\n' > GNUmakefile; echo > py_compile.py; fi
    if [ "$1" = links ]; then ln -sf /etc/passwd src/link; fi
    git add -A; git -c user.name=a -c user.email=a@localhost commit -q --allow-empty -m "turn $n"
    curl -sS -X POST "$BATON_URL/api/v1/handoffs/$BATON_HANDOFF/evidence" -H "Authorization: Bearer $BATON_TOKEN" \
        -H 'Content-Type: application/json' -d '{"check":"tests","verdict":"passed","detail":"all tests pass"}' >/dev/null
fi
curl -sS -o "$OUTPUT_DIRECTORY/answer" -w '%{http_code}' -X POST "$BATON_URL/api/v1/handoffs/$BATON_HANDOFF/complete" \
    -H "Authorization: Bearer $BATON_TOKEN" -H 'Content-Type: application/json' \
    -d "{\"outcome\":\"success\",\"package\":$(cat "$(dirname "$0")/package.json")}" > "$OUTPUT_DIRECTORY/status"
"#;

pub(super) fn checked_workshop(way: &str, package: &Value) -> Workshop {
    let workshop = Workshop::new("curl", "");
    workshop.write(".baton/workflows/checked.yaml", WORKFLOW);
    workshop.write("tools/check.sh", CHECK);
    workshop.write("tools/liar.sh", AGENT);
    workshop.write("tools/package.json", &package.to_string());
    workshop.write(
        ".baton/baton.toml",
        &format!(
            "[project]\nworkflow = \"checked\"\n[runner]\nlease = \"2s\"\n[executors.mine]\nkind = \"command\"\n\
             run = [\"sh\", \"tools/liar.sh\", \"{way}\"]\ntimeout = \"20s\"\n[agents.\"*\"]\nexecutors = [\"mine\"]\n\
             [checks.tests]\nrun = [\"sh\", \"tools/check.sh\"]\ntimeout = \"20s\"\n"
        ),
    );
    workshop.commit("Check it");
    workshop.ok(&["trust", "--yes"]);
    workshop
}

pub(super) fn claims() -> Value {
    json!({ "summary": "src/app.txt greets; all tests pass", "tests_passed": true })
}

/// Everything of this name that the agents were given or wrote, oldest handoff first.
fn written(workshop: &Workshop, name: &str) -> Vec<String> {
    let attempts = workshop.path().join(".baton/data/runner/attempts");
    let mut found: Vec<(u64, String)> = Vec::new();
    for folder in std::fs::read_dir(attempts).unwrap().map(|it| it.unwrap().path()) {
        let record = std::fs::read_to_string(folder.join("attempt.json")).unwrap();
        let record: Value = serde_json::from_str(&record).unwrap();
        if let Ok(text) = std::fs::read_to_string(folder.join("output").join(name)) {
            found.push((record["number"].as_u64().unwrap(), text));
        }
    }
    found.sort();
    found.into_iter().map(|(_, text)| text).collect()
}

#[test]
fn a_lying_agent_is_caught_told_what_failed_and_in_the_end_a_person_is_asked() {
    let workshop = checked_workshop("lies", &claims());
    let _served = workshop.serves();
    workshop.start("s1");
    workshop.until("s1", "a person is asked", |it| it["currentAgent"] == "human");
    let handoffs = workshop.handoffs("s1");
    assert!(handoffs.iter().all(|it| text(it, "toAgent") != "reviewer"), "{handoffs:#?}");
    assert_eq!(written(&workshop, "status"), ["202", "202", "202"], "answered at once");
    let prompts = written(&workshop, "prompt");
    for told in ["`tests` failed: exit code 3", "$ sh tools/check.sh", "FAILED: no greeting"] {
        assert!(!prompts[0].contains(told), "{told}");
        assert!(prompts[1].contains(told), "{told}: {}", prompts[1]);
    }
    assert!(prompts[1].contains("`tests_passed` says so, but the check `tests` failed"));
    let inbox = workshop.ok(&["inbox"]);
    assert!(inbox.contains("FAILED: no greeting"), "{inbox}");
    let shown = workshop.ok(&["run", "show", "s1"]);
    assert!(shown.contains("`tests`, `package` failed when Baton checked this work"), "{shown}");
    // A person may say that it is good all the same.
    let gate = handoffs.iter().find(|it| text(it, "toAgent") == "human").unwrap();
    workshop.ok(&["approve", &gate["number"].to_string()]);
    workshop.until_completed("s1");
}

#[test]
fn an_agent_that_makes_it_pass_after_it_was_told_goes_on_and_the_receiver_sees_the_evidence() {
    let workshop = checked_workshop("learns", &claims());
    let _served = workshop.serves();
    workshop.start("s1");
    workshop.until_completed("s1");
    let handoffs = workshop.handoffs("s1");
    let ways: Vec<String> = handoffs
        .iter()
        .map(|it| {
            format!("{}>{} {}", text(it, "fromAgent"), text(it, "toAgent"), text(it, "state"))
        })
        .collect();
    assert_eq!(
        ways,
        [
            "orchestrator>implementer completed",
            "implementer>orchestrator rejected",
            "orchestrator>implementer completed",
            "implementer>orchestrator completed",
            "implementer>reviewer completed",
            "reviewer>orchestrator completed",
        ]
    );
    let offered = handoffs[4]["number"].to_string();
    let detail = workshop.json(&["handoff", "show", &offered]);
    let evidence = &detail["evidence"][0];
    assert_eq!((text(evidence, "check"), text(evidence, "verdict")), ("tests", "passed"));
    assert_eq!((&evidence["isObserved"], &evidence["exitCode"]), (&json!(true), &json!(0)));
    // What the reviewer left uncommitted is committed behind it.
    let commit = workshop.git(&["log", "-1", "--format=%H", "--grep=^turn 2", "feat/story-s1"]);
    assert_eq!(text(evidence, "commit"), commit);
    assert!(text(evidence, "tree").len() >= 40, "{evidence}");
    assert!(text(evidence, "detail").contains("looking for a greeting"), "{evidence}");
    let prompts = written(&workshop, "prompt");
    assert!(prompts[2].contains("What Baton itself ran in the workspace"), "{}", prompts[2]);
    let shown = workshop.ok(&["handoff", "show", &offered]);
    assert!(shown.contains("Baton ran tests: passed, exit code 0"), "{shown}");
}

#[test]
fn what_others_post_of_a_check_with_a_command_decides_nothing() {
    let workshop = checked_workshop("honest", &claims());
    let served = workshop.serves_alone();
    workshop.start("s1");
    workshop.ok(&["handoff", "accept", "1"]);
    let package = claims().to_string();
    workshop.ok(&["evidence", "1", "tests", "passed"]);
    workshop.ok(&["handoff", "complete", "1", "--outcome", "success", "--payload", &package]);
    let run = workshop.json(&["run", "show", "s1"]);
    assert_eq!((text(&run, "baton"), text(&run, "parkedOn")), ("parked", "checks"));
    workshop.ok(&["evidence", "2", "tests", "passed"]);
    let run = workshop.json(&["run", "show", "s1"]);
    assert_eq!(text(&run, "parkedOn"), "checks", "it still waits");
    let inbox = workshop.json(&["inbox"]);
    assert_eq!(inbox["items"], json!([]), "and for no person");
    // Neither the report nor the claim is taken without the runner's credential.
    let report = json!({ "fence": 1, "results": [{ "check": "tests", "verdict": "passed", "detail": "ok", "millis": 1 }] });
    for (path, body) in
        [("handoffs/2/checks", report), ("claims/checks", json!({ "checks": ["tests"] }))]
    {
        let mut curl = std::process::Command::new("curl");
        let url = format!("{}/api/v1/{path}", served.url);
        let answer = curl.args(["-sS", "-X", "POST", &url, "-H", "Content-Type: application/json"]);
        let answer = answer.args(["-d", &body.to_string()]).output().unwrap();
        let answer: Value = serde_json::from_slice(&answer.stdout).unwrap();
        assert_eq!(text(&answer, "code"), "not_a_runner");
    }
}

#[test]
fn where_no_runner_comes_a_person_is_asked() {
    let workshop = checked_workshop("honest", &claims());
    let workflow = WORKFLOW.replace("checks_within: 60s", "checks_within: 1s");
    workshop.write(".baton/workflows/checked.yaml", &workflow);
    let _served = workshop.serves_alone();
    workshop.start("s1");
    workshop.ok(&["handoff", "accept", "1"]);
    let package = claims().to_string();
    workshop.ok(&["handoff", "complete", "1", "--outcome", "success", "--payload", &package]);
    workshop.until("s1", "a person is asked", |it| it["currentAgent"] == "human");
    let inbox = workshop.ok(&["inbox"]);
    assert!(inbox.contains("No runner has run the checks"), "{inbox}");
}

#[test]
fn an_agent_that_changes_nothing_between_two_failures_is_not_tried_a_third_time() {
    let workshop = checked_workshop("idle", &claims());
    let _served = workshop.serves();
    workshop.start("s1");
    workshop.until("s1", "a person is asked", |it| it["currentAgent"] == "human");
    assert_eq!(written(&workshop, "status").len(), 2);
    let inbox = workshop.ok(&["inbox"]);
    assert!(inbox.contains("gave the same result"), "{inbox}");
}

#[test]
fn nothing_that_a_package_names_leads_out_of_the_workspace() {
    for (artifact, why) in [
        ("../../../../etc/passwd", "is outside the project"),
        ("/etc/passwd", "is outside the project"),
        ("src/\u{1b}[31mred", "does not exist"),
        ("nowhere.txt", "does not exist"),
    ] {
        let package = json!({ "summary": "src/app.txt greets", "files_changed": [artifact] });
        let workshop = checked_workshop("honest", &package);
        let _served = workshop.serves();
        workshop.start("s1");
        workshop.until("s1", "a person is asked", |it| it["currentAgent"] == "human");
        let handoffs = workshop.handoffs("s1");
        assert!(handoffs.iter().all(|it| text(it, "toAgent") != "reviewer"), "{handoffs:#?}");
        let reasons: Vec<&str> = handoffs.iter().map(|it| text(it, "reason")).collect();
        // Refused when it is sent, or by the runner that looks for it.
        let answers = written(&workshop, "answer").concat();
        let is_told = answers.contains(why) || reasons.iter().any(|it| it.contains(why));
        assert!(is_told, "{artifact:?}: {reasons:#?}\n{answers}");
        assert!(reasons.iter().all(|it| !it.contains("root:") && !it.contains('\u{1b}')));
    }
    // A link is not followed, and a name that no file can have is found too.
    let long = "x".repeat(5000);
    let package = json!({ "summary": "src/app.txt greets", "files_changed": ["src/link", long] });
    let workshop = checked_workshop("links", &package);
    let _served = workshop.serves();
    workshop.start("s1");
    workshop.until("s1", "a person is asked", |it| it["currentAgent"] == "human");
    let inbox = workshop.ok(&["inbox"]);
    for found in ["`src/link` is a link or behind one", "is longer than the name of a file can be"]
    {
        assert!(inbox.contains(found), "{found}: {inbox}");
    }
    for handoff in workshop.handoffs("s1") {
        let shown = workshop.ok(&["handoff", "show", &handoff["number"].to_string()]);
        assert!(!shown.contains("root:"), "{shown}");
    }
}

#[test]
fn a_runner_that_is_killed_during_checks_loses_nothing_and_reports_nothing_twice() {
    let workshop = checked_workshop("honest", &claims());
    let _served = workshop.serves_alone();
    let mut n_killed = 0;
    for step in (2..60).step_by(8) {
        let story = format!("k{step}");
        workshop.start(&story);
        let mut dying = workshop.command(&["runner", "--once"]);
        dying.env("BATON_KILL_AT_STEP", step.to_string()).stderr(Stdio::null());
        n_killed += usize::from(!dying.status().unwrap().success());
        workshop.until(&story, "it is done", |it| {
            workshop.ok(&["runner", "--once"]);
            it["status"] == "completed"
        });
        let handoffs = workshop.handoffs(&story);
        let offered = handoffs.iter().filter(|it| text(it, "toAgent") == "reviewer");
        let done = offered.filter(|it| text(it, "state") == "completed").count();
        assert_eq!(done, 1, "{story}: {handoffs:#?}");
    }
    assert!(n_killed > 3, "{n_killed} were killed");
}

#[test]
fn a_changed_check_is_not_run_before_it_is_trusted_again() {
    let workshop = checked_workshop("honest", &claims());
    let mark = workshop.path().join("was-run");
    workshop.write("tools/check.sh", &format!("touch {}\nexit 0\n", mark.display()));
    let served = workshop.serves();
    workshop.start("s1");
    workshop.ok(&["handoff", "accept", "1"]);
    let package = claims().to_string();
    workshop.ok(&["handoff", "complete", "1", "--outcome", "success", "--payload", &package]);
    let run = workshop.json(&["run", "show", "s1"]);
    assert_eq!(text(&run, "parkedOn"), "checks");
    drop(served);
    let shown = workshop.ok(&["trust", "--yes"]);
    assert!(shown.contains("check tests"), "{shown}");
    assert!(!mark.exists());
    let _served = workshop.serves();
    workshop.until("s1", "the reviewer has it", |it| it["parkedOn"] != "checks");
    assert!(mark.exists(), "trusted, it is run");
}

/// A workshop whose check is this command, and whose project greets already.
fn workshop_with_check(way: &str, run: &str) -> Workshop {
    let workshop = checked_workshop(way, &claims());
    workshop.write("src/app.txt", "hello\n");
    let settings = std::fs::read_to_string(workshop.path().join(".baton/baton.toml")).unwrap();
    let settings = settings.replace("run = [\"sh\", \"tools/check.sh\"]", &format!("run = {run}"));
    workshop.write(".baton/baton.toml", &settings);
    workshop.commit("Greet");
    workshop.ok(&["trust", "--yes"]);
    workshop
}

#[test]
fn a_check_reads_the_work_of_the_agent_and_not_the_project() {
    for run in [
        r#"["grep", "-q", "hello", "src/app.txt"]"#,
        r#"["sh", "-c", "grep -q hello src/app.txt"]"#,
    ] {
        let workshop = workshop_with_check("lies", run);
        let _served = workshop.serves();
        workshop.start("s1");
        workshop.until("s1", "a person is asked", |it| it["currentAgent"] == "human");
        let prompts = written(&workshop, "prompt");
        assert!(prompts[1].contains("`tests` failed: exit code 1"), "{run}: {}", prompts[1]);

        let workshop = workshop_with_check("learns", run);
        let _served = workshop.serves();
        workshop.start("s1");
        workshop.until_completed("s1");
        assert_eq!(written(&workshop, "status").len(), 3, "{run}: it learned from the check");
    }
}

#[test]
fn the_script_of_a_check_is_the_project_s_own_and_the_evidence_says_so() {
    let workshop = checked_workshop("learns", &claims());
    let _served = workshop.serves();
    workshop.start("s1");
    workshop.until_completed("s1");
    let prompts = written(&workshop, "prompt");
    let told = "(with the project's own tools/check.sh, as it was trusted)";
    assert!(prompts[1].contains(told), "{}", prompts[1]);
}
