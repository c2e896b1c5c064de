//! The demo is the first thing that anybody sees. It is played here with its real server, runner and
//! repository.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::Said;

/// A demo in folders of its own: nothing of the user's is read or written.
struct Stage {
    folder: tempfile::TempDir,
}

impl Stage {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["home", "tmp", "state"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        Self { folder }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_baton"));
        let at = |name: &str| self.folder.path().join(name);
        command.arg("demo").args(args).stdin(Stdio::null()).env("HOME", at("home"));
        command.env("TMPDIR", at("tmp")).env("XDG_STATE_HOME", at("state")).env_remove("BATON_URL");
        command
    }

    /// Whether a process of this demo is still there, by its folder.
    fn processes(&self) -> Vec<String> {
        let own = self.folder.path().join("tmp");
        let own = own.to_str().unwrap();
        let mut left = Vec::new();
        for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
            let Ok(words) = std::fs::read(entry.path().join("cmdline")) else { continue };
            let words = String::from_utf8_lossy(&words).replace('\0', " ");
            if words.contains(own) {
                left.push(words);
            }
        }
        left
    }

    #[track_caller]
    fn until_no_process_is_left(&self) {
        let begun = Instant::now();
        while !self.processes().is_empty() {
            assert!(begun.elapsed() < Duration::from_secs(40), "{:?}", self.processes());
            std::thread::yield_now();
        }
    }

    /// The repository that the demo made.
    fn shop(&self) -> PathBuf {
        let mut entries = std::fs::read_dir(self.folder.path().join("tmp")).unwrap();
        entries.next().unwrap().unwrap().path().join("shop")
    }

    #[track_caller]
    fn run(&self, program: &str, args: &[&str]) -> String {
        let output = Command::new(program).current_dir(self.shop()).args(args).output().unwrap();
        assert!(output.status.success(), "{program} {args:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }
}

/// Plays a workflow to its end, and looks at what it leaves.
#[track_caller]
fn check_workflow(workflow: &str, lines: &[&str], commits: &[&str]) {
    let stage = Stage::new();
    let begun = Instant::now();
    let args = ["--once", "--yes", "--pace", "0", "--workflow", workflow];
    let said = Said::from(stage.command(&args).output().unwrap());
    assert_eq!(said.code, 0, "{said:?}");
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    for line in lines {
        assert!(said.stdout.contains(line), "`{line}` is missing:\n{}", said.stdout);
    }
    for line in said.stdout.lines().filter(|it| !it.contains("/shop")) {
        assert!(line.chars().count() <= 80, "too wide: {line}");
        assert!(!line.contains('\u{1b}'), "colours are for terminals: {line:?}");
    }
    let log = stage.run("git", &["log", "--format=%s", "main"]);
    let expected: Vec<&str> = commits.iter().rev().copied().collect();
    assert_eq!(log.lines().take(commits.len()).collect::<Vec<_>>(), expected);
    assert!(stage.run("sh", &["tests/run.sh"]).contains("tests pass"), "they pass");
    let verified = stage.run(env!("CARGO_BIN_EXE_baton"), &["verify"]);
    assert!(verified.contains("every chain is whole"), "{verified}");
    let of_user = std::fs::read_dir(stage.folder.path().join("state")).unwrap().count();
    assert_eq!(of_user, 0, "nothing is left in the user's own state");
    stage.until_no_process_is_left();
}

#[test]
fn the_first_story_shows_what_is_promised() {
    let lines = [
        "3 of 5 tests pass",
        "has the baton, with a lease of 3 s",
        "refused: handoff 1 (HO-001) is already accepted",
        "Its holder stopped answering",
        "offers it to Analyst once more",
        "you are asked: What should the sign at the till say?",
        "what would pass, once the marks are filled in:",
        "kill -9 of the server",
        "every chain is whole, and the agent never",
        "sends it back: bin/total:6 eleven",
        "6 of 6 tests pass",
        "I write down what the next one has to know",
        "Ten or more: ten percent off",
        "✔ delivered in",
    ];
    let commits = [
        "Ask for it: Ten or more get ten percent off",
        "Keep what the sign says",
        "Take ten percent off from ten on",
        "Round half a cent up",
        "Say the discount in one place",
        "Document the discount",
    ];
    check_workflow("story-pipeline", &lines, &commits);
}

#[test]
fn an_issue_is_merged() {
    let lines = [
        "hands on to Fixer",
        "ten is no number",
        "The issue is closed, and the history stays",
        "✔ delivered in",
    ];
    let commits = ["Refuse a quantity that is no number", "Refuse an empty quantity"];
    check_workflow("issue-to-merge", &lines, &commits);
}

#[test]
fn a_blocked_agent_gets_its_answer() {
    let lines =
        ["is blocked, and says so", "sends what blocks it to Frontend lead", "3 x 2.50 = 7.50"];
    let commits = ["Design the receipt", "Decide how cents are printed", "Print a receipt"];
    check_workflow("feature-phases", &lines, &commits);
}

#[test]
fn an_agent_that_is_not_sure_has_its_work_approved() {
    let lines = ["you decide", "approve: fine with me", "sends it back: bin/points:3"];
    let commits = ["Count the points of an order", "Fail where the sum cannot be computed"];
    check_workflow("bmad-delivery", &lines, &commits);
}

#[test]
fn gates_open_by_a_word_and_by_checks() {
    let lines = [
        "you decide: Specification validated",
        "asks Security check for a part of it, and waits",
        "may object while the work goes on",
        "you decide: Budget approved",
        "recorded as a claim: a runner decides `tests`",
        "lint, types, tests, build, package passed",
        "opens by itself",
    ];
    let commits = ["Specify invoices", "Design invoices", "Say who may pay by invoice"];
    check_workflow("gated-project", &lines, &commits);
}

/// Reads lines until one holds this.
#[track_caller]
fn until_line(lines: &mut std::io::Lines<BufReader<ChildStdout>>, part: &str) -> String {
    let mut seen = Vec::new();
    for line in lines.by_ref() {
        let line = line.unwrap();
        if line.contains(part) {
            return line;
        }
        seen.push(line);
    }
    panic!("`{part}` never came:\n{}", seen.join("\n"));
}

/// A demo under way: ended with the test.
struct Playing(Child);

impl Drop for Playing {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn playing(mut command: Command) -> (Playing, std::io::Lines<BufReader<ChildStdout>>) {
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    (Playing(child), lines)
}

#[test]
fn a_demo_that_is_interrupted_leaves_no_process_behind_and_exits_with_130() {
    let stage = Stage::new();
    let (mut child, mut lines) = playing(stage.command(&["--yes", "--pace", "300"]));
    let page = until_line(&mut lines, "the page");
    let page = page.split_whitespace().find(|it| it.starts_with("http://")).unwrap().to_owned();
    until_line(&mut lines, "you are asked");
    let seen = Command::new("curl").args(["-sf", &page]).output().unwrap();
    assert!(seen.status.success(), "the page is there while it lasts: {seen:?}");
    until_line(&mut lines, "I build the plan");
    if cfg!(target_os = "linux") {
        assert!(stage.processes().len() >= 2, "a server and a runner: {:?}", stage.processes());
    }
    let killed = Command::new("kill").args(["-INT", &child.0.id().to_string()]).status().unwrap();
    assert!(killed.success());
    until_line(&mut lines, "everything is still there");
    lines.for_each(drop);
    assert_eq!(child.0.wait().unwrap().code(), Some(130));
    stage.until_no_process_is_left();
    let verified = stage.run(env!("CARGO_BIN_EXE_baton"), &["verify"]);
    assert!(verified.contains("every chain is whole"), "{verified}");
}

#[test]
fn a_demo_that_is_killed_takes_its_server_and_its_runner_with_it() {
    let stage = Stage::new();
    let (mut child, mut lines) = playing(stage.command(&["--yes", "--pace", "300"]));
    until_line(&mut lines, "I build the plan");
    child.0.kill().unwrap();
    child.0.wait().unwrap();
    stage.until_no_process_is_left();
}

/// A demo whose viewer types, on a terminal.
struct Typing {
    child: Playing,
    lines: std::io::Lines<BufReader<ChildStdout>>,
    keyboard: std::fs::File,
}

impl Typing {
    fn at(stage: &Stage, args: &[&str]) -> Self {
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&terminal).unwrap();
        unlockpt(&terminal).unwrap();
        let name = ptsname(&terminal, Vec::new()).unwrap().into_string().unwrap();
        let open = || std::fs::OpenOptions::new().read(true).write(true).open(&name).unwrap();
        let mut command = stage.command(args);
        command.stdin(open());
        let (child, lines) = playing(command);
        Self { child, lines, keyboard: std::fs::File::from(terminal) }
    }

    /// Waits for a line, and types.
    #[track_caller]
    fn at_line(&mut self, part: &str, typed: &str) {
        until_line(&mut self.lines, part);
        self.keyboard.write_all(format!("{typed}\n").as_bytes()).unwrap();
    }

    /// What it says until it ends well.
    #[track_caller]
    fn rest(mut self) -> String {
        let rest: Vec<String> = self.lines.map(Result::unwrap).collect();
        assert_eq!(self.child.0.wait().unwrap().code(), Some(0), "{rest:#?}");
        rest.join("\n")
    }
}

#[test]
fn a_question_is_answered_in_the_terminal_and_the_answer_is_in_the_product() {
    let stage = Stage::new();
    let mut typing = Typing::at(&stage, &["--once", "--pace", "0"]);
    typing.at_line("you are asked", "Ten off, honestly");
    until_line(&mut typing.lines, "answer: Ten off, honestly");
    let rest = typing.rest();
    assert!(rest.contains("$ sh bin/sign   Ten off, honestly"), "{rest}");
}

#[test]
fn every_answer_that_a_gate_of_the_demo_offers_leads_on() {
    let stage = Stage::new();
    let args = ["--once", "--pace", "0", "--workflow", "gated-project"];
    let mut typing = Typing::at(&stage, &args);
    for gate in ["you decide: Specification validated", "you decide: Budget approved"] {
        until_line(&mut typing.lines, gate);
        let offered = until_line(&mut typing.lines, "type: ");
        assert_eq!(offered.trim(), "type: approve  |  reject  |  question TEXT  |  abort");
        typing.at_line("or answer on the page", "question who pays?");
        // The agent answers, and the gate is open again.
        until_line(&mut typing.lines, "answer: ");
        until_line(&mut typing.lines, gate);
        typing.at_line("type: ", "reject not like this");
        until_line(&mut typing.lines, "reject: not like this");
        until_line(&mut typing.lines, gate);
        typing.at_line("type: ", "approve");
    }
    let rest = typing.rest();
    assert!(rest.contains("delivered in") && !rest.contains("you are asked"), "{rest}");
}

#[test]
fn a_demo_that_the_viewer_aborts_ends() {
    let stage = Stage::new();
    let args = ["--once", "--pace", "0", "--workflow", "gated-project"];
    let mut typing = Typing::at(&stage, &args);
    typing.at_line("type: ", "abort");
    typing.lines.by_ref().for_each(drop);
    assert_eq!(typing.child.0.wait().unwrap().code(), Some(4));
}

#[test]
fn a_demo_on_an_address_that_is_taken_ends_as_the_server_does() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let said =
        Said::from(Stage::new().command(&["--once", "--listen", &address]).output().unwrap());
    assert_eq!(said.code, 5, "{said:?}");
    assert_eq!(said.stderr.matches("error:").count(), 1, "{said:?}");
    assert!(said.stderr.contains("name another address with `--listen`"), "{said:?}");
    assert!(!said.stdout.contains("baton handoff show"), "there is none: {said:?}");
}
