//! Where the repository of a folder is. git itself goes wherever the folder's `.git` leads, and an agent can write that:
//! so Baton looks at both ends once, and tells git from then on.

use std::path::{Path, PathBuf};

use baton_files::{Dir, FileError};

use super::GitFolder;

/// The folders of a repository, as they are told to git.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GitPlace {
    /// What belongs to this worktree alone: its `HEAD`, its index.
    own: PathBuf,
    /// What all worktrees share.
    common: PathBuf,
}

const MOST_LINK_BYTES: u64 = 4096;
const WORKTREES: &str = "worktrees";

impl GitPlace {
    pub(super) fn variables(&self, tree: &Path) -> [(String, String); 3] {
        [("GIT_DIR", &*self.own), ("GIT_COMMON_DIR", &self.common), ("GIT_WORK_TREE", tree)]
            .map(|(name, path)| (name.to_owned(), path.to_string_lossy().into_owned()))
    }
}

impl GitFolder {
    /// The same folder, with its repository as git finds it now; `None` where the folder is not the top of one.
    pub(crate) async fn located(&self) -> Option<Self> {
        let top = self.text(["rev-parse", "--show-toplevel"]).await.ok()?;
        if real(Path::new(&top))? != real(&self.path)? {
            return None;
        }
        let own = self.text(["rev-parse", "--absolute-git-dir"]).await.ok()?;
        let args = ["rev-parse", "--path-format=absolute", "--git-common-dir"];
        let common = self.text(args).await.ok()?;
        let place = GitPlace { own: real(Path::new(&own))?, common: real(Path::new(&common))? };
        Some(Self { place: Some(place), ..self.clone() })
    }

    /// The worktree of this repository at `path`, which has no links in it. Its `.git` and the repository have to name
    /// each other; else this says what is there instead.
    pub(crate) fn worktree(&self, path: &Path) -> Result<Self, String> {
        if real(path).as_deref() != Some(path) {
            return Err("it is gone, or a link".to_owned());
        }
        let link = match Dir::open(path).and_then(|it| it.read_text(".git", MOST_LINK_BYTES)) {
            Ok(link) => link,
            Err(error) if error.is_not_found() => return Err("it has no `.git`".to_owned()),
            Err(_) => return Err("its `.git` is no file that leads to a worktree".to_owned()),
        };
        let target = link.strip_prefix("gitdir: ").unwrap_or_default().trim_end();
        let own = real(&path.join(target));
        let registered = self.registered(path);
        match registered {
            Some(it) if own.is_some() && it.place.as_ref().map(|it| &it.own) == own.as_ref() => {
                Ok(it)
            }
            Some(_) | None => {
                let target: String = target.escape_debug().take(200).collect();
                Err(format!("its `.git` leads to `{target}`"))
            }
        }
    }

    /// The worktree that this repository has at `path` by its own list, whatever the folder says.
    pub(crate) fn registered(&self, path: &Path) -> Option<Self> {
        let common = &self.place.as_ref()?.common;
        let all = Dir::open(common).and_then(|it| it.subdir(WORKTREES)).ok()?;
        let link = path.join(".git");
        let found = all.list().ok()?.into_iter().find(|(name, _)| {
            let own = common.join(WORKTREES).join(name);
            let text = all.subdir(name).and_then(|it| it.read_text("gitdir", MOST_LINK_BYTES));
            text.is_ok_and(|it| is_same(&own.join(it.trim_end()), &link))
        });
        let own = common.join(WORKTREES).join(found?.0);
        let place = GitPlace { own, common: common.clone() };
        Some(Self { path: path.to_owned(), place: Some(place), ..self.clone() })
    }

    /// The repository of a worktree whose files are not asked for: their folder may be gone.
    pub(crate) fn without_files(self) -> Option<Self> {
        let own = self.place.as_ref()?.own.clone();
        Some(Self { path: own, ..self })
    }

    /// True while git still makes a worktree, or fills it.
    pub(crate) fn is_being_made(&self, path: &Path) -> bool {
        let Some(own) = self.registered(path).and_then(|it| it.own_folder()) else { return false };
        let lock = own.read_text("locked", MOST_LINK_BYTES);
        let is_there = |name: &str| matches!(own.entry(name), Ok(Some(_)));
        lock.is_ok_and(|it| it.trim() == "initializing")
            || is_there("index.lock") && !is_there("index")
    }

    /// True once a worktree has had its files: git writes its index after them.
    pub(crate) fn is_filled(&self) -> bool {
        self.own_folder().is_some_and(|it| matches!(it.entry("index"), Ok(Some(_))))
    }

    /// Takes away what a git that was killed left, where no other is at work.
    pub(super) fn remove_index_lock(&self) -> Result<(), FileError> {
        self.own_folder().map_or(Ok(()), |it| it.remove("index.lock"))
    }

    fn own_folder(&self) -> Option<Dir> {
        Dir::open(&self.place.as_ref()?.own).ok()
    }
}

fn real(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok()
}

/// By the folders that the files are in: the files themselves may be gone.
fn is_same(one: &Path, other: &Path) -> bool {
    let folder = |it: &Path| it.parent().map(|it| real(it).unwrap_or_else(|| it.to_owned()));
    one.file_name() == other.file_name() && folder(one) == folder(other)
}
