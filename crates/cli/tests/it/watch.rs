//! Watching live, and opening the page.

use std::io::{BufRead as _, BufReader, Lines};
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::Value;

use crate::{Project, Said};

const PLAN: &str =
    r#"{"plan":"p","files_to_modify":[],"approach":"a","risks":[],"questions_resolved":true}"#;

/// `baton watch`, and what it has not said yet.
struct Watching {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Project {
    fn watches(&self, args: &[&str]) -> Watching {
        let mut command = self.command(&[&["watch"], args].concat());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Watching { child, lines }
    }
}

impl Watching {
    /// The next line.
    fn next(&mut self) -> String {
        self.lines.next().unwrap().unwrap()
    }

    /// Everything up to a line with these words.
    fn until(&mut self, words: &str) -> Vec<String> {
        let mut lines = vec![self.next()];
        while !lines.last().unwrap().contains(words) {
            lines.push(self.next());
        }
        lines
    }

    /// What it says until it ends by itself.
    fn rest(mut self) -> (Vec<String>, Said) {
        let lines = self.lines.by_ref().map(|it| it.unwrap()).collect();
        (lines, Said::from(self.child.wait_with_output().unwrap()))
    }

    fn interrupted(self) -> (Vec<String>, Said) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
        self.rest()
    }
}

#[test]
fn whoever_watches_a_run_sees_what_others_do_until_it_is_over() {
    let project = Project::started();
    let server = project.serves();
    let mut watching = project.watches(&["s1", "--all"]);
    let first = watching.until("offered");
    assert!(first[0].ends_with("s1  ada starts the run, by story-pipeline"), "{first:?}");
    let offered = first.last().unwrap();
    assert!(offered.contains("s1  Orchestrator → Analyst  handoff 1 offered: \""), "{offered}");
    let (time, _) = offered.split_once(' ').unwrap();
    assert_eq!(time.len(), "12:03:04".len(), "{offered}");
    project.ok(&["handoff", "accept", "1"]);
    watching.until("Analyst accepts handoff 1");
    let body = format!(r#"{{"outcome":"success","reason":"It is planned","package":{PLAN}}}"#);
    let json = ["-H", "content-type: application/json", "-X", "POST", "-d", &body];
    assert_eq!(server.curl(&json, "/api/v1/handoffs/1/complete").status, 200);
    let said = watching.until("Analyst → Implementer").join("\n");
    assert!(said.contains("Analyst completes handoff 1: success"), "{said}");
    assert!(said.contains("handoff 2 offered: \"It is planned\""), "{said}");
    project.ok(&["handoff", "reject", "2", "--reason", "No tests"]);
    watching.until("Implementer rejects handoff 2: \"No tests\"");
    // Another run is none of its business.
    project.ok(&["story", "add", "s2"]);
    project.ok(&["run", "start", "s2"]);
    project.ok(&["run", "cancel", "s1"]);
    let (rest, said) = watching.rest();
    assert_eq!((said.code, said.stderr.as_str()), (0, ""), "{said:?}");
    assert!(rest.last().unwrap().ends_with("the run is cancelled"), "{rest:?}");
    assert!(!rest.iter().any(|it| it.contains("s2")), "{rest:?}");
    // What is over has nothing to show but what was.
    let over = project.run(&["watch", "s1"]);
    assert_eq!((over.code, over.stdout.as_str()), (0, ""), "{over:?}");
    assert!(over.stderr.contains("run 1 is cancelled"), "{over:?}");
    let (all, said) = project.watches(&["s1", "--all"]).rest();
    assert_eq!(said.code, 0);
    assert_eq!(all.len() as u64, project.json(&["run", "show", "s1"])["version"].as_u64().unwrap());
}

#[test]
fn a_program_gets_every_message_as_a_line_and_an_interrupt_is_no_failure() {
    let project = Project::started();
    let _server = project.serves();
    let mut watching = project.watches(&["--json"]);
    let read = |line: &str| serde_json::from_str::<Value>(line).unwrap();
    let snapshot = read(&watching.next());
    assert_eq!(
        (&snapshot["event"], &snapshot["data"]["openRuns"]),
        (&"snapshot".into(), &1.into())
    );
    project.ok(&["handoff", "accept", "1"]);
    let accepted = read(&watching.next());
    assert_eq!(accepted["event"], "handoff", "{accepted}");
    assert_eq!(accepted["data"]["status"], "accepted");
    assert!(accepted["id"].as_str().unwrap().ends_with(".0"), "{accepted}");
    let (rest, said) = watching.interrupted();
    assert_eq!((said.code, said.stderr.as_str()), (0, ""), "{said:?}");
    for line in rest {
        assert!(read(&line)["event"].is_string(), "{line}");
    }
}

#[test]
fn a_server_that_comes_back_elsewhere_is_followed_and_nothing_is_told_twice() {
    let project = Project::started();
    let server = project.serves();
    let mut watching = project.watches(&["s1", "--all"]);
    let mut seen = watching.until("handoff 1 offered");
    server.kill();
    project.ok(&["handoff", "accept", "1"]);
    let server = project.serves();
    seen.extend(watching.until("Analyst accepts handoff 1"));
    project.ok(&["run", "cancel", "s1"]);
    let (rest, said) = watching.rest();
    seen.extend(rest);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(said.stderr.matches("the server is gone").count(), 1, "{said:?}");
    let n_events = project.json(&["run", "show", "s1"])["version"].as_u64().unwrap();
    assert_eq!(seen.len() as u64, n_events, "each once: {seen:#?}");
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn without_a_server_there_is_nothing_to_watch_or_to_open() {
    let project = Project::started();
    for args in [&["watch"][..], &["watch", "s1"], &["open"], &["open", "s1", "--print"]] {
        project.fails(args, 5, "`baton serve` starts one");
    }
    let server = project.serves();
    project.fails(&["watch", "s9"], 3, "[no_such_run]");
    project.fails(&["open", "s9", "--print"], 3, "there is no run and no handoff `s9`");
    project.fails(&["open", "HO-001", "--print"], 2, "say which with `--run");
    drop(server);
    project.fails(&["watch", "--server", "http://127.0.0.1:1"], 5, "named by `--server`");
}

#[test]
fn the_page_of_anything_is_opened_or_named() {
    let project = Project::started();
    let server = project.serves();
    for (args, page) in [
        (&["open", "--print"][..], "/"),
        (&["open", "s1", "--print"], "/runs/1"),
        (&["open", "1", "--print"], "/runs/1"),
        (&["open", "run:1", "--print"], "/runs/1"),
        (&["open", "story:s1", "--print"], "/runs/1"),
        (&["open", "handoff:1", "--print"], "/handoffs/1"),
        (&["open", "run:1/HO-001", "--print"], "/handoffs/1"),
        (&["open", "s1/HO-001", "--print"], "/handoffs/1"),
    ] {
        let url = project.ok(args);
        assert_eq!(url.trim(), format!("{}{page}", server.url));
        assert_eq!(project.json(args), serde_json::json!({ "url": url.trim() }));
        assert_eq!(server.curl(&["-o", "/dev/null"], page).status, 200, "{page}");
    }
}

/// A browser of our own tells through a pipe what it was started with.
#[cfg(target_os = "linux")]
#[test]
fn a_browser_is_started_with_the_address() {
    use std::os::unix::fs::PermissionsExt as _;
    let project = Project::started();
    let server = project.serves();
    let pipe = project.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let browser = project.path().join("xdg-open");
    let script = format!("#!/bin/sh\necho \"$1\" > '{}'\n", pipe.display());
    std::fs::write(&browser, script).unwrap();
    std::fs::set_permissions(&browser, std::fs::Permissions::from_mode(0o755)).unwrap();
    let with_path = |path: &str| {
        Said::from(project.command(&["open", "s1"]).env("PATH", path).output().unwrap())
    };
    let said = with_path(project.path().to_str().unwrap());
    assert_eq!((said.code, said.stderr.as_str()), (0, ""), "{said:?}");
    assert_eq!(std::fs::read_to_string(&pipe).unwrap().trim(), format!("{}/runs/1", server.url));
    let said = with_path("/nowhere");
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.stderr.contains("no browser could be started"), "{said:?}");
}
