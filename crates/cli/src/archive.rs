//! The archive of a project that keeps one: where it goes, and that it is up to date.

use baton_engine::{Archive, ArchiveError, EngineError, Places};

use crate::failure::Failure;
use crate::session::Session;
use crate::show;

/// None where `baton.toml` has no section for it.
pub(crate) fn archive_of(session: &Session) -> Option<Archive> {
    let folders = session.project.file.archive.as_ref()?;
    let places = Places {
        root: session.project.root.clone(),
        state: folders.state.clone().into(),
        sessions: folders.sessions.clone().into(),
    };
    Some(Archive::new(session.engine.clone(), places))
}

/// Writes what the command has done. Whatever goes wrong there, the command is done.
pub(crate) async fn catch_up(session: &Session) {
    let Some(archive) = archive_of(session) else { return };
    match archive.catch_up().await {
        Ok(_) | Err(ArchiveError::Engine(EngineError::Closing)) => {}
        Err(error) => show::note(&format!(
            "{} {}; the next command tries again",
            show::warn("the archive is behind:"),
            show::visible(&error.to_string())
        )),
    }
}

pub(crate) fn failure(error: ArchiveError) -> Failure {
    match error {
        ArchiveError::Engine(error) => Failure::Engine(error),
        ArchiveError::Disk(error) => Failure::Broken { what: error.to_string() },
    }
}
