//! Trust: programs that a project's files name are started only where this user has allowed exactly
//! them. The list is in the user's own folder, never in the repository.

mod commands;
mod companions;
mod foreign;
mod named_files;
mod python_modules;
mod reach;
mod well_known;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use baton_core::hash::Hash;
use baton_files::{Dir, FileError, FileMode};
use baton_wire::project_file::ProjectCheck;
use baton_wire::project_file::runner::{ExecutorKind, RunnerSettings};
use serde::{Deserialize, Serialize};

pub(crate) use self::foreign::{foreign_file, foreign_program};
use self::named_files::{NamedPath, named, unknowable};
pub(crate) use self::named_files::{own_command, project_file};
use self::reach::Reach;

/// What a project would have started: a name for each program, and the program with the hashes of the
/// project's files that it names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Programs(pub BTreeMap<String, String>);

/// One line of the difference between two lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrustChange {
    Added { name: String, program: String },
    Removed { name: String, program: String },
    Changed { name: String, before: String, now: String },
}

/// The user's list: a file for each project.
pub struct TrustList {
    folder: PathBuf,
}

#[derive(Serialize, Deserialize)]
struct TrustedProject {
    /// For people who look at the list.
    project: PathBuf,
    programs: Programs,
}

const MOST_LIST_BYTES: u64 = 1 << 20;
/// Larger files are named by their size: no person reads them before allowing them.
const MOST_PROGRAM_BYTES: u64 = 64 << 20;

impl Programs {
    /// Everything that the settings of a project would start. `env`: where git is found.
    pub fn of(
        project: &Dir,
        settings: &RunnerSettings,
        checks: &[ProjectCheck],
        env: &[(String, String)],
    ) -> Self {
        let mut programs = BTreeMap::new();
        let described = |line: &str, words: &[String]| {
            let reach = Reach::of(project, words);
            described(project, line, words) + &reach.described(project, env)
        };
        let with_values = |line: &str, words: &[String]| {
            let reach = Reach::of_values(project, &words[1..]);
            self::described(project, line, words) + &reach.described(project, env)
        };
        for (index, line) in settings.setup.iter().enumerate() {
            let words = ["sh", "-c", line].map(str::to_owned);
            programs.insert(format!("setup {}", index + 1), described(line, &words));
        }
        for executor in &settings.executors {
            let words = match &executor.kind {
                ExecutorKind::Command(words) => words.clone(),
                // As a path, so that it has to be there.
                ExecutorKind::Scripted(script) => vec![format!("./{script}")],
                ExecutorKind::Program(program) => program.run.clone(),
                ExecutorKind::Acp(agent) => agent.run.clone(),
            };
            let mut line = match &executor.kind {
                ExecutorKind::Command(_) => command_line(&words),
                ExecutorKind::Scripted(script) => script.clone(),
                ExecutorKind::Program(program) => {
                    format!(
                        "{} (permissions: {})",
                        command_line(&words),
                        program.permissions.name()
                    )
                }
                ExecutorKind::Acp(agent) => {
                    format!("{} (permissions: {})", command_line(&words), agent.permissions.name())
                }
            };
            if !executor.env.is_empty() {
                line += &format!(" (with {} of your environment)", executor.env.join(", "));
            }
            let name = format!("executor {}", executor.name);
            programs.insert(name, described(&line, &words));
        }
        for check in checks {
            let line = command_line(&check.run);
            programs.insert(format!("check {}", check.name), described(&line, &check.run));
        }
        if !settings.env.is_empty() && !programs.is_empty() {
            let pairs = settings.env.iter().map(|(name, value)| format!("{name}={value}"));
            let line = command_line(&pairs.collect::<Vec<_>>());
            let values = settings.env.iter().map(|(_, value)| value.clone());
            let words: Vec<String> = std::iter::once(String::new()).chain(values).collect();
            programs.insert("environment".to_owned(), with_values(&line, &words));
        }
        for file in &settings.env_files {
            let words = [String::new(), file.clone()];
            programs.insert(format!("copied file {file}"), with_values(file, &words));
        }
        Self(programs)
    }

    /// What cannot be allowed as it is, such as a link.
    pub fn problems(&self) -> impl Iterator<Item = (&str, &str)> {
        let is_bad =
            |(_, program): &(&String, &String)| program.contains(&format!(" {NO_TRUST}: "));
        self.0.iter().filter(is_bad).map(|(name, program)| (name.as_str(), program.as_str()))
    }

    /// Whether all of this is what the user has allowed.
    pub fn is_allowed_by(&self, allowed: &Self) -> bool {
        self == allowed && self.problems().next().is_none()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What has changed since `before`.
    pub fn changes_since(&self, before: &Self) -> Vec<TrustChange> {
        let mut changes = Vec::new();
        for (name, now) in &self.0 {
            let (name, now) = (name.clone(), now.clone());
            match before.0.get(&name).cloned() {
                None => changes.push(TrustChange::Added { name, program: now }),
                Some(before) if before != now => {
                    changes.push(TrustChange::Changed { name, before, now });
                }
                Some(_) => {}
            }
        }
        for (name, program) in &before.0 {
            if !self.0.contains_key(name) {
                let (name, program) = (name.clone(), program.clone());
                changes.push(TrustChange::Removed { name, program });
            }
        }
        changes
    }
}

/// In the place of a hash, where there can be none.
const NO_TRUST: &str = "cannot be trusted";

/// A command, and what of it can never be trusted.
fn described(project: &Dir, line: &str, words: &[String]) -> String {
    let mut text = line.to_owned();
    if let Some(program) = words.first()
        && program.contains('/')
        && !program.starts_with('/')
        && !matches!(named(project, program), NamedPath::File(_) | NamedPath::Unsafe(_))
    {
        // It would be looked for in the workspace, where it can be anything.
        text += &format!("; {program} {NO_TRUST}: it is no file of the project");
    }
    for (part, why) in words.iter().flat_map(|it| unknowable(it)) {
        text += &format!("; {part} {NO_TRUST}: {why}");
    }
    text
}

/// As it would be typed: where one word ends and the next begins can be seen.
fn command_line(words: &[String]) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "._:/@+-=,%".contains(it);
    let quoted = |it: &String| match it.chars().all(is_plain) && !it.is_empty() {
        true => it.clone(),
        false => format!("'{}'", it.replace('\'', "'\\''")),
    };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

impl TrustList {
    /// A list in this folder, which is made when something is allowed.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// What this user has allowed for a project.
    pub fn trusted(&self, project: &Path) -> Result<Programs, FileError> {
        let folder = match Dir::open(&self.folder) {
            Err(error) if error.is_not_found() => return Ok(Programs::default()),
            folder => folder?,
        };
        match folder.read(file_name(project), MOST_LIST_BYTES) {
            Err(error) if error.is_not_found() => Ok(Programs::default()),
            read => {
                let list = serde_json::from_slice::<TrustedProject>(&read?);
                Ok(list.map(|it| it.programs).unwrap_or_default())
            }
        }
    }

    pub fn allow(&self, project: &Path, programs: &Programs) -> Result<(), FileError> {
        let folder = Dir::open_or_make(&self.folder, FileMode::Private)?;
        let list = TrustedProject { project: project.to_owned(), programs: programs.clone() };
        let text = match serde_json::to_vec_pretty(&list) {
            Ok(text) => text,
            Err(error) => unreachable!("our own types always encode: {error}"),
        };
        folder.write_atomic(file_name(project), &text, FileMode::Private)
    }
}

fn file_name(project: &Path) -> String {
    format!("{}.json", Hash::of(project.as_os_str().as_encoded_bytes()))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make files of their own")]
mod tests;
