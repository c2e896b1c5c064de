//! Which coding agents' programs are installed here, and whether they look logged in. Nothing is sent to
//! their makers.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use baton_files::Dir;
use baton_wire::project_file::agent_program::{ACP_AGENTS, AgentProgram};

use crate::process::{ProgramSpec, run_to_end};

/// One program that Baton knows how to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DetectedProgram {
    pub program: AgentProgram,
    /// What it says of its version; `None` where it is not installed, or does not answer.
    pub version: Option<String>,
    pub login: ProgramLogin,
    /// The variable that is set to where it sends its requests, in the place of its maker's address. The
    /// executor's `env` has to list it.
    pub address: Option<&'static str>,
}

/// What a program would log in with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramLogin {
    /// A variable of the environment, which the executor's `env` has to list.
    Variable(&'static str),
    /// What it keeps in the user's home.
    Stored,
    Missing,
}

/// Printing a version takes a program of this size a second or two.
const MOST_TIME: Duration = Duration::from_secs(15);

/// Asks each program for its version, with the user's `PATH` and `HOME` alone.
pub async fn detect(env: &[(String, String)]) -> Vec<DetectedProgram> {
    // At once: each may take its time.
    let start = |program| {
        let env = env.to_vec();
        (program, tokio::spawn(async move { version(program, &env).await }))
    };
    let asked: Vec<_> = AgentProgram::ALL.into_iter().map(start).collect();
    let mut found = Vec::new();
    for (program, version) in asked {
        let version = version.await.ok().flatten();
        let (login, address) = (login(program, env), address(program, env));
        found.push(DetectedProgram { program, version, login, address });
    }
    found
}

async fn version(program: AgentProgram, env: &[(String, String)]) -> Option<String> {
    let needed = |(name, _): &&(String, String)| ["PATH", "HOME"].contains(&name.as_str());
    let spec = ProgramSpec {
        program: program.name().into(),
        args: vec!["--version".into()],
        folder: std::env::temp_dir(),
        env: env.iter().filter(needed).cloned().collect(),
        input: None,
    };
    let run = run_to_end(&spec, MOST_TIME).await.ok()?;
    let line = run.answer.lines().map(str::trim).find(|it| !it.is_empty())?.to_owned();
    run.status.is_some_and(|it| it.success()).then_some(line)
}

fn login(program: AgentProgram, env: &[(String, String)]) -> ProgramLogin {
    let (variables, files): (&[&str], &[&str]) = match program {
        AgentProgram::Claude => {
            (&["ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"], &[".claude/.credentials.json"])
        }
        // It logs in by `OPENAI_API_KEY` only once, and keeps that in its file.
        AgentProgram::Codex => (&["CODEX_API_KEY"], &[".codex/auth.json"]),
        AgentProgram::Gemini => (&["GEMINI_API_KEY"], &[".gemini/oauth_creds.json"]),
    };
    let home = value(env, "HOME").and_then(|it| Dir::open(Path::new(it)).ok());
    let is_stored = |file: &&str| {
        home.as_ref().is_some_and(|it| it.entry(file).is_ok_and(|entry| entry.is_some()))
    };
    if files.iter().any(is_stored) {
        return ProgramLogin::Stored;
    }
    let variable = variables.iter().find(|it| value(env, it).is_some_and(|it| !it.is_empty()));
    variable.map_or(ProgramLogin::Missing, |it| ProgramLogin::Variable(it))
}

fn address(program: AgentProgram, env: &[(String, String)]) -> Option<&'static str> {
    let name = match program {
        AgentProgram::Claude => "ANTHROPIC_BASE_URL",
        AgentProgram::Codex => "OPENAI_BASE_URL",
        AgentProgram::Gemini => "GOOGLE_GEMINI_BASE_URL",
    };
    value(env, name).filter(|it| !it.is_empty()).map(|_| name)
}

fn value<'a>(env: &'a [(String, String)], name: &str) -> Option<&'a str> {
    env.iter().find(|(it, _)| it == name).map(|(_, value)| value.as_str())
}

/// The agents of the Agent Client Protocol whose programs are in the `PATH`: the names that an executor
/// may have without `run`. They are not started: each would wait for a conversation.
pub fn detect_acp(env: &[(String, String)]) -> Vec<&'static str> {
    let path = env.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value.as_str());
    let folders: Vec<&str> = path.unwrap_or_default().split(':').collect();
    let is_program = |path: &Path| {
        let found = path.metadata();
        found.is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
    };
    let is_here = |program: &str| folders.iter().any(|it| is_program(&Path::new(it).join(program)));
    let known = ACP_AGENTS.iter().filter(|(_, words)| words.first().is_some_and(|it| is_here(it)));
    known.map(|(name, _)| *name).collect()
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make files of their own")]
mod tests {
    use super::*;

    #[test]
    fn a_login_is_a_file_in_the_home_or_a_variable() {
        let home = tempfile::tempdir().unwrap();
        let env = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
            let home = ("HOME", home.path().to_str().unwrap());
            let all = [home].into_iter().chain(pairs.iter().copied());
            all.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
        };
        assert_eq!(login(AgentProgram::Claude, &env(&[])), ProgramLogin::Missing);
        let blank = [("ANTHROPIC_API_KEY", "")];
        assert_eq!(login(AgentProgram::Claude, &env(&blank)), ProgramLogin::Missing);
        let key = [("ANTHROPIC_API_KEY", "k")];
        let by_key = ProgramLogin::Variable("ANTHROPIC_API_KEY");
        assert_eq!(login(AgentProgram::Claude, &env(&key)), by_key);
        std::fs::create_dir(home.path().join(".claude")).unwrap();
        std::fs::write(home.path().join(".claude/.credentials.json"), "{}").unwrap();
        assert_eq!(login(AgentProgram::Claude, &env(&key)), ProgramLogin::Stored);
        assert_eq!(login(AgentProgram::Codex, &[]), ProgramLogin::Missing);
        let unused = [("OPENAI_API_KEY", "k")];
        assert_eq!(login(AgentProgram::Codex, &env(&unused)), ProgramLogin::Missing);
        let used = [("OPENAI_API_KEY", "k"), ("CODEX_API_KEY", "k")];
        let by_key = ProgramLogin::Variable("CODEX_API_KEY");
        assert_eq!(login(AgentProgram::Codex, &env(&used)), by_key);
    }

    #[test]
    fn an_address_of_the_users_own_is_found() {
        let env = |value: &str| vec![("ANTHROPIC_BASE_URL".to_owned(), value.to_owned())];
        let found = address(AgentProgram::Claude, &env("http://gateway"));
        assert_eq!(found, Some("ANTHROPIC_BASE_URL"));
        assert_eq!(address(AgentProgram::Claude, &env("")), None);
        assert_eq!(address(AgentProgram::Gemini, &env("http://gateway")), None);
    }

    #[tokio::test]
    async fn a_program_is_asked_for_its_version() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("codex");
        std::fs::write(&path, "#!/bin/sh\necho codex-cli 1.2.3\n").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        let env = [("PATH".to_owned(), folder.path().to_str().unwrap().to_owned())];
        let found: Vec<_> = detect(&env).await.into_iter().map(|it| it.version).collect();
        assert_eq!(found, [None, Some("codex-cli 1.2.3".to_owned()), None]);
        assert_eq!(detect_acp(&env), Vec::<&str>::new());
        let acp = folder.path().join("codex-acp");
        std::fs::create_dir(folder.path().join("opencode")).unwrap();
        std::fs::write(&acp, "").unwrap();
        assert_eq!(detect_acp(&env), Vec::<&str>::new(), "it is no program");
        std::fs::set_permissions(&acp, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(detect_acp(&env), ["codex-acp"]);
    }
}
