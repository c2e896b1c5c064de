//! Project files that are identified by their name: agents and workflows.

use std::path::Path;
use std::sync::Arc;

use baton_files::{Dir, FileEntry, FileError};
use baton_store_postgres::PushedFile;
use baton_wire::{agent_file, builtin};

use crate::failure::Failure;

/// The size limit of an agent or workflow; larger files are not read.
pub(super) const MOST_BYTES: u64 = 1024 * 1024;

/// A file of the project, or a built-in one.
#[derive(Clone)]
pub(crate) struct SourceFile {
    /// The path for people; `built in` for built-in files.
    pub(crate) origin: String,
    text: Result<String, Arc<FileError>>,
}

impl SourceFile {
    pub(crate) fn new(origin: impl Into<String>, text: impl Into<String>) -> Self {
        Self { origin: origin.into(), text: Ok(text.into()) }
    }

    fn unread(path: &Path, error: FileError) -> Self {
        Self { origin: path.display().to_string(), text: Err(Arc::new(error)) }
    }

    pub(crate) fn text(&self) -> Result<&str, Failure> {
        match &self.text {
            Ok(text) => Ok(text),
            Err(error) => Err(Failure::Files(Arc::clone(error))),
        }
    }

    pub(crate) fn is_built_in(&self) -> bool {
        self.origin == BUILT_IN
    }
}

pub(crate) const BUILT_IN: &str = builtin::ORIGIN;

/// Folders that may hold agents. Later ones win.
pub(super) const AGENT_FOLDERS: [&str; 3] = ["agents", "workflow-agents", ".baton/agents"];
pub(super) const WORKFLOW_FOLDER: &str = ".baton/workflows";
const AGENT_ENDINGS: &[&str] = &["md"];
const WORKFLOW_ENDINGS: &[&str] = &["yaml", "yml"];

/// Every workflow by name; the project's file overrides the built-in one.
pub(super) fn workflows(dir: &Dir) -> Vec<(String, SourceFile)> {
    merge(builtin::workflows(), files_in(dir, WORKFLOW_FOLDER, WORKFLOW_ENDINGS))
}

/// Every agent by name, as [`workflows`].
pub(super) fn agents(dir: &Dir) -> Vec<(String, SourceFile)> {
    let mut files = Vec::new();
    for folder in AGENT_FOLDERS {
        files.extend(files_in(dir, folder, AGENT_ENDINGS));
    }
    files.retain(is_agent);
    merge(builtin::agents(), files)
}

/// An unreadable file may be an agent.
fn is_agent((name, it): &(String, SourceFile)) -> bool {
    it.text.as_ref().map_or(true, |text| agent_file::is_agent_file(name, text))
}

/// The project's own files, by their paths below its folder.
pub(super) fn own_files(dir: &Dir) -> Vec<(String, SourceFile)> {
    let mut files = Vec::new();
    for (folder, endings) in folders() {
        for (name, source) in files_in(dir, folder, endings) {
            if endings == AGENT_ENDINGS && !is_agent(&(name, source.clone())) {
                continue;
            }
            let path = Path::new(&source.origin);
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            files.push((format!("{folder}/{name}"), source));
        }
    }
    files
}

/// The agents among pushed files, and the built-in ones.
pub(super) fn pushed_agents(files: &[PushedFile]) -> Vec<(String, SourceFile)> {
    let folders = AGENT_FOLDERS.iter().map(|it| (*it, AGENT_ENDINGS));
    merge(builtin::agents(), folders.flat_map(|it| pushed_in(files, it)).collect())
}

/// The workflows among pushed files, and the built-in ones.
pub(super) fn pushed_workflows(files: &[PushedFile]) -> Vec<(String, SourceFile)> {
    merge(builtin::workflows(), pushed_in(files, (WORKFLOW_FOLDER, WORKFLOW_ENDINGS)))
}

fn pushed_in(
    files: &[PushedFile],
    (folder, endings): (&str, &[&str]),
) -> Vec<(String, SourceFile)> {
    let file = |it: &PushedFile| {
        let (parent, name) = it.path.rsplit_once('/')?;
        let (stem, ending) = name.rsplit_once('.')?;
        let is_here = parent == folder && endings.contains(&ending);
        let origin = format!("{} (pushed)", it.path);
        is_here.then(|| (stem.to_owned(), SourceFile::new(origin, it.text.as_str())))
    };
    files.iter().filter_map(file).collect()
}

fn folders() -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
    let agents = AGENT_FOLDERS.into_iter().map(|it| (it, AGENT_ENDINGS));
    agents.chain([(WORKFLOW_FOLDER, WORKFLOW_ENDINGS)])
}

/// The files in a folder by name without extension. An unreadable folder or file is included, so
/// that it can be reported.
fn files_in(dir: &Dir, folder: &str, endings: &[&str]) -> Vec<(String, SourceFile)> {
    let path = dir.path().join(folder);
    let listed = dir.subdir(folder).and_then(|folder| Ok((folder.list()?, folder)));
    let (entries, folder) = match listed {
        Ok(listed) => listed,
        Err(FileError::NotFound { .. }) => return Vec::new(),
        // No file has a name like this, so it hides none.
        Err(error) => return vec![(format!("{folder}/"), SourceFile::unread(&path, error))],
    };
    let is_ours = |(name, entry): &(_, FileEntry)| {
        let name = Path::new(name);
        let is_hidden = name.to_string_lossy().starts_with('.');
        let has_ending = name.extension().is_some_and(|it| endings.iter().any(|end| it == *end));
        has_ending && !is_hidden && !entry.is_folder()
    };
    let ours = entries.into_iter().filter(is_ours).map(|(name, _)| {
        let path = folder.path().join(&name);
        let stem = Path::new(&name).file_stem().unwrap_or(&name).to_string_lossy().into_owned();
        let source = match folder.read_text(&name, MOST_BYTES) {
            Ok(text) => SourceFile::new(path.display().to_string(), text),
            Err(error) => SourceFile::unread(&path, error),
        };
        (stem, source)
    });
    let mut ours: Vec<(String, SourceFile)> = ours.collect();
    ours.sort_by(|(a, _), (b, _)| a.cmp(b));
    ours
}

/// Built-in files and the project's: the project's file overrides the built-in one.
fn merge(ours: &[(&str, &str)], theirs: Vec<(String, SourceFile)>) -> Vec<(String, SourceFile)> {
    let mut all: Vec<(String, SourceFile)> = Vec::new();
    for (name, text) in ours {
        if !theirs.iter().any(|(it, _)| it == name) {
            all.push(((*name).to_owned(), SourceFile::new(BUILT_IN, *text)));
        }
    }
    for (name, source) in theirs {
        match all.iter_mut().find(|(it, _)| *it == name) {
            // Later folders win: `.baton/agents` over `agents`.
            Some((_, known)) => *known = source,
            None => all.push((name, source)),
        }
    }
    all
}
