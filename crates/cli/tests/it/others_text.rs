//! Agents' and people's words on a terminal: they never begin where a line of Baton's does.

use std::collections::BTreeMap;

use crate::Project;

const FORGED: &str = "FORGED-LINE";
/// Like the head of the table that `inbox` shows.
const FORGED_HEAD: &str = "TYPE  FORGED  AND THEN";

/// What an agent would draw in front of the person who decides.
fn hostile() -> String {
    format!("all is well\n{FORGED}\n{FORGED_HEAD}\r{FORGED}\u{2028}{FORGED}\u{1b}[1A")
}

/// What `text` shows of the hostile words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Shows {
    Nothing,
    /// Somewhere in a line of Baton's.
    InALine,
    /// In a line that begins with the margin.
    BehindTheMargin,
}

#[track_caller]
fn check(args: &[&str], text: &str) -> Shows {
    for line in text.split(['\n', '\r', '\u{2028}']) {
        let is_forged = line.starts_with(FORGED) || line.starts_with(FORGED_HEAD);
        assert!(!is_forged, "{args:?}: {text}");
    }
    assert!(!text.contains('\u{1b}'), "{args:?}: {text}");
    let mut lines = text.lines().filter(|it| it.contains(FORGED)).peekable();
    match (lines.peek().is_some(), lines.any(|it| it.starts_with("  | "))) {
        (false, _) => Shows::Nothing,
        (true, false) => Shows::InALine,
        (true, true) => Shows::BehindTheMargin,
    }
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
    let mut shown: BTreeMap<String, Shows> = BTreeMap::new();
    let mut commands = |project: &Project, n_handoffs: u32| {
        for args in [
            &["status"][..],
            &["inbox"],
            &["story", "list"],
            &["story", "show", "s1"],
            &["run", "list"],
            &["run", "show", "1"],
            &["handoff", "list", "--all"],
        ] {
            let shows = check(args, &project.ok(args));
            let most = shown.entry(args.join(" ")).or_insert(shows);
            *most = shows.max(*most);
        }
        for n in 1..=n_handoffs {
            let args = ["handoff", "show", &n.to_string()];
            let shows = check(&args, &project.ok(&args));
            let most = shown.entry("handoff show".to_owned()).or_insert(shows);
            *most = shows.max(*most);
        }
    };
    commands(&project, 2);
    project.ok(&["handoff", "answer", "2", "--text", &text]);
    project.ok(&["handoff", "accept", "1", "--acknowledgement", &text]);
    commands(&project, 2);
    let complete = ["handoff", "complete", "1", "--profile", "lenient", "--reason", &text];
    project.ok(&[&complete[..], &["--payload", &package]].concat());
    commands(&project, 3);
    assert!(project.ok(&["inbox"]).contains("TYPE"), "Baton's own table is there");
    project.ok(&["reject", "run:1/HO-003", "--comment", &text]);
    commands(&project, 4);
    let expected = [
        ("handoff list --all", Shows::InALine),
        ("handoff show", Shows::BehindTheMargin),
        ("inbox", Shows::BehindTheMargin),
        ("run list", Shows::Nothing),
        ("run show 1", Shows::InALine),
        ("status", Shows::BehindTheMargin),
        ("story list", Shows::InALine),
        ("story show s1", Shows::InALine),
    ];
    assert_eq!(shown, expected.map(|(args, shows)| (args.to_owned(), shows)).into());
    let said = project.run(&["handoff", "complete", "4", "--payload", &package]);
    check(&["handoff", "complete"], &said.stderr);
    let said = project.run(&["run", "show", &text]);
    check(&["run", "show"], &said.stderr);
}
