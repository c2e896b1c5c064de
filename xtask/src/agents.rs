//! Real coding agents in the tests: with `BATON_TEST_AGENTS=1` their programs are installed below `target`, at
//! exact versions, and complete pipelines on a scripted model. They are hundreds of megabytes, so it is a choice.
#![expect(clippy::disallowed_methods, reason = "xtask starts npm; it starts no agents")]

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::{cargo, project_root};

const PROGRAMS: [&str; 5] = [
    "@anthropic-ai/claude-code@2.1.325",
    "@openai/codex@0.166.0",
    "@google/gemini-cli@0.61.0",
    "@agentclientprotocol/claude-agent-acp@0.49.0",
    "@agentclientprotocol/codex-acp@2.6.0",
];
/// Tests that start them; left out of every other run (`.config/nextest.toml`).
const TESTS: &str = "test(runner::programs::)";

pub(crate) fn are_wanted() -> bool {
    std::env::var_os("BATON_TEST_AGENTS").is_some_and(|it| it == "1")
}

pub(crate) fn ensure_installed() -> Result<()> {
    if !are_wanted() || installed_mark().exists() {
        return Ok(());
    }
    let folder = folder();
    eprintln!("installing {} into target/agents", PROGRAMS.join(" and "));
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join("package.json"), "{\"private\": true}\n")?;
    let options = ["install", "--no-audit", "--no-fund", "--loglevel=error"];
    let status = Command::new("npm")
        .args(options)
        .args(PROGRAMS)
        .current_dir(&folder)
        .status()
        .context("npm is missing; the coding agents are installed with it")?;
    ensure!(status.success(), "npm could not install {}: {status}", PROGRAMS.join(" and "));
    std::fs::write(installed_mark(), "")?;
    Ok(())
}

/// Runs the tests; says that they were left out where they are not wanted.
pub(crate) fn check() -> Result<String> {
    if !are_wanted() {
        return Ok("left out: set BATON_TEST_AGENTS=1".to_owned());
    }
    let folder = folder().display().to_string();
    let only = format!("package(baton-cli) & ({TESTS})");
    // Of the whole workspace: one crate alone would be built anew, with other features of what it uses.
    let args = ["nextest", "run", "--workspace", "--profile", "agents", "-E", &only];
    cargo::run(&args, &[("BATON_AGENT_PROGRAMS", &folder)])?;
    Ok("Claude Code and Codex, by their programs and over ACP, and Gemini CLI".to_owned())
}

/// Where the programs are, once they are installed.
pub(crate) fn folder() -> PathBuf {
    project_root().join("target/agents")
}

/// Names the versions, so that others are installed anew.
fn installed_mark() -> PathBuf {
    folder().join(PROGRAMS.join("+").replace('/', "_"))
}
