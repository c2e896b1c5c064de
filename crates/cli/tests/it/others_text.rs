//! Agents' and people's words on a terminal: they never begin where a line of Baton's does.

use crate::Project;

const FORGED: &str = "FORGED-LINE";
/// Like the head of the table that `inbox` shows.
const FORGED_HEAD: &str = "TYPE  FORGED  AND THEN";

/// What an agent would draw in front of the person who decides.
fn hostile() -> String {
    format!("all is well\n{FORGED}\n{FORGED_HEAD}\r{FORGED}\u{2028}{FORGED}\u{1b}[1A")
}

#[track_caller]
fn check(args: &[&str], text: &str) {
    for line in text.split(['\n', '\r', '\u{2028}']) {
        let is_forged = line.starts_with(FORGED) || line.starts_with(FORGED_HEAD);
        assert!(!is_forged, "{args:?}: {text}");
    }
    assert!(!text.contains('\u{1b}'), "{args:?}: {text}");
}

#[test]
fn no_command_prints_a_line_that_somebody_else_wrote_whole() {
    let project = Project::new();
    let text = hostile();
    let package = serde_json::json!({"context": {"summary": text}, "blockers": [text]}).to_string();
    let add = ["story", "add", "s1", "--title", &text, "--description", &text];
    project.ok(&[&add[..], &["--acceptance", &text]].concat());
    project.ok(&["run", "start", "s1", "--workflow", "gated-project"]);
    project.ok(&["handoff", "clarify", "1", "--question", &text]);
    let commands = |project: &Project| {
        for args in [
            &["status"][..],
            &["inbox"],
            &["story", "list"],
            &["story", "show", "s1"],
            &["run", "list"],
            &["run", "show", "1"],
            &["handoff", "list", "--all"],
            &["handoff", "show", "1"],
            &["handoff", "show", "2"],
            &["handoff", "show", "3"],
        ] {
            let said = project.run(args);
            check(args, &said.stdout);
            check(args, &said.stderr);
        }
    };
    commands(&project);
    project.ok(&["handoff", "answer", "2", "--text", &text]);
    project.ok(&["handoff", "accept", "1", "--acknowledgement", &text]);
    commands(&project);
    let complete = ["handoff", "complete", "1", "--profile", "lenient", "--reason", &text];
    project.ok(&[&complete[..], &["--payload", &package]].concat());
    commands(&project);
    assert!(project.ok(&["inbox"]).contains("TYPE"), "Baton's own table is there");
    project.ok(&["reject", "run:1/HO-003", "--comment", &text]);
    commands(&project);
    let said = project.run(&["handoff", "complete", "4", "--payload", &package]);
    check(&["handoff", "complete"], &said.stderr);
    let said = project.run(&["run", "show", &text]);
    check(&["run", "show"], &said.stderr);
}
