//! Error texts for data that was deleted, moved or overwritten while it was open, with the command
//! to type.

use std::path::{Path, PathBuf};

use baton_core::shell::shell_word;
use baton_files::{Dir, FileError};
use baton_store::WriteFault;

use crate::opened_files::{DataFile, FileChange, LostFile, OpenedFiles};

/// How an operator names the data of a server on a command line, from any folder.
#[derive(Debug)]
pub struct CommandContext {
    project: Dir,
    /// The original path, with all links resolved.
    root: PathBuf,
    project_folder: &'static str,
    data: DataOption,
}

/// Where the data is, for error texts that contain a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DataOption {
    /// In the project's default place.
    OfProject,
    /// At the path given with `--data`.
    Named,
}

/// What has happened to the data, as far as is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DataLoss {
    /// The lock file is gone or replaced, so another process may lock the data. All data is in its
    /// place.
    Lock,
    /// The folder was moved, and everything is in it.
    Moved { to: PathBuf },
    /// Deleted: only processes that have the files open can still read them.
    Deleted,
    /// Overwritten: the files have other contents now, also for processes that have them open.
    Changed(FileChange),
}

/// State of the rescue copy of data that only this process can still read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RescueState {
    Pending,
    Failed { cause: String },
    Copied { copy: PathBuf },
}

impl DataLoss {
    /// `dir` is the folder of the files, and was opened at `path`.
    pub(crate) fn of(lost: &LostFile, files: &OpenedFiles, dir: &Dir, path: &Path) -> Self {
        match lost.change {
            FileChange::Cut { .. } | FileChange::Overwritten => Self::Changed(lost.change),
            FileChange::Gone | FileChange::Replaced => match (dir.current_path(), lost.kind) {
                (Some(to), _) if to != path && files.are_in(&to) => Self::Moved { to },
                (_, DataFile::Lock) => Self::Lock,
                (_, DataFile::Database | DataFile::Log | DataFile::Index) => Self::Deleted,
            },
        }
    }

    /// Whether `self` says more than the loss found before.
    pub(crate) fn says_more_than(&self, before: &Self) -> bool {
        match before {
            Self::Lock => *self != Self::Lock,
            Self::Moved { .. } => self != before && *self != Self::Lock,
            Self::Deleted | Self::Changed(_) => false,
        }
    }

    /// Why nothing is recorded any more.
    pub(crate) fn fault(
        &self,
        lost: &LostFile,
        place: &Path,
        rescue: &RescueState,
        context: Option<&CommandContext>,
    ) -> WriteFault {
        let what = match self {
            Self::Moved { to } => format!(
                "`{}` was moved to `{}` while Baton had it open",
                place.display(),
                to.display()
            ),
            Self::Lock | Self::Deleted | Self::Changed(_) => {
                let happened = match lost.change {
                    FileChange::Gone => "was deleted or moved".to_owned(),
                    FileChange::Replaced => "was replaced by another file".to_owned(),
                    FileChange::Cut { from, to } => format!("was cut from {from} to {to} bytes"),
                    FileChange::Overwritten => "was written to by another program".to_owned(),
                };
                format!("`{}` {happened} while Baton had it open", lost.path.display())
            }
        };
        let advice = match context {
            Some(context) => self.advice(place, rescue, context),
            None => self.advice_to_a_command().to_owned(),
        };
        WriteFault::Replaced { what, advice }
    }

    fn advice(&self, place: &Path, rescue: &RescueState, context: &CommandContext) -> String {
        let options = context.options(place);
        match self {
            Self::Lock => "another Baton may work on the same data; \
                           stop this server and start it again"
                .to_owned(),
            Self::Moved { to } => context.advice_on_moved(place, to),
            Self::Changed(FileChange::Overwritten) => format!(
                "stop this server, then type `baton verify{options}`; if that finds damage, \
                 `baton recover{options}` saves all that is whole into a new database"
            ),
            Self::Changed(_) => format!(
                "stop this server, then type `baton recover{options}` to save all that is whole \
                 into a new database, or `baton restore FILE --replace{options}` with a backup"
            ),
            Self::Deleted => match rescue {
                RescueState::Pending => "leave this server running until `/readyz` names the copy \
                                         of all that was recorded"
                    .to_owned(),
                RescueState::Failed { cause } => format!(
                    "leave this server running: only it can still read what was recorded, and \
                     tries again to copy it, which failed: {cause}"
                ),
                RescueState::Copied { copy } => context.advice_on_copy(copy, &options),
            },
        }
    }

    /// For a short-lived process that is not the only one with the data open.
    fn advice_to_a_command(&self) -> &'static str {
        match self {
            Self::Lock | Self::Moved { .. } => "type the same again where the data is now",
            Self::Changed(_) => {
                "type `baton recover` to save all that is whole into a new database"
            }
            Self::Deleted => "type `baton restore FILE --replace` with a backup",
        }
    }
}

impl CommandContext {
    /// `project_folder` is the folder name that marks `project` as a project.
    pub fn new(
        project: Dir,
        project_folder: &'static str,
        data: DataOption,
    ) -> Result<Self, FileError> {
        let root = project.real_path()?;
        Ok(Self { project, root, project_folder, data })
    }

    /// The project's current path, or its last known one.
    pub(crate) fn project_path(&self) -> PathBuf {
        self.project.current_path().unwrap_or_else(|| self.root.clone())
    }

    fn options(&self, data: &Path) -> String {
        match self.data {
            DataOption::OfProject => format!(" --project {}", word(&self.project_path())),
            DataOption::Named => self.options_with_data(data),
        }
    }

    fn options_with_data(&self, data: &Path) -> String {
        format!(" --project {} --data {}", word(&self.project_path()), word(data))
    }

    fn advice_on_moved(&self, from: &Path, to: &Path) -> String {
        let is_where_the_project_says = match self.data {
            DataOption::OfProject => {
                from.strip_prefix(&self.root).is_ok_and(|it| self.project_path().join(it) == to)
            }
            DataOption::Named => false,
        };
        if is_where_the_project_says {
            let options = self.options(to);
            return format!("nothing is lost: stop this server, then type `baton serve{options}`");
        }
        let options = self.options_with_data(to);
        format!(
            "nothing is lost: stop this server, then move it back, or type `baton serve{options}` \
             to go on there"
        )
    }

    fn advice_on_copy(&self, copy: &Path, options: &str) -> String {
        let project = self.project_path();
        let is_project = Dir::open(&project)
            .and_then(|it| it.entry(self.project_folder))
            .is_ok_and(|it| it.is_some());
        let first = if is_project {
            String::new()
        } else {
            format!(
                "bring `{}` back or type `baton init --project {}`, ",
                self.project_folder,
                word(&project)
            )
        };
        format!(
            "all that was recorded is in `{}`: stop this server, {first}then type \
             `baton restore {} --replace{options}`",
            copy.display(),
            word(copy)
        )
    }
}

fn word(path: &Path) -> String {
    shell_word(&path.to_string_lossy())
}
