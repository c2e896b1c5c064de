//! Real coding agents, on a scripted model: they get Baton's prompt, use their own tools in the worktree, and
//! hand on by a printed block. `cargo xtask test` runs these with `BATON_TEST_AGENTS=1`, which installs the
//! programs; they are left out otherwise.

mod do_work;
mod gemini;

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use baton_fake_model::{FakeModel, ModelStep, ScriptedConversation};
use serde_json::{Value, json};

use super::Workshop;
use crate::serve::Served;

/// A workshop whose agents are real programs, and their model.
struct RealAgents {
    workshop: Workshop,
    model: FakeModel,
    home: tempfile::TempDir,
}

/// The folder into which `cargo xtask test` installs the programs.
fn program(name: &str) -> PathBuf {
    let folder = std::env::var_os("BATON_AGENT_PROGRAMS").unwrap();
    let path = PathBuf::from(folder).join("node_modules/.bin").join(name);
    assert!(path.exists(), "{} is not installed", path.display());
    path
}

impl RealAgents {
    /// `agents`: the section of every agent.
    fn new(
        agents: &str,
        script: impl Fn(&ScriptedConversation) -> ModelStep + Send + Sync + 'static,
    ) -> Self {
        let model = FakeModel::start(script);
        let workshop = Workshop::new("curl", "");
        let url = model.url();
        let (claude, codex) = (program("claude"), program("codex"));
        let (claude_acp, codex_acp) = (program("claude-agent-acp"), program("codex-acp"));
        let gemini = program("gemini");
        let provider = format!(
            "model_providers.fake={{name='fake',base_url='{url}/v1',wire_api='responses',\
             env_key='FAKE_KEY',request_max_retries=0,stream_max_retries=0}}"
        );
        let settings = format!(
            "[project]\nworkflow = \"story-pipeline\"\n[runner]\nlease = \"2s\"\n\
             [runner.env]\nANTHROPIC_BASE_URL = \"{url}\"\nDISABLE_AUTOUPDATER = \"1\"\n\
             GOOGLE_GEMINI_BASE_URL = \"{url}\"\n\
             CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC = \"1\"\nCLAUDE_CODE_MAX_RETRIES = \"0\"\n\
             [executors.claude]\nkind = \"claude\"\nrun = [{claude:?}]\nenv = [\"ANTHROPIC_API_KEY\"]\n\
             timeout = \"60s\"\n\
             [executors.codex]\nkind = \"codex\"\nmodel = \"fake-1\"\nenv = [\"FAKE_KEY\"]\n\
             run = [{codex:?}, \"-c\", \"model_provider=fake\", \"-c\", {provider:?}]\ntimeout = \"60s\"\n\
             [executors.gemini]\nkind = \"gemini\"\nmodel = \"gemini-2.5-flash\"\nrun = [{gemini:?}]\n\
             env = [\"GEMINI_API_KEY\"]\ntimeout = \"60s\"\n\
             [executors.claude-acp]\nkind = \"acp\"\nrun = [{claude_acp:?}]\ntimeout = \"60s\"\n\
             env = [\"ANTHROPIC_API_KEY\"]\npermissions = \"edit\"\n\
             [executors.asking]\nkind = \"acp\"\nrun = [{claude_acp:?}]\ntimeout = \"60s\"\n\
             env = [\"ANTHROPIC_API_KEY\"]\n\
             [executors.codex-acp]\nkind = \"acp\"\nrun = [{codex_acp:?}]\ntimeout = \"60s\"\n\
             env = [\"FAKE_KEY\"]\npermissions = \"edit\"\n\
             {agents}"
        );
        workshop.write(".baton/baton.toml", &settings);
        workshop.commit("Use real agents");
        workshop.ok(&["trust", "--yes"]);
        let home = home_without_logins(&url);
        Self { workshop, model, home }
    }

    fn serves(&self) -> Served {
        let mut command = self.workshop.command(&["serve", "--listen", "127.0.0.1:0"]);
        self.environment(&mut command);
        Served::listening(command)
    }

    fn environment(&self, command: &mut Command) {
        command.env("HOME", self.home.path());
        command.env("ANTHROPIC_API_KEY", "key-of-anthropic").env("FAKE_KEY", "key-of-openai");
        command.env("GEMINI_API_KEY", "key-of-google");
    }
}

/// A home without logins or settings of the user's, in which the programs ask this model.
fn home_without_logins(url: &str) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = home.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write(".gitconfig", "[user]\nname = agent\nemail = agent@localhost\n");
    let provider = format!(
        "model = \"fake-1\"\nmodel_provider = \"fake\"\n[model_providers.fake]\nname = \"fake\"\n\
         base_url = \"{url}/v1\"\nwire_api = \"responses\"\nenv_key = \"FAKE_KEY\"\n\
         request_max_retries = 0\nstream_max_retries = 0\n"
    );
    write(".codex/config.toml", &provider);
    // With an address of its own Gemini CLI asks how to log in, even with a key.
    write(".gemini/settings.json", r#"{"security":{"auth":{"selectedType":"gemini-api-key"}}}"#);
    home
}

/// Which agent a conversation is with.
fn agent(conversation: &ScriptedConversation) -> &str {
    let (_, rest) = conversation.text.split_once("You are `").unwrap();
    rest.split_once('`').map_or(rest, |it| it.0)
}

/// The block with which an agent of the story pipeline hands on.
fn block(story: &str, agent: &str) -> String {
    let discoveries = json!({"learnings": ["The greeting is read at start"],
        "gotchas": ["No newline, no greeting"], "decisions": ["One file instead of a table"]});
    let (to, payload) = match agent {
        "analyst" => (
            "implementer",
            json!({"plan": "1. Write src/app.txt. 2. Check that it greets.", "risks": ["A typo"],
                "files_to_modify": ["README.md"], "approach": "One file, so that it can be tested alone",
                "questions_resolved": true}),
        ),
        "implementer" => (
            "reviewer",
            json!({"summary": "src/app.txt greets; 1 test covers it", "files_changed": ["src/app.txt"],
                "tests_added": true, "build_passes": true, "discoveries": discoveries}),
        ),
        "reviewer" => (
            "refactorer",
            json!({"approved": true, "summary": "src/app.txt greets as the plan says",
                "review_notes": "Read src/app.txt and ran its test: both good",
                "files_changed": ["src/app.txt"], "discoveries": discoveries}),
        ),
        "refactorer" => (
            "documenter",
            json!({"refactored": false, "files_changed": ["src/app.txt"], "discoveries": discoveries,
                "refactor_summary": "src/app.txt has one line, and stays as it is"}),
        ),
        "documenter" => (
            "orchestrator",
            json!({"learnings_added": 1, "gotchas_added": 1, "docs_updated": true,
                "notes": "README.md says where the greeting is"}),
        ),
        other => panic!("no such agent: {other}"),
    };
    let request = json!({"action": "create", "storyId": story, "fromAgent": agent, "toAgent": to,
        "payload": payload});
    format!("I am done, and hand on.\n\n```json\n{request}\n```\n")
}

/// Whose program a conversation is with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ModelUser {
    Claude,
    Codex,
    Gemini,
}

impl ModelUser {
    fn of(conversation: &ScriptedConversation) -> Self {
        match conversation.key.as_str() {
            it if it.contains("anthropic") => Self::Claude,
            it if it.contains("google") => Self::Gemini,
            _ => Self::Codex,
        }
    }
}

/// The implementer writes a file, and commits it if it can; all hand on by a block.
fn works(conversation: &ScriptedConversation) -> ModelStep {
    works_on("s1", conversation)
}

fn works_on(story: &str, conversation: &ScriptedConversation) -> ModelStep {
    let agent = agent(conversation);
    let tool = |name: &str, input| ModelStep::Tool { name: name.to_owned(), input };
    let run = |line: &str| tool("Bash", json!({"command": line, "description": "Do the work"}));
    let file = json!({"file_path": "src/app.txt", "content": "hello\n"});
    match (agent, conversation.n_results, ModelUser::of(conversation)) {
        ("implementer", 0, ModelUser::Claude) => tool("Write", file),
        ("implementer", 1, ModelUser::Claude) => run("git add -A"),
        ("implementer", 2, ModelUser::Claude) => run("git commit -q -m \"Add the greeting\""),
        ("implementer", 0, ModelUser::Gemini) => tool("write_file", file),
        ("implementer", 0, ModelUser::Codex) => {
            tool("exec_command", json!({"cmd": "mkdir -p src && echo hello > src/app.txt"}))
        }
        _ => ModelStep::Text(block(story, agent)),
    }
}

fn messages(served: &Served) -> String {
    served.curl(&[], "/api/v1/runs/1/messages?limit=500").body.to_string()
}

/// The pipeline is completed, and the commit is on the branch; nothing of the keys is anywhere.
#[track_caller]
fn check_completed(agents: &RealAgents) -> Vec<Value> {
    let workshop = &agents.workshop;
    workshop.until_completed("s1");
    let log = workshop.git(&["log", "--format=%s", "feat/story-s1"]);
    // What a program has not committed Baton commits, under the handoff of the attempt that handed on.
    let is_own =
        |it: &&str| *it == "Add the greeting" || it.starts_with("Work of implementer on s1 (HO-00");
    let n_commits = log.lines().filter(is_own).count();
    let file = workshop.git(&["show", "feat/story-s1:src/app.txt"]);
    assert_eq!(file, "hello");
    let seen = agents.model.seen();
    let results: Vec<&str> = seen.iter().map(|it| it.last_result.as_str()).collect();
    assert_eq!(n_commits, 1, "{log}\n{results:#?}");
    let data = workshop.path().join(".baton/data");
    for key in ["key-of-anthropic", "key-of-openai", "key-of-google"] {
        let found = Command::new("grep").args(["-rl", key]).arg(&data).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&found.stdout), "", "{key} is stored");
    }
    workshop.handoffs("s1")
}

#[test]
fn claude_code_completes_a_pipeline() {
    let agents = RealAgents::new("[agents.\"*\"]\nexecutors = [\"claude\"]\n", works);
    let served = agents.serves();
    agents.workshop.start("s1");
    check_completed(&agents);
    let messages = messages(&served);
    assert!(messages.contains("[Write]") && messages.contains("src/app.txt"), "{messages}");
    assert!(messages.contains("tokens in"), "{messages}");
}

#[test]
fn codex_completes_a_pipeline() {
    let agents = RealAgents::new("[agents.\"*\"]\nexecutors = [\"codex\"]\n", works);
    let served = agents.serves();
    agents.workshop.start("s1");
    check_completed(&agents);
    assert!(messages(&served).contains("[command]"), "{}", messages(&served));
}

#[test]
fn at_a_rate_limit_the_next_program_goes_on_with_the_same_package() {
    let script = |it: &ScriptedConversation| match ModelUser::of(it) {
        ModelUser::Claude => ModelStep::RateLimited { resets_at: 1_900_000_000 },
        ModelUser::Codex | ModelUser::Gemini => works(it),
    };
    let agents = RealAgents::new("[agents.\"*\"]\nexecutors = [\"claude\", \"codex\"]\n", script);
    let served = agents.serves();
    agents.workshop.start("s1");
    let handoffs = check_completed(&agents);
    assert!(handoffs.iter().all(|it| it["attempt"] == 1), "{handoffs:?}");
    let messages = messages(&served);
    assert!(messages.contains("`codex` goes on with the same package and workspace"), "{messages}");
}

#[test]
fn where_every_program_is_at_its_limit_the_work_waits_for_the_first_to_end() {
    let script = |_: &ScriptedConversation| ModelStep::RateLimited { resets_at: 4_000_000_000 };
    let agents = RealAgents::new("[agents.\"*\"]\nexecutors = [\"claude\", \"codex\"]\n", script);
    let _served = agents.serves();
    agents.workshop.start("s1");
    let run = agents.workshop.until("s1", "it waits", |it| it["baton"] == "parked");
    assert_eq!(run["status"], "open", "{run}");
    let handoffs = agents.workshop.handoffs("s1");
    assert!(handoffs.iter().all(|it| it["attempt"] == 1), "{handoffs:?}");
}

#[test]
fn a_program_that_is_killed_goes_on_with_its_conversation() {
    let is_killed = Arc::new(AtomicBool::new(false));
    let has_hung = is_killed.clone();
    let script = move |it: &ScriptedConversation| {
        let is_first = agent(it) == "implementer" && it.n_results == 1;
        match is_first && !has_hung.swap(true, Ordering::SeqCst) {
            true => ModelStep::Silence,
            false => works(it),
        }
    };
    let agents = RealAgents::new("[agents.\"*\"]\nexecutors = [\"claude\"]\n", script);
    let _served = agents.serves();
    agents.workshop.start("s1");
    agents.workshop.until("s1", "the model is silent", |_| is_killed.load(Ordering::SeqCst));
    let record = attempt_record(&agents.workshop, "implementer");
    let pid = record["process"]["pid"].as_i64().unwrap().to_string();
    assert!(Command::new("kill").args(["-9", &pid]).status().unwrap().success());
    check_completed(&agents);
    let seen = agents.model.seen();
    let last = seen.iter().rfind(|it| agent(it) == "implementer").unwrap();
    assert!(last.text.contains("You were interrupted"), "{}", last.text);
    assert!(
        last.n_results >= 3,
        "its first answer is still in the conversation: {}",
        last.n_results
    );
}

#[test]
fn claude_and_codex_complete_a_pipeline_over_the_agent_client_protocol() {
    let agents = "[agents.implementer]\nexecutors = [\"claude-acp\"]\n\
                  [agents.\"*\"]\nexecutors = [\"codex-acp\"]\n";
    let agents = RealAgents::new(agents, works);
    let served = agents.serves();
    agents.workshop.start("s1");
    check_completed(&agents);
    let messages = messages(&served);
    assert!(messages.contains("[edit] Write"), "{messages}");
    assert!(messages.contains("(claude-acp) used"), "{messages}");
    assert!(messages.contains("(codex-acp) used"), "{messages}");
}

#[test]
fn codex_edits_over_the_agent_client_protocol() {
    let agents = "[agents.implementer]\nexecutors = [\"codex-acp\"]\n\
                  [agents.\"*\"]\nexecutors = [\"claude\"]\n";
    let agents = RealAgents::new(agents, works);
    let served = agents.serves();
    agents.workshop.start("s1");
    check_completed(&agents);
    assert!(messages(&served).contains("[execute] mkdir"), "{}", messages(&served));
}

#[test]
fn a_person_denies_a_command_and_allows_an_edit_of_a_real_agent() {
    let script = |it: &ScriptedConversation| {
        let tool = |name: &str, input| ModelStep::Tool { name: name.to_owned(), input };
        match (agent(it), it.n_results) {
            ("implementer", 0) => {
                tool("Bash", json!({"command": "touch forbidden", "description": "Try it"}))
            }
            ("implementer", 1) => {
                tool("Write", json!({"file_path": "src/app.txt", "content": "hello\n"}))
            }
            _ => ModelStep::Text(block("s1", agent(it))),
        }
    };
    let agents = "[agents.implementer]\nexecutors = [\"asking\"]\n\
                  [agents.\"*\"]\nexecutors = [\"claude\"]\n";
    let agents = RealAgents::new(agents, script);
    let served = agents.serves();
    agents.workshop.start("s1");
    let first = super::acp::asked(&agents.workshop, "touch forbidden");
    agents.workshop.ok(&["reject", &first]);
    let second = super::acp::asked(&agents.workshop, "app.txt");
    agents.workshop.ok(&["approve", &second]);
    check_completed(&agents);
    let seen = agents.model.seen();
    let told = seen.iter().any(|it| it.last_result.contains("refused"));
    assert!(told, "the model is told that it was denied");
    let files = agents.workshop.git(&["ls-tree", "-r", "--name-only", "feat/story-s1"]);
    assert!(!files.contains("forbidden"), "{files}");
    assert!(messages(&served).contains("a person denied it"), "{}", messages(&served));
}

#[test]
fn a_killed_agent_of_the_protocol_goes_on_with_its_session() {
    let is_silent = Arc::new(AtomicBool::new(false));
    let has_hung = is_silent.clone();
    let script = move |it: &ScriptedConversation| {
        let is_first = agent(it) == "implementer" && it.n_results == 1;
        match is_first && !has_hung.swap(true, Ordering::SeqCst) {
            true => ModelStep::Silence,
            false => works(it),
        }
    };
    let agents = "[agents.implementer]\nexecutors = [\"claude-acp\"]\n\
                  [agents.\"*\"]\nexecutors = [\"claude\"]\n";
    let agents = RealAgents::new(agents, script);
    let _served = agents.serves();
    agents.workshop.start("s1");
    agents.workshop.until("s1", "the model is silent", |_| is_silent.load(Ordering::SeqCst));
    let record = attempt_record(&agents.workshop, "implementer");
    assert!(record["report"]["session"].is_string(), "on disk while it works: {record}");
    let pid = record["process"]["pid"].as_i64().unwrap().to_string();
    assert!(Command::new("kill").args(["-9", &pid]).status().unwrap().success());
    check_completed(&agents);
    let seen = agents.model.seen();
    let last = seen.iter().rfind(|it| agent(it) == "implementer").unwrap();
    assert!(last.text.contains("You were interrupted"), "{}", last.text);
    assert!(last.n_results >= 2, "its first answer is still there: {}", last.n_results);
}

/// The newest attempt of an agent, as the runner has it on disk.
pub(super) fn attempt_record(workshop: &Workshop, agent: &str) -> Value {
    let attempts = workshop.path().join(".baton/data/runner/attempts");
    let folders = std::fs::read_dir(attempts).unwrap().map(|it| it.unwrap().path());
    let records = folders.filter_map(|it| {
        let text = std::fs::read_to_string(it.join("attempt.json")).ok()?;
        serde_json::from_str::<Value>(&text).ok()
    });
    let mut own: Vec<Value> = records.filter(|it| it["agent"] == agent).collect();
    own.sort_by_key(|it| it["number"].as_u64());
    own.pop().unwrap()
}
