//! Alone or beside a server, a command does and says the same.

mod mask;

use self::mask::masked;
use crate::serve::Served;
use crate::{Project, Said};

const PLAN: &str =
    r#"{"plan":"p","files_to_modify":[],"approach":"a","risks":[],"questions_resolved":true}"#;
const TASK: &str = r#"{"context": {"summary": "API defined, needs a security review"},
    "expectations": {"deliverable": "Risk report on the proposed architecture"}}"#;
const SPECS: &str = r#"{"context": {"summary": "3 epics, 12 user stories"}}"#;
/// Names that mean something in an address.
const ODD: &str = "owner/repo#123";

/// Everything that can be asked, with its exit code. Each line goes on from those before it.
const SCRIPT: &[(i32, &[&str])] = &[
    (0, &["status"]),
    (0, &["inbox"]),
    (0, &["run", "list"]),
    (0, &["story", "list"]),
    (0, &["handoff", "list"]),
    (4, &["run", "start"]),
    (0, &["story", "add", "s1", "--title", "Log in", "--acceptance", "The tests pass"]),
    (4, &["story", "add", "s1"]),
    (2, &["story", "add", "a\u{202e}b"]),
    (0, &["story", "add", ODD, "--depends-on", "s1", "--priority", "-3"]),
    (0, &["story", "import", "stories.yaml"]),
    (0, &["story", "list"]),
    (0, &["story", "show", ODD]),
    (3, &["story", "show", "s9"]),
    (0, &["run", "start", "s1", "--dry-run"]),
    (0, &["run", "start", "s1", "--key", "k1"]),
    (0, &["run", "start", "s1", "--key", "k1"]),
    (1, &["run", "start", ODD, "--anyway", "--key", "k1"]),
    (4, &["run", "start", "s1"]),
    (3, &["run", "start", "typo"]),
    (2, &["run", "start", ODD, "--to", "Nobody"]),
    (0, &["run", "start", ODD, "--anyway"]),
    (0, &["run", "show", ODD]),
    (0, &["handoff", "show", "owner/repo#123/HO-001"]),
    (0, &["handoff", "show", "HO-001", "--run", ODD]),
    (2, &["handoff", "show", "HO-001"]),
    (3, &["handoff", "show", "7/HO-001"]),
    (3, &["handoff", "accept", "99"]),
    (4, &["handoff", "accept", "1", "--by", "reviewer"]),
    (2, &["handoff", "accept", "1", "--by", "nobody"]),
    (0, &["handoff", "accept", "1", "--dry-run"]),
    (0, &["handoff", "accept", "1", "--acknowledgement", "I plan the login: now"]),
    (4, &["handoff", "accept", "1"]),
    (0, &["handoff", "template", "1"]),
    (0, &["handoff", "template", "--story", "s1", "--to", "implementer", "--format", "yaml"]),
    (1, &["handoff", "template", "1", "--to", "documenter"]),
    (2, &["handoff", "template"]),
    (1, &["handoff", "complete", "1"]),
    (2, &["handoff", "complete", "1", "--payload", "{"]),
    (2, &["handoff", "complete", "1", "--outcome", "great"]),
    (0, &["handoff", "complete", "1", "--payload", PLAN, "--reason", "planned"]),
    (0, &["prompt", "3", "--url", "http://localhost:3000"]),
    (2, &["prompt", "3", "--url", "localhost"]),
    (3, &["prompt", "99"]),
    (0, &["handoff", "accept", "3", "--lease", "3600"]),
    (0, &["handoff", "heartbeat", "3", "--fence", "1"]),
    (4, &["handoff", "heartbeat", "3", "--fence", "7"]),
    (0, &["handoff", "show", "3"]),
    (0, &["handoff", "release", "3", "--reason", "out of tokens"]),
    (0, &["handoff", "clarify", "3", "--question", "Which database?"]),
    (0, &["handoff", "answer", "4", "--text", "PostgreSQL"]),
    (0, &["handoff", "show", "3"]),
    (2, &["handoff", "reject", "3", "--reason", " "]),
    (0, &["handoff", "reject", "3", "--reason", "not yet"]),
    (0, &["run", "pause", "s1", "--reason", "lunch"]),
    (0, &["run", "resume", "s1"]),
    (4, &["run", "resume", "s1"]),
    (1, &["run", "skip", "s1", "--reason", "r"]),
    (1, &["run", "goto", "s1", "document", "--reason", "r"]),
    (0, &["run", "cleanup", "s1"]),
    (0, &["status"]),
    (0, &["inbox"]),
    (0, &["run", "cancel", ODD, "--reason", "not wanted"]),
    (0, &["run", "list", "--all"]),
    (0, &["run", "start", "gate:1", "--workflow", "gated-project"]),
    (0, &["handoff", "accept", "6"]),
    (0, &["handoff", "complete", "6", "--profile", "lenient", "--payload", SPECS]),
    (0, &["status"]),
    (0, &["inbox"]),
    (0, &["handoff", "show", "7"]),
    (1, &["modify", "7", "--payload", "{}"]),
    (1, &["answer", "7", "continue"]),
    (2, &["answer", "7", "continue", "reviewer"]),
    (0, &["approve", "gate:1/HO-002", "--comment", "Agreed", "--as", "Zoë"]),
    (0, &["handoff", "show", "7"]),
    (0, &["handoff", "accept", "8"]),
    (0, &["evidence", "8", "lint", "passed", "--detail", "0 warnings"]),
    (
        0,
        &[
            "handoff",
            "delegate",
            "8",
            "--to",
            "security-check",
            "--profile",
            "lenient",
            "--payload",
            TASK,
        ],
    ),
    (0, &["handoff", "accept", "9"]),
    (0, &["handoff", "return", "9", "--profile", "lenient", "--payload", SPECS]),
    (0, &["handoff", "accept", "10"]),
    (0, &["handoff", "escalate", "8", "--profile", "lenient", "--payload", TASK]),
    (0, &["answer", "11", "--comment", "Go on"]),
    (4, &["approve", "11"]),
    (4, &["delegate", "11", "--to", "ben"]),
    (0, &["handoff", "list", "--all"]),
    (0, &["handoff", "list", "--all", "--limit", "2"]),
    (0, &["handoff", "list", "--state", "completed,rejected", "--story", "s1"]),
    (2, &["handoff", "list", "--state", "eaten"]),
    (
        0,
        &[
            "handoff",
            "create",
            "--run",
            "s1",
            "--from",
            "analyst",
            "--to",
            "implementer",
            "--payload",
            "@plan.json",
            "--profile",
            "lenient",
        ],
    ),
    (
        4,
        &[
            "handoff",
            "create",
            "--story",
            "s1",
            "--from",
            "analyst",
            "--to",
            "implementer",
            "--payload",
            "@plan.json",
            "--profile",
            "lenient",
        ],
    ),
    (0, &["handoff", "cancel", "13", "--reason", "too early"]),
    (0, &["handoff", "list", "--stale"]),
    (0, &["verify"]),
    (0, &["backup", "copy.db"]),
    (4, &["backup", "copy.db"]),
    (5, &["status", "--server", "http://127.0.0.1:1"]),
    (2, &["status", "--server", "https://127.0.0.1:1"]),
];

fn project() -> Project {
    let project = Project::new();
    let stories = "- key: gate:1\n  title: First\n- key: \"b c?d\"\n";
    std::fs::write(project.path().join("stories.yaml"), stories).unwrap();
    std::fs::write(project.path().join("plan.json"), "{\"plan\":\"p\",\"n\":1.50}\n").unwrap();
    project
}

/// Who asks, and how it is told.
struct Side<'a> {
    project: &'a Project,
    server: Option<&'a Served>,
}

impl Side<'_> {
    fn said(&self, args: &[&str]) -> Said {
        let Said { code, stdout, stderr } = self.project.run(args);
        Said { code, stdout: self.masked(&stdout), stderr: self.masked(&stderr) }
    }

    /// Without what is different every time, and without where the server is.
    fn masked(&self, text: &str) -> String {
        let root = self.project.path().canonicalize().unwrap();
        let mut text = text.replace(root.to_str().unwrap(), "PROJECT");
        let name = root.file_name().unwrap().to_str().unwrap();
        text = text.replace(&format!("\"{name}\""), "\"PROJECT\"");
        if let Some(server) = self.server {
            text = text.replace(&format!(" {}", server.url), "");
        }
        masked(&text)
    }
}

#[track_caller]
fn check_script(more: &[&str]) {
    let (alone, served) = (project(), project());
    let server = served.serves();
    let alone = Side { project: &alone, server: None };
    let beside = Side { project: &served, server: Some(&server) };
    for (code, args) in SCRIPT {
        let args = [args, more].concat();
        let (ours, theirs) = (alone.said(&args), beside.said(&args));
        assert_eq!(ours.code, *code, "{args:?}: {ours:?}");
        assert_eq!(ours.code, theirs.code, "{args:?}: {theirs:?}");
        assert_eq!(ours.stdout, theirs.stdout, "{args:?}");
        assert_eq!(ours.stderr, theirs.stderr, "{args:?}");
        if *code == 0 && more == ["--json"] {
            let read: Result<serde_json::Value, _> = serde_json::from_str(&ours.stdout);
            assert!(read.is_ok(), "{args:?}: {}", ours.stdout);
        }
    }
}

#[test]
fn a_person_reads_the_same_alone_and_beside_a_server() {
    check_script(&[]);
}

#[test]
fn a_program_reads_the_same_alone_and_beside_a_server() {
    check_script(&["--json"]);
}

/// Every kind of no is in the table above.
#[test]
fn the_script_has_every_exit_code() {
    for code in 0..=5 {
        assert!(SCRIPT.iter().any(|(it, _)| *it == code), "{code}");
    }
}

#[test]
fn what_a_program_reads_is_what_the_api_says() {
    let project = Project::started();
    let server = project.serves();
    for (args, path) in [
        (&["run", "show", "s1"][..], "/api/v1/runs/s1"),
        (&["run", "list"], "/api/v1/runs"),
        (&["handoff", "show", "1"], "/api/v1/handoffs/1"),
        (&["handoff", "list"], "/api/v1/handoffs"),
        (&["story", "show", "s1"], "/api/v1/stories/s1"),
        (&["story", "list"], "/api/v1/stories"),
        (&["inbox"], "/api/v1/inbox"),
        (&["status"], "/api/v1/status"),
    ] {
        assert_eq!(project.json(args), server.curl(&[], path).body, "{args:?}");
    }
}
