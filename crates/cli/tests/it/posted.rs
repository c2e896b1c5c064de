//! Posted results and claims of packages are told apart from what Baton saw itself.

use crate::Project;

const CHECKED: &str = "\
name: checked
start: { to: work }
steps:
  work: { agent: cook, on: { success: { to: taste, checks: [tests] } } }
  taste: { agent: cook, on: { success: complete } }
";

const GATED: &str = "\
name: gated
start: { to: work }
steps:
  work: { agent: cook, on: { success: { to: complete, gate: blocking } } }
";

const SOUP: &str = r#"{"summary": "Soup in src/a.txt, 2 tests", "tests_passed": true}"#;

/// Handoff 1 of the story `s1` is done, in a project that has a command for the check `tests`.
fn cooked(workflow: &str, text: &str) -> Project {
    let project = Project::new();
    let folder = project.path().join(".baton/workflows");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(format!("{workflow}.yaml")), text).unwrap();
    let settings = project.path().join(".baton/baton.toml");
    let before = std::fs::read_to_string(&settings).unwrap_or_default();
    std::fs::write(&settings, format!("{before}\n[checks.tests]\nrun = [\"false\"]\n")).unwrap();
    project.ok(&["agent", "new", "cook"]);
    project.ok(&["story", "add", "s1"]);
    project.ok(&["run", "start", "s1", "--workflow", workflow]);
    project.ok(&["handoff", "accept", "1"]);
    project.ok(&["handoff", "complete", "1", "--payload", SOUP]);
    project
}

#[test]
fn a_posted_result_of_a_check_that_a_runner_decides_is_shown_as_a_claim_of_its_sender() {
    let project = cooked("checked", CHECKED);
    let said = project.run(&["evidence", "2", "tests", "passed", "--as", "mallory"]);
    assert!(said.stderr.contains("recorded as a claim: a runner decides `tests`"), "{said:?}");
    let shown = project.ok(&["handoff", "show", "2"]);
    let claim = "claimed, and only a runner decides it: tests passed, by mallory";
    assert!(shown.contains(claim), "{shown}");
    let evidence = &project.json(&["handoff", "show", "2"])["evidence"][0];
    assert_eq!((&evidence["by"], &evidence["isClaim"]), (&"mallory".into(), &true.into()));
}

#[test]
fn the_inbox_tells_a_claim_from_a_result_that_counts() {
    let project = cooked("gated", GATED);
    let said = project.run(&["evidence", "2", "ci", "failed", "--as", "mallory"]);
    assert!(!said.stderr.contains("claim"), "no command decides `ci`: {said:?}");
    project.ok(&["evidence", "2", "tests", "passed", "--as", "mallory"]);
    let inbox = project.ok(&["inbox"]);
    for line in [
        "tests passed is a claim, by mallory; only a runner decides it",
        "not verified: no check has confirmed tests_passed",
    ] {
        assert!(inbox.contains(line), "{line}: {inbox}");
    }
    let item = &project.json(&["inbox"])["items"][0];
    assert_eq!(item["unverified"], serde_json::json!(["tests_passed"]), "{item}");
    let shown = project.ok(&["handoff", "show", "2"]);
    assert!(shown.contains("not verified: no check has confirmed tests_passed"), "{shown}");
    assert!(shown.contains("recorded: ci failed, by mallory"), "{shown}");
}
