//! The archive as a source: the log of each session, of which nothing is believed but what hashes
//! prove. An archive travels with the repository, so it may be of another database, or of anybody.

use baton_core::hash::Hash;
use baton_core::names::Principal;
use baton_core::run::{HandoffId, HandoffNo, RunId};
use baton_engine::{ARCHIVED_LOG, ARCHIVED_LOG_MOST_BYTES, ARCHIVED_PROJECT, ARCHIVED_WORKFLOWS};
use baton_files::{Dir, FileError};
use baton_store::{Definition, Position, Version};
use baton_store_sqlite::{SalvagedEvent, SalvagedRow};
use baton_wire::run_log::{RUN_LOG_VERSION, RunLogLine};
use baton_wire::{json, workflow_file};
use jiff::Timestamp;
use uuid::Uuid;

/// Of a workflow's file, and of the one that names the project.
const MOST_SMALL_BYTES: u64 = 1 << 20;

/// Where the archive of a project is.
#[derive(Debug)]
pub struct ArchiveFolders {
    pub sessions: Option<Dir>,
    pub state: Option<Dir>,
}

/// How far a run had come, by its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ArchivedHead {
    pub(crate) project: Uuid,
    pub(crate) id: RunId,
    pub(crate) number: u64,
    pub(crate) version: Version,
    pub(crate) head: Hash,
}

impl ArchiveFolders {
    /// The project that the archive says it is of.
    pub(crate) fn project(&self) -> Option<Uuid> {
        let text = self.state.as_ref()?.read_text(ARCHIVED_PROJECT, MOST_SMALL_BYTES).ok()?;
        json::parse(&text).ok()?.member("project")?.as_text()?.parse().ok()
    }

    /// The sessions that have a log of a run of this project.
    pub(crate) fn sessions_of(&self, project: Uuid) -> Result<Vec<ArchivedHead>, FileError> {
        let Some(sessions) = &self.sessions else { return Ok(Vec::new()) };
        let mut heads = Vec::new();
        for (name, entry) in sessions.list()? {
            let Some(id) = name.to_str().and_then(|it| Uuid::try_parse(it).ok()) else { continue };
            if !entry.is_folder() {
                continue;
            }
            let head = self.first_line(id);
            heads.extend(head.filter(|it| it.project == project && it.id.0 == id));
        }
        Ok(heads)
    }

    fn first_line(&self, id: Uuid) -> Option<ArchivedHead> {
        head(self.log(id)?.lines().next()?)
    }

    /// What cannot be read is as if it were not there.
    fn log(&self, id: Uuid) -> Option<String> {
        let folder = self.sessions.as_ref()?.subdir(id.to_string()).ok()?;
        folder.read_text(ARCHIVED_LOG, ARCHIVED_LOG_MOST_BYTES).ok()
    }

    /// Every row that the log of a session tells of.
    pub(crate) fn rows_of(&self, session: &ArchivedHead) -> Vec<SalvagedRow> {
        let Some(log) = self.log(session.id.0) else { return Vec::new() };
        log.lines().filter_map(|line| row(line, session)).collect()
    }

    /// The workflows that the archive has, each under the hash that it really has.
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

fn head(line: &str) -> Option<ArchivedHead> {
    match RunLogLine::decode(line)? {
        RunLogLine::Run { v: RUN_LOG_VERSION, project, id, number, version, head } => {
            let (id, version) = (RunId(id), Version(version));
            Some(ArchivedHead { project, id, number, version, head })
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
        RunLogLine::Text(text) => {
            SalvagedRow::Content { run_number, content: text.into_content()? }
        }
    })
}

fn time(nanoseconds: i64) -> Option<Timestamp> {
    Timestamp::from_nanosecond(nanoseconds.into()).ok()
}
