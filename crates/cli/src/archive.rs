//! The archive of a project that keeps one: where it goes, and that it is up to date.

use baton_engine::{ArchiveError, Archived, EngineError, Places};

use crate::project::Project;
use crate::session::Session;
use crate::show;

/// None where `baton.toml` has no section for it.
pub(crate) fn places(project: &Project) -> Option<Places> {
    let folders = project.file.archive.as_ref()?;
    Some(Places {
        root: project.root.clone(),
        state: folders.state.clone().into(),
        sessions: folders.sessions.clone().into(),
    })
}

/// Writes what the command has done. Whatever goes wrong there, the command is done.
pub(crate) async fn catch_up(session: &Session) {
    let Some(archive) = session.engine.archive() else { return };
    match archive.catch_up_some().await {
        Ok(Archived { is_behind: true, .. }) => show::note(&format!(
            "{} one command writes a few runs; `baton archive rebuild` or a server writes the rest",
            show::warn("the archive is behind:"),
        )),
        Ok(_) | Err(ArchiveError::Engine(EngineError::Closing)) => {}
        Err(error) => show::note(&format!(
            "{} {}; the next command tries again",
            show::warn("the archive is behind:"),
            show::visible(&error.to_string())
        )),
    }
}
