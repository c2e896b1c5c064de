//! The user's git repository: found, looked at, and never changed but for a line in its own exclude file.

use std::path::{Path, PathBuf};

use baton_core::plural::counted;
use baton_files::{Dir, FileMode};

use super::shown;
use crate::commands::demo::programs::git;
use crate::failure::Failure;
use crate::project::FOLDER;
use crate::show;

pub(super) struct Checkout {
    /// The top folder of the repository.
    pub(super) root: PathBuf,
    /// The commit that the work starts from.
    pub(super) head: String,
}

const MOST_EXCLUDE_BYTES: u64 = 1 << 20;

impl Checkout {
    /// The repository that this folder, or the one that was named, is in.
    pub(super) async fn find(asked: Option<&Path>) -> Result<Self, Failure> {
        let here = match asked {
            Some(asked) => asked.to_owned(),
            None => {
                std::env::current_dir().map_err(|error| Failure::io("see this folder", error))?
            }
        };
        let root = git(&here, &["rev-parse", "--show-toplevel"]).await.map_err(|failure| {
            let Failure::Broken { what } = &failure else { return failure };
            if what.contains("bare repository") || what.contains("must be run in a work tree") {
                return Failure::Conflict(format!(
                    "`{}` is a bare repository, which has no files to look at; clone it, and type this there",
                    here.display()
                ));
            }
            Failure::Conflict(format!(
                "`{}` is in no git repository; `git init` makes one, and the work needs a first commit to start from",
                here.display()
            ))
        })?;
        let root = PathBuf::from(root);
        let head = git(&root, &["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]).await;
        let head = head.map_err(|_| {
            Failure::Conflict(format!(
                "`{}` has no commit yet, and the work needs one to start from: `git -C {} commit --allow-empty -m \
                 \"Begin\"` makes it",
                root.display(),
                shown(&root),
            ))
        })?;
        Ok(Self { root, head })
    }

    /// Agents work in a folder of their own, made from the last commit.
    pub(super) async fn tell_changes(&self) -> Result<(), Failure> {
        let changes = git(&self.root, &["status", "--porcelain", "--untracked-files=no"]).await?;
        let n = changes.lines().count() as u64;
        if n > 0 {
            show::note(&format!(
                "{} {} not committed; agents start from the last commit ({}), and neither see nor touch that",
                show::warn("note:"),
                if n == 1 {
                    "1 changed file is".to_owned()
                } else {
                    format!("{} are", counted(n, "changed file"))
                },
                self.head.get(..8).unwrap_or(&self.head),
            ));
        }
        Ok(())
    }

    /// Keeps the project's folder out of the user's commits, without a change to a file of theirs.
    pub(super) async fn exclude_project(&self) -> Result<(), Failure> {
        let path = git(&self.root, &["rev-parse", "--git-path", "info/exclude"]).await?;
        let path = self.root.join(path);
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return Ok(()) };
        let folder = Dir::open_or_make(folder, FileMode::Shared)?;
        let before = match folder.read_text(name, MOST_EXCLUDE_BYTES) {
            Ok(text) => text,
            Err(error) if error.is_not_found() => String::new(),
            Err(error) => return Err(error.into()),
        };
        let line = format!("/{FOLDER}/");
        if before.lines().any(|it| it.trim() == line) {
            return Ok(());
        }
        let end = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
        let text = format!("{before}{end}{line}\n");
        Ok(folder.write_atomic(name, text.as_bytes(), FileMode::Shared)?)
    }
}
