//! Agents that really run: programs of all kinds pass the baton in real git worktrees.

mod acp;
mod agents;
mod attacks;
mod checks;
mod claimed;
mod killed;
mod limited;
mod once;
mod pipeline_run;
mod programs;
mod remote;
mod repositories;
mod scripted;
mod tool_files;
mod trouble;
mod trusted;
mod workspaces;
mod yes;

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use baton_test_postgres::TestSchema;
use serde_json::Value;

use crate::Project;
use crate::serve::Served;

/// A git repository with agents, and what its user trusts.
pub(crate) struct Workshop {
    pub(crate) project: Project,
    state: tempfile::TempDir,
    /// Where the project is, if it was moved.
    at: Option<PathBuf>,
    /// Where its data is, with `BATON_TEST_BACKEND=postgres`; otherwise in the project.
    schema: Option<TestSchema>,
}

/// The one program of all agents: it does its work, and hands on in the way of its first argument.
const AGENT: &str = include_str!("runner/agent.sh");

impl Workshop {
    /// With agents that hand on in this way, and more settings.
    pub(crate) fn new(way: &str, settings: &str) -> Self {
        let is_on_postgres =
            std::env::var_os("BATON_TEST_BACKEND").is_some_and(|it| it == "postgres");
        let workshop = Self {
            project: Project::new(),
            state: tempfile::tempdir().unwrap(),
            at: None,
            schema: is_on_postgres.then(TestSchema::fresh),
        };
        workshop.git(&["init", "-q", "-b", "main", "."]);
        workshop.write_packages();
        workshop.write("tools/agent.sh", AGENT);
        workshop.configure(way, settings);
        workshop.commit("Begin");
        workshop.ok(&["trust", "--yes"]);
        workshop
    }

    pub(crate) fn path(&self) -> &Path {
        self.at.as_deref().unwrap_or(self.project.path())
    }

    pub(crate) fn configure(&self, way: &str, settings: &str) {
        let runner = if settings.contains("[runner]") { "" } else { "[runner]\nlease = \"1s\"\n" };
        let text = format!(
            "[project]\nworkflow = \"story-pipeline\"\n{runner}[executors.mine]\nkind = \"command\"\n\
             run = [\"sh\", \"tools/agent.sh\", \"{way}\"]\ntimeout = \"20s\"\n\
             [agents.\"*\"]\nexecutors = [\"mine\"]\n{settings}"
        );
        self.write(".baton/baton.toml", &text);
    }

    /// What each agent hands on, in every format.
    fn write_packages(&self) {
        let discoveries = r#"{"learnings":["The greeting is read at start"],"gotchas":["No newline, no greeting"],"decisions":["One file instead of a table"]}"#;
        let rest = format!(r#""files_changed":["src/app.txt"],"discoveries":{discoveries}"#);
        let packages = [
            (
                "analyst",
                "implementer",
                r#""plan":"1. Write src/app.txt. 2. Check that it greets.","files_to_modify":["README.md"],"approach":"One file, so that it can be tested alone","risks":["A typo in the greeting"],"questions_resolved":true"#.to_owned(),
            ),
            (
                "implementer",
                "reviewer",
                format!(r#"{rest},"summary":"src/app.txt greets; 1 test covers it","tests_added":true,"build_passes":true"#),
            ),
            (
                "reviewer",
                "refactorer",
                format!(r#"{rest},"approved":true,"summary":"src/app.txt greets as the plan says","review_notes":"Read src/app.txt and ran its test: both good""#),
            ),
            (
                "refactorer",
                "documenter",
                format!(r#"{rest},"refactored":false,"refactor_summary":"src/app.txt has one line, and stays as it is""#),
            ),
            (
                "documenter",
                "orchestrator",
                r#""learnings_added":1,"gotchas_added":1,"docs_updated":true,"notes":"README.md says where the greeting is""#.to_owned(),
            ),
        ];
        self.write("README.md", "The greeting is in src/app.txt.\n");
        for (from, to, members) in packages {
            let file = |kind: &str| format!("tools/packages/{from}.{kind}");
            let sides = format!(
                r#""action":"create","storyId":"STORY","fromAgent":"{from}","toAgent":"{to}""#
            );
            let request = format!("{{{sides},\"payload\":{{{members}}}}}\n");
            self.write(&file("json"), &request);
            self.write(&file("payload"), &format!("{{{members}}}\n"));
            self.write(
                &file("md"),
                &format!("# Report\n\nDone.\n\n## Metadata\n\n```json\n{request}```\n"),
            );
            let document = format!(r#"{{"handoff":{{"from":"{from}","to":"{to}",{members}}}}}"#);
            let whole = file("document");
            self.write(&whole, &document);
            for format in ["yaml", "xml"] {
                let text = self.project.ok(&["convert", &whole, "--to", format]);
                self.write(&file(format), &text);
            }
        }
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) fn git(&self, args: &[&str]) -> String {
        let output = Command::new("git")
            .current_dir(self.path())
            .args(["-c", "user.name=ada", "-c", "user.email=ada@localhost"])
            .args(args)
            .output()
            .unwrap();
        assert!(output.status.success(), "{args:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    pub(crate) fn commit(&self, message: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", message]);
    }

    /// The program, with what this user trusts, and findable by agents.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = self.project.command(args);
        command.current_dir(self.path());
        let baton = PathBuf::from(env!("CARGO_BIN_EXE_baton"));
        let path = std::env::var("PATH").unwrap();
        command.env("PATH", format!("{}:{path}", baton.parent().unwrap().display()));
        command.env("XDG_STATE_HOME", self.state.path());
        if let Some(schema) = &self.schema {
            command.env("BATON_DATABASE_URL", format!("{}&pool=4", schema.url()));
        }
        command.env("SECRET_OF_THE_SERVER", "do-not-pass-on");
        command
    }

    #[track_caller]
    pub(crate) fn ok(&self, args: &[&str]) -> String {
        let output = self.command(args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    #[track_caller]
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let args: Vec<&str> = args.iter().copied().chain(["--json"]).collect();
        serde_json::from_str(&self.ok(&args)).unwrap()
    }

    /// With its runner.
    pub(crate) fn serves(&self) -> Served {
        Served::listening(self.command(&["serve", "--listen", "127.0.0.1:0"]))
    }

    /// Without one.
    pub(crate) fn serves_alone(&self) -> Served {
        Served::listening(self.command(&["serve", "--listen", "127.0.0.1:0", "--no-runner"]))
    }

    pub(crate) fn start(&self, story: &str) {
        self.ok(&["story", "add", story, "--title", "Say hello"]);
        self.ok(&["run", "start", story]);
    }

    /// Waits until the run of a story looks like this, and gives it.
    #[track_caller]
    pub(crate) fn until(&self, story: &str, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        let begun = std::time::Instant::now();
        loop {
            let run = self.json(&["run", "show", story]);
            if is_so(&run) {
                return run;
            }
            if begun.elapsed().as_secs() >= 150 {
                let handoffs = self.ok(&["handoff", "list", "--run", story, "--all"]);
                panic!("{what}: {run}\n{handoffs}");
            }
            self.wait_for_news();
        }
    }

    /// Waits for the next event of the server, or a moment: whoever asks without a pause takes the processor
    /// from the agents.
    fn wait_for_news(&self) {
        let note = std::fs::read_to_string(self.path().join(".baton/data/baton.lock"));
        let note = note.unwrap_or_default();
        let address = note.strip_prefix("http://").and_then(|it| it.split_whitespace().next());
        let Some(address) = address else { return };
        let Ok(mut stream) = TcpStream::connect(address) else { return };
        stream.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
        let request = format!("GET /api/v1/events HTTP/1.1\r\nhost: {address}\r\n\r\n");
        if stream.write_all(request.as_bytes()).is_err() {
            return;
        }
        let mut bytes = [0; 4096];
        while let Ok(n @ 1..) = stream.read(&mut bytes) {
            if bytes[..n].windows(5).any(|it| it == b"data:") {
                return;
            }
        }
    }

    #[track_caller]
    pub(crate) fn until_completed(&self, story: &str) -> Value {
        self.until(story, "it is completed", |it| it["status"] == "completed")
    }

    /// Waits until the runner has done with every attempt: an agent that hands on by itself completes a run before its
    /// program has ended, and what is in the workspace until then is the agent's.
    pub(crate) fn until_attempts_end(&self) {
        let is_over = |folder: &PathBuf| {
            let record = std::fs::read_to_string(folder.join("attempt.json")).unwrap_or_default();
            serde_json::from_str(&record).is_ok_and(|it: Value| text(&it, "stage") == "handed_off")
        };
        let begun = std::time::Instant::now();
        while !self.attempt_folders().iter().all(is_over) {
            assert!(begun.elapsed().as_secs() < 100, "an attempt goes on");
            std::thread::yield_now();
        }
    }

    /// How many attempts at the work of an agent have run out or come to a result.
    pub(crate) fn attempts(&self, story: &str, agent: &str) -> usize {
        let handoffs = self.handoffs(story);
        let own = handoffs.iter().filter(|it| it["toAgent"] == agent);
        own.filter_map(|it| it["attempt"].as_u64()).max().unwrap_or(0) as usize
    }

    /// The folders of all attempts.
    fn attempt_folders(&self) -> Vec<PathBuf> {
        let attempts = self.path().join(".baton/data/runner/attempts");
        std::fs::read_dir(attempts).unwrap().map(|it| it.unwrap().path()).collect()
    }

    /// What agents wrote into a file of this name in their `OUTPUT_DIRECTORY`.
    pub(crate) fn written(&self, name: &str) -> Vec<String> {
        let files = self.attempt_folders().into_iter().map(|it| it.join("output").join(name));
        let texts = files.filter_map(|it| std::fs::read_to_string(it).ok());
        let texts: Vec<String> = texts.map(|it| it.trim().to_owned()).collect();
        assert!(!texts.is_empty(), "no attempt has written {name}");
        texts
    }

    pub(crate) fn written_prompts(&self) -> Vec<String> {
        let files = self.attempt_folders().into_iter().map(|it| it.join("prompt.md"));
        files.filter_map(|it| std::fs::read_to_string(it).ok()).collect()
    }

    /// Every handoff of a story's run.
    pub(crate) fn handoffs(&self, story: &str) -> Vec<Value> {
        let list = self.json(&["handoff", "list", "--run", story, "--all"]);
        list["items"].as_array().unwrap().clone()
    }
}

/// The text at a field of a run or handoff.
pub(crate) fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}
