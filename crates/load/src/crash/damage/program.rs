//! The `baton` program, as a person types it.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

pub(super) struct Program(PathBuf);

/// What a command printed, and how it ended.
pub(super) struct ProgramResult {
    pub(super) code: i32,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

/// What a command exits with that panicked.
const PANICKED: i32 = 101;

impl Program {
    pub(super) fn new(path: PathBuf) -> Result<Self> {
        let hint = "`cargo build --package baton-cli` makes it";
        ensure!(path.is_file(), "there is no `baton` at `{}`; {hint}", path.display());
        Ok(Self(path))
    }

    /// Runs a command on the project in `root`. It ends by itself, and not in a panic.
    pub(super) fn run(&self, root: &Path, args: &[&str]) -> Result<ProgramResult> {
        let output = Command::new(&self.0)
            .args(args)
            .arg("--project")
            .arg(root)
            .env_remove("BATON_URL")
            .output()
            .with_context(|| format!("start `baton {}`", args.join(" ")))?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
        let code = output.status.code();
        let code = code.filter(|it| *it != PANICKED).with_context(|| {
            format!("`baton {}` ended with {}: {stderr}", args.join(" "), output.status)
        })?;
        Ok(ProgramResult { code, stdout, stderr })
    }
}
