//! A project on disk: its `.baton` folder, its workflows and its agents.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use baton_core::contract::Profile;
use baton_core::names::WorkflowName;
use baton_core::problem::Problem;
use baton_core::registry::Agents;
use baton_engine::{Catalog, Entry};
use baton_http::api::ProfileWord;
use baton_wire::agent_file::{self, AgentFile};
use baton_wire::file_problem::FileProblem;
use baton_wire::project_file::{self, ProjectFile};
use baton_wire::{builtin, workflow_file};

use crate::failure::Failure;

pub(crate) const FOLDER: &str = ".baton";
pub(crate) const PROJECT_FILE: &str = "baton.toml";

/// Where agents may stand besides `.baton/agents`: the seeds' own folders.
const AGENT_FOLDERS: [&str; 2] = ["agents", "workflow-agents"];

pub(crate) struct Project {
    pub(crate) root: PathBuf,
    pub(crate) file: ProjectFile,
    /// Where somebody says that the data is, instead of the project.
    data: Option<PathBuf>,
}

/// A file of the project, or one that comes with Baton.
pub(crate) struct Source {
    /// The path for people; `built in` for ours.
    pub(crate) origin: String,
    pub(crate) text: String,
}

impl Project {
    /// The project in `asked`, or the nearest one at or above the current folder.
    pub(crate) fn find(asked: Option<&Path>) -> Result<Self, Failure> {
        let root = match asked {
            Some(root) if root.join(FOLDER).is_dir() => root.to_owned(),
            Some(root) => {
                return Err(Failure::NotFound(format!(
                    "`{}` is no Baton project; `baton init --project {0}` makes it one",
                    root.display()
                )));
            }
            None => nearest()?,
        };
        let path = root.join(FOLDER).join(PROJECT_FILE);
        let file = match std::fs::read_to_string(&path) {
            Ok(text) => parsed(&path, project_file::parse(&text))?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => ProjectFile::default(),
            Err(error) => return Err(Failure::io(format!("read `{}`", path.display()), error)),
        };
        Ok(Self { root, file, data: None })
    }

    /// As [`Project::find`]; where there is none, one that has only what comes with Baton.
    pub(crate) fn find_or_bare(asked: Option<&Path>) -> Result<Self, Failure> {
        match (Self::find(asked), asked) {
            (Err(Failure::NotFound(_)), None) => {
                Ok(Self { root: PathBuf::from("."), file: ProjectFile::default(), data: None })
            }
            (found, _) => found,
        }
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.root.join(FOLDER)
    }

    /// Keeps the data elsewhere than the project says.
    pub(crate) fn keep_data_in(&mut self, dir: &Path) {
        self.data = Some(dir.to_owned());
    }

    pub(crate) fn data(&self) -> PathBuf {
        if let Some(data) = &self.data {
            return data.clone();
        }
        self.folder().join(self.file.data.as_deref().unwrap_or(project_file::DEFAULT_DATA))
    }

    /// How severe contracts are taken where nobody says: strict, unless the project does.
    pub(crate) fn profile(&self) -> ProfileWord {
        match self.file.profile {
            Some(Profile::Lenient) => ProfileWord::Lenient,
            Some(Profile::Strict) | None => ProfileWord::Strict,
        }
    }

    /// Every workflow by name; the project's file wins over ours.
    pub(crate) fn workflows(&self) -> Result<Vec<(String, Source)>, Failure> {
        merge(builtin::workflows(), files_in(&self.folder().join("workflows"), &["yaml", "yml"])?)
    }

    pub(crate) fn agents(&self) -> Result<Vec<(String, Source)>, Failure> {
        let mut files = Vec::new();
        for folder in AGENT_FOLDERS {
            // Such a folder may hold anything, a README too: only what has a head is an agent.
            let theirs = files_in(&self.root.join(folder), &["md"])?;
            files.extend(theirs);
        }
        files.extend(files_in(&self.folder().join("agents"), &["md"])?);
        files.retain(|(_, it)| it.text.starts_with("---"));
        merge(builtin::agents(), files)
    }

    pub(crate) fn agent_files(&self) -> Result<Vec<AgentFile>, Failure> {
        let agents = self.agents()?;
        agents
            .iter()
            .map(|(_, it)| parsed(Path::new(&it.origin), agent_file::parse(&it.text)))
            .collect()
    }

    /// Everything that new runs may use, and what cannot be read: one bad file must not keep
    /// anybody from a run that is under way.
    pub(crate) fn catalog(&self) -> Result<(Catalog, Vec<Failure>), Failure> {
        let mut unreadable = Vec::new();
        let mut entries = Vec::new();
        for (name, it) in self.workflows()? {
            match parsed(Path::new(&it.origin), workflow_file::parse(&it.text)) {
                Ok(workflow) if workflow.name.as_str() != name => {
                    unreadable.push(misnamed(&it.origin, workflow.name.as_str()));
                }
                Ok(workflow) => {
                    entries.push(Entry { workflow: Arc::new(workflow), text: it.text });
                }
                Err(failure) => unreadable.push(failure),
            }
        }
        let mut agents = Vec::new();
        for (name, it) in self.agents()? {
            match parsed(Path::new(&it.origin), agent_file::parse(&it.text)) {
                Ok(file) if file.agent.id.as_str() != name => {
                    unreadable.push(misnamed(&it.origin, file.agent.id.as_str()));
                }
                Ok(file) => agents.push(file.agent),
                Err(failure) => unreadable.push(failure),
            }
        }
        let own = self.file.default_workflow.clone();
        if let Some(own) = &own
            && !entries.iter().any(|it| it.workflow.name == *own)
        {
            let message = format!("`{own}`, which `{PROJECT_FILE}` names, is no workflow here");
            unreadable.push(Failure::NotFound(message));
        }
        let ours = || WorkflowName::parse(builtin::workflows().first()?.0).ok();
        let catalog = Catalog::new(entries, Agents::new(agents), own.or_else(ours));
        Ok((catalog.with_lint(self.file.lint.clone()), unreadable))
    }
}

fn nearest() -> Result<PathBuf, Failure> {
    let here = std::env::current_dir().map_err(|error| Failure::io("see this folder", error))?;
    let found = here.ancestors().find(|it| it.join(FOLDER).is_dir());
    found.map(Path::to_owned).ok_or_else(|| {
        Failure::NotFound(
            "there is no Baton project here or above; `baton init` makes one".to_owned(),
        )
    })
}

/// What a file says, or every problem it has.
pub(crate) fn parsed<T>(path: &Path, result: Result<T, Vec<FileProblem>>) -> Result<T, Failure> {
    result.map_err(|problems| Failure::File { file: path.display().to_string(), problems })
}

/// The files in a folder by the name that they stand for: that of the file, without its ending.
fn files_in(folder: &Path, endings: &[&str]) -> Result<Vec<(String, Source)>, Failure> {
    let reading = |path: &Path| format!("read `{}`", path.display());
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Failure::io(reading(folder), error)),
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| Failure::io(reading(folder), error))?.path();
        let is_hidden = entry_is_hidden(&path);
        let is_ours =
            !is_hidden && path.extension().is_some_and(|it| endings.iter().any(|end| it == *end));
        let name = path.file_stem().map(|it| it.to_string_lossy().into_owned());
        if let (true, Some(name)) = (is_ours && path.is_file(), name) {
            let text = std::fs::read_to_string(&path)
                .map_err(|error| Failure::io(reading(&path), error))?;
            files.push((name, Source { origin: path.display().to_string(), text }));
        }
    }
    files.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(files)
}

/// A file stands for what it is called: two names for one thing would hide one of them.
fn misnamed(file: &str, name: &str) -> Failure {
    let message = format!("`{name}` has to stand in a file of that name");
    let problems = vec![Problem::new("name", "misnamed", message)];
    Failure::Check { file: file.to_owned(), problems }
}

fn entry_is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|it| it.to_string_lossy().starts_with('.'))
}

fn merge(
    ours: &[(&str, &str)],
    theirs: Vec<(String, Source)>,
) -> Result<Vec<(String, Source)>, Failure> {
    let mut all: Vec<(String, Source)> = Vec::new();
    for (name, text) in ours {
        if !theirs.iter().any(|(it, _)| it == name) {
            let source = Source { origin: "built in".to_owned(), text: (*text).to_owned() };
            all.push(((*name).to_owned(), source));
        }
    }
    for (name, source) in theirs {
        match all.iter_mut().find(|(it, _)| *it == name) {
            // Later folders win: `.baton/agents` over `agents`.
            Some((_, known)) => *known = source,
            None => all.push((name, source)),
        }
    }
    Ok(all)
}
