//! `baton run log`: the conversation of a run, and following it.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use serde_json::Value;

use crate::Project;

/// What was said, by the lines that `--json` printed.
fn said(lines: &[String]) -> Vec<String> {
    let items = lines.iter().map(|it| serde_json::from_str::<Value>(it).unwrap());
    let messages = items.filter(|it| it["kind"] == "message");
    messages.map(|it| it["text"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn following_a_run_loses_and_repeats_nothing_when_the_server_is_killed() {
    let project = Project::plain();
    let server = project.serves();
    project.ok(&["run", "say", "s1", "before"]);
    let mut command = project.command(&["run", "log", "s1", "-f", "--json"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut printed = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut lines = Vec::new();
    let mut until = |lines: &mut Vec<String>, words: &str| loop {
        let line: String = printed.next().unwrap().unwrap();
        let is_it = line.contains(words);
        lines.push(line);
        if is_it {
            return;
        }
    };
    until(&mut lines, "before");
    project.ok(&["run", "say", "s1", "live"]);
    until(&mut lines, "live");
    server.kill();
    let server = project.serves();
    for n in 0..5 {
        project.ok(&["run", "say", "s1", &format!("after {n}")]);
    }
    until(&mut lines, "after 4");
    project.ok(&["run", "say", "s1", "the last words"]);
    project.ok(&["run", "cancel", "s1"]);
    lines.extend(printed.map(Result::unwrap));
    assert_eq!(child.wait().unwrap().code(), Some(0), "it ends with the run");
    let expected =
        ["before", "live", "after 0", "after 1", "after 2", "after 3", "after 4", "the last words"];
    assert_eq!(said(&lines), expected);
    drop(server);
}

#[test]
fn a_run_that_is_over_is_followed_to_its_end_without_a_server() {
    let project = Project::plain();
    project.ok(&["run", "say", "s1", "hello"]);
    let open = project.run(&["run", "log", "s1", "-f"]);
    assert!(open.stdout.contains("hello"), "{open:?}");
    assert_ne!(open.code, 0, "nothing can be followed without a server");
    assert!(open.stderr.contains("baton serve"), "{open:?}");
    project.ok(&["run", "cancel", "s1"]);
    assert!(project.ok(&["run", "log", "s1", "-f"]).contains("hello"));
}
