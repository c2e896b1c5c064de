//! `baton do`: from an idea to a branch, with programs that look like Claude Code.

mod programs;

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::Said;
use crate::runner::Workshop;

/// A repository of somebody who has never heard of Baton, and programs to do the work.
struct Desk {
    folder: tempfile::TempDir,
    /// Whose tools the fake program uses.
    tools: Workshop,
}

/// Does what `agent.sh` does, and tells what it cost. What is in `control` makes it slow or dear.
const CLAUDE: &str = r#"#!/bin/sh
if [ "$1" = --version ]; then echo "9.9.9 (Claude Code)"; exit; fi
echo '{"type":"system","subtype":"init","session_id":"s1"}'
if [ -e CONTROL/dear ]; then
    echo '{"type":"assistant","message":{"id":"m1","content":[],"usage":{"input_tokens":400,"output_tokens":100}}}'
    exec sleep 1000
fi
if [ -e CONTROL/hang ]; then exec sleep 1000; fi
if [ -e CONTROL/careless ] && [ "$BATON_AGENT" = implementer ]; then mkdir -p src; echo hello > src/app.txt; fi
said='s/^{/{\n/'
if [ -e CONTROL/idle ]; then
    echo /src/ >> "$(git rev-parse --git-path info/exclude)"
    mkdir -p src; echo hello > src/app.txt
fi
if [ -e CONTROL/talkative ]; then
    echo "the key is $ANTHROPIC_API_KEY, in $HOME/keys"
    said="$said;s|One file, so that|Uses $ANTHROPIC_API_KEY in $HOME/keys, so that|"
fi
# Not on one line: that would be a message of the program itself.
sh TOOLS/agent.sh json | sed "$said"
echo '{"type":"result","is_error":false,"result":"","total_cost_usd":0.25,"usage":{"input_tokens":30,"cache_read_input_tokens":10,"output_tokens":5},"permission_denials":[]}'
"#;

impl Desk {
    fn new() -> Self {
        let desk = Self { folder: tempfile::tempdir().unwrap(), tools: Workshop::new("json", "") };
        for name in ["home", "state", "bin", "control", "repo"] {
            std::fs::create_dir(desk.at(name)).unwrap();
        }
        let identity = "[user]\nname = ada\nemail = ada@localhost\n";
        std::fs::write(desk.at("home/.gitconfig"), identity).unwrap();
        let claude = CLAUDE
            .replace("CONTROL", desk.at("control").to_str().unwrap())
            .replace("TOOLS", desk.tools.path().join("tools").to_str().unwrap());
        desk.install("claude", &claude);
        desk.git(&["init", "-q", "-b", "main", "."]);
        std::fs::write(desk.at("repo/README.md"), "A shop.\n").unwrap();
        desk.git(&["add", "-A"]);
        desk.git(&["commit", "-q", "-m", "Open the shop"]);
        desk
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn install(&self, name: &str, text: &str) {
        use std::os::unix::fs::PermissionsExt as _;
        let path = self.at("bin").join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn set(&self, control: &str) {
        std::fs::write(self.at("control").join(control), "").unwrap();
    }

    fn unset(&self, control: &str) {
        std::fs::remove_file(self.at("control").join(control)).unwrap();
    }

    fn git(&self, args: &[&str]) -> String {
        let output = Command::new("git")
            .current_dir(self.at("repo"))
            .env("HOME", self.at("home"))
            .args(args)
            .output()
            .unwrap();
        assert!(output.status.success(), "{args:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_baton"));
        let path = format!("{}:{}", self.at("bin").display(), std::env::var("PATH").unwrap());
        command.args(args).current_dir(self.at("repo")).stdin(Stdio::null()).env_clear();
        command.env("PATH", path).env("HOME", self.at("home")).env("USER", "ada");
        command.env("XDG_STATE_HOME", self.at("state")).env("ANTHROPIC_API_KEY", "key");
        command
    }

    fn run(&self, args: &[&str]) -> Said {
        Said::from(self.command(args).output().unwrap())
    }
}

#[track_caller]
fn check_refused(said: &Said, code: i32, words: &str) {
    assert_eq!(said.code, code, "{said:?}");
    assert!(said.stderr.contains(words), "{said:?}");
}

#[test]
fn an_idea_becomes_a_branch_in_a_repository_that_has_no_project() {
    let desk = Desk::new();
    std::fs::write(desk.at("repo/README.md"), "A shop, half changed.\n").unwrap();
    let said = desk.run(&["do", "Add a greeting", "--yes", "--agents", "claude"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.stderr.contains("1 changed file is not committed"), "{said:?}");
    for part in [
        "✔ done",
        "is not verified",
        "feat/story-do-add-a-greeting",
        "Add the greeting",
        "$1.25",
        "elapsed",
    ] {
        assert!(said.stdout.contains(part), "{part}: {said:?}");
    }
    assert_eq!(desk.git(&["show", "feat/story-do-add-a-greeting:src/app.txt"]), "hello");
    assert_eq!(
        desk.git(&["status", "--porcelain"]),
        "M README.md",
        "nothing of ours is seen by git"
    );
    let shown = desk.run(&["run", "show", "1"]);
    assert!(shown.stdout.contains("200 tokens in (50 cached), 25 out, $1.25"), "{shown:?}");
    let verified = desk.run(&["verify"]);
    assert_eq!(verified.code, 0, "{verified:?}");
    let again = desk.run(&["do", "--continue"]);
    check_refused(&again, 3, "no run of `baton do` is open here");
}

#[test]
fn a_budget_stops_the_program_in_the_middle_and_only_a_persons_answer_raises_it() {
    let desk = Desk::new();
    desk.set("dear");
    let said =
        desk.run(&["do", "Add a greeting", "--yes", "--agents", "claude", "--budget", "100tokens"]);
    check_refused(&said, 4, "The run has used 500 tokens; its budget is 100 tokens");
    let inbox = desk.run(&["inbox", "--json"]);
    let inbox: serde_json::Value = serde_json::from_str(&inbox.stdout).unwrap();
    assert_eq!(inbox["items"][0]["cause"], "budget", "{inbox}");
    let choices = inbox["items"][0]["choices"].as_array().unwrap();
    let words: Vec<&str> = choices.iter().map(|it| it["choice"].as_str().unwrap()).collect();
    assert_eq!(words, ["continue", "hand_to", "abort"]);
    let second = desk.run(&["do", "Something else", "--agents", "claude"]);
    check_refused(&second, 4, "`baton do --continue` goes on with it");
    // What is used already is more than twice the budget: five times as much is granted.
    desk.unset("dear");
    for _ in 0..10 {
        let inbox = desk.run(&["inbox", "--json"]);
        let inbox: serde_json::Value = serde_json::from_str(&inbox.stdout).unwrap();
        let Some(command) = inbox["items"][0]["choices"][0]["command"].as_str() else { break };
        let words: Vec<&str> = command.split_whitespace().skip(1).collect();
        let said = desk.run(&words);
        assert_eq!(said.code, 0, "{said:?}");
        let said = desk.run(&["do", "--continue", "--yes"]);
        if said.code == 0 {
            assert!(said.stdout.contains("✔ done"), "{said:?}");
            return;
        }
        check_refused(&said, 4, "its budget is");
    }
    panic!("it was never granted enough");
}

#[test]
fn work_that_was_handed_on_beyond_the_budget_is_taken_and_the_person_asked_before_the_next() {
    let desk = Desk::new();
    let said =
        desk.run(&["do", "Add a greeting", "--yes", "--agents", "claude", "--budget", "0.3usd"]);
    check_refused(&said, 4, "The run has used $0.5000; its budget is $0.3000");
    let mut n_answers = 0;
    loop {
        let inbox = desk.run(&["inbox", "--json"]);
        let inbox: serde_json::Value = serde_json::from_str(&inbox.stdout).unwrap();
        assert_eq!(inbox["items"][0]["cause"], "budget", "{inbox}");
        let command = inbox["items"][0]["choices"][0]["command"].as_str().unwrap();
        let words: Vec<&str> = command.split_whitespace().skip(1).collect();
        assert_eq!(desk.run(&words).code, 0);
        n_answers += 1;
        let said = desk.run(&["do", "--continue", "--yes"]);
        if said.code == 0 {
            assert!(said.stdout.contains("✔ done"), "{said:?}");
            break;
        }
        check_refused(&said, 4, "its budget is");
        assert!(n_answers < 3, "each answer grants a whole budget: {said:?}");
    }
    let list = desk.run(&["handoff", "list", "--all", "--json"]);
    let list: serde_json::Value = serde_json::from_str(&list.stdout).unwrap();
    let is_lost = |it: &&serde_json::Value| it["state"] == "timed_out";
    assert_eq!(list["items"].as_array().unwrap().iter().filter(is_lost).count(), 0, "{list}");
}

#[test]
fn a_workflow_that_is_not_there_is_not_written_into_the_settings() {
    let desk = Desk::new();
    let said = desk.run(&["do", "It", "--agents", "claude", "--workflow", "nope"]);
    assert_ne!(said.code, 0, "{said:?}");
    let settings = std::fs::read_to_string(desk.at("repo/.baton/baton.toml")).unwrap();
    assert!(!settings.contains("nope"), "{settings}");
}

#[test]
fn a_run_goes_on_beside_a_server_that_is_about_to_end() {
    let desk = Desk::new();
    desk.set("hang");
    let mut command = desk.command(&["do", "Add a greeting", "--yes", "--agents", "claude"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.map_while(Result::ok).any(|it| it.contains("has the baton")));
    child.kill().unwrap();
    child.wait().unwrap();
    desk.unset("hang");
    // Its server has five seconds for the agent that hangs.
    let said = desk.run(&["do", "--continue", "--yes"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.stdout.contains("✔ done"), "{said:?}");
    assert!(!said.stderr.contains("--server"), "{said:?}");
}

#[test]
fn ctrl_c_leaves_a_run_that_goes_on() {
    let desk = Desk::new();
    desk.set("hang");
    let mut command = desk.command(&["do", "Add a greeting", "--yes", "--agents", "claude"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let is_at_work = lines.map_while(Result::ok).any(|it| it.contains("has the baton"));
    assert!(is_at_work);
    kill_process(Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap(), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    desk.unset("hang");
    let said = desk.run(&["do", "--continue", "--yes"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.stdout.contains("✔ done"), "{said:?}");
}

#[test]
fn what_is_missing_is_said_before_anything_is_made() {
    let desk = Desk::new();
    let unknown = desk.run(&["do", "It", "--agents", "claud"]);
    check_refused(&unknown, 2, "`claud` is no program that Baton knows: did you mean `claude`?");
    let absent = desk.run(&["do", "It", "--agents", "gemini"]);
    check_refused(&absent, 3, "`gemini` is not installed");
    let dear = desk.run(&["do", "It", "--budget", "5eur"]);
    check_refused(&dear, 2, "`5eur` is no budget");
    let logged_out =
        Said::from(desk.command(&["do", "It"]).env_remove("ANTHROPIC_API_KEY").output().unwrap());
    check_refused(&logged_out, 3, "claude is installed, but no login was found");
    assert!(!Path::new(&desk.at("repo/.baton")).exists(), "nothing was made");
    let elsewhere =
        Said::from(desk.command(&["do", "It"]).current_dir(desk.at("home")).output().unwrap());
    check_refused(&elsewhere, 4, "is in no git repository");
    desk.git(&["init", "-q", "../control"]);
    let empty =
        Said::from(desk.command(&["do", "It"]).current_dir(desk.at("control")).output().unwrap());
    check_refused(&empty, 4, "has no commit yet");
    let nothing = desk.run(&["do", "--continue"]);
    check_refused(&nothing, 3, "no run of `baton do` is open here");
}

#[test]
fn a_project_with_settings_of_its_own_keeps_them() {
    let desk = Desk::new();
    let made = desk.run(&["init"]);
    assert_eq!(made.code, 0, "{made:?}");
    assert!(made.stderr.contains("found claude"), "{made:?}");
    let proposed = std::fs::read_to_string(desk.at("repo/.baton/baton.toml")).unwrap();
    assert!(proposed.contains("# [executors.claude]\n# kind = \"claude\""), "{proposed}");
    let idle = desk.run(&["do", "It"]);
    check_refused(&idle, 4, "names no program for its agents");
    let named = desk.run(&["do", "It", "--agents", "claude"]);
    check_refused(&named, 2, "leave `--agents` out");
    let settings = "[executors.claude]\nkind = \"claude\"\nenv = [\"ANTHROPIC_API_KEY\"]\n\
        [agents.\"*\"]\nexecutors = [\"claude\"]\n";
    std::fs::write(desk.at("repo/.baton/baton.toml"), settings).unwrap();
    let untrusted = desk.run(&["do", "It"]);
    check_refused(&untrusted, 1, "`baton trust` shows them");
    assert_eq!(desk.run(&["trust", "--yes"]).code, 0);
    let mut serve = desk.command(&["serve", "--no-runner", "--listen", "127.0.0.1:0"]);
    let mut server = serve.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(server.stderr.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|it| it.contains("listening on")));
    let idle = desk.run(&["do", "It"]);
    check_refused(
        &idle,
        4,
        "starts no agents, so the work would wait for ever; start `baton runner`",
    );
    let pid = Pid::from_raw(i32::try_from(server.id()).unwrap()).unwrap();
    kill_process(pid, Signal::TERM).unwrap();
    server.wait().unwrap();
    let said = desk.run(&["do", "Add a greeting", "--yes"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(std::fs::read_to_string(desk.at("repo/.baton/baton.toml")).unwrap(), settings);
}

const ASKING: &str = r#"
agents:
  implementer:
    - write: { file: src.txt, text: "p\n" }
    - commit: Add a file
    - hand_on:
        to: reviewer
        package:
          summary: "src.txt made, 1 test"
          decisions: [{ id: pending, decision: "Which colour?", rationale: unclear, alternatives: [red] }]
          open_questions: [{ question: "Which currency?", priority: high }]
  reviewer:
    - hand_on:
        to: orchestrator
        package: { summary: "Read 1 file, 0 findings", open_questions: [{ question: "Who pays?", priority: high }] }
"#;

#[test]
fn the_end_names_the_questions_and_decisions_that_are_still_open() {
    let desk = Desk::new();
    assert_eq!(desk.run(&["init"]).code, 0);
    let write = |name: &str, text: &str| {
        let path = desk.at("repo").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write(
        ".baton/workflows/short.yaml",
        "name: short\nstart: implement\nsteps:\n  implement: { agent: implementer, on: { success: review } }\n  \
         review: { agent: reviewer, on: { success: complete } }\n",
    );
    write("tools/agents.yaml", ASKING);
    write(
        ".baton/baton.toml",
        "[project]\nworkflow = \"short\"\n[executors.played]\nkind = \"scripted\"\nscript = \"tools/agents.yaml\"\n\
         [agents.\"*\"]\nexecutors = [\"played\"]\n",
    );
    desk.git(&["add", "-A"]);
    desk.git(&["commit", "-q", "-m", "Play"]);
    assert_eq!(desk.run(&["trust", "--yes"]).code, 0);
    let said = desk.run(&["do", "Add a thing", "--yes"]);
    assert_eq!(said.code, 0, "{said:?}");
    for open in [
        "undecided: Which colour? (Implementer)",
        "question: Which currency? (high, implementer)",
        "question: Who pays? (high, reviewer)",
    ] {
        assert!(said.stdout.contains(open), "{open}: {said:?}");
    }
    assert!(!said.stdout.contains("open      nothing"), "{said:?}");
}
