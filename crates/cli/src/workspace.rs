//! What the files are like that a document names. Nothing outside the project is looked at, however
//! a path or a link may put it.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

use baton_core::document::Node;
use baton_core::hash::Hash;
use baton_core::lint::{Facts, FileFact, paths};
use baton_engine::Workspace;

/// Of larger files only that they are there is known.
const MOST_BYTES: u64 = 16 * 1024 * 1024;
/// A document may name as much as it likes, and in as many ways. Of paths beyond these nothing is
/// known, and of files beyond those bytes again only that they are there.
const MOST_PATHS: usize = 256;
const MOST_BYTES_IN_ALL: u64 = 64 * 1024 * 1024;

/// A project's folder.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Workspace for Folder {
    fn facts(&self, document: &Node) -> Facts {
        let Ok(root) = self.0.canonicalize() else { return Facts::default() };
        let mut looking = Looking::new(root, MOST_BYTES_IN_ALL);
        let files = paths(document).into_iter().take(MOST_PATHS).filter_map(|path| {
            let fact = looking.look(&path)?;
            Some((path, fact))
        });
        Facts { files: files.collect(), run: None }
    }
}

struct Looking {
    root: PathBuf,
    /// What has been read, by the one path that a file has of its own.
    read: HashMap<PathBuf, FileFact>,
    n_bytes_left: u64,
}

impl Looking {
    fn new(root: PathBuf, n_bytes_left: u64) -> Self {
        Self { root, read: HashMap::new(), n_bytes_left }
    }

    /// `None` where it cannot or must not be looked at.
    fn look(&mut self, path: &str) -> Option<FileFact> {
        let is_plain = |it: Component<'_>| matches!(it, Component::Normal(_) | Component::CurDir);
        if !Path::new(path).components().all(is_plain) {
            return None;
        }
        let full = match self.root.join(path).canonicalize() {
            Ok(full) => full,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Some(FileFact::Missing);
            }
            Err(_) => return None,
        };
        if !full.starts_with(&self.root) {
            return None;
        }
        if let Some(known) = self.read.get(&full) {
            return Some(known.clone());
        }
        let metadata = full.metadata().ok()?;
        if metadata.is_dir() {
            return Some(FileFact::Folder);
        }
        let most = MOST_BYTES.min(self.n_bytes_left);
        if !metadata.is_file() || metadata.len() > most {
            return Some(FileFact::File { n_lines: None, sha256: None });
        }
        let (n_bytes, fact) = read(&full, most)?;
        self.n_bytes_left -= n_bytes;
        self.read.insert(full, fact.clone());
        Some(fact)
    }
}

/// How long a file is, and what is in it.
fn read(path: &Path, most: u64) -> Option<(u64, FileFact)> {
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(most).read_to_end(&mut bytes).ok()?;
    let n_newlines = bytes.iter().filter(|it| **it == b'\n').count() as u64;
    let has_rest = bytes.last().is_some_and(|it| *it != b'\n');
    let sha256 = Some(Hash::of(&bytes).to_string());
    let n_lines = Some(n_newlines + u64::from(has_rest));
    Some((bytes.len() as u64, FileFact::File { n_lines, sha256 }))
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
        #[cfg(unix)]
        std::os::unix::fs::symlink(outside.path(), root.join("out")).unwrap();
        let look = |it: &str| Looking::new(root.clone(), MOST_BYTES).look(it);
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
        let mut looking = Looking::new(root, 6);
        for spelling in ["a", "./a", "././a"] {
            assert_eq!(lines(looking.look(spelling)), Some(1), "{spelling}");
        }
        assert_eq!(looking.n_bytes_left, 2);
        let there = Some(FileFact::File { n_lines: None, sha256: None });
        assert_eq!(looking.look("b"), there, "it is there, and no more is known");
        assert_eq!(lines(looking.look("a")), Some(1), "what is known stays known");
    }

    #[test]
    fn of_too_many_paths_nothing_is_known() {
        let dir = tempfile::tempdir().unwrap();
        let artifact = |n: usize| Node::map([("path", Node::text(format!("src/{n:04}.rs")))]);
        let artifacts = (0..MOST_PATHS + 10).map(artifact).collect();
        let context = Node::map([("artifacts", Node::List(artifacts))]);
        let document = Node::map([("handoff", Node::map([("context", context)]))]);
        assert_eq!(paths(&document).len(), MOST_PATHS + 10);
        let facts = Folder(dir.path().to_owned()).facts(&document);
        assert_eq!(facts.files.len(), MOST_PATHS);
    }

    fn lines(fact: Option<FileFact>) -> Option<u64> {
        match fact {
            Some(FileFact::File { n_lines, .. }) => n_lines,
            Some(FileFact::Missing | FileFact::Folder) | None => None,
        }
    }
}
