//! Runs cargo, and reads from it which crates there are.
#![expect(clippy::disallowed_methods, reason = "xtask runs cargo; it starts no agents")]

use std::io::{BufRead as _, BufReader, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

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

/// Builds what the tests are built from. `cargo build --package baton-cli` would build nearly everything once more:
/// without the others, what it depends on has other features.
pub(crate) fn build_all() -> Result<()> {
    run(&["build", "--workspace", "--all-targets"], &[])
}

/// Runs cargo in another checkout, like [`run`].
pub(crate) fn run_in(dir: &Path, args: &[&str]) -> Result<()> {
    let status = cargo(args).current_dir(dir).status();
    let status = status.with_context(|| format!("`cargo {}` did not start", args.join(" ")))?;
    let (args, dir) = (args.join(" "), dir.display());
    ensure!(status.success(), "`cargo {args}` in `{dir}` ended with {status}");
    Ok(())
}

/// Runs cargo in a checkout, and returns what it printed on stdout.
pub(crate) fn output_in(dir: &Path, args: &[&str]) -> Result<String> {
    let output = cargo(args).current_dir(dir).stderr(Stdio::inherit()).output();
    let output = output.with_context(|| format!("`cargo {}` did not start", args.join(" ")))?;
    let (args, dir, status) = (args.join(" "), dir.display(), output.status);
    ensure!(status.success(), "`cargo {args}` in `{dir}` ended with {status}");
    Ok(String::from_utf8(output.stdout)?)
}

/// Runs cargo like [`run`], and returns what it printed on stderr.
pub(crate) fn run_and_read(args: &[&str], env: &[(&str, &str)]) -> Result<String> {
    let (status, output) = read(args, env)?;
    ensure!(status.success(), "`cargo {}` ended with {status}", args.join(" "));
    Ok(output)
}

/// As [`run_and_read`], however cargo ended.
pub(crate) fn run_and_read_any(args: &[&str]) -> Result<String> {
    read(args, &[]).map(|(_, output)| output)
}

fn read(args: &[&str], env: &[(&str, &str)]) -> Result<(ExitStatus, String)> {
    let color = if std::io::stderr().is_terminal() { "always" } else { "never" };
    let mut child = cargo(args)
        .env("CARGO_TERM_COLOR", color)
        .envs(env.iter().copied())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("`cargo {}` could not be started", args.join(" ")))?;
    let mut output = String::new();
    for line in BufReader::new(child.stderr.take().context("no stderr")?).lines() {
        let line = line?;
        eprintln!("{line}");
        output.push_str(&line);
        output.push('\n');
    }
    Ok((child.wait()?, output))
}

/// A subcommand of cargo that does not come with it.
pub(crate) struct Tool {
    pub(crate) subcommand: &'static str,
    pub(crate) package: &'static str,
    /// The one to install. One that is there is used, whatever its version.
    pub(crate) version: &'static str,
}

impl Tool {
    pub(crate) fn ensure_installed(&self) -> Result<()> {
        let Self { subcommand, package, version } = self;
        if has(subcommand) {
            return Ok(());
        }
        eprintln!("installing {package} {version} into target/tools");
        let root = tools().display().to_string();
        let args = ["install", "--locked", package, "--version", version, "--root", &root];
        // Built to be there soon, not to run fast: it runs once.
        let env = [
            ("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1"),
            ("CARGO_PROFILE_RELEASE_LTO", "off"),
            ("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16"),
        ];
        run(&args, &env).with_context(|| {
            format!("{package} is missing; `cargo install --locked {package}` installs it")
        })
    }
}

/// Whether `cargo <subcommand>` is installed.
fn has(subcommand: &str) -> bool {
    cargo(&[subcommand, "--version"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|it| it.success())
}

/// One of our crates, as its manifest describes it.
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) dependencies: Vec<Dependency>,
}

pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) kind: DependencyKind,
    pub(crate) source: DependencySource,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum DependencyKind {
    Normal,
    Build,
    Dev,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum DependencySource {
    /// A crate of this repository.
    Ours,
    Elsewhere,
}

/// All crates of the workspace.
pub(crate) fn packages() -> Result<Vec<Package>> {
    let args = ["metadata", "--format-version=1", "--no-deps", "--offline"];
    let output = cargo(&args).stderr(Stdio::inherit()).output()?;
    ensure!(output.status.success(), "`cargo metadata` ended with {}", output.status);
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    list(&metadata, "packages")?.iter().map(read_package).collect()
}

fn read_package(package: &Value) -> Result<Package> {
    let dependencies = list(package, "dependencies")?.iter().map(read_dependency);
    Ok(Package {
        name: text(package, "name")?.to_owned(),
        dependencies: dependencies.collect::<Result<_>>()?,
    })
}

fn read_dependency(dependency: &Value) -> Result<Dependency> {
    let kind = match dependency["kind"].as_str() {
        None => DependencyKind::Normal,
        Some("build") => DependencyKind::Build,
        Some("dev") => DependencyKind::Dev,
        Some(other) => bail!("`cargo metadata` tells of a kind of dependency `{other}`"),
    };
    let is_ours = dependency["path"].is_string();
    Ok(Dependency {
        name: text(dependency, "name")?.to_owned(),
        kind,
        source: if is_ours { DependencySource::Ours } else { DependencySource::Elsewhere },
    })
}

fn list<'a>(value: &'a Value, key: &str) -> Result<&'a Vec<Value>> {
    value[key].as_array().with_context(|| format!("`cargo metadata` has no list `{key}`"))
}

fn text<'a>(value: &'a Value, key: &str) -> Result<&'a str> {
    value[key].as_str().with_context(|| format!("`cargo metadata` has no text `{key}`"))
}

fn tools() -> PathBuf {
    project_root().join("target/tools")
}

/// The cargo that built xtask. It finds the tools that were installed for it after those of the user.
fn cargo(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO"));
    command.args(args).current_dir(project_root());
    let path = std::env::var_os("PATH").unwrap_or_default();
    let dirs = std::env::split_paths(&path).chain([tools().join("bin")]);
    if let Ok(path) = std::env::join_paths(dirs) {
        command.env("PATH", path);
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dependency_knows_its_kind_and_whether_it_is_ours() {
        let metadata = serde_json::json!({
            "name": "baton-store",
            "dependencies": [
                { "name": "baton-core", "kind": null, "path": "crates/core" },
                { "name": "tokio", "kind": "dev" },
            ],
        });
        let package = read_package(&metadata).unwrap();
        let dependencies: Vec<_> =
            package.dependencies.iter().map(|it| (it.name.as_str(), it.kind, it.source)).collect();
        assert_eq!(
            dependencies,
            [
                ("baton-core", DependencyKind::Normal, DependencySource::Ours),
                ("tokio", DependencyKind::Dev, DependencySource::Elsewhere),
            ]
        );
    }
}
