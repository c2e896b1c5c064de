//! Where the agents of a run work: a git worktree of its own, or the project's folder.
//!
//! Work is never deleted: what is not committed is kept under a ref before a workspace goes.

mod cleaning;
mod contents;
mod environment;
mod scratch_index;
mod worktrees;

use std::path::{Path, PathBuf};
use std::time::Duration;

use baton_api::StoryDocument;
use baton_files::{Dir, FileError, FileMode};
use baton_wire::project_file::runner::{RunnerSettings, WorkspaceKind};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

pub(crate) use self::contents::AgentSession;
use self::scratch_index::ScratchIndex;
use self::worktrees::{ExistingBranch, UnusableFolder};
use crate::branch::branch_name;
use crate::git::{GitError, GitFolder};
use crate::process::{ProgramSpec, end_marked, run_to_end};
use crate::trust::foreign_program;

pub(crate) const WORKSPACES: &str = "workspaces";
/// The worktree, in the folder of its workspace.
pub(crate) const TREE: &str = "tree";
/// Folders that were put aside, in the folder of their workspace.
const ASIDE: &str = "left-";
const RECORD: &str = "workspace.json";
const MOST_RECORD_BYTES: u64 = 1 << 20;
const MOST_ENV_FILE_BYTES: u64 = 1 << 20;
/// Branches that are taken get a number.
const MOST_BRANCHES: u32 = 50;

/// The workspace of one run, as it is on disk.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct WorkspaceRecord {
    pub run: Uuid,
    pub run_number: u64,
    pub story: String,
    /// `None` in place.
    pub branch: Option<String>,
    pub port: u16,
    pub path: PathBuf,
    /// The branch was made for this run.
    pub is_worktree: bool,
    /// It is set up.
    pub is_ready: bool,
    /// What the last attempt left uncommitted when it ended without a result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<KeptChanges>,
    /// The conversation of the last attempt, where that ended without a result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<AgentSession>,
}

/// Changes that are kept as a commit under a ref.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct KeptChanges {
    pub name: String,
    pub commit: String,
}

#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    #[error(transparent)]
    Files(#[from] FileError),
    #[error("{0}")]
    Git(String),
    #[error("`{command}` {what}: {output}")]
    Setup { command: String, what: String, output: String },
    #[error("no port from {first} to {last} is free")]
    NoPort { first: u16, last: u16 },
    #[error(
        "{path} holds repositories of its own ({inner}), whose commits would be lost; look at them, and remove \
         the folder by hand"
    )]
    InnerRepository { path: String, inner: String },
    #[error(
        "{path} was put aside because it was no worktree any more; look at it, and remove it by hand"
    )]
    PutAside { path: String },
    #[error(
        "{path} is not the worktree any more that Baton made ({why}), so what is in it cannot be kept; look at it, \
         remove the folder by hand, and type this again"
    )]
    NoRepository { path: String, why: String },
    #[error(
        "its workspace is not the worktree any more that Baton made: {why}; the folder is put aside, and nothing in it \
         counts"
    )]
    NotOwn { why: String },
    #[error(
        "{found} is checked out in its workspace, and the work of this run belongs on the branch `{branch}`: bring it \
         there, check that branch out, and hand on again"
    )]
    OtherBranch { found: String, branch: String },
    #[error("{0}")]
    Foreign(String),
    #[error("all of {branch} and {branch}-2 to {branch}-{MOST_BRANCHES} are taken")]
    NoBranch { branch: String },
}

impl From<GitError> for WorkspaceError {
    fn from(error: GitError) -> Self {
        Self::Git(error.to_string())
    }
}

/// By this variable the set-up commands of a workspace are found again.
const SETUP_VARIABLE: &str = "BATON_WORKSPACE";

/// git does not look: what is in such a folder may have come with a repository.
fn is_bare(folder: &Dir) -> bool {
    let is = |name: &str| folder.entry(name).ok().flatten();
    is("HEAD").is_some_and(|it| it.is_file())
        && is("objects").is_some_and(|it| it.is_folder())
        && is("refs").is_some_and(|it| it.is_folder())
        && is(".git").is_none()
}

/// The worktree of a run, where it has one.
pub fn worktree_of(data: &Dir, run: Uuid) -> Option<Dir> {
    let path = Path::new(crate::record::FOLDER).join(WORKSPACES).join(run.to_string()).join(TREE);
    data.subdir(path).ok()
}

/// Whether a runner with this data has worked on a run, in a worktree or in place.
pub fn has_workspace(data: &Dir, run: Uuid) -> bool {
    let path = Path::new(crate::record::FOLDER).join(WORKSPACES).join(run.to_string());
    data.subdir(path).is_ok()
}

/// The workspaces of a project.
pub struct Workspaces {
    /// The project's folder.
    project: Dir,
    /// The runner's folder in the data.
    state: Dir,
    git: GitFolder,
    /// Whether the project's folder is the top of a repository.
    is_repository: bool,
    /// Whether runs get worktrees.
    is_worktree: bool,
    settings: RunnerSettings,
    env: Vec<(String, String)>,
    /// One workspace is made at a time: names of branches and ports are looked for and then taken.
    turn: tokio::sync::Mutex<()>,
}

impl Workspaces {
    /// `env`: what is passed on of the runner's own environment.
    pub async fn open(
        project: Dir,
        data: &Dir,
        settings: &RunnerSettings,
        env: &[(String, String)],
    ) -> Result<Self, WorkspaceError> {
        let state = data.make_dirs(crate::record::FOLDER, FileMode::Private)?;
        let git = GitFolder::new(project.real_path()?, env);
        let located = git.located().await;
        let is_repository = located.is_some();
        let git = located.unwrap_or(git);
        let has_commit = is_repository && git.head().await.is_some();
        if !has_commit && settings.workspace != Some(WorkspaceKind::InPlace) && is_bare(&project) {
            let path = project.path().display();
            return Err(WorkspaceError::Git(format!(
                "{path} is a bare repository, which has no files to work on; type `git worktree add ../work` there, \
                 and run Baton in that folder"
            )));
        }
        let is_worktree = match settings.workspace {
            Some(WorkspaceKind::InPlace) => false,
            Some(WorkspaceKind::Worktree) if !has_commit => {
                let path = project.path().display();
                return Err(WorkspaceError::Git(format!(
                    "{path} is no git repository with a commit, so there can be no worktrees; make a \
                     commit, or set `workspace = \"in-place\"` in baton.toml"
                )));
            }
            Some(WorkspaceKind::Worktree) => true,
            None => has_commit,
        };
        let (settings, env) = (settings.clone(), env.to_vec());
        Ok(Self {
            project,
            state,
            git,
            is_repository,
            is_worktree,
            settings,
            env,
            turn: tokio::sync::Mutex::default(),
        })
    }

    /// How many agents can work at the same time.
    pub(crate) fn most_at_once(&self) -> usize {
        if self.is_worktree { self.settings.at_once } else { 1 }
    }

    /// The workspace of a run, made and set up where there is none.
    pub(crate) async fn prepare(
        &self,
        run: Uuid,
        run_number: u64,
        story: &StoryDocument,
    ) -> Result<WorkspaceRecord, WorkspaceError> {
        let known = self.record(run)?;
        if let Some(known) = &known
            && known.is_ready
            && (!known.is_worktree || self.git.worktree(&known.path).is_ok())
        {
            return Ok(known.clone());
        }
        // Set-up commands of a runner that was killed.
        let _ = end_marked(&format!("{SETUP_VARIABLE}={run}"));
        let record = {
            let _turn = self.turn.lock().await;
            self.make(known, run, run_number, story).await?
        };
        self.copy_env_files(&record)?;
        for command in &self.settings.setup {
            self.set_up(&record, command).await?;
        }
        let record = WorkspaceRecord { is_ready: true, ..record };
        self.save(&record)?;
        Ok(record)
    }

    async fn make(
        &self,
        known: Option<WorkspaceRecord>,
        run: Uuid,
        run_number: u64,
        story: &StoryDocument,
    ) -> Result<WorkspaceRecord, WorkspaceError> {
        let port = match &known {
            Some(known) => known.port,
            None => self.free_port()?,
        };
        let folder = self.folder(run)?;
        let base = WorkspaceRecord {
            run,
            run_number,
            story: story.key.clone(),
            branch: None,
            port,
            path: self.git.path.clone(),
            is_worktree: false,
            is_ready: false,
            kept: None,
            session: None,
        };
        if !self.is_worktree {
            let branch = self.git.branch().await;
            let record = WorkspaceRecord { branch, ..base };
            self.save(&record)?;
            return Ok(record);
        }
        let path = folder.real_path()?.join(TREE);
        let unusable = match &known {
            Some(known) if !known.is_ready => UnusableFolder::Remove,
            Some(_) | None => UnusableFolder::PutAside,
        };
        let base = WorkspaceRecord { path: path.clone(), is_worktree: true, ..base };
        let branch = match self.found_worktree(&folder, &base, unusable).await? {
            Some(branch) => branch,
            None => {
                let wanted = branch_name(self.settings.branch.as_deref(), story, run_number);
                let is_the_storys = story.branch.as_ref() == Some(&wanted);
                let (wanted, existing) = match known.and_then(|it| it.branch) {
                    Some(own) => (own, ExistingBranch::GoOn),
                    None if is_the_storys => (wanted, ExistingBranch::GoOn),
                    None => (wanted, ExistingBranch::Leave),
                };
                self.add_worktree(&base, &wanted, existing).await?
            }
        };
        let record = WorkspaceRecord { branch: Some(branch), ..base };
        self.save(&record)?;
        Ok(record)
    }

    fn copy_env_files(&self, record: &WorkspaceRecord) -> Result<(), WorkspaceError> {
        if !record.is_worktree {
            return Ok(());
        }
        let tree = self.tree(record.run)?;
        for name in &self.settings.env_files {
            let bytes = match self.project.read(name, MOST_ENV_FILE_BYTES) {
                Err(error) if error.is_not_found() => continue,
                bytes => bytes?,
            };
            if let Some(parent) = Path::new(name).parent().filter(|it| !it.as_os_str().is_empty()) {
                tree.make_dirs(parent, FileMode::Shared)?;
            }
            tree.write_atomic(name, &bytes, FileMode::Private)?;
        }
        Ok(())
    }

    async fn set_up(&self, record: &WorkspaceRecord, command: &str) -> Result<(), WorkspaceError> {
        let words = ["sh", "-c", command].map(str::to_owned);
        let workspace = Dir::open(&record.path)?;
        if let Some(file) = foreign_program(&self.project, &workspace, &words, &self.settings.env) {
            return Err(WorkspaceError::Foreign(format!(
                "`{}` in the workspace is not the one in the project that was trusted, and `{command}` would \
                 start it",
                file.display()
            )));
        }
        let mut env = self.environment(record);
        env.push((SETUP_VARIABLE.to_owned(), record.run.to_string()));
        let spec = ProgramSpec {
            program: "/bin/sh".into(),
            args: vec!["-c".into(), command.into()],
            folder: record.path.clone(),
            env,
            input: None,
        };
        let most = Duration::try_from(self.settings.setup_timeout).unwrap_or(Duration::MAX);
        let failed = |what: String, output: &str| {
            let output = output.lines().rev().take(20).collect::<Vec<_>>();
            let output = output.into_iter().rev().collect::<Vec<_>>().join("\n");
            WorkspaceError::Setup { command: command.to_owned(), what, output }
        };
        match run_to_end(&spec, most).await {
            Err(error) => Err(failed(format!("cannot be started: {error}"), "")),
            Ok(run) => match run.status {
                Some(status) if status.success() => Ok(()),
                Some(status) => Err(failed(format!("failed ({status})"), &run.output)),
                None => Err(failed("took too long".to_owned(), &run.output)),
            },
        }
    }

    /// The workspace of a run, where it has one. Whatever a record says, it is the run of its folder, and where Baton
    /// would have put it: records may have come in an archive.
    pub fn record(&self, run: Uuid) -> Result<Option<WorkspaceRecord>, WorkspaceError> {
        let folder = Path::new(WORKSPACES).join(run.to_string());
        let record = match self.state.read(folder.join(RECORD), MOST_RECORD_BYTES) {
            Err(error) if error.is_not_found() => return Ok(None),
            read => serde_json::from_slice::<WorkspaceRecord>(&read?).ok(),
        };
        let Some(record) = record else { return Ok(None) };
        let path = match record.is_worktree {
            true => self.state.subdir(folder)?.real_path()?.join(TREE),
            false => self.git.path.clone(),
        };
        Ok(Some(WorkspaceRecord { run, path, ..record }))
    }

    /// Every workspace, by the number of its run.
    pub fn all(&self) -> Result<Vec<WorkspaceRecord>, WorkspaceError> {
        let folder = self.state.make_dirs(WORKSPACES, FileMode::Private)?;
        let mut records = Vec::new();
        for (name, _) in folder.list()? {
            let run = name.to_str().and_then(|it| Uuid::parse_str(it).ok());
            if let Some(run) = run {
                records.extend(self.record(run)?);
            }
        }
        records.sort_by_key(|it| it.run_number);
        Ok(records)
    }

    /// False where the folder is there, and is no worktree any more.
    pub fn has_repository(&self, record: &WorkspaceRecord) -> bool {
        self.repository(record).is_ok()
    }

    /// Whether the branch of a workspace is still there.
    pub async fn has_branch(&self, branch: &str) -> bool {
        self.git.has_branch(branch).await
    }

    /// True if the workspace has changes that are not committed.
    pub async fn is_dirty(&self, record: &WorkspaceRecord) -> bool {
        let Ok(Some(git)) = self.repository(record) else { return false };
        let Ok(index) = self.scratch_index(record.run) else { return true };
        git.is_dirty(index.path()).await.unwrap_or(true)
    }

    /// The repository of a workspace, for every git that works there; `None` where it has none, or its folder is gone.
    /// It fails where the folder is another repository's by now: no git is started there.
    fn repository(&self, record: &WorkspaceRecord) -> Result<Option<GitFolder>, WorkspaceError> {
        if !record.is_worktree {
            return Ok(self.is_repository.then(|| self.git.clone()));
        }
        if matches!(self.folder(record.run)?.entry(TREE), Ok(None)) {
            return Ok(None);
        }
        let own = self.git.worktree(&record.path);
        own.map(Some).map_err(|why| WorkspaceError::NotOwn { why })
    }

    fn scratch_index(&self, run: Uuid) -> Result<ScratchIndex, FileError> {
        ScratchIndex::within(self.folder(run)?)
    }

    fn folder(&self, run: Uuid) -> Result<Dir, FileError> {
        self.state.make_dirs(Path::new(WORKSPACES).join(run.to_string()), FileMode::Private)
    }

    fn tree(&self, run: Uuid) -> Result<Dir, FileError> {
        self.state.subdir(Path::new(WORKSPACES).join(run.to_string()).join(TREE))
    }

    fn save(&self, record: &WorkspaceRecord) -> Result<(), FileError> {
        let text = match serde_json::to_vec_pretty(record) {
            Ok(text) => text,
            Err(error) => unreachable!("our own types always encode: {error}"),
        };
        self.folder(record.run)?.write_atomic(RECORD, &text, FileMode::Private)
    }
}
