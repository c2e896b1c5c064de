//! The check that Baton does itself: the files, ranges and commits that a package names are in the
//! workspace, and no check contradicts what the package claims. Nothing outside the workspace is
//! looked at, whatever a path or a link says.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use baton_core::claims::{commits, contradictions};
use baton_core::document::Node;
use baton_core::evidence::Verdict;
use baton_core::hash::Hash;
use baton_core::lint::{Facts, FileFact, LintRule, findings, paths};
use baton_core::names::CheckName;
use baton_files::{Dir, FileKind};

use crate::workspace::{WorkspaceRecord, Workspaces};

/// Larger files are only checked for existence.
const MOST_BYTES: u64 = 16 << 20;
const MOST_BYTES_IN_ALL: u64 = 64 << 20;
/// Paths beyond this number are not looked at.
const MOST_PATHS: usize = 256;

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
    let files = match Dir::open(&workspace.path) {
        Ok(dir) => look_at(&dir, document),
        Err(_) => BTreeMap::new(),
    };
    for (path, fact) in &files {
        // Names are an agent's: nothing in them may act on a terminal.
        let path = path.escape_debug();
        match fact {
            FileFact::File { sha256: Some(hash), n_lines } => {
                let lines = n_lines.map_or_else(String::new, |it| format!(", {it} lines"));
                seen.push(format!("{path} sha256:{hash}{lines}"));
            }
            FileFact::File { sha256: None, .. } => seen.push(format!("{path} is there")),
            FileFact::Folder | FileFact::Missing => {}
        }
    }
    let facts = Facts { files, ..Facts::default() };
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

fn look_at(dir: &Dir, document: &Node) -> BTreeMap<String, FileFact> {
    let mut n_bytes_left = MOST_BYTES_IN_ALL;
    let named = paths(document).into_iter().take(MOST_PATHS);
    named.filter_map(|it| Some((it.clone(), look(dir, &it, &mut n_bytes_left)?))).collect()
}

/// `None` where it must not be looked at: outside the workspace, or behind a link.
fn look(dir: &Dir, path: &str, n_bytes_left: &mut u64) -> Option<FileFact> {
    let mut plain = PathBuf::new();
    for component in Path::new(path).components() {
        match component {
            Component::Normal(name) => plain.push(name),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    if plain.as_os_str().is_empty() {
        return Some(FileFact::Folder);
    }
    let entry = match dir.entry(&plain) {
        Ok(Some(entry)) => entry,
        Ok(None) => return Some(FileFact::Missing),
        // A name that is too long, or a way through a link.
        Err(_) => return None,
    };
    let most = MOST_BYTES.min(*n_bytes_left);
    match entry.kind {
        FileKind::Folder => return Some(FileFact::Folder),
        FileKind::Link => return None,
        FileKind::File if entry.n_bytes <= most => {}
        FileKind::File | FileKind::Pipe | FileKind::Socket | FileKind::Device => {
            return Some(FileFact::File { n_lines: None, sha256: None });
        }
    }
    let bytes = dir.read(&plain, most).ok()?;
    *n_bytes_left -= bytes.len() as u64;
    let n_newlines = bytes.iter().filter(|it| **it == b'\n').count() as u64;
    let has_rest = bytes.last().is_some_and(|it| *it != b'\n');
    let n_lines = Some(n_newlines + u64::from(has_rest));
    Some(FileFact::File { n_lines, sha256: Some(Hash::of(&bytes).to_string()) })
}
