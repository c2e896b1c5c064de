//! Asking, delegating, escalating and gates, from the command line: the YAML handoff's project by hand.

use crate::Project;

const SPECS: &str = r#"{"context": {"summary": "3 epics, 12 user stories, personas defined"}}"#;
const DESIGN: &str = r#"{"context": {"summary": "REST API with three services"}}"#;
const TASK: &str = r#"{"context": {"summary": "API defined, needs a security review"},
    "expectations": {"deliverable": "Risk report on the proposed architecture"}}"#;

/// A gated project whose specification is done: handoff 2 asks a person.
fn at_the_gate() -> Project {
    let project = Project::new();
    project.ok(&["story", "add", "shop"]);
    project.ok(&["run", "start", "shop", "--workflow", "gated-project"]);
    project.ok(&["handoff", "accept", "1"]);
    complete(&project, "1", SPECS);
    project
}

fn complete(project: &Project, no: &str, payload: &str) -> String {
    project.ok(&["handoff", "complete", no, "--profile", "lenient", "--payload", payload])
}

#[test]
fn a_project_goes_through_its_gates_and_its_specialist_by_hand() {
    let project = at_the_gate();
    let inbox = project.ok(&["inbox"]);
    for line in ["Specification validated", "☐ ", "baton approve 1/HO-002", "baton modify 1/HO-002"]
    {
        assert!(inbox.contains(line), "{line}: {inbox}");
    }
    project.ok(&["approve", "1/HO-002", "--comment", "Agreed with the client"]);
    project.ok(&["handoff", "accept", "3"]);

    let delegate = ["handoff", "delegate", "3", "--to", "security-check", "--profile", "lenient"];
    project.ok(&[&delegate[..], &["--payload", TASK]].concat());
    project.fails(&["handoff", "complete", "3", "--profile", "lenient"], 4, "[frame_open]");
    project.ok(&["handoff", "accept", "4"]);
    let report = r#"{"context": {"summary": "2 risks identified, recommendations provided"}}"#;
    let back = ["handoff", "return", "4", "--profile", "lenient", "--payload", report];
    project.ok(&back);
    project.ok(&["handoff", "accept", "5"]);
    project.fails(
        &["handoff", "return", "3", "--payload", "{}", "--profile", "lenient"],
        4,
        "[not_in_frame]",
    );

    // The advisory gate holds nothing up: handoff 6 tells a person, handoff 7 goes on.
    complete(&project, "3", DESIGN);
    assert!(project.ok(&["inbox"]).contains("The work goes on; you may object"));
    project.ok(&["handoff", "accept", "7"]);
    let escalate = ["handoff", "escalate", "7", "--profile", "lenient", "--payload", TASK];
    project.ok(&escalate);
    project.fails(&["answer", "8", "continue"], 1, "[not_a_choice]");
    project.ok(&["answer", "8", "--comment", "Time-to-market first"]);
    complete(&project, "7", r#"{"context": {"summary": "12 days in two sprints"}}"#);
    project.ok(&["approve", "10"]);
    project.ok(&["handoff", "accept", "11"]);

    // The automatic gate opens by what was checked, before the work is done or after.
    project.ok(&["evidence", "11", "lint", "passed", "--detail", "0 warnings"]);
    project.ok(&["evidence", "11", "types", "passed"]);
    complete(&project, "11", r#"{"context": {"summary": "Built in 14 commits"}}"#);
    let inbox = project.ok(&["inbox"]);
    assert!(inbox.contains("✔ lint passed"), "{inbox}");
    assert!(inbox.contains("• tests has no result"), "{inbox}");
    project.ok(&["evidence", "12", "tests", "failed"]);
    project.ok(&["evidence", "12", "tests", "passed"]);
    project.ok(&["evidence", "12", "build", "passed"]);
    let run = project.json(&["run", "show", "shop"]);
    assert_eq!(run["status"], "completed");
    let handoffs = project.json(&["handoff", "list", "--run", "shop", "--all"]);
    let handoffs = handoffs["items"].as_array().unwrap();
    let kinds: Vec<&str> = handoffs.iter().map(|it| it["kind"].as_str().unwrap()).collect();
    for kind in ["sequential", "delegation", "return", "escalation"] {
        assert!(kinds.contains(&kind), "{kind}: {kinds:?}");
    }
    assert!(project.ok(&["verify"]).contains("every chain is whole"));
}

#[test]
fn a_question_is_answered_from_the_inbox_and_stands_beside_the_package() {
    let project = at_the_gate();
    project.ok(&["approve", "2"]);
    project.ok(&["handoff", "clarify", "3", "--question", "Which database?"]);
    project.fails(&["handoff", "accept", "3"], 4, "[wrong_state]");
    let inbox = project.json(&["inbox"]);
    assert_eq!(inbox["items"][0]["words"], "Which database?");
    assert_eq!(inbox["items"][0]["choices"][0]["command"], "baton answer 1/HO-004 --comment TEXT");
    assert_eq!(
        inbox["items"][0]["choices"][0]["then"],
        "HO-003 goes to architecture, for the step architecture"
    );
    project.fails(&["answer", "1/HO-004"], 2, "--comment");
    project.ok(&["answer", "1/HO-004", "--comment", "PostgreSQL"]);
    let shown = project.json(&["handoff", "show", "3"]);
    assert_eq!(shown["state"], "pending");
    assert_eq!(shown["questions"][0]["question"], "Which database?");
    assert_eq!(shown["questions"][0]["answer"], "PostgreSQL");
    project.fails(&["handoff", "answer", "3", "--text", "MySQL"], 4, "[not_a_question]");
}

#[test]
fn a_receiver_acknowledges_in_the_words_of_the_page_or_asks() {
    let project = at_the_gate();
    project.ok(&["approve", "2"]);
    let partial = "acknowledgment:\n  received: true\n  understood: partial\n  blockers:\n    \
                   - \"Artifact .project/specs/feature.md not found\"\n  \
                   action: request_clarification\n";
    std::fs::write(project.path().join("partial.yaml"), partial).unwrap();
    project.ok(&["handoff", "accept", "3", "--acknowledgement", "@partial.yaml"]);
    let asked = project.json(&["handoff", "show", "4"]);
    assert_eq!(asked["kind"], "question");
    assert_eq!(asked["reason"], "Artifact .project/specs/feature.md not found");
    project.ok(&["handoff", "answer", "4", "--by", "specification", "--text", "It is there now"]);
    let full = r#"{"acknowledgment": {"received": true,
        "understood": {"task": "Design it", "constraints": "no new services"}}}"#;
    project.ok(&["handoff", "accept", "3", "--acknowledgement", full]);
    let held = project.json(&["handoff", "show", "3"]);
    assert_eq!(held["state"], "accepted");
    assert!(held["acknowledgement"].as_str().unwrap().contains("Design it"));
}

#[test]
fn a_holder_that_gave_the_work_back_is_told_when_it_goes_on_all_the_same() {
    let project = at_the_gate();
    project.ok(&["approve", "2"]);
    let taken = project.json(&["handoff", "accept", "3", "--lease", "3600"]);
    let old = taken["fence"].to_string();
    project.ok(&["handoff", "heartbeat", "3", "--fence", &old]);
    project.ok(&["handoff", "release", "3", "--reason", "out of tokens"]);
    let again = project.json(&["handoff", "accept", "3", "--lease", "3600"]);
    let new = again["fence"].to_string();
    assert_ne!(old, new);
    project.fails(&["handoff", "heartbeat", "3", "--fence", &old], 4, "[stale_fence]");
    let late = ["handoff", "complete", "3", "--profile", "lenient", "--payload", DESIGN];
    project.fails(&[&late[..], &["--fence", &old]].concat(), 4, "[stale_fence]");
    project.ok(&[&late[..], &["--fence", &new]].concat());
    project.fails(&["handoff", "accept", "5", "--lease", "0"], 2, "--lease");
}

#[test]
fn a_person_sends_work_back_or_hands_on_something_better() {
    let project = at_the_gate();
    project.fails(&["modify", "2", "--payload", "{}"], 1, "[contract]");
    project.ok(&["reject", "2", "--comment", "US-7 is missing"]);
    let back = project.json(&["handoff", "show", "3"]);
    assert_eq!((&back["toAgent"], &back["kind"]), (&"specification".into(), &"return".into()));
    assert_eq!(back["reason"], "US-7 is missing");

    let project = at_the_gate();
    let better = r#"{"context": {"summary": "3 epics, 13 user stories, US-13 for invoices"}}"#;
    project.ok(&["modify", "2", "--payload", better, "--comment", "US-13 added"]);
    let onward = project.json(&["handoff", "show", "3"]);
    assert_eq!(onward["toAgent"], "architecture");
    assert_eq!(onward["approvedBy"], "ada");
    let theirs = project.json(&["handoff", "show", "2"]);
    assert_ne!(theirs["package"], onward["package"], "both are kept");
}

/// What a prompt tells an agent to type has to be there to be typed.
#[test]
fn every_command_in_a_built_in_prompt_can_be_typed() {
    let project = Project::started();
    project.ok(&["story", "add", "s2"]);
    project.ok(&["run", "start", "s2", "--workflow", "gated-project"]);
    let mut n_lines = 0;
    for id in ["1", "2"] {
        let prompt = project.ok(&["prompt", id]);
        for line in prompt.lines().filter_map(|it| it.trim().strip_prefix("baton ")) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let is_noun = words[0] == "handoff";
            let verb = if is_noun { &words[..2] } else { &words[..1] };
            let help = project.ok(&[verb, &["--help"]].concat());
            for flag in words.iter().filter(|it| it.starts_with("--")) {
                assert!(help.contains(flag), "{id}: {line}\n{help}");
            }
            n_lines += 1;
        }
    }
    assert!(n_lines >= 5, "{n_lines}");
}

#[test]
fn a_person_decides_from_the_inbox_without_opening_a_file() {
    let project = Project::new();
    project.ok(&["story", "add", "s1"]);
    project.ok(&["run", "start", "s1"]);
    project.ok(&["handoff", "accept", "1"]);
    let package = r#"{"blocked_reason":"missing_requirements","attempted":["Searched docs/"],
        "handoff":{"context":"No endpoint is documented","blockers":[{"type":"missing_dependency",
        "description":"No endpoint","resolution":"Ask the backend team"}]}}"#;
    let blocked = ["handoff", "complete", "1", "--outcome", "blocked", "--profile", "lenient"];
    project.ok(&[&blocked[..], &["--payload", package]].concat());
    let inbox = project.ok(&["inbox"]);
    for line in [
        "in the package of analyst, in its own words:",
        "  | blocked reason: missing_requirements",
        "  | attempted: Searched docs/",
        "  | blockers: missing_dependency: No endpoint; to resolve: Ask the backend team",
    ] {
        assert!(inbox.contains(line), "{line}: {inbox}");
    }
    assert!(
        project.ok(&["status"]).contains("  | missing_requirements: No endpoint is documented")
    );
}

#[test]
fn a_cancelled_run_says_where_it_may_go_on() {
    let project = Project::plain();
    project.ok(&["take", "s1"]);
    project.ok(&["run", "cancel", "s1", "--reason", "the customer left"]);
    let run = project.json(&["run", "show", "s1"]);
    assert_eq!(run["restart"]["command"], "baton run start --at work --reason TEXT s1", "{run}");
    let shown = project.ok(&["run", "show", "s1"]);
    assert!(shown.contains("it may be started again at work"), "{shown}");
    project.ok(&[
        "run",
        "start",
        "s1",
        "--again",
        "--at",
        "work",
        "--reason",
        "he came back",
        "--workflow",
        "plain",
    ]);
}
