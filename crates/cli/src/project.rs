//! A project on disk: its `.baton` folder, its workflows and its agents.

mod database;
mod loaded;
mod pushed;
mod source;
mod watched;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use baton_core::contract::Profile;
use baton_files::{Dir, FileError, FileMode};
use baton_store_postgres::PushedFile;
use baton_store_sqlite::{CommandContext, DATABASE_FILE, DataOption};
use baton_wire::file_problem::FileProblem;
use baton_wire::project_file::{self, ProjectFile};

pub(crate) use self::database::{DatabaseNotNamed, DatabaseSource, ProjectDatabase};
pub(crate) use self::loaded::{FileRole, LoadedFiles, WorkflowUse, tell_left_out};
pub(crate) use self::pushed::{DatabaseFiles, PushWatcher, to_push};
use self::source::MOST_BYTES;
pub(crate) use self::source::{BUILT_IN, SourceFile};
pub(crate) use self::watched::WatchedFiles;
use crate::args::{Cli, CliCommand};
use crate::failure::Failure;

pub(crate) const FOLDER: &str = ".baton";
pub(crate) const PROJECT_FILE: &str = "baton.toml";

/// Everything below its folder comes with a repository, and is opened beneath the folder's handle.
pub(crate) struct Project {
    pub(crate) root: PathBuf,
    /// The same folder, as an open handle.
    pub(crate) dir: Dir,
    pub(crate) file: ProjectFile,
    /// The data folder given by the user, instead of the project's.
    data: Option<PathBuf>,
    /// Set where the data is in a database; what belongs to this machine stays in the data folder.
    pub(crate) database: Option<ProjectDatabase>,
    /// The files of all nodes, where they were asked for and there are any: used in place of its own.
    pushed: Vec<PushedFile>,
}

impl Project {
    /// The project in `asked`, or the nearest one at or above the current folder.
    pub(crate) fn find(asked: Option<&Path>) -> Result<Self, Failure> {
        let dir = match asked {
            Some(root) => named(root)?,
            None => nearest()?,
        };
        // Reports what is there instead, where it is no folder.
        dir.subdir(FOLDER)?;
        let file = project_file_in(&dir)?;
        let (root, pushed) = (dir.path().to_owned(), Vec::new());
        Ok(Self { root, dir, file, data: None, database: None, pushed })
    }

    /// As [`Project::find`]; where there is none, one with only the built-in files.
    pub(crate) fn find_or_bare(asked: Option<&Path>) -> Result<Self, Failure> {
        match (Self::find(asked), asked) {
            (Err(Failure::NotFound(_)), None) => {
                let root = PathBuf::from(".");
                let dir = Dir::open(&root)?;
                let (file, pushed) = (ProjectFile::default(), Vec::new());
                Ok(Self { root, dir, file, data: None, database: None, pushed })
            }
            (found, _) => found,
        }
    }

    /// The project that was typed, or the nearest one, with its data where `--data` or
    /// `--database-url` says. Only commands that create data create that folder: a new database
    /// elsewhere would be a typo.
    pub(crate) fn of(cli: &Cli) -> Result<Self, Failure> {
        let found = Self::find(cli.project.as_deref())?;
        let mut project = found.with_database(cli.database_url.as_ref())?;
        if let Some(data) = &cli.data {
            let begins = matches!(
                cli.command,
                CliCommand::Serve(_) | CliCommand::Restore { .. } | CliCommand::Init { .. }
            );
            if !begins && Dir::open(data).is_err_and(|it| it.is_not_found()) {
                let message = format!("there is no folder `{}`; `--data` names it", data.display());
                return Err(Failure::NotFound(message));
            }
            project.data = Some(data.clone());
        }
        Ok(project)
    }

    /// What the project is called: the name of its folder.
    pub(crate) fn name(&self) -> Option<String> {
        let root = self.root.canonicalize().ok()?;
        Some(root.file_name()?.to_string_lossy().into_owned())
    }

    /// The folder with the project's own database, where `--data` names another.
    pub(crate) fn data_instead_of_named(&self) -> Option<PathBuf> {
        let own = self.own_folder_beside_named()?;
        let database = own.entry(DATABASE_FILE).ok()??;
        (database.n_bytes > 0).then(|| own.path().to_owned())
    }

    /// The project's own data folder, where `--data` names another.
    pub(crate) fn own_folder_beside_named(&self) -> Option<Dir> {
        self.data.as_ref()?;
        self.dir.subdir(Path::new(FOLDER).join(self.data_folder())).ok()
    }

    /// How an operator names this data on a command line.
    pub(crate) fn command_context(&self) -> Result<CommandContext, Failure> {
        let data = if self.data.is_some() { DataOption::Named } else { DataOption::OfProject };
        Ok(CommandContext::new(self.dir.again()?, FOLDER, data)?)
    }

    /// Where the data is, for people.
    pub(crate) fn data(&self) -> PathBuf {
        match &self.data {
            Some(data) => data.clone(),
            None => self.root.join(FOLDER).join(self.data_folder()),
        }
    }

    /// Where the data is, for people: the database or the folder.
    pub(crate) fn place(&self) -> String {
        match &self.database {
            Some(database) => database.url.to_string(),
            None => self.data().display().to_string(),
        }
    }

    /// The data folder, created where there is none. One that the user names may be anywhere; the
    /// project's own is inside the project.
    pub(crate) fn data_dir(&self) -> Result<Dir, Failure> {
        Ok(match &self.data {
            Some(data) => Dir::open_or_make(data, FileMode::Private)?,
            None => self.dir.subdir(FOLDER)?.make_dirs(self.data_folder(), FileMode::Private)?,
        })
    }

    /// The data folder, where there is one.
    pub(crate) fn present_data_dir(&self) -> Option<Dir> {
        match &self.data {
            Some(data) => Dir::open(data).ok(),
            None => self.dir.subdir(Path::new(FOLDER).join(self.data_folder())).ok(),
        }
    }

    /// The folder of the data, where there is data in one.
    pub(crate) fn own_data(&self) -> Option<Dir> {
        if self.database.is_some() {
            return None;
        }
        let data = self.present_data_dir()?;
        let database = data.entry(DATABASE_FILE).ok()??;
        (database.n_bytes > 0).then_some(data)
    }

    fn data_folder(&self) -> &str {
        self.file.data.as_deref().unwrap_or(project_file::DEFAULT_DATA)
    }

    /// The project's own default strictness of contracts.
    pub(crate) fn profile(&self) -> Option<Profile> {
        self.file.profile
    }

    /// With the files that were pushed to its database, where there are any.
    pub(crate) fn using_pushed(mut self, pushed: Vec<PushedFile>) -> Self {
        if !pushed.is_empty() {
            self.file = pushed::settings_in(&pushed, &self.file);
        }
        self.pushed = pushed;
        self
    }

    pub(crate) fn n_pushed(&self) -> usize {
        self.pushed.len()
    }

    /// Every workflow by name; the project's file overrides the built-in one.
    pub(crate) fn workflows(&self) -> Vec<(String, SourceFile)> {
        match self.pushed.as_slice() {
            [] => source::workflows(&self.dir),
            pushed => source::pushed_workflows(pushed),
        }
    }

    /// The project's agents and workflows, and what is wrong with the others.
    pub(crate) fn load(&self) -> LoadedFiles {
        let files = match self.pushed.as_slice() {
            [] => LoadedFiles::of(&self.dir),
            pushed => LoadedFiles::of_pushed(pushed),
        };
        files.with_checks(&self.file)
    }

    /// The sections of `baton.toml` for agents that there are no files for, with the file's path.
    pub(crate) fn unknown_agents(&self, files: &LoadedFiles) -> Option<Failure> {
        let path = Path::new(FOLDER).join(PROJECT_FILE);
        let text = self.dir.read_text(&path, MOST_BYTES).ok()?;
        let problems = project_file::unknown_agents(&text, &files.agent_names());
        let file = self.dir.path().join(path).display().to_string();
        (!problems.is_empty()).then_some(Failure::File { file, problems })
    }
}

/// A folder that the user named.
fn named(root: &Path) -> Result<Dir, Failure> {
    let found = match Dir::open(root) {
        Err(FileError::NotFound { .. }) => None,
        dir => Some(dir?),
    };
    if let Some(dir) = found
        && dir.entry(FOLDER)?.is_some()
    {
        return Ok(dir);
    }
    Err(Failure::NotFound(format!(
        "`{}` is no Baton project; `baton init --project {0}` makes it one",
        root.display()
    )))
}

fn nearest() -> Result<Dir, Failure> {
    let here = std::env::current_dir().map_err(|error| Failure::io("see this folder", error))?;
    for folder in here.ancestors() {
        // A folder above may be closed to this user, and those above that one open.
        let dir = match Dir::open(folder) {
            Err(error) if error.io_kind() == Some(ErrorKind::PermissionDenied) => continue,
            dir => dir?,
        };
        if dir.entry(FOLDER)?.is_some() {
            return Ok(dir);
        }
    }
    let message = "there is no Baton project here or above; `baton init` makes one";
    Err(Failure::NotFound(message.to_owned()))
}

/// What `baton.toml` says; a project may have none.
fn project_file_in(dir: &Dir) -> Result<ProjectFile, Failure> {
    let path = Path::new(FOLDER).join(PROJECT_FILE);
    match dir.read_text(&path, MOST_BYTES) {
        Ok(text) => parsed(&dir.path().join(path), project_file::parse(&text)),
        Err(FileError::NotFound { .. }) => Ok(ProjectFile::default()),
        Err(error) => Err(error.into()),
    }
}

/// The parsed file, or every problem in it.
pub(crate) fn parsed<T>(path: &Path, result: Result<T, Vec<FileProblem>>) -> Result<T, Failure> {
    result.map_err(|problems| Failure::File { file: path.display().to_string(), problems })
}
