//! Where a `baton do` works: a git repository with a script, or without anything of Baton's and with Claude Code
//! as the user's only program.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use baton_fake_model::{ModelStep, ScriptedConversation};
use serde_json::{Value, json};

use crate::crew;
use crate::http::{PIPELINE, create_body};

const IDEA: &str = "Add a greeting";
/// The story that `baton do` makes of it.
const STORY: &str = "do-add-a-greeting";

pub(super) struct BenchRepository {
    folder: tempfile::TempDir,
    program: PathBuf,
    /// For `baton do` alone.
    env: Vec<(&'static str, String)>,
    /// Which agents it asks for; none where the project names them.
    agents: &'static [&'static str],
}

impl BenchRepository {
    /// The agents of the pipeline wait, and hand on.
    pub(super) fn with_script(program: &Path, work: Duration) -> Result<Self> {
        let repository = Self::new(program, Vec::new(), &[])?;
        let package: Value = serde_json::from_str(crew::PACKAGE)?;
        let actions = PIPELINE.windows(2).filter_map(|pair| {
            let [agent, next] = pair else { return None };
            let wait = format!("{}s", work.as_secs());
            let hand_on = json!({"by": "block", "to": next, "package": package});
            Some((agent.to_string(), json!([{ "wait": wait }, { "hand_on": hand_on }])))
        });
        let agents: serde_json::Map<String, Value> = actions.collect();
        repository.write("tools/script.yaml", &json!({ "agents": agents }).to_string())?;
        repository.done(&mut repository.baton(&["init"]))?;
        repository.write(
            ".baton/baton.toml",
            "[project]\nworkflow = \"story-pipeline\"\n[executors.script]\nkind = \"scripted\"\n\
             script = \"tools/script.yaml\"\n[agents.\"*\"]\nexecutors = [\"script\"]\n",
        )?;
        repository.commit()?;
        repository.done(&mut repository.baton(&["trust", "--yes"]))?;
        Ok(repository)
    }

    /// Claude Code asks this model.
    pub(super) fn with_claude(program: &Path, claude: &Path, url: &str) -> Result<Self> {
        let env =
            vec![("ANTHROPIC_API_KEY", "none".to_owned()), ("ANTHROPIC_BASE_URL", url.to_owned())];
        let repository = Self::new(program, env, &["--agents", "claude"])?;
        let bin = repository.at("bin");
        std::fs::create_dir(&bin)?;
        std::os::unix::fs::symlink(claude, bin.join("claude"))?;
        let settings = json!({"env": {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1"}});
        std::fs::create_dir(repository.at("home/.claude"))?;
        std::fs::write(repository.at("home/.claude/settings.json"), settings.to_string())?;
        repository.commit()?;
        Ok(repository)
    }

    fn new(
        program: &Path,
        env: Vec<(&'static str, String)>,
        agents: &'static [&'static str],
    ) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let repository = Self { folder, program: program.to_owned(), env, agents };
        for name in ["home", "state", "repo"] {
            std::fs::create_dir(repository.at(name))?;
        }
        let identity = "[user]\nname = bench\nemail = bench@localhost\n";
        std::fs::write(repository.at("home/.gitconfig"), identity)?;
        // What the packages name is there, so that the linter lets them through.
        for name in ["src/session.rs", "src/login.rs", "tests/login.rs", "docs/login.md"] {
            repository.write(name, "")?;
        }
        Ok(repository)
    }

    pub(super) fn do_command(&self) -> Command {
        let mut command = self.baton(&["do", IDEA, "--yes"]);
        command.args(self.agents);
        command
    }

    /// Where the user's trust is kept.
    pub(super) fn state(&self) -> PathBuf {
        self.at("state")
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, path: &str, text: &str) -> Result<()> {
        let path = self.at("repo").join(path);
        std::fs::create_dir_all(path.parent().context("it is in a folder")?)?;
        Ok(std::fs::write(path, text)?)
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        let path = std::env::var("PATH").unwrap_or_default();
        command.current_dir(self.at("repo")).env_clear().env("HOME", self.at("home"));
        command.env("PATH", format!("{}:{path}", self.at("bin").display()));
        command.env("XDG_STATE_HOME", self.state()).envs(self.env.iter().cloned());
        command
    }

    fn baton(&self, args: &[&str]) -> Command {
        let mut command = self.command(&self.program);
        command.args(args);
        command
    }

    fn commit(&self) -> Result<()> {
        for args in [&["init", "-q", "."][..], &["add", "-A"], &["commit", "-q", "-m", "Begin"]] {
            let mut git = self.command(Path::new("git"));
            self.done(git.args(args))?;
        }
        Ok(())
    }

    fn done(&self, command: &mut Command) -> Result<()> {
        let done = command.output()?;
        let said = String::from_utf8_lossy(&done.stderr);
        ensure!(done.status.success(), "{command:?}: {said}");
        Ok(())
    }
}

/// Claude Code where npm has put it, else in the `PATH`.
pub(super) fn installed(programs: Option<&Path>) -> Option<PathBuf> {
    let own = programs.map(|it| it.join("node_modules/.bin"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = own.into_iter().chain(std::env::split_paths(&path));
    folders.map(|it| it.join("claude")).find(|it| it.is_file())?.canonicalize().ok()
}

/// What the model says: it looks at the repository, thinks for as long as the agent is to work, and hands on.
pub(super) fn answer(conversation: &ScriptedConversation, work: Duration) -> ModelStep {
    if conversation.n_results == 0 {
        let input = json!({"command": "git status", "description": "Look at the repository"});
        return ModelStep::Tool { name: "Bash".to_owned(), input };
    }
    // One agent works at a time, so no other request waits behind this one.
    std::thread::sleep(work);
    let agent = conversation.text.split_once("You are `").and_then(|it| it.1.split_once('`'));
    let agent = agent.map_or("", |it| it.0);
    let at = PIPELINE.iter().position(|it| *it == agent);
    let next = at.and_then(|at| PIPELINE.get(at + 1)).copied().unwrap_or("nobody");
    ModelStep::Text(format!("```baton\n{}\n```\n", create_body(STORY, agent, next)))
}
