//! The project's files as a server sees them: read again when one of them has changed.
//!
//! A file is used only if it looked the same a moment before it was read and after that: half of a
//! workflow may well be a workflow.

use std::ffi::OsString;
use std::path::Path;
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::Duration;

use baton_engine::{Catalog, CatalogSource, LeftOutFile};
use baton_files::{Dir, FileEntry};
use baton_wire::project_file::ProjectFile;

use super::loaded::{BEING_WRITTEN, LoadedFiles};
use super::source::{AGENT_FOLDERS, WORKFLOW_FOLDER};
use super::{FOLDER, PROJECT_FILE, Project, project_file_in};
use crate::failure::Failure;

pub(crate) struct WatchedFiles {
    dir: Dir,
    /// Waits between the two looks at a file that has changed.
    rest: Box<dyn Fn() + Send + Sync>,
    seen: Mutex<Seen>,
}

/// A file that is written in pieces shows within this time that it is.
const REST: Duration = Duration::from_millis(100);

struct Seen {
    /// Of the files that were read; without those that changed meanwhile, so that the next look
    /// reads them again.
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
        Ok(Self::at(dir, project.file.clone(), Box::new(rest)))
    }

    fn at(dir: Dir, project: ProjectFile, rest: Box<dyn Fn() + Send + Sync>) -> (Self, Catalog) {
        let first = stamps(&dir);
        let files = LoadedFiles::of(&dir);
        let (stamps, changing) = settled(first, &dir);
        let files = files.without(&changing);
        let catalog = files.catalog(&project);
        let seen = Mutex::new(Seen { stamps, project, files });
        (Self { dir, rest, seen }, catalog)
    }
}

impl WatchedFiles {
    /// The catalog of the files as they were last read.
    pub(super) fn catalog(&self) -> Catalog {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.files.catalog(&seen.project)
    }
}

fn rest() {
    // Nothing is ever sent.
    let (_sender, quiet) = mpsc::channel::<()>();
    let _ = quiet.recv_timeout(REST);
}

impl CatalogSource for WatchedFiles {
    fn changed(&self) -> Option<Catalog> {
        let first = stamps(&self.dir);
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if first == seen.stamps {
            return None;
        }
        (self.rest)();
        let empty = LoadedFiles::default();
        let before = std::mem::replace(&mut seen.files, empty);
        let files = LoadedFiles::of(&self.dir);
        let project = project_file_in(&self.dir);
        let (stamps, changing) = settled(first, &self.dir);
        seen.files = files.without(&changing).without_unknown_agents(&before).with_earlier(before);
        seen.stamps = stamps;
        let broken = match project {
            Ok(_) if changing.contains(&path_of(&self.dir, FOLDER, PROJECT_FILE)) => {
                Some(Failure::Broken { what: BEING_WRITTEN.to_owned() })
            }
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

/// Of the stamps from before the files were read, those that are still true; and the paths of the
/// files that have changed since, or are new.
fn settled(first: Vec<FileStamp>, dir: &Dir) -> (Vec<FileStamp>, Vec<String>) {
    let (same, changed): (Vec<_>, Vec<_>) =
        stamps(dir).into_iter().partition(|it| first.contains(it));
    (same, changed.iter().map(|it| path_of(dir, it.folder, &it.name)).collect())
}

fn path_of(dir: &Dir, folder: &str, name: impl AsRef<Path>) -> String {
    dir.path().join(folder).join(name).display().to_string()
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

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use baton_core::names::WorkflowName;

    use super::*;

    const HALF: &str = "name: late\nstart: work\nsteps:\n  work:\n    agent: implementer\n    \
                        on:\n      success: complete\n";
    const WHOLE: &str = "name: late\ntitle: Whole\nstart: work\nsteps:\n  work:\n    \
                         agent: implementer\n    on:\n      success: complete\n";

    fn title(catalog: &Catalog) -> Option<String> {
        let name = WorkflowName::parse("late").unwrap();
        catalog.workflow(&name).ok().map(|it| it.workflow.title.clone())
    }

    /// Half of a workflow that rests cannot be distinguished from a whole one: it is used, and only until the
    /// rest of it is written.
    #[test]
    fn a_file_that_rests_half_written_while_a_server_starts_counts_until_it_is_whole() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join(WORKFLOW_FOLDER);
        fs::create_dir_all(&folder).unwrap();
        let file = folder.join("late.yaml");
        fs::write(&file, HALF).unwrap();
        let at = |root: &Path| {
            let dir = Dir::open(root).unwrap();
            WatchedFiles::at(dir, ProjectFile::default(), Box::new(|| {}))
        };
        let (watched, catalog) = at(root.path());
        assert_eq!(title(&catalog).as_deref(), Some("Late"));
        fs::write(&file, WHOLE).unwrap();
        let catalog = watched.changed().expect("the rest of it was written");
        assert_eq!(title(&catalog).as_deref(), Some("Whole"));
        // A half that is no workflow is left out with the reason, and then used like any other.
        fs::write(&file, &WHOLE[..WHOLE.len() / 2]).unwrap();
        let (watched, catalog) = at(root.path());
        assert_eq!(title(&catalog), None);
        assert_eq!(catalog.left_out().len(), 1, "{:?}", catalog.left_out());
        fs::write(&file, WHOLE).unwrap();
        let catalog = watched.changed().expect("the rest of it was written");
        assert_eq!(title(&catalog).as_deref(), Some("Whole"));
        assert!(catalog.left_out().is_empty(), "{:?}", catalog.left_out());
    }

    #[test]
    fn a_file_that_changes_between_two_looks_is_not_used() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join(WORKFLOW_FOLDER);
        fs::create_dir_all(&folder).unwrap();
        let file = folder.join("late.yaml");
        let is_writing = Arc::new(AtomicBool::new(true));
        let rest = {
            let (file, is_writing) = (file.clone(), Arc::clone(&is_writing));
            move || {
                if is_writing.load(Ordering::Relaxed) {
                    let longer = fs::read_to_string(&file).unwrap() + "# more\n";
                    fs::write(&file, longer).unwrap();
                }
            }
        };
        let dir = Dir::open(root.path()).unwrap();
        let (watched, catalog) = WatchedFiles::at(dir, ProjectFile::default(), Box::new(rest));
        assert_eq!(title(&catalog), None);
        assert!(watched.changed().is_none(), "nothing has changed");

        // A new file that is still being written is left out, and read again at the next look.
        fs::write(&file, HALF).unwrap();
        let catalog = watched.changed().expect("a file is new");
        assert_eq!(title(&catalog), None);
        let [left_out] = catalog.left_out() else { panic!("{:?}", catalog.left_out()) };
        assert!(left_out.why.contains("is being written"), "{}", left_out.why);
        is_writing.store(false, Ordering::Relaxed);
        let catalog = watched.changed().expect("it is read again");
        assert_eq!(title(&catalog).as_deref(), Some("Late"));
        assert!(catalog.left_out().is_empty(), "{:?}", catalog.left_out());
        assert!(watched.changed().is_none(), "it rests now");

        // Of a known file the version before is used meanwhile.
        is_writing.store(true, Ordering::Relaxed);
        fs::write(&file, WHOLE).unwrap();
        let catalog = watched.changed().expect("it has changed");
        assert_eq!(title(&catalog).as_deref(), Some("Late"));
        assert_eq!(catalog.left_out().len(), 1);
        is_writing.store(false, Ordering::Relaxed);
        let catalog = watched.changed().expect("it is read again");
        assert_eq!(title(&catalog).as_deref(), Some("Whole"));
    }

    #[test]
    fn a_changed_workflow_that_names_an_unknown_agent_is_not_used() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join(WORKFLOW_FOLDER);
        fs::create_dir_all(&folder).unwrap();
        let file = folder.join("late.yaml");
        fs::write(&file, WHOLE).unwrap();
        let dir = Dir::open(root.path()).unwrap();
        let (watched, catalog) = WatchedFiles::at(dir, ProjectFile::default(), Box::new(|| {}));
        assert_eq!(title(&catalog).as_deref(), Some("Whole"));
        let slip = WHOLE.replace("implementer", "implmenter").replace("Whole", "Changed");
        fs::write(&file, slip).unwrap();
        let catalog = watched.changed().expect("the file has changed");
        assert_eq!(title(&catalog).as_deref(), Some("Whole"), "the version before is used");
        let [left_out] = catalog.left_out() else { panic!("{:?}", catalog.left_out()) };
        assert!(left_out.why.contains("implmenter"), "{}", left_out.why);
        assert!(left_out.why.ends_with("the version before is used until it is mended"));
    }
}
