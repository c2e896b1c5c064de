//! The demo is the first thing that anybody sees.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::Said;

fn demo(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_baton"));
    command.arg("demo").args(args).args(["--pace", "20"]);
    command
}

#[test]
fn a_demo_delivers_a_story() {
    let said = Said::from(demo(&["--once"]).output().unwrap());
    assert_eq!(said.code, 0, "{said:?}");
    for line in [
        "Orchestrator → Analyst  handoff 1 offered",
        "Analyst accepts handoff 1",
        "Reviewer rejects handoff 3: \"src/session.rs:42",
        "Reviewer → Implementer  handoff 4 sent back",
        "the story is complete",
        "chain whole, replay equal",
    ] {
        assert!(said.stdout.contains(line), "{line}: {}", said.stdout);
    }
    assert!(said.stderr.contains("live while it lasts: http://127.0.0.1:"), "{said:?}");
    let project = said.stdout.split("--project ").nth(1).unwrap().split(' ').next().unwrap();
    std::fs::remove_dir_all(project).unwrap();
}

#[test]
fn a_demo_that_is_told_to_stop_finishes_and_exits_cleanly() {
    let mut child = demo(&[]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let is_busy = |line: &std::io::Result<String>| line.as_ref().unwrap().contains("accepts");
    lines.find(is_busy).unwrap().unwrap();
    let mut notes = BufReader::new(child.stderr.take().unwrap()).lines().map(|it| it.unwrap());
    let page = notes.find_map(|it| it.split("lasts: ").nth(1).map(str::to_owned)).unwrap();
    let seen = Command::new("curl").args(["-sf", &page]).output().unwrap();
    assert!(seen.status.success(), "the page is there while it lasts: {seen:?}");
    let killed = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let told = Instant::now();
    std::thread::spawn(move || notes.for_each(drop));
    let rest: Vec<String> = lines.map(|it| it.unwrap()).collect();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(told.elapsed() < Duration::from_secs(5));
    let rest = rest.join("\n");
    let project = rest.split("--project ").nth(1).unwrap().split(' ').next().unwrap();
    let verify = ["--project", project, "verify"];
    let said = Said::from(Command::new(env!("CARGO_BIN_EXE_baton")).args(verify).output().unwrap());
    assert_eq!(said.code, 0, "{said:?}");
    std::fs::remove_dir_all(project).unwrap();
}
