//! The archive of a project that keeps one: its path, and keeping it up to date.

use baton_engine::EngineError;
use baton_files::FileError;
use baton_recover::{AheadError, OpenArchive, SessionAhead};
use baton_store::{Store, StoreError};
use baton_views::{ArchiveError, ArchivePlaces, Archived};

use crate::project::Project;
use crate::session::Session;
use crate::show;

/// More runs than a person reads one by one.
const MOST_NAMED: usize = 20;

/// `None` where `baton.toml` has no section for it.
pub(crate) fn places(project: &Project) -> Option<ArchivePlaces> {
    let folders = project.file.archive.as_ref()?;
    Some(ArchivePlaces {
        root: project.root.clone(),
        state: folders.state.clone().into(),
        sessions: folders.sessions.clone().into(),
    })
}

/// The existing folders of the archive. Anything outside the project is not read.
pub(crate) fn folders(project: &Project) -> Result<Option<OpenArchive>, FileError> {
    let Some(folders) = &project.file.archive else { return Ok(None) };
    let folder = |path: &str| match project.dir.subdir(path) {
        Ok(folder) => Ok(Some(folder)),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error),
    };
    let (sessions, state) = (folder(&folders.sessions)?, folder(&folders.state)?);
    Ok(Some(OpenArchive { sessions, state }))
}

/// What the archive has and a database lacks, in lines for a person. Each names a run. Errors of
/// the archive itself are reported by the code that writes to it.
pub(crate) async fn ahead_of(
    project: &Project,
    store: &dyn Store,
) -> Result<Vec<String>, StoreError> {
    let Ok(Some(folders)) = folders(project) else { return Ok(Vec::new()) };
    let ahead = match folders.ahead_of(store).await {
        Ok(ahead) => ahead,
        Err(AheadError::Files(_)) => return Ok(Vec::new()),
        Err(AheadError::Store(error)) => return Err(error),
    };
    let line = |it: &SessionAhead| {
        let SessionAhead { id, number, n_there, n_archived } = it;
        let events = show::counted(*n_archived, "event");
        format!("the archive has {events} of run {number} ({id}), and the database {n_there}")
    };
    let mut lines: Vec<String> = ahead.iter().take(MOST_NAMED).map(line).collect();
    let n_more = ahead.len().saturating_sub(MOST_NAMED);
    if n_more > 0 {
        let runs = show::counted(n_more as u64, "further run");
        lines.push(format!("the archive tells more of {runs} than the database"));
    }
    Ok(lines)
}

/// Archives the result of the command. If that fails, the command has succeeded all the same.
pub(crate) async fn catch_up(session: &Session) {
    let Some(archive) = &session.archive else { return };
    let caught_up = archive.catch_up_some().await;
    if let Ok(Archived { n_kept: 1.., .. }) = caught_up {
        show::note(&format!(
            "{} than this database; that is kept beside its session, and `baton recover` brings it \
             back where its run has not gone on otherwise",
            show::warn("the archive knows more:"),
        ));
    }
    match caught_up {
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
