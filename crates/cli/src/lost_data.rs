//! A project that has lost its data is not a new one: a copy beside it or the archive in the
//! repository still has its runs. No new database is created before a person confirms it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use baton_core::shell::shell_word;
use baton_files::{Access, Dir, FileError};
use baton_store::Store as _;
use baton_store_sqlite::{
    ASIDE_PREFIX, CopyExtent, DATABASE_FILE, LOG_FILE, LastMark, OpenError, RESCUED_PREFIX,
    SqliteStore, refuse_unfinished_move, rescued_beside,
};
use baton_views::ARCHIVED_PROJECT;
use uuid::Uuid;

use crate::archive;
use crate::failure::Failure;
use crate::project::Project;
use crate::session::refuse_folder;

/// Refuses a data folder without a database where a copy, the project's own data folder or the
/// archive has runs.
pub(crate) fn refuse(project: &Project, data: &Dir) -> Result<(), Failure> {
    refuse_folder(project, data)?;
    let database = data.entry(DATABASE_FILE)?;
    if database.is_some_and(|it| it.n_bytes > 0) {
        return Ok(());
    }
    refuse_unfinished_move(data).map_err(Failure::Open)?;
    let database = data.path().join(DATABASE_FILE).display().to_string();
    if let Some(copy) = best_copy(project, data)? {
        let path = shell_word(&copy.path.display().to_string());
        return Err(match copy.reach {
            CopyReach::All => Failure::LostCopied { database, copy: path },
            CopyReach::Behind(reach) => Failure::LostCopyBehind { database, copy: path, reach },
        });
    }
    if let Some(own) = project.data_instead_of_named() {
        let own = shell_word(&own.display().to_string());
        return Err(Failure::NotThere { database, own });
    }
    match archive_of(project) {
        Ok(Some(archive)) => Err(Failure::LostData { database, archive }),
        // Errors of the archive are reported by the code that writes to it.
        Ok(None) | Err(_) => Ok(()),
    }
}

/// Names a copy first, where damaged or older data has one that covers its mark.
pub(crate) fn name_copy(project: &Project, data: &Dir, failure: Failure) -> Failure {
    let Failure::Open(error) = &failure else { return failure };
    let problem = if matches!(error, OpenError::Damaged { .. }) {
        "it is damaged"
    } else if matches!(error, OpenError::Older { .. }) {
        "it is older than what was last written here"
    } else if matches!(error, OpenError::Exchanged { .. }) {
        "it is not the one that was last open here"
    } else {
        return failure;
    };
    let is_marked = LastMark::read(data).is_ok_and(|it| it.is_some());
    match (failure, best_copy(project, data)) {
        (Failure::Open(source), Ok(Some(DataCopy { path, reach: CopyReach::All })))
            if is_marked =>
        {
            let copy = shell_word(&path.display().to_string());
            Failure::OpenCopied { problem, copy, source: Box::new(source) }
        }
        (failure, _) => failure,
    }
}

/// The problem that a server saved a copy that goes further than the open database. After a restore
/// the two have different epochs, and are not compared.
pub(crate) async fn behind_copy(
    project: &Project,
    data: &Dir,
    store: &SqliteStore,
) -> Result<Option<Failure>, Failure> {
    let is_rescued = |path: &PathBuf| {
        let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
        name.starts_with(RESCUED_PREFIX)
    };
    let mut copies: Vec<PathBuf> = copies_in(data)?.into_iter().filter(is_rescued).collect();
    copies.extend(copies_beside(project));
    // A copy that a person has renamed was put away on purpose.
    copies.retain(|it| copy_number(it) > 0);
    if copies.is_empty() {
        return Ok(None);
    }
    let (identity, position) = (store.identity().await?, store.last_position().await?);
    for path in newest_first(copies) {
        let copy = Dir::open(&path).ok().as_ref().and_then(CopyExtent::read);
        let further = copy.filter(|it| it.identity == identity && it.position > position);
        if let Some(copy) = further {
            return Ok(Some(Failure::BehindCopy {
                copy: shell_word(&path.display().to_string()),
                n_here: position.0,
                n_there: copy.position.0,
            }));
        }
    }
    Ok(None)
}

/// An existing copy of the data.
struct DataCopy {
    path: PathBuf,
    reach: CopyReach,
}

/// How far a copy goes, compared with the known extent of the data.
enum CopyReach {
    All,
    /// In words.
    Behind(String),
}

/// Of the copies in the data folder, or else of those beside the project, the newest that covers
/// everything known; where none does, the newest.
fn best_copy(project: &Project, data: &Dir) -> Result<Option<DataCopy>, FileError> {
    let mark = LastMark::read(data)?;
    let mut copies = newest_first(copies_in(data)?);
    copies.extend(newest_first(copies_beside(project)));
    let copies = copies.into_iter().map(|path| {
        let reach = reach(project, mark.as_ref(), &path);
        DataCopy { path, reach }
    });
    let mut newest = None;
    for copy in copies {
        match copy.reach {
            CopyReach::All => return Ok(Some(copy)),
            CopyReach::Behind(_) => newest = newest.or(Some(copy)),
        }
    }
    Ok(newest)
}

fn reach(project: &Project, mark: Option<&LastMark>, path: &Path) -> CopyReach {
    let Some(copy) = Dir::open(path).ok().as_ref().and_then(CopyExtent::read) else {
        return CopyReach::Behind("of which it is not known how far it goes".to_owned());
    };
    let position = copy.position.0;
    match mark {
        Some(mark) if copy.is_as_new_as(mark) => CopyReach::All,
        Some(mark) if position < mark.position.0 => {
            CopyReach::Behind(format!("which goes up to event {position} of {}", mark.position.0))
        }
        Some(_) => CopyReach::Behind(format!(
            "which goes up to event {position} and is older than what was last written"
        )),
        None => {
            let archive = archive::folders(project).ok().flatten();
            match archive.and_then(|it| it.is_covered_by(&copy)) {
                Some(true) => CopyReach::All,
                Some(false) => CopyReach::Behind(format!(
                    "which goes up to event {position}, and the archive further"
                )),
                None => CopyReach::Behind(format!(
                    "which goes up to event {position}; whether there were more is not known"
                )),
            }
        }
    }
}

/// The copies of the data in its folder.
fn copies_in(data: &Dir) -> Result<Vec<PathBuf>, FileError> {
    let is_copy = |name: &OsStr| {
        let name = name.to_str().unwrap_or_default();
        [RESCUED_PREFIX, ASIDE_PREFIX].iter().any(|it| name.starts_with(it))
    };
    let copies = data.list()?.into_iter().filter(|(name, it)| it.is_folder() && is_copy(name));
    Ok(copies.map(|(name, _)| data.path().join(name)).collect())
}

/// Most recently written first; ties by highest number. A folder without a database that can be
/// opened is no copy.
fn newest_first(copies: Vec<PathBuf>) -> Vec<PathBuf> {
    let dated = copies.into_iter().filter_map(|path| {
        let order = (written_at(&path)?, copy_number(&path));
        Some((order, path))
    });
    let mut dated: Vec<_> = dated.collect();
    dated.sort_by_key(|(order, _)| std::cmp::Reverse(*order));
    dated.into_iter().map(|(_, path)| path).collect()
}

/// The time of the last write to the database in `folder` or to its log. The folder's own time is
/// later: that of the restore which moved it.
fn written_at(folder: &Path) -> Option<SystemTime> {
    let dir = Dir::open(folder).ok()?;
    let modified = |name| dir.open_file(name, Access::Read).ok()?.modified_at().ok();
    let database = modified(DATABASE_FILE)?;
    Some(modified(LOG_FILE).map_or(database, |log| log.max(database)))
}

/// The N of `rescued-N`.
fn copy_number(folder: &Path) -> u64 {
    let name = folder.file_name().and_then(OsStr::to_str).unwrap_or_default();
    name.rsplit('-').next().and_then(|it| it.parse().ok()).unwrap_or(0)
}

/// The copies beside the project: a server puts them there if `.baton` was deleted.
pub(crate) fn copies_beside(project: &Project) -> Vec<PathBuf> {
    let Ok(root) = project.dir.real_path() else { return Vec::new() };
    // Where the folder above cannot be read, no copy can be named.
    let Some(Ok(above)) = root.parent().map(Dir::open) else { return Vec::new() };
    let prefix = rescued_beside(&root);
    let is_copy = |name: &OsStr| name.to_str().is_some_and(|it| it.starts_with(&prefix));
    let entries = above.list().unwrap_or_default().into_iter();
    let copies = entries.filter(|(name, it)| it.is_folder() && is_copy(name));
    copies.map(|(name, _)| above.path().join(name)).collect()
}

/// The folder that has runs, if there is one.
fn archive_of(project: &Project) -> Result<Option<String>, FileError> {
    let Some(folders) = &project.file.archive else { return Ok(None) };
    let root = &project.dir;
    let state = Path::new(&folders.state);
    if root.entry(state.join(ARCHIVED_PROJECT))?.is_some() {
        return Ok(Some(folders.state.clone()));
    }
    // Archives of an earlier Baton do not name their project.
    let sessions = match root.subdir(&folders.sessions) {
        Ok(sessions) => sessions.list()?,
        Err(FileError::NotFound { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    let is_session =
        |name: &std::ffi::OsStr| name.to_str().is_some_and(|it| Uuid::try_parse(it).is_ok());
    let has_session = sessions.iter().any(|(name, entry)| entry.is_folder() && is_session(name));
    Ok(has_session.then(|| folders.sessions.clone()))
}
