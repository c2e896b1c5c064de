//! What the files are like that a document names. Nothing outside the project is looked at, however
//! a path or a link may put it.

use std::fs::File;
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

use baton_core::document::Node;
use baton_core::hash::Hash;
use baton_core::lint::{Facts, FileFact, paths};
use baton_engine::Workspace;

/// Of larger files only that they are there is known.
const MOST_BYTES: u64 = 16 * 1024 * 1024;

/// A project's folder.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Workspace for Folder {
    fn facts(&self, document: &Node) -> Facts {
        let Ok(root) = self.0.canonicalize() else { return Facts::default() };
        let files = paths(document).into_iter().filter_map(|path| {
            let fact = look(&root, &path)?;
            Some((path, fact))
        });
        Facts { files: files.collect(), run: None }
    }
}

/// `None` where it cannot or must not be looked at.
fn look(root: &Path, path: &str) -> Option<FileFact> {
    let is_plain = |it: Component<'_>| matches!(it, Component::Normal(_) | Component::CurDir);
    if !Path::new(path).components().all(is_plain) {
        return None;
    }
    let full = match root.join(path).canonicalize() {
        Ok(full) => full,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Some(FileFact::Missing);
        }
        Err(_) => return None,
    };
    if !full.starts_with(root) {
        return None;
    }
    let metadata = full.metadata().ok()?;
    if metadata.is_dir() {
        return Some(FileFact::Folder);
    }
    if !metadata.is_file() || metadata.len() > MOST_BYTES {
        return Some(FileFact::File { n_lines: None, sha256: None });
    }
    let mut bytes = Vec::new();
    File::open(&full).ok()?.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
    let n_newlines = bytes.iter().filter(|it| **it == b'\n').count() as u64;
    let has_rest = bytes.last().is_some_and(|it| *it != b'\n');
    let sha256 = Some(Hash::of(&bytes).to_string());
    Some(FileFact::File { n_lines: Some(n_newlines + u64::from(has_rest)), sha256 })
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
        let lines = |it: &str| match look(&root, it) {
            Some(FileFact::File { n_lines, .. }) => n_lines,
            Some(FileFact::Missing | FileFact::Folder) | None => None,
        };
        assert_eq!(lines("src/a.rs"), Some(2));
        assert_eq!(lines("./src/a.rs"), Some(2));
        assert_eq!(look(&root, "src/"), Some(FileFact::Folder));
        assert_eq!(look(&root, "src/b.rs"), Some(FileFact::Missing));
        for outside in ["../secret", "/etc/passwd", "src/../../x", "out/secret"] {
            assert_eq!(look(&root, outside), None, "{outside}");
        }
    }
}
