//! The archive as a source: the log of each session, in which only hashes are trusted. An archive
//! travels with the repository, so it may be of another database, or from anyone.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _};

use baton_core::hash::Hash;
use baton_core::names::Principal;
use baton_core::run::{HandoffId, HandoffNo, RunId};
use baton_files::{Access, Dir, FileError};
use baton_store::{Definition, Position, RunRef, Store, StoreError, Version};
use baton_store_sqlite::{CopyExtent, SalvagedEvent, SalvagedRow};
use baton_views::{
    ARCHIVED_LOG, ARCHIVED_LOG_MOST_BYTES, ARCHIVED_PROJECT, ARCHIVED_WORKFLOWS, run_of_session,
};
use baton_wire::run_log::{RUN_LOG_VERSION, RunLogLine};
use baton_wire::{json, workflow_file};
use jiff::Timestamp;
use uuid::Uuid;

/// The first line of a log is short.
const MOST_FIRST_LINE: u64 = 4096;
/// Of a workflow's file, and of the one that names the project.
const MOST_SMALL_BYTES: u64 = 1 << 20;

/// Where the archive of a project is.
#[derive(Debug)]
pub struct OpenArchive {
    pub sessions: Option<Dir>,
    pub state: Option<Dir>,
}

/// How far a run had come, by its session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ArchivedHead {
    pub(crate) project: Uuid,
    pub(crate) id: RunId,
    pub(crate) number: u64,
    pub(crate) version: Version,
    pub(crate) head: Hash,
    /// In the folder of the sessions: a run may have further ones that were kept aside.
    pub(crate) folder: String,
}

/// How many sessions the archive has of each project, by its id.
pub type SessionCounts = BTreeMap<Uuid, u64>;

pub(crate) fn count_by_project(sessions: &[ArchivedHead]) -> SessionCounts {
    let mut counts = SessionCounts::new();
    for session in sessions {
        *counts.entry(session.project).or_default() += 1;
    }
    counts
}

/// A run that has more events in the archive than in the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionAhead {
    pub id: RunId,
    pub number: u64,
    /// How many events of it the database has.
    pub n_there: u64,
    pub n_archived: u64,
}

/// Why the archive could not be compared with a database.
#[derive(Debug, thiserror::Error)]
pub enum AheadError {
    #[error(transparent)]
    Files(#[from] FileError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl OpenArchive {
    /// The project that the archive says it is of.
    pub(crate) fn project(&self) -> Option<Uuid> {
        let text = self.state.as_ref()?.read_text(ARCHIVED_PROJECT, MOST_SMALL_BYTES).ok()?;
        json::parse(&text).ok()?.member("project")?.as_text()?.parse().ok()
    }

    pub fn session_counts(&self) -> Result<SessionCounts, FileError> {
        Ok(count_by_project(&self.all_sessions()?))
    }

    /// The sessions that have a log of a run of this project.
    fn sessions_of(&self, project: Uuid) -> Result<Vec<ArchivedHead>, FileError> {
        let mut sessions = self.all_sessions()?;
        sessions.retain(|it| it.project == project);
        Ok(sessions)
    }

    /// The sessions that have a log of a run of any project.
    pub(crate) fn all_sessions(&self) -> Result<Vec<ArchivedHead>, FileError> {
        let Some(sessions) = &self.sessions else { return Ok(Vec::new()) };
        let mut heads = Vec::new();
        for (name, entry) in sessions.list()? {
            let name = name.to_str().filter(|_| entry.is_folder());
            let Some((name, id)) = name.and_then(|it| Some((it, run_of_session(it)?))) else {
                continue;
            };
            let head = self.first_line(name);
            heads.extend(head.filter(|it| it.id == id));
        }
        Ok(heads)
    }

    fn first_line(&self, name: &str) -> Option<ArchivedHead> {
        let folder = self.sessions.as_ref()?.subdir(name).ok()?;
        let file = folder.open_file(ARCHIVED_LOG, Access::Read).ok()?;
        let mut line = String::new();
        BufReader::new(file.take(MOST_FIRST_LINE)).read_line(&mut line).ok()?;
        head(line.trim_end(), name)
    }

    /// Whether `copy` has every run of its project as far as the archive has. `None` where the
    /// archive has no such run.
    pub fn is_covered_by(&self, copy: &CopyExtent) -> Option<bool> {
        let sessions = self.sessions_of(copy.identity.project).ok()?;
        let is_there = |it: &ArchivedHead| copy.n_events_of(it.id) >= it.version.0;
        (!sessions.is_empty()).then(|| sessions.iter().all(is_there))
    }

    /// The sessions of the store's own project that have come further than the store itself.
    pub async fn ahead_of(&self, store: &dyn Store) -> Result<Vec<SessionAhead>, AheadError> {
        let project = store.identity().await?.project;
        let mut ahead = Vec::new();
        for session in self.sessions_of(project)? {
            let row = match store.run(&RunRef::Id(session.id)).await {
                Ok(row) => row,
                // Its extent is unknown; `verify` reports what is wrong with it.
                Err(StoreError::Damaged { .. }) => continue,
                Err(error) => return Err(error.into()),
            };
            let n_there = row.map_or(0, |it| it.version.0);
            let (id, number, n_archived) = (session.id, session.number, session.version.0);
            if n_there < n_archived {
                ahead.push(SessionAhead { id, number, n_there, n_archived });
            }
        }
        // Of the sessions of one run, the one that has come furthest.
        ahead.sort_by_key(|it| (it.number, it.id, u64::MAX - it.n_archived));
        ahead.dedup_by_key(|it| it.id);
        Ok(ahead)
    }

    /// Every row in the log of a session. An unreadable log is treated as missing.
    pub(crate) fn rows_of(&self, session: &ArchivedHead) -> Vec<SalvagedRow> {
        let folder = self.sessions.as_ref().and_then(|it| it.subdir(&session.folder).ok());
        let log = folder.and_then(|it| it.read_text(ARCHIVED_LOG, ARCHIVED_LOG_MOST_BYTES).ok());
        log.unwrap_or_default().lines().filter_map(|line| row(line, session)).collect()
    }

    /// The workflows in the archive, each under its actual hash.
    pub(crate) fn definitions(&self) -> Vec<Definition> {
        let folder = self.state.as_ref().and_then(|it| it.subdir(ARCHIVED_WORKFLOWS).ok());
        let Some(folder) = folder else { return Vec::new() };
        let names = folder.list().unwrap_or_default();
        let texts =
            names.iter().filter_map(|(name, _)| folder.read_text(name, MOST_SMALL_BYTES).ok());
        texts
            .filter_map(|text| {
                let workflow = workflow_file::parse(&text).ok()?;
                Some(Definition { hash: workflow.hash, name: workflow.name, text })
            })
            .collect()
    }
}

fn head(line: &str, folder: &str) -> Option<ArchivedHead> {
    match RunLogLine::decode(line)? {
        RunLogLine::Run { v: RUN_LOG_VERSION, project, id, number, version, head } => {
            let (id, version) = (RunId(id), Version(version));
            let folder = folder.to_owned();
            Some(ArchivedHead { project, id, number, version, head, folder })
        }
        RunLogLine::Run { .. }
        | RunLogLine::Story(_)
        | RunLogLine::Handoff { .. }
        | RunLogLine::Event { .. }
        | RunLogLine::Text(_) => None,
    }
}

fn row(line: &str, session: &ArchivedHead) -> Option<SalvagedRow> {
    let run_number = session.number;
    Some(match RunLogLine::decode(line)? {
        RunLogLine::Run { .. } => {
            let ArchivedHead { id, number, version, head, .. } = *session;
            SalvagedRow::Run { number, id, version, head }
        }
        RunLogLine::Story(story) => {
            let created_at = time(story.created_at)?;
            SalvagedRow::Story { rowid: None, story: story.into_story()?, created_at }
        }
        RunLogLine::Handoff { no, id, number } => {
            let (id, no) = (HandoffId(id), HandoffNo(no));
            SalvagedRow::Handoff { number, id, run_number, no }
        }
        RunLogLine::Event { position, version, at, by, hash, body } => SalvagedRow::Event {
            run_number,
            event: SalvagedEvent {
                position: Position(position),
                version: Version(version),
                at: time(at)?,
                by: Principal::parse(&by).ok()?,
                body,
                hash,
            },
        },
        RunLogLine::Text(text) => SalvagedRow::Content(text.into_content()?.into()),
    })
}

fn time(nanoseconds: i64) -> Option<Timestamp> {
    Timestamp::from_nanosecond(nanoseconds.into()).ok()
}
