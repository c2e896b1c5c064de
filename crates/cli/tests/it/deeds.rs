//! Commands say in their first line what they did, and errors what to type.

use crate::Project;

const GATED: &str = "\
name: gated
start: { to: work }
steps:
  work:
    agent: cook
    on: { success: { to: complete, gate: { type: blocking, approvers: { need: 2, of: [ana, ben, carl] } } } }
";

/// A project where handoff 2 waits for two of three people, in run 1.
fn at_gate() -> Project {
    at_gate_of(GATED)
}

fn at_gate_of(workflow: &str) -> Project {
    let project = Project::new();
    let folder = project.path().join(".baton/workflows");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("gated.yaml"), workflow).unwrap();
    project.ok(&["agent", "new", "cook"]);
    project.ok(&["story", "add", "s1"]);
    project.ok(&["run", "start", "s1", "--workflow", "gated"]);
    project.ok(&["handoff", "accept", "1"]);
    let soup = r#"{"summary": "Soup in src/a.txt"}"#;
    project.ok(&["handoff", "complete", "1", "--payload", soup, "--as", "dora"]);
    project
}

#[track_caller]
fn first_line(project: &Project, args: &[&str], expected: &str) {
    let said = project.ok(args);
    assert_eq!(said.lines().next(), Some(expected), "{args:?}");
}

#[test]
fn an_approval_that_no_other_may_follow_says_so() {
    let project = at_gate_of(&GATED.replace("[ana, ben, carl]", "[dora, ana]"));
    first_line(
        &project,
        &["approve", "2", "--as", "ana"],
        "approved handoff 2: 1 of 2 approvals; nobody else may approve, so reject it, or waive the gate \
         with `baton run goto`",
    );
}

#[test]
fn each_command_says_first_what_it_did() {
    let project = at_gate();
    first_line(&project, &["approve", "2", "--as", "ana", "--dry-run"], "would approve handoff 2");
    first_line(&project, &["reject", "2", "--as", "ana", "--dry-run"], "would reject handoff 2");
    first_line(
        &project,
        &["approve", "2", "--as", "ana"],
        "approved handoff 2: 1 of 2 approvals; ben or carl may approve",
    );
    first_line(
        &project,
        &["delegate", "2", "--as", "ben", "--to", "emil"],
        "passed your vote at handoff 2 on to emil",
    );
    first_line(
        &project,
        &["evidence", "2", "ci", "passed"],
        "recorded that ci passed at handoff 2",
    );
    first_line(
        &project,
        &["decision", "record", "1", "Use SQLite", "--dry-run"],
        "would record the decision",
    );
    first_line(&project, &["decision", "record", "1", "Use SQLite"], "recorded the decision");
    first_line(&project, &["decision", "lock", "1", "1", "--dry-run"], "would lock decision 1");
    first_line(&project, &["decision", "lock", "1", "1"], "locked decision 1");
    project.ok(&["question", "ask", "1", "cook", "implementer", "Which salt?"]);
    first_line(&project, &["question", "answer", "1", "1", "Sea salt"], "answered question 1");
    first_line(&project, &["approve", "2", "--as", "emil"], "approved handoff 2");
}

#[test]
fn errors_name_what_was_typed_and_what_to_type() {
    let project = at_gate();
    project.fails(&["audit", "log", "--from", "yesterday"], 2, "'yesterday' for '--from <DATE>'");
    project.fails(&["handoff", "show", "1/HO-009"], 3, "there is no handoff `HO-009` in run 1 ");
    project.fails(&["explain", "contrct"], 3, "did you mean `contract`?");
    project.fails(
        &["context", "set", "1", "api", "x", "--if-version", "5"],
        4,
        "version 0 creates it (`--if-version 0`)",
    );
    project.fails(
        &["context", "get", "1", "api"],
        3,
        "`baton context list 1` shows those there are",
    );
    project.fails(&["question", "ask", "1", "cook", "nobody-here", "x"], 2, "`gated` has `cook`");
    project.ok(&["decision", "record", "1", "Use SQLite"]);
    project.ok(&["decision", "supersede", "1", "1", "Use Postgres"]);
    let again = ["decision", "supersede", "1", "1", "Use Mongo"];
    project.fails(&again, 4, "decision 2 stands in its place: `baton decision show 1 2`");
}

#[test]
fn a_handoff_in_clarification_says_so() {
    let project = Project::plain();
    project.ok(&["handoff", "clarify", "1", "--question", "Which one?"]);
    project.fails(&["handoff", "accept", "1"], 4, "while it is in clarification");
}
