//! What stands outside a project, and must stay as it is.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// In every file outside: no command may show it.
pub(super) const SECRET: &str = "what-only-the-owner-knows";

/// Mode, time of the last change, and contents; names alone for folders.
type Seen = BTreeMap<PathBuf, (u32, i64, i64, Option<Vec<u8>>)>;

pub(super) struct Outside {
    folder: tempfile::TempDir,
    before: RefCell<Seen>,
}

impl Outside {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("folder");
        fs::create_dir(&inner).unwrap();
        let agent = format!("---\nname: analyst\ndescription: {SECRET}\n---\n");
        for name in ["file", "folder/analyst.md", "folder/baton.db", "folder/baton.toml"] {
            fs::write(folder.path().join(name), &agent).unwrap();
        }
        Self { folder, before: RefCell::default() }
    }

    pub(super) fn file(&self) -> PathBuf {
        self.folder.path().join("file")
    }

    pub(super) fn folder(&self) -> PathBuf {
        self.folder.path().join("folder")
    }

    pub(super) fn remember(&self) {
        *self.before.borrow_mut() = self.seen();
    }

    #[track_caller]
    pub(super) fn assert_untouched(&self, what: &str) {
        assert_eq!(self.seen(), *self.before.borrow(), "{what}");
    }

    fn seen(&self) -> Seen {
        let mut seen = Seen::new();
        see(self.folder.path(), &mut seen);
        seen
    }
}

fn see(path: &Path, seen: &mut Seen) {
    let metadata = fs::symlink_metadata(path).unwrap();
    let contents = metadata.is_file().then(|| fs::read(path).unwrap());
    let entry = (metadata.mode(), metadata.mtime(), metadata.mtime_nsec(), contents);
    seen.insert(path.to_owned(), entry);
    if metadata.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            see(&entry.unwrap().path(), seen);
        }
    }
}
