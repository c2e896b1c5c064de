//! The project's files as a server sees them: read again when one of them has changed.

use std::ffi::OsString;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use baton_engine::{Catalog, CatalogSource, LeftOutFile};
use baton_files::{Dir, FileEntry};
use baton_wire::project_file::ProjectFile;

use super::loaded::LoadedFiles;
use super::source::{AGENT_FOLDERS, WORKFLOW_FOLDER};
use super::{FOLDER, PROJECT_FILE, Project, project_file_in};
use crate::failure::Failure;

pub(crate) struct WatchedFiles {
    dir: Dir,
    seen: Mutex<Seen>,
}

struct Seen {
    stamps: Vec<FileStamp>,
    /// As it was last read without a problem.
    project: ProjectFile,
    /// Empty while it is replaced.
    files: LoadedFiles,
}

/// What is seen of a file without opening it.
#[derive(PartialEq)]
struct FileStamp {
    folder: &'static str,
    name: OsString,
    entry: FileEntry,
}

impl WatchedFiles {
    /// The files as they are now, and their catalog.
    pub(crate) fn of(project: &Project) -> Result<(Self, Catalog), Failure> {
        let dir = project.dir.again()?;
        // Before the files are read: what is written meanwhile is seen as a change.
        let stamps = stamps(&dir);
        let files = LoadedFiles::of(&dir);
        let catalog = files.catalog(&project.file);
        let seen = Seen { stamps, project: project.file.clone(), files };
        Ok((Self { dir, seen: Mutex::new(seen) }, catalog))
    }
}

impl CatalogSource for WatchedFiles {
    fn changed(&self) -> Option<Catalog> {
        let stamps = stamps(&self.dir);
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if stamps == seen.stamps {
            return None;
        }
        let empty = LoadedFiles { agents: Vec::new(), workflows: Vec::new(), left_out: Vec::new() };
        let before = std::mem::replace(&mut seen.files, empty);
        seen.files = LoadedFiles::of(&self.dir).with_earlier(before);
        seen.stamps = stamps;
        let broken = match project_file_in(&self.dir) {
            Ok(file) => {
                seen.project = file;
                None
            }
            Err(failure) => Some(failure),
        };
        let catalog = seen.files.catalog(&seen.project);
        let Some(failure) = broken else { return Some(catalog) };
        let why = failure
            .file_problems()
            .first()
            .map_or_else(|| failure.to_string(), ToString::to_string);
        let file = self.dir.path().join(FOLDER).join(PROJECT_FILE).display().to_string();
        let why = format!("{why}; what it said before counts until it is mended");
        let left_out = LeftOutFile { name: PROJECT_FILE.to_owned(), file, why };
        let all = catalog.left_out().iter().cloned().chain([left_out]).collect();
        Some(catalog.with_left_out(all))
    }
}

/// Every file that could be one of the project's; a folder that is not there has none.
fn stamps(dir: &Dir) -> Vec<FileStamp> {
    let mut stamps = Vec::new();
    for folder in AGENT_FOLDERS.into_iter().chain([WORKFLOW_FOLDER]) {
        let entries = dir.subdir(folder).and_then(|it| it.list()).unwrap_or_default();
        stamps.extend(entries.into_iter().map(|(name, entry)| FileStamp { folder, name, entry }));
    }
    let project = dir.entry(Path::new(FOLDER).join(PROJECT_FILE)).ok().flatten();
    let name = OsString::from(PROJECT_FILE);
    stamps.extend(project.map(|entry| FileStamp { folder: FOLDER, name, entry }));
    stamps
}
