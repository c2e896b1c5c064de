//! A project that has lost its data is not a new one: the archive in the repository still tells of
//! runs. Nothing begins anew before a person has said that this is meant.

use baton_engine::ARCHIVED_PROJECT;
use baton_files::{Dir, FileError};
use baton_store_sqlite::DATABASE_FILE;
use uuid::Uuid;

use crate::failure::Failure;
use crate::project::Project;

/// Refuses a data folder without a database where the archive tells of one.
pub(crate) fn refuse(project: &Project, data: &Dir) -> Result<(), Failure> {
    let database = data.entry(DATABASE_FILE)?;
    if database.is_some_and(|it| it.n_bytes > 0) {
        return Ok(());
    }
    match archive_of(project) {
        Ok(Some(archive)) => {
            let database = data.path().join(DATABASE_FILE).display().to_string();
            Err(Failure::LostData { database, archive })
        }
        // What stands in its way is said by whatever writes to it.
        Ok(None) | Err(_) => Ok(()),
    }
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
