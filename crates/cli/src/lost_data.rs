//! A project that has lost its data is not a new one: a copy beside it or the archive in the
//! repository still tells of runs. Nothing begins anew before a person has said that this is meant.

use std::ffi::OsStr;
use std::path::PathBuf;

use baton_core::shell::shell_word;
use baton_engine::ARCHIVED_PROJECT;
use baton_files::{Dir, FileError};
use baton_store_sqlite::{ASIDE_PREFIX, DATABASE_FILE, RESCUED_PREFIX, rescued_beside};
use uuid::Uuid;

use crate::failure::Failure;
use crate::project::Project;

/// Refuses a data folder without a database where the archive tells of one.
pub(crate) fn refuse(project: &Project, data: &Dir) -> Result<(), Failure> {
    let database = data.entry(DATABASE_FILE)?;
    if database.is_some_and(|it| it.n_bytes > 0) {
        return Ok(());
    }
    let database = data.path().join(DATABASE_FILE).display().to_string();
    if let Some(copy) = copy_in(data)?.or_else(|| copy_beside(project)) {
        let copy = shell_word(&copy.display().to_string());
        return Err(Failure::LostCopied { database, copy });
    }
    if let Some(own) = project.data_instead_of_named() {
        let own = shell_word(&own.display().to_string());
        return Err(Failure::NotThere { database, own });
    }
    match archive_of(project) {
        Ok(Some(archive)) => Err(Failure::LostData { database, archive }),
        // What stands in its way is said by whatever writes to it.
        Ok(None) | Err(_) => Ok(()),
    }
}

/// The newest copy of the data beside it, if there is one.
fn copy_in(data: &Dir) -> Result<Option<PathBuf>, FileError> {
    let is_copy = |name: &OsStr| {
        let name = name.to_str().unwrap_or_default();
        [RESCUED_PREFIX, ASIDE_PREFIX].iter().any(|it| name.starts_with(it))
    };
    let mut copies = data.list()?.into_iter().filter(|(name, it)| it.is_folder() && is_copy(name));
    // Rescued ones come after those that were put aside, and are newer than the data was.
    Ok(copies.next_back().map(|(name, _)| data.path().join(name)))
}

fn copy_beside(project: &Project) -> Option<PathBuf> {
    copies_beside(project).pop()
}

/// The copies beside the project: there they are where `.baton` was deleted under a server.
pub(crate) fn copies_beside(project: &Project) -> Vec<PathBuf> {
    let Ok(root) = project.dir.real_path() else { return Vec::new() };
    // Where the folder above cannot be read, there is no copy that could be named.
    let Some(Ok(above)) = root.parent().map(Dir::open) else { return Vec::new() };
    let prefix = rescued_beside(&root);
    let is_copy = |name: &OsStr| name.to_str().is_some_and(|it| it.starts_with(&prefix));
    let entries = above.list().unwrap_or_default().into_iter();
    let copies = entries.filter(|(name, it)| it.is_folder() && is_copy(name));
    copies.map(|(name, _)| above.path().join(name)).collect()
}

/// The folder that tells of runs, if there is one.
fn archive_of(project: &Project) -> Result<Option<String>, FileError> {
    let Some(folders) = &project.file.archive else { return Ok(None) };
    let root = &project.dir;
    let state = std::path::Path::new(&folders.state);
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
