//! `baton do` with a real program, in a repository that has never seen Baton.

use std::path::Path;
use std::process::Stdio;

use super::*;
use crate::Said;

const STORY: &str = "do-add-a-greeting";
const BRANCH: &str = "feat/story-do-add-a-greeting";

/// A repository, and a user whose only program is Claude Code.
struct PlainRepository {
    folder: tempfile::TempDir,
    home: tempfile::TempDir,
    model: FakeModel,
}

impl PlainRepository {
    fn new() -> Self {
        let model = FakeModel::start(|it: &ScriptedConversation| works_on(STORY, it));
        let home = home_without_logins(&model.url());
        let folder = tempfile::tempdir().unwrap();
        for name in ["bin", "state", "repo"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        let program = program("claude");
        std::os::unix::fs::symlink(program, folder.path().join("bin/claude")).unwrap();
        let repository = Self { folder, home, model };
        repository.git(&["init", "-q", "-b", "main", "."]);
        std::fs::write(repository.root().join("README.md"), "A shop.\n").unwrap();
        repository.git(&["add", "-A"]);
        repository.git(&["commit", "-q", "-m", "Open the shop"]);
        repository
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("repo")
    }

    fn git(&self, args: &[&str]) -> String {
        let mut command = Command::new("git");
        command.current_dir(self.root()).env("HOME", self.home.path()).args(args);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{args:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn baton(&self, args: &[&str]) -> Said {
        let at = |name: &str| self.folder.path().join(name);
        let mut command = Command::new(env!("CARGO_BIN_EXE_baton"));
        let path = format!("{}:{}", at("bin").display(), std::env::var("PATH").unwrap());
        command.args(args).current_dir(self.root()).stdin(Stdio::null()).env_clear();
        command.env("PATH", path).env("HOME", self.home.path()).env("USER", "ada");
        command.env("XDG_STATE_HOME", at("state"));
        command.env("ANTHROPIC_API_KEY", "key-of-anthropic");
        command.env("ANTHROPIC_BASE_URL", self.model.url());
        Said::from(command.output().unwrap())
    }

    fn inbox(&self) -> Value {
        let said = self.baton(&["inbox", "--json"]);
        serde_json::from_str(&said.stdout).unwrap_or_else(|_| panic!("{said:?}"))
    }

    /// The finished branch, as the summary and git have it.
    #[track_caller]
    fn check_done(&self, said: &Said) {
        assert_eq!(said.code, 0, "{said:?}");
        for part in
            ["✔ done", BRANCH, "Add the greeting", "src/app.txt", "tokens in", "$", "elapsed"]
        {
            assert!(said.stdout.contains(part), "{part}: {said:?}");
        }
        assert!(said.stderr.contains(&format!("to take it: git merge {BRANCH}")), "{said:?}");
        let range = format!("main..{BRANCH}");
        assert_eq!(self.git(&["log", "--format=%s", &range]), "Add the greeting");
        assert_eq!(self.git(&["show", &format!("{BRANCH}:src/app.txt")]), "hello");
        assert_eq!(self.git(&["status", "--porcelain"]), "", "the user's files are as they were");
        assert_eq!(self.git(&["rev-parse", "--abbrev-ref", "HEAD"]), "main");
        assert_eq!(self.baton(&["verify"]).code, 0);
        let found = Command::new("grep")
            .args(["-rl", "key-of-anthropic"])
            .arg(self.root())
            .output()
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&found.stdout), "", "the key is stored");
        assert!(!said.stdout.contains("key-of-anthropic"), "{said:?}");
    }
}

#[test]
fn claude_code_takes_an_idea_to_a_branch() {
    let repository = PlainRepository::new();
    let said = repository.baton(&["do", "Add a greeting", "--agents", "claude", "--yes"]);
    repository.check_done(&said);
    let settings = std::fs::read_to_string(repository.root().join(".baton/baton.toml")).unwrap();
    assert!(
        settings.contains(r#"env = ["ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"]"#),
        "{settings}"
    );
    let seen = repository.model.seen();
    assert!(seen.iter().any(|it| it.text.contains("Add a greeting")), "the idea is in its prompt");
    let again = repository.baton(&["do", "--continue"]);
    assert_eq!(again.code, 3, "{again:?}");
}

#[test]
fn a_small_budget_stops_claude_code_and_a_persons_answer_goes_on() {
    let repository = PlainRepository::new();
    // A request uses 120: one of the analyst, and three of the four of the implementer. It is ended with all of its
    // tools at rest, so that the conversation goes on as the script has it.
    let budget = ["--agents", "claude", "--yes", "--budget", "500tokens"];
    let said = repository.baton(&[&["do", "Add a greeting"][..], &budget].concat());
    assert_eq!(said.code, 4, "{said:?}");
    assert!(said.stderr.contains("its budget is 500 tokens"), "{said:?}");
    assert!(!Path::new(&repository.root().join("src")).exists());
    let mut n_granted = 0;
    loop {
        let inbox = repository.inbox();
        assert_eq!(inbox["items"][0]["cause"], "budget", "{inbox}");
        let command = inbox["items"][0]["choices"][0]["command"].as_str().unwrap();
        let words: Vec<&str> = command.split_whitespace().skip(1).collect();
        assert!(words.contains(&"continue"), "{command}");
        let granted = repository.baton(&words);
        assert_eq!(granted.code, 0, "{granted:?}");
        n_granted += 1;
        let said = repository.baton(&["do", "--continue", "--yes"]);
        if said.code == 0 {
            return repository.check_done(&said);
        }
        assert_eq!(said.code, 4, "{said:?}");
        assert!(n_granted < 10, "it was never granted enough: {said:?}");
    }
}

#[test]
fn a_small_amount_of_money_stops_claude_code() {
    let repository = PlainRepository::new();
    let budget = ["--agents", "claude", "--yes", "--budget", "0.0001usd"];
    let said = repository.baton(&[&["do", "Add a greeting"][..], &budget].concat());
    assert_eq!(said.code, 4, "{said:?}");
    assert!(said.stderr.contains("its budget is $0.0001"), "{said:?}");
    let inbox = repository.inbox();
    assert_eq!(inbox["items"][0]["cause"], "budget", "{inbox}");
}
