//! Facts about the files that a document names. Nothing outside the project is examined, whatever a
//! path or a link says.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use baton_core::document::Node;
use baton_core::hash::Hash;
use baton_core::lint::{Facts, FileFact, paths};
use baton_core::run::RunId;
use baton_engine::{Repository, Workspace};
use baton_files::{Dir, FileIdentity, FileKind};
use baton_runner::{has_workspace, worktree_of};

use crate::repository;

/// Larger files are only checked for existence.
const MOST_BYTES: u64 = 16 * 1024 * 1024;
/// A document may name any number of paths. Paths beyond this number are ignored, and files beyond
/// this many bytes are only checked for existence.
const MOST_PATHS: usize = 256;
const MOST_BYTES_IN_ALL: u64 = 64 * 1024 * 1024;

/// A project's folder.
pub(crate) struct Folder {
    pub(crate) dir: Dir,
    /// The folder of an open database. Whatever a document calls the database, it is not opened: on
    /// Unix, closing it would drop the locks that SQLite has on it in this process.
    pub(crate) data: Option<FileIdentity>,
    /// The same folder, where the runner keeps the worktrees of runs.
    pub(crate) data_dir: Option<Dir>,
}

impl Workspace for Folder {
    fn facts(&self, document: &Node) -> Facts {
        let mut looking = Looking::new(self, MOST_BYTES_IN_ALL);
        let files = paths(document).into_iter().take(MOST_PATHS).filter_map(|path| {
            let fact = looking.look(&path)?;
            Some((path, fact))
        });
        Facts { files: files.collect(), ..Facts::default() }
    }

    fn facts_in_run(&self, run: RunId, document: &Node) -> Facts {
        let tree = self.data_dir.as_ref().and_then(|it| worktree_of(it, run.0));
        match tree {
            Some(dir) => Folder { dir, data: self.data, data_dir: None }.facts(document),
            None => self.facts(document),
        }
    }

    fn facts_of_attempt(&self, run: RunId, document: &Node) -> Facts {
        let is_here = self.data_dir.as_ref().is_none_or(|it| has_workspace(it, run.0));
        if is_here { self.facts_in_run(run, document) } else { Facts::default() }
    }

    fn repository(&self, branch: &str) -> Repository {
        repository::repository(&self.dir, branch)
    }
}

struct Looking<'a> {
    folder: &'a Folder,
    /// Files already read, by canonical path.
    read: HashMap<PathBuf, FileFact>,
    n_bytes_left: u64,
}

impl<'a> Looking<'a> {
    fn new(folder: &'a Folder, n_bytes_left: u64) -> Self {
        Self { folder, read: HashMap::new(), n_bytes_left }
    }

    /// `None` where it cannot or must not be examined: outside the project, or behind a link.
    fn look(&mut self, path: &str) -> Option<FileFact> {
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
        if let Some(known) = self.read.get(&plain) {
            return Some(known.clone());
        }
        let dir = &self.folder.dir;
        let Some(entry) = dir.entry(&plain).ok()? else { return Some(FileFact::Missing) };
        let most = MOST_BYTES.min(self.n_bytes_left);
        match entry.kind {
            FileKind::Folder => return Some(FileFact::Folder),
            FileKind::Link => return None,
            FileKind::File if entry.n_bytes <= most => {}
            FileKind::File | FileKind::Pipe | FileKind::Socket | FileKind::Device => {
                return Some(FileFact::File { n_lines: None, sha256: None });
            }
        }
        let parent = dir.subdir(plain.parent()?).ok()?;
        if self.folder.data.is_some() && parent.own_entry().ok()?.identity == self.folder.data {
            return Some(FileFact::File { n_lines: None, sha256: None });
        }
        let bytes = parent.read(plain.file_name()?, most).ok()?;
        self.n_bytes_left -= bytes.len() as u64;
        let fact = fact_of(&bytes);
        self.read.insert(plain, fact.clone());
        Some(fact)
    }
}

fn fact_of(bytes: &[u8]) -> FileFact {
    let n_newlines = bytes.iter().filter(|it| **it == b'\n').count() as u64;
    let has_rest = bytes.last().is_some_and(|it| *it != b'\n');
    let sha256 = Some(Hash::of(bytes).to_string());
    FileFact::File { n_lines: Some(n_newlines + u64::from(has_rest)), sha256 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_inside_is_looked_at() {
        let outside = tempfile::tempdir().unwrap();
        std::fs::write(outside.path().join("secret"), "s").unwrap();
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("src")).unwrap();
        std::fs::write(root.join("src/a.rs"), "one\ntwo").unwrap();
        std::os::unix::fs::symlink(outside.path(), root.join("out")).unwrap();
        let folder = Folder { dir: Dir::open(&root).unwrap(), data: None, data_dir: None };
        let look = |it: &str| Looking::new(&folder, MOST_BYTES).look(it);
        assert_eq!(lines(look("src/a.rs")), Some(2));
        assert_eq!(lines(look("./src/a.rs")), Some(2));
        assert_eq!(look("src/"), Some(FileFact::Folder));
        assert_eq!(look("src/b.rs"), Some(FileFact::Missing));
        for outside in ["../secret", "/etc/passwd", "src/../../x", "out/secret"] {
            assert_eq!(look(outside), None, "{outside}");
        }
    }

    #[test]
    fn a_file_is_read_once_however_it_is_called_and_not_more_than_all_may_take() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::write(root.join("a"), "one\n").unwrap();
        std::fs::write(root.join("b"), "two\n").unwrap();
        let folder = Folder { dir: Dir::open(&root).unwrap(), data: None, data_dir: None };
        let mut looking = Looking::new(&folder, 6);
        for spelling in ["a", "./a", "././a"] {
            assert_eq!(lines(looking.look(spelling)), Some(1), "{spelling}");
        }
        assert_eq!(looking.n_bytes_left, 2);
        let there = Some(FileFact::File { n_lines: None, sha256: None });
        assert_eq!(looking.look("b"), there, "it is there, and no more is known");
        assert_eq!(lines(looking.look("a")), Some(1), "what is known stays known");
    }

    #[test]
    fn the_files_of_an_open_database_are_not_opened() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("data")).unwrap();
        std::fs::write(root.path().join("data/baton.db"), "one\n").unwrap();
        let dir = Dir::open(root.path()).unwrap();
        let data = dir.subdir("data").unwrap().own_entry().unwrap().identity;
        for (data, expected) in [(None, Some(1)), (data, None)] {
            let folder = Folder { dir: dir.again().unwrap(), data, data_dir: None };
            assert_eq!(lines(Looking::new(&folder, 9).look("./data/baton.db")), expected);
        }
    }

    #[test]
    fn of_too_many_paths_nothing_is_known() {
        let dir = tempfile::tempdir().unwrap();
        let artifact = |n: usize| Node::map([("path", Node::text(format!("src/{n:04}.rs")))]);
        let artifacts = (0..MOST_PATHS + 10).map(artifact).collect();
        let context = Node::map([("artifacts", Node::List(artifacts))]);
        let document = Node::map([("handoff", Node::map([("context", context)]))]);
        assert_eq!(paths(&document).len(), MOST_PATHS + 10);
        let folder = Folder { dir: Dir::open(dir.path()).unwrap(), data: None, data_dir: None };
        let facts = folder.facts(&document);
        assert_eq!(facts.files.len(), MOST_PATHS);
    }

    fn lines(fact: Option<FileFact>) -> Option<u64> {
        match fact {
            Some(FileFact::File { n_lines, .. }) => n_lines,
            Some(FileFact::Missing | FileFact::Folder) | None => None,
        }
    }
}
