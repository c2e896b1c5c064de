//! What goes through a pipe is what was written; what reaches a terminal is no control character of
//! others.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::Project;
use crate::terminal::at_terminal;

/// Moves the cursor, deletes, ends a C1 sequence, reverses the direction of writing.
const RAW: &str = "a\u{1b}[2Jb\u{7f}c\u{9b}31md\u{202e}e";

fn piped(project: &Project, args: &[&str], input: &[u8]) -> Vec<u8> {
    let mut command = project.command(args);
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

#[test]
fn documents_go_through_a_pipe_byte_for_byte() {
    let project = Project::new();
    let document = json!({"handoff": {"from": {"agent": "a"}, "note": RAW}});
    let text = document.to_string();
    for format in ["json", "yaml", "markdown", "xml"] {
        // XML has no way to write an escape character.
        let raw = if format == "xml" { RAW.replace('\u{1b}', "") } else { RAW.to_owned() };
        let source = json!({"handoff": {"from": {"agent": "a"}, "note": raw}});
        let args = ["convert", "--from", "json", "--to", format, "-"];
        let there = piped(&project, &args, source.to_string().as_bytes());
        let args = ["convert", "--from", format, "--to", "json", "-"];
        let back: Value = serde_json::from_slice(&piped(&project, &args, &there)).unwrap();
        assert_eq!(back["handoff"]["note"], raw, "{format}");
        let args = ["convert", "--from", format, "--to", format, "-"];
        assert_eq!(piped(&project, &args, &there), there, "{format}");
    }
    let prose = format!("{RAW}\n\n## Metadata\n\n```json\n{{\"k\": 1}}\n```\n");
    let args = ["convert", "--from", "markdown", "--to", "markdown", "-"];
    let same = String::from_utf8(piped(&project, &args, prose.as_bytes())).unwrap();
    assert!(same.starts_with(RAW), "{same:?}");
    let printed = format!("talk\n\n```json\n{text}\n```\n");
    let found = String::from_utf8(piped(&project, &["extract", "-"], printed.as_bytes())).unwrap();
    assert_eq!(found.trim_end(), text);
    let found = piped(&project, &["extract", "--json", "-"], printed.as_bytes());
    let found: Value = serde_json::from_slice(&found).unwrap();
    assert_eq!(found["document"], document);
}

#[test]
fn what_others_wrote_is_kept_in_a_pipe_and_made_visible_at_a_terminal() {
    let project = Project::new();
    let title = "Log in \u{7f} safely";
    project.ok(&["story", "add", "s1", "--title", title, "--description", RAW]);
    project.ok(&["run", "start", "s1", "--workflow", "gated-project"]);
    project.ok(&["handoff", "clarify", "1", "--question", RAW]);
    std::fs::write(project.path().join("h.json"), json!({"note": RAW}).to_string()).unwrap();
    let prose = format!("{RAW}\n\n## Metadata\n\n```json\n{{\"k\": 1}}\n```\n");
    std::fs::write(project.path().join("h.md"), prose).unwrap();
    let package = json!({"context": {"summary": RAW}}).to_string();
    assert_eq!(project.json(&["story", "show", "s1"])["description"], RAW);
    let asked = project.json(&["handoff", "show", "1"]);
    assert_eq!(asked["questions"][0]["question"], RAW, "{asked}");
    let prompt = project.ok(&["prompt", "1"]);
    assert!(prompt.contains("Log in"), "{prompt}");
    let mut n_visible = 0;
    for args in [
        &["story", "show", "s1", "--json"][..],
        &["story", "show", "s1"],
        &["story", "list"],
        &["handoff", "show", "1", "--json"],
        &["handoff", "show", "1"],
        &["handoff", "template", "1"],
        &["run", "show", "1"],
        &["run", "show", "1", "--json"],
        &["status"],
        &["inbox"],
        &["inbox", "--json"],
        &["prompt", "1"],
        &["prompt", "1", "--json"],
        &["convert", "h.json", "--to", "json"],
        &["convert", "h.json", "--to", "yaml"],
        &["convert", "h.md", "--to", "markdown"],
        &["extract", "h.md"],
        &["extract", "h.md", "--json"],
        &["lint", "h.md"],
        &["lint", "h.md", "--sarif"],
        &["handoff", "complete", "1", "--payload", &package],
        &["handoff", "complete", "1", "--payload", &package, "--json"],
    ] {
        let (seen, _) = at_terminal(&project, 80, args, "");
        n_visible += usize::from(seen.contains("1b") && seen.contains("202e"));
        for sequence in ["\u{1b}[2J", "\u{7f}", "\u{9b}", "\u{202e}"] {
            assert!(!seen.contains(sequence), "{args:?}: {seen:?}");
        }
    }
    assert!(n_visible >= 8, "{n_visible}");
}
