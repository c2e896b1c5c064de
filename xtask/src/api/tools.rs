//! The tools from PyPI and npm, installed below `target` at exact versions.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::project_root;

const REQUIREMENTS: &str = include_str!("../../api/requirements.txt");
const PACKAGE: &str = include_str!("../../api/package.json");
const LOCK: &str = include_str!("../../api/package-lock.json");

/// The first node that has everything the TypeScript client uses.
const LEAST_NODE: u32 = 20;

/// Installs what is not there yet, or is there at another version.
pub(super) fn ensure_installed() -> Result<()> {
    ensure_python_tools()?;
    ensure_node_tools()
}

fn ensure_python_tools() -> Result<()> {
    let venv = python_dir();
    if is_installed(&venv, REQUIREMENTS) {
        return Ok(());
    }
    let has_python = succeeds(Command::new("python3").args(["-c", "import venv, ensurepip"]));
    ensure!(
        has_python,
        "python3 with its module `venv` is missing; schemathesis, openapi-spec-validator and \
         openapi-python-client are installed with it"
    );
    must_succeed(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
    let list = project_root().join("xtask/api/requirements.txt");
    must_succeed(python("pip").args(["install", "--quiet", "--requirement"]).arg(list))?;
    mark_installed(&venv, REQUIREMENTS)
}

fn ensure_node_tools() -> Result<()> {
    let dir = node_dir();
    if is_installed(&dir, LOCK) {
        return Ok(());
    }
    let version = Command::new("node").arg("--version").output();
    let version = version.ok().and_then(|it| String::from_utf8(it.stdout).ok());
    let major = version.as_deref().and_then(major_version);
    ensure!(
        major.is_some_and(|it| it >= LEAST_NODE),
        "node {LEAST_NODE} or later is missing; redocly, spectral and the TypeScript client run on it"
    );
    ensure!(
        succeeds(Command::new("npm").arg("--version")),
        "npm is missing; redocly, spectral, openapi-typescript and typescript are installed with it"
    );
    std::fs::create_dir_all(&dir)?;
    std::fs::write(dir.join("package.json"), PACKAGE)?;
    std::fs::write(dir.join("package-lock.json"), LOCK)?;
    let args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
    must_succeed(Command::new("npm").args(args).current_dir(&dir))?;
    mark_installed(&dir, LOCK)
}

/// `v20.20.2` is 20.
fn major_version(printed: &str) -> Option<u32> {
    printed.trim().strip_prefix('v')?.split('.').next()?.parse().ok()
}

/// A program of the Python tools.
pub(super) fn python(program: &str) -> Command {
    Command::new(python_dir().join("bin").join(program))
}

/// A program of the node tools, in their folder.
pub(super) fn node(program: &str) -> Command {
    let mut command = Command::new(node_dir().join("node_modules/.bin").join(program));
    command.current_dir(node_dir());
    // redocly would ask the internet for a newer version of itself, and tell of its use.
    command.env("REDOCLY_SUPPRESS_UPDATE_NOTICE", "true").env("REDOCLY_TELEMETRY", "off");
    command
}

pub(super) fn python_dir() -> PathBuf {
    project_root().join("target/api-tools/python")
}

pub(super) fn node_dir() -> PathBuf {
    project_root().join("target/api-tools/node")
}

/// Runs a program on our own stdout and stderr.
pub(super) fn must_succeed(command: &mut Command) -> Result<()> {
    let shown = shown(command);
    let status = command.status().with_context(|| format!("{shown} could not be started"))?;
    ensure!(status.success(), "{shown} ended with {status}");
    Ok(())
}

/// Runs a program and shows what it printed only if it failed.
pub(super) fn must_succeed_quietly(command: &mut Command) -> Result<()> {
    let shown = shown(command);
    let output = command.output().with_context(|| format!("{shown} could not be started"))?;
    let printed = [output.stdout, output.stderr].concat();
    let printed = String::from_utf8_lossy(&printed);
    ensure!(output.status.success(), "{shown} ended with {}:\n{printed}", output.status);
    Ok(())
}

fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or_default();
    let args = command.get_args().map(|it| it.to_string_lossy());
    let words = std::iter::once(program.to_string_lossy()).chain(args).collect::<Vec<_>>();
    format!("`{}`", words.join(" "))
}

fn succeeds(command: &mut Command) -> bool {
    let quiet = command.stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|it| it.success())
}

fn is_installed(dir: &Path, versions: &str) -> bool {
    std::fs::read_to_string(dir.join(MARK)).is_ok_and(|it| it == versions)
}

/// What is installed in a folder: written last, so that half an installation is none.
const MARK: &str = "installed";

fn mark_installed(dir: &Path, versions: &str) -> Result<()> {
    Ok(std::fs::write(dir.join(MARK), versions)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_of_node_is_read_as_it_prints_it() {
        assert_eq!(major_version("v20.20.2\n"), Some(20));
        assert_eq!(major_version("command not found"), None);
    }

    /// A host in the lock file would be asked by everybody who installs from it.
    #[test]
    fn the_lock_file_names_no_host_to_download_from() {
        assert!(LOCK.contains("\"integrity\"") && !LOCK.contains("\"resolved\""));
    }

    #[test]
    fn every_version_is_exact() {
        assert!(REQUIREMENTS.lines().all(|it| it.split("==").count() == 2), "{REQUIREMENTS}");
        let package: serde_json::Value = serde_json::from_str(PACKAGE).unwrap();
        for (name, version) in package["dependencies"].as_object().unwrap() {
            let version = version.as_str().unwrap();
            assert!(version.starts_with(|it: char| it.is_ascii_digit()), "{name} {version}");
        }
    }
}
