//! Runs cargo.
#![expect(clippy::disallowed_methods, reason = "xtask runs cargo; it starts no agents")]

use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::project_root;

/// Runs cargo on our own stdin, stdout and stderr, so that the user sees what it prints as it is.
/// The environment goes through untouched, with `env` on top.
pub(crate) fn run(args: &[&str], env: &[(&str, &str)]) -> Result<()> {
    let status = cargo(args)
        .envs(env.iter().copied())
        .status()
        .with_context(|| format!("`cargo {}` could not be started", args.join(" ")))?;
    ensure!(status.success(), "`cargo {}` ended with {status}", args.join(" "));
    Ok(())
}

/// Whether `cargo <subcommand>` is installed.
pub(crate) fn has(subcommand: &str) -> bool {
    cargo(&[subcommand, "--version"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|it| it.success())
}

/// The cargo that built xtask.
fn cargo(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO"));
    command.args(args).current_dir(project_root());
    command
}
