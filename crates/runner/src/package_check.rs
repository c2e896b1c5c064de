//! The check that Baton does itself: the files, ranges and commits that a package names are in the
//! workspace, and no check contradicts what the package claims. Nothing outside the workspace is
//! looked at, whatever a path or a link says.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use baton_core::claims::{commits, contradictions};
use baton_core::document::Node;
use baton_core::evidence::Verdict;
use baton_core::hash::Hash;
use baton_core::lint::{Facts, FileFact, LintRule, findings, paths, uncompared};
use baton_core::names::CheckName;
use baton_files::{Dir, FileError, FileKind};

use crate::workspace::{WorkspaceRecord, Workspaces};

/// Larger files, and those after so much, are checked for existence alone. What a package says of their content is
/// a problem then: nothing passes that was not compared.
const MOST_BYTES: u64 = 64 << 20;
const MOST_BYTES_IN_ALL: u64 = 256 << 20;
/// As file systems have it.
const MOST_PATH_BYTES: usize = 4096;
const MOST_NAME_BYTES: usize = 255;
/// Of a name that is no file's.
const MOST_SHOWN_CHARS: usize = 100;
const BEHIND_LINK: &str = "is a link or behind one, which is not followed: name the file itself";

/// What was found about a package.
pub(crate) struct PackageFindings {
    /// What is wrong, a line each.
    pub(crate) problems: Vec<String>,
    /// What was verified, a line each.
    pub(crate) seen: Vec<String>,
}

impl PackageFindings {
    /// A package that names nothing and contradicts nothing has nothing to report.
    pub(crate) fn is_empty(&self) -> bool {
        self.problems.is_empty() && self.seen.is_empty()
    }
}

pub(crate) async fn check_package(
    workspaces: &Workspaces,
    workspace: &WorkspaceRecord,
    document: &Node,
    results: &[(CheckName, Verdict)],
) -> PackageFindings {
    let (mut problems, mut seen) = (Vec::new(), Vec::new());
    for it in contradictions(document, results) {
        problems.push(format!("`{}` says so, but the check `{}` failed", it.path, it.check));
    }
    let named = commits(document);
    let missing = workspaces.missing_commits(workspace, &named).await;
    for commit in &named {
        match missing.contains(commit) {
            true => problems.push(format!("commit {commit} is not in the workspace")),
            false => seen.push(format!("commit {commit} is there")),
        }
    }
    // Hashing takes a while.
    let (place, named) = (workspace.path.clone(), document.clone());
    let looked = tokio::task::spawn_blocking(move || {
        let mut problems = Vec::new();
        let dir = Dir::open(&place).ok();
        let files = dir.map(|it| look_at(&it, &named, &mut problems)).unwrap_or_default();
        (files, problems)
    });
    let (files, odd) = match looked.await {
        Ok(looked) => looked,
        Err(error) => (BTreeMap::new(), vec![format!("its files could not be looked at: {error}")]),
    };
    problems.extend(odd);
    for (path, fact) in &files {
        // Names are an agent's: nothing in them may act on a terminal.
        let path = path.escape_debug();
        match fact {
            FileFact::File { sha256: Some(hash), n_lines } => {
                let lines = n_lines.map_or_else(String::new, |it| format!(", {it} lines"));
                seen.push(format!("{path} sha256:{hash}{lines}"));
            }
            FileFact::File { sha256: None, .. } => {
                seen.push(format!("{path} is there; too large to be read"));
            }
            FileFact::Folder | FileFact::Missing => {}
        }
    }
    let facts = Facts { files, ..Facts::default() };
    for place in uncompared(document, &facts) {
        problems.push(format!(
            "`{place}` cannot be compared: the file is larger than {} MiB, or all together than {}; name it without \
             a hash and lines",
            MOST_BYTES >> 20,
            MOST_BYTES_IN_ALL >> 20,
        ));
    }
    for finding in findings(document, &facts) {
        let is_ours = matches!(
            finding.rule,
            Some(
                LintRule::ArtifactOutside
                    | LintRule::ArtifactMissing
                    | LintRule::ArtifactChanged
                    | LintRule::WrongRange
            )
        );
        if is_ours {
            problems.push(format!("`{}` {}", finding.path, finding.message));
        }
    }
    PackageFindings { problems, seen }
}

fn look_at(dir: &Dir, document: &Node, problems: &mut Vec<String>) -> BTreeMap<String, FileFact> {
    let mut n_bytes_left = MOST_BYTES_IN_ALL;
    let mut facts = BTreeMap::new();
    for path in paths(document) {
        match look(dir, &path, &mut n_bytes_left) {
            SeenPath::Fact(fact) => {
                facts.insert(path, fact);
            }
            SeenPath::Outside => {}
            SeenPath::Odd(why) => {
                let shown: String = path.escape_debug().take(MOST_SHOWN_CHARS).collect();
                problems.push(format!("`{shown}` {why}"));
            }
        }
    }
    facts
}

/// What is found under a name of a package.
enum SeenPath {
    Fact(FileFact),
    /// It leads out of the workspace by its own words, which another rule finds.
    Outside,
    /// It is not looked at, and nothing is known of it.
    Odd(&'static str),
}

fn look(dir: &Dir, path: &str, n_bytes_left: &mut u64) -> SeenPath {
    let mut plain = PathBuf::new();
    for component in Path::new(path).components() {
        match component {
            Component::Normal(name) => plain.push(name),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                return SeenPath::Outside;
            }
        }
    }
    if plain.as_os_str().is_empty() {
        return SeenPath::Fact(FileFact::Folder);
    }
    let is_too_long = plain.as_os_str().len() > MOST_PATH_BYTES
        || plain.components().any(|it| it.as_os_str().len() > MOST_NAME_BYTES);
    if is_too_long {
        return SeenPath::Odd("is longer than the name of a file can be");
    }
    let entry = match dir.entry(&plain) {
        Ok(Some(entry)) => entry,
        Ok(None) => return SeenPath::Fact(FileFact::Missing),
        Err(FileError::Link { .. }) => return SeenPath::Odd(BEHIND_LINK),
        Err(_) => return SeenPath::Odd("cannot be looked at"),
    };
    let most = MOST_BYTES.min(*n_bytes_left);
    match entry.kind {
        FileKind::Folder => return SeenPath::Fact(FileFact::Folder),
        FileKind::Link => return SeenPath::Odd(BEHIND_LINK),
        FileKind::File if entry.n_bytes <= most => {}
        FileKind::File | FileKind::Pipe | FileKind::Socket | FileKind::Device => {
            return SeenPath::Fact(FileFact::File { n_lines: None, sha256: None });
        }
    }
    let Ok(bytes) = dir.read(&plain, most) else { return SeenPath::Odd("cannot be read") };
    *n_bytes_left -= bytes.len() as u64;
    let n_newlines = bytes.iter().filter(|it| **it == b'\n').count() as u64;
    let has_rest = bytes.last().is_some_and(|it| *it != b'\n');
    let n_lines = Some(n_newlines + u64::from(has_rest));
    let sha256 = Some(Hash::of(&bytes).to_string());
    SeenPath::Fact(FileFact::File { n_lines, sha256 })
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make files of their own")]
mod tests {
    use baton_core::lint::Finding;

    use super::*;

    fn document(json: &str) -> Node {
        baton_wire::formats::decode(baton_core::package::Format::Json, json).unwrap()
    }

    /// What is wrong with a package whose files are in this folder.
    fn problems_of(folder: &Path, json: &str) -> Vec<String> {
        let (mut problems, document) = (Vec::new(), document(json));
        let files = look_at(&Dir::open(folder).unwrap(), &document, &mut problems);
        let facts = Facts { files, ..Facts::default() };
        problems.extend(uncompared(&document, &facts));
        let missing = |it: &Finding| it.rule == Some(LintRule::ArtifactMissing);
        problems.extend(findings(&document, &facts).into_iter().filter(missing).map(|it| it.path));
        problems
    }

    #[test]
    fn every_file_that_a_package_names_is_looked_at_however_many_there_are() {
        let folder = tempfile::tempdir().unwrap();
        let mut names: Vec<String> = (0..2000).map(|n| format!("{n:04}.rs")).collect();
        for name in &names {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let package = |names: &[String]| format!("{{\"files_changed\": {names:?}}}");
        assert_eq!(problems_of(folder.path(), &package(&names)), Vec::<String>::new());
        names.push("zz/never-written.rs".to_owned());
        assert_eq!(problems_of(folder.path(), &package(&names)), ["files_changed[2000]"]);
    }

    #[test]
    fn what_is_said_of_a_file_that_is_too_large_to_be_compared_does_not_pass() {
        let folder = tempfile::tempdir().unwrap();
        let large = std::fs::File::create(folder.path().join("large.bin")).unwrap();
        large.set_len(MOST_BYTES + 1).unwrap();
        for (package, expected) in [
            (r#"{"artifacts": [{"path": "large.bin"}]}"#, &[][..]),
            (r#"{"artifacts": [{"path": "large.bin", "sha256": "00"}]}"#, &["artifacts[0]"]),
            (r#"{"source_files_verified": ["large.bin:1-2"]}"#, &["source_files_verified[0]"]),
            (r#"{"source_files_verified": ["large.bin"]}"#, &[]),
        ] {
            assert_eq!(problems_of(folder.path(), package), expected, "{package}");
        }
    }
}
