//! `[runner]`, `[executors.NAME]` and `[agents.NAME]` of a `baton.toml`: which programs agents are
//! run by, and where. Nothing here starts any of them.

#[cfg(test)]
mod tests;

use baton_core::agent::AgentInterface;
use baton_core::budget::Budget;
use baton_core::names::AgentId;
use jiff::SignedDuration;

use super::agent_program::{self, AcpSettings, AgentProgram, AgentProgramSettings};
use crate::fields::{FieldAt, Fields};
use crate::file_problem::Problems;
use crate::shown::shown;

pub(crate) const RUNNER_KEYS: &[&str] = &[
    "at_once",
    "workspace",
    "branch",
    "setup",
    "setup_timeout",
    "env",
    "env_files",
    "ports",
    "lease",
    "drain",
    "on_rate_limit",
];
pub(crate) const EXECUTOR_KEYS: &[&str] = &[
    "kind",
    "run",
    "script",
    "model",
    "permissions",
    "ask_within",
    "prompt",
    "timeout",
    "silence",
    "env",
    "at_once",
    "interface",
];
pub(crate) const AGENT_KEYS: &[&str] =
    &["executors", "at_once", "budget", "timeout", "attempts", "starts"];

const KIND_WORDS: [(&str, KindWord); 6] = [
    ("command", KindWord::Command),
    ("scripted", KindWord::Scripted),
    ("claude", KindWord::Program(AgentProgram::Claude)),
    ("codex", KindWord::Program(AgentProgram::Codex)),
    ("gemini", KindWord::Program(AgentProgram::Gemini)),
    ("acp", KindWord::Acp),
];

/// Stands for every agent that has no section of its own.
pub const EVERY_AGENT: &str = "*";

const MOST_AT_ONCE: i64 = 100;
const MOST_LIMIT: i64 = 1000;
const MOST_ENTRIES: usize = 100;
const MOST_WORDS: usize = 50;

/// How agents are run. Without an executor, none is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunnerSettings {
    /// Agents at work at the same time.
    pub at_once: usize,
    /// Left out: a worktree where the project is a git repository, else in place.
    pub workspace: Option<WorkspaceKind>,
    /// The template of a branch's name.
    pub branch: Option<String>,
    /// Command lines for a new workspace.
    pub setup: Vec<String>,
    pub setup_timeout: SignedDuration,
    /// For every agent, check and set-up command. `{port}` is the port of the workspace.
    pub env: Vec<(String, String)>,
    /// Files of the project, copied into a new workspace.
    pub env_files: Vec<String>,
    /// The first and the last port that a workspace may get; left out: any that is free.
    pub ports: Option<(u16, u16)>,
    pub lease: SignedDuration,
    /// How long agents may go on once the runner has to stop.
    pub drain: SignedDuration,
    pub on_rate_limit: OnRateLimit,
    pub executors: Vec<ExecutorSettings>,
    pub agents: Vec<AgentSettings>,
}

/// What becomes of work when every executor of its agent is at its rate limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnRateLimit {
    /// It waits, and goes on by itself when the first limit ends.
    Wait,
    /// A person is asked.
    Ask,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkspaceKind {
    Worktree,
    InPlace,
}

/// One way to run an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecutorSettings {
    pub name: String,
    pub kind: ExecutorKind,
    pub prompt: PromptDelivery,
    pub timeout: SignedDuration,
    /// After this long without output a message on the run says so; the agent goes on.
    pub silence: SignedDuration,
    /// Names of variables of the runner's own environment that are passed on.
    pub env: Vec<String>,
    pub at_once: Option<usize>,
    /// How the prompt tells the agent to hand on.
    pub interface: AgentInterface,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExecutorKind {
    /// A program and its arguments, without a shell.
    Command(Vec<String>),
    /// A script of the project that Baton itself plays.
    Scripted(String),
    /// A coding agent's own program.
    Program(AgentProgramSettings),
    /// Any agent that speaks the Agent Client Protocol.
    Acp(AcpSettings),
}

/// A word that `kind` takes.
#[derive(Clone, Copy)]
enum KindWord {
    Command,
    Scripted,
    Program(AgentProgram),
    Acp,
}

/// How an agent gets its prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptDelivery {
    Stdin,
    /// Its path is in `BATON_PROMPT_FILE`.
    File,
}

/// The executors of an agent, in the order to try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentSettings {
    /// `None` for every agent that is not named.
    pub agent: Option<AgentId>,
    pub executors: Vec<String>,
    pub at_once: Option<usize>,
    /// What the agent may use in one run before a person is asked.
    pub budget: Option<Budget>,
    /// The most time of one attempt, where the executor allows more.
    pub timeout: Option<SignedDuration>,
    /// How often one handoff is tried, where the workflow allows more; then a person is asked.
    pub attempts: Option<u32>,
    /// How often the agent is started in one run before a person is asked.
    pub starts: Option<u32>,
}

impl Default for RunnerSettings {
    fn default() -> Self {
        Self {
            at_once: 2,
            workspace: None,
            branch: None,
            setup: Vec::new(),
            setup_timeout: SignedDuration::from_mins(10),
            env: Vec::new(),
            env_files: Vec::new(),
            ports: None,
            lease: SignedDuration::from_secs(20),
            drain: SignedDuration::from_secs(30),
            on_rate_limit: OnRateLimit::Wait,
            executors: Vec::new(),
            agents: Vec::new(),
        }
    }
}

impl RunnerSettings {
    /// True where no agent has a program.
    pub fn is_idle(&self) -> bool {
        self.agents.is_empty()
    }

    pub fn executor(&self, name: &str) -> Option<&ExecutorSettings> {
        self.executors.iter().find(|it| it.name == name)
    }

    /// The section of an agent: its own, else that of every agent.
    pub fn agent(&self, agent: &AgentId) -> Option<&AgentSettings> {
        let own = self.agents.iter().find(|it| it.agent.as_ref() == Some(agent));
        own.or_else(|| self.agents.iter().find(|it| it.agent.is_none()))
    }
}

/// Reads the three sections. An agent that names an executor that is not there is a problem.
pub(super) fn settings(top: &Fields<'_>, problems: &mut Problems) -> RunnerSettings {
    let mut settings = RunnerSettings::default();
    if let Some(field) = top.get("runner") {
        runner(&field, &mut settings, problems);
    }
    if let Some(field) = top.get("executors") {
        for (member, field) in bounded(&field, problems) {
            settings.executors.extend(executor(&member, &field, problems));
        }
    }
    if let Some(field) = top.get("agents") {
        for (member, field) in bounded(&field, problems) {
            let agent = agent(&member, &field, &settings.executors, problems);
            settings.agents.extend(agent);
        }
    }
    settings
}

fn bounded<'a>(field: &FieldAt<'a>, problems: &mut Problems) -> Vec<(String, FieldAt<'a>)> {
    let entries = field.entries(problems);
    if entries.len() > MOST_ENTRIES {
        let message = format!("has {} entries; the most is {MOST_ENTRIES}", entries.len());
        field.problem("too_many", message, problems);
        return Vec::new();
    }
    entries.into_iter().map(|(member, field)| (member.key.clone(), field)).collect()
}

fn runner(field: &FieldAt<'_>, settings: &mut RunnerSettings, problems: &mut Problems) {
    let Some(fields) = Fields::open(field, RUNNER_KEYS, problems) else { return };
    if let Some(it) = fields.get("at_once").and_then(|it| count(&it, problems)) {
        settings.at_once = it;
    }
    let kinds = [("worktree", WorkspaceKind::Worktree), ("in-place", WorkspaceKind::InPlace)];
    settings.workspace = fields.get("workspace").and_then(|it| it.choice(&kinds, problems));
    settings.branch = fields.get("branch").and_then(|it| branch(&it, problems));
    if let Some(it) = fields.get("setup") {
        settings.setup = it.list(problems).iter().filter_map(|it| it.line(problems)).collect();
    }
    if let Some(it) = fields.get("setup_timeout").and_then(|it| it.duration(problems)) {
        settings.setup_timeout = it;
    }
    if let Some(it) = fields.get("env") {
        let pairs = bounded(&it, problems).into_iter().filter_map(|(name, value)| {
            let name = variable(&name, &value, problems)?;
            Some((name, value.line(problems)?))
        });
        settings.env = pairs.collect();
    }
    if let Some(it) = fields.get("env_files") {
        let files = it.list(problems);
        settings.env_files = files.iter().filter_map(|it| file(it, problems)).collect();
    }
    if let Some(it) = fields.get("drain").and_then(|it| it.duration(problems)) {
        settings.drain = it;
    }
    let choices = [("wait", OnRateLimit::Wait), ("ask", OnRateLimit::Ask)];
    if let Some(it) = fields.get("on_rate_limit").and_then(|it| it.choice(&choices, problems)) {
        settings.on_rate_limit = it;
    }
    settings.ports = fields.get("ports").and_then(|it| ports(&it, problems));
    if let Some(it) = fields.get("lease")
        && let Some(lease) = it.duration(problems)
    {
        if (1..=3600).contains(&lease.as_secs()) {
            settings.lease = lease;
        } else {
            it.problem("wrong_duration", "must be from 1 second to 1 hour", problems);
        }
    }
}

fn executor(name: &str, field: &FieldAt<'_>, problems: &mut Problems) -> Option<ExecutorSettings> {
    let fields = Fields::open(field, EXECUTOR_KEYS, problems)?;
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "-_".contains(it);
    if name.is_empty() || name.len() > 64 || !name.chars().all(is_plain) {
        let message = format!("`{}` is no name: use letters, digits, `-` and `_`", shown(name));
        field.problem("bad_name", message, problems);
        return None;
    }
    let word = fields.required("kind", problems)?.choice(&KIND_WORDS, problems)?;
    let is_agent = matches!(word, KindWord::Program(_) | KindWord::Acp);
    for (key, is_right, right) in [
        ("script", matches!(word, KindWord::Scripted), "the kind `scripted`"),
        ("run", !matches!(word, KindWord::Scripted), "kinds that start a program"),
        ("prompt", matches!(word, KindWord::Command), "the kind `command`"),
        ("model", is_agent, "`claude`, `codex`, `gemini` and `acp`"),
        ("permissions", is_agent, "`claude`, `codex`, `gemini` and `acp`"),
        ("ask_within", matches!(word, KindWord::Acp), "the kind `acp`"),
    ] {
        if let Some(it) = fields.get(key).filter(|_| !is_right) {
            it.problem("not_both", format!("is for {right}"), problems);
        }
    }
    let (kind, usual_interface) = match word {
        KindWord::Command => {
            let words = fields.required("run", problems).and_then(|it| command(&it, problems));
            (ExecutorKind::Command(words?), AgentInterface::default())
        }
        KindWord::Scripted => {
            let script = fields.required("script", problems).and_then(|it| file(&it, problems));
            (ExecutorKind::Scripted(script?), AgentInterface::default())
        }
        // A printed block needs no permission and no network.
        KindWord::Program(program) => {
            let settings = agent_program::settings(program, &fields, problems);
            (ExecutorKind::Program(settings?), AgentInterface::Block)
        }
        KindWord::Acp => {
            let settings = agent_program::acp_settings(name, &fields, problems);
            (ExecutorKind::Acp(settings?), AgentInterface::Block)
        }
    };
    let deliveries = [("stdin", PromptDelivery::Stdin), ("file", PromptDelivery::File)];
    let prompt = fields.get("prompt").and_then(|it| it.choice(&deliveries, problems));
    let interfaces = AgentInterface::ALL.map(|it| (it.name(), it));
    let interface = fields.get("interface").and_then(|it| it.choice(&interfaces, problems));
    if let (ExecutorKind::Program(settings), Some(interface)) = (&kind, interface) {
        agent_program::check_interface(settings, interface, &fields, problems);
    }
    let mut env = Vec::new();
    for it in fields.get("env").map(|it| it.list(problems)).unwrap_or_default() {
        let name = it.line(problems);
        env.extend(name.and_then(|name| variable(&name, &it, problems)));
    }
    let mut span = |key: &str, usual| match fields.get(key) {
        Some(it) => it.duration(problems).unwrap_or(usual),
        None => usual,
    };
    let timeout = span("timeout", SignedDuration::from_mins(30));
    let silence = span("silence", SignedDuration::from_mins(5));
    Some(ExecutorSettings {
        name: name.to_owned(),
        kind,
        prompt: prompt.unwrap_or(PromptDelivery::Stdin),
        timeout,
        silence,
        env,
        at_once: fields.get("at_once").and_then(|it| count(&it, problems)),
        interface: interface.unwrap_or(usual_interface),
    })
}

fn agent(
    name: &str,
    field: &FieldAt<'_>,
    executors: &[ExecutorSettings],
    problems: &mut Problems,
) -> Option<AgentSettings> {
    let fields = Fields::open(field, AGENT_KEYS, problems)?;
    let agent = match name {
        EVERY_AGENT => None,
        name => match AgentId::parse(name) {
            Ok(agent) if agent.is_human() || agent.is_orchestrator() => {
                field.problem("bad_name", "is not run by a program", problems);
                return None;
            }
            Ok(agent) => Some(agent),
            Err(error) => {
                field.problem("bad_name", error.to_string(), problems);
                return None;
            }
        },
    };
    let mut named = Vec::new();
    let list = fields.required("executors", problems)?.list(problems);
    if list.is_empty() {
        field.problem("blank", "names no executor", problems);
    }
    for it in list {
        let Some(name) = it.line(problems) else { continue };
        if !executors.iter().any(|it| it.name == name) {
            let known: Vec<&str> = executors.iter().map(|it| it.name.as_str()).collect();
            let message = format!(
                "`{}` is no executor: {}",
                shown(&name),
                crate::suggest::did_you_mean(&name, &known)
            );
            it.problem("unknown_executor", message, problems);
            continue;
        }
        named.push(name);
    }
    let at_once = fields.get("at_once").and_then(|it| count(&it, problems));
    let budget = fields.get("budget").and_then(|it| it.budget(problems));
    let timeout = fields.get("timeout").and_then(|it| it.duration(problems));
    let mut limit = |key: &str| {
        let number = fields.get(key)?.whole_number(1..=MOST_LIMIT, problems)?;
        u32::try_from(number).ok()
    };
    let (attempts, starts) = (limit("attempts"), limit("starts"));
    Some(AgentSettings { agent, executors: named, at_once, budget, timeout, attempts, starts })
}

fn count(field: &FieldAt<'_>, problems: &mut Problems) -> Option<usize> {
    field.whole_number(1..=MOST_AT_ONCE, problems).and_then(|it| usize::try_from(it).ok())
}

pub(super) fn command(field: &FieldAt<'_>, problems: &mut Problems) -> Option<Vec<String>> {
    let words = field.list(problems);
    if words.is_empty() || words.len() > MOST_WORDS {
        let message = format!(
            "has {} words: write the program and its arguments, such as `[\"python3\", \"agent.py\"]`, \
             at most {MOST_WORDS}",
            words.len()
        );
        field.problem("bad_command", message, problems);
        return None;
    }
    words.iter().map(|it| it.line(problems)).collect()
}

/// A file of the project: a relative path that stays inside.
fn file(field: &FieldAt<'_>, problems: &mut Problems) -> Option<String> {
    let path = field.line(problems)?;
    let is_plain = |it: &str| !it.is_empty() && it != "." && it != "..";
    if !path.split('/').all(is_plain) || path.contains(['\\', ':']) {
        let message = format!("`{}` is not a file inside the project", shown(&path));
        field.problem("bad_file", message, problems);
        return None;
    }
    Some(path)
}

fn variable(name: &str, field: &FieldAt<'_>, problems: &mut Problems) -> Option<String> {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || it == '_';
    if name.is_empty()
        || name.starts_with(|it: char| it.is_ascii_digit())
        || !name.chars().all(is_plain)
    {
        let message = format!("`{}` is no name of a variable", shown(name));
        field.problem("bad_name", message, problems);
        return None;
    }
    if name.starts_with("BATON_") {
        field.problem("bad_name", "is set by Baton itself", problems);
        return None;
    }
    Some(name.to_owned())
}

/// The parts of a branch's name.
pub const BRANCH_PARTS: [&str; 5] = ["{type}", "{number}", "{slug}", "{story}", "{run}"];

fn branch(field: &FieldAt<'_>, problems: &mut Problems) -> Option<String> {
    let template = field.line(problems)?;
    let plain = BRANCH_PARTS.iter().fold(template.clone(), |it, part| it.replace(part, "x"));
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "-_./".contains(it);
    let is_odd = plain.starts_with(['-', '/', '.'])
        || plain.ends_with(['/', '.'])
        || plain.contains("..")
        || plain.contains("//")
        || !plain.chars().all(is_plain);
    if is_odd {
        let parts = BRANCH_PARTS.join(", ");
        let message = format!(
            "`{}` makes no name of a branch: use letters, digits, `-`, `/` and {parts}",
            shown(&template)
        );
        field.problem("bad_branch", message, problems);
        return None;
    }
    Some(template)
}

/// `[4300, 4399]`.
fn ports(field: &FieldAt<'_>, problems: &mut Problems) -> Option<(u16, u16)> {
    let items = field.list(problems);
    let mut numbers = items.iter().filter_map(|it| it.whole_number(1024..=65_535, problems));
    let numbers: Vec<u16> = numbers.by_ref().filter_map(|it| u16::try_from(it).ok()).collect();
    match numbers.as_slice() {
        [first, last] if first <= last => Some((*first, *last)),
        _ => {
            field.problem(
                "wrong_number",
                "is the first and the last port: `[4300, 4399]`",
                problems,
            );
            None
        }
    }
}
