//! Surveys which events exist anywhere in the files: a complete database must have them all.

use std::collections::{BTreeSet, HashMap};
use std::convert::Infallible;

use baton_store_sqlite::{DamagedFiles, LastMark, SalvagedRow};
use uuid::Uuid;

use crate::archived::{ArchivedHead, OpenArchive, SessionCounts, count_by_project};
use crate::{RecoverError, RecoverJob};

/// Positions of events, one bit each: there may be millions.
#[derive(Debug, Default)]
pub(crate) struct Positions {
    words: HashMap<u64, u64>,
    n_positions: u64,
}

impl Positions {
    /// False where it was present already.
    pub(crate) fn insert(&mut self, position: u64) -> bool {
        let word = self.words.entry(position / 64).or_default();
        let bit = 1 << (position % 64);
        let is_new = *word & bit == 0;
        *word |= bit;
        self.n_positions += u64::from(is_new);
        is_new
    }

    pub(crate) fn len(&self) -> u64 {
        self.n_positions
    }
}

/// What the files are known to contain, before anything is proven.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    pub(crate) positions: Positions,
    /// By the mark, else by the database, else by the archive: by what it says, or by its only runs.
    pub(crate) project: Option<Uuid>,
    /// Whether a mark was ever made beside the database.
    pub(crate) was_marked: bool,
    /// Of that project.
    pub(crate) sessions: Vec<ArchivedHead>,
    /// Of other projects, in the same archive: `init --new-data` leaves them there.
    pub(crate) foreign_sessions: SessionCounts,
}

impl Survey {
    pub(crate) fn take(
        job: &RecoverJob<'_>,
        damaged: Option<&mut DamagedFiles>,
        mark: Option<&LastMark>,
    ) -> Result<Self, RecoverError> {
        let mut found = Self::default();
        let mut projects = BTreeSet::new();
        if let Some(damaged) = damaged {
            let surveyed = damaged.each_row(|row, _| {
                if let SalvagedRow::Event { event, .. } = &row {
                    found.positions.insert(event.position.0);
                } else if let SalvagedRow::Identity { project, mark } = &row {
                    projects.insert(*project);
                    found.was_marked |= *mark > 0;
                }
                Ok::<(), Infallible>(())
            });
            match surveyed {
                Ok(()) => {}
                Err(never) => match never {},
            }
        }
        let only = if projects.len() == 1 { projects.pop_first() } else { None };
        let sessions = match &job.archive {
            Some(archive) => archive.all_sessions()?,
            None => Vec::new(),
        };
        let of_archive = || {
            let named = job.archive.as_ref().and_then(OpenArchive::project);
            let archived: BTreeSet<Uuid> = sessions.iter().map(|it| it.project).collect();
            match named {
                Some(named) if archived.contains(&named) || archived.len() != 1 => Some(named),
                Some(_) | None => archived.first().copied().filter(|_| archived.len() == 1),
            }
        };
        found.project = job
            .archived
            .or_else(|| mark.map(|it| it.identity.project))
            .or(only)
            .or_else(of_archive);
        let is_own = |it: &ArchivedHead| Some(it.project) == found.project;
        let (own, foreign): (Vec<_>, Vec<_>) = sessions.into_iter().partition(is_own);
        found.foreign_sessions = count_by_project(&foreign);
        found.sessions = own;
        Ok(found)
    }
}
