//! Recovers everything that damaged data still proves, into a new database.
//!
//! First whole images are tried: the pages of the database and its log put together in each way that
//! may be right, and search by `verify_all`. Where none is whole, or one has not all that was found,
//! single rows are taken from every page: events are proven by the chain of their run, texts by
//! their names, and everything else is made again from the events. The old files are only read.

mod archived;
mod assemble;
mod bring_back;
mod error;
mod forks;
mod images;
mod leftovers;
mod numbers;
mod place;
mod prove;
mod report;
mod soundness;
mod survey;
mod texts;

use std::collections::BTreeSet;

use baton_files::Dir;
use baton_store::Definition;
use baton_store_sqlite::{DamagedFiles, LastMark, UnprovenTable, mark_loss};
use jiff::Timestamp;
use uuid::Uuid;

use crate::images::ImageSearch;
use crate::soundness::{SoundSubset, Unsound};
use crate::survey::Survey;

pub use crate::archived::{AheadError, OpenArchive, SessionAhead, SessionCounts};
pub use crate::error::RecoverError;
pub use crate::forks::ForkedSession;
pub use crate::report::{
    LostText, MissingPart, MissingReason, RecoveryMethod, RecoveryReport, SavedCounts,
};

/// The folder of the new database, in the caller's folder.
pub const RESULT: &str = "result";
/// Found rows that are not in the database, beside it.
pub const LEFTOVERS: &str = "leftovers.jsonl";

/// What to recover, and with what.
#[derive(Debug)]
pub struct RecoverJob<'a> {
    /// Has the damaged files. Nothing in it is changed.
    pub from: &'a Dir,
    /// A private work folder; the result is in its [`RESULT`].
    pub scratch: &'a Dir,
    /// Workflows that the project has as files: the hash shows whether one that the database lost
    /// is among them.
    pub definitions: Vec<Definition>,
    /// The archive of the project, if it keeps one.
    pub archive: Option<OpenArchive>,
    /// Only what the archive has of the project with this id, as if there were no files.
    pub archived: Option<Uuid>,
    pub now: Timestamp,
    /// True for the data of a project, which has a mark once one was written. A backup has none.
    pub is_mark_expected: bool,
}

/// Builds a new database, and reports what it has and what is missing.
pub async fn recover(job: &RecoverJob<'_>) -> Result<RecoveryReport, RecoverError> {
    let (mark, mut damaged) = match job.archived {
        Some(_) => (None, None),
        None => (LastMark::read(job.from)?, DamagedFiles::open(job.from)?),
    };
    let mark = mark.as_ref();
    let found = Survey::take(job, damaged.as_mut(), mark)?;
    let search = match &mut damaged {
        Some(damaged) => images::first_whole(job, damaged, &found, mark).await?,
        None => ImageSearch::NoneWhole(BTreeSet::new()),
    };
    // A Baton that kept no marks yet counted none; only a whole database proves that it was such.
    let was_marked = found.was_marked || !matches!(search, ImageSearch::Whole(_));
    let mut report = match search {
        ImageSearch::Whole(report) => match soundness::settle(job, mark).await? {
            Ok(()) => *report,
            Err(Unsound { problems, .. }) => return Err(RecoverError::NotWhole { problems }),
        },
        ImageSearch::NoneWhole(_) if damaged.is_none() && found.sessions.is_empty() => {
            RecoveryReport::default()
        }
        ImageSearch::NoneWhole(whole) => {
            let salvaged = bring_back::gather(job, damaged.as_mut(), &found, mark)?;
            let identity = found.project.map(|it| (it, bring_back::last_mark(&salvaged, mark)));
            let subset = SoundSubset { job, salvaged: &salvaged, identity, mark };
            let report = subset.largest_sound().await?;
            let unproven = UnprovenTable::ALL.into_iter().filter(|it| !whole.contains(it));
            RecoveryReport { unproven: unproven.collect(), ..report }
        }
    };
    report.compare_with(mark);
    let is_mark_expected = job.is_mark_expected && damaged.is_some() && was_marked;
    report.has_unknown_log = damaged.as_ref().is_some_and(DamagedFiles::has_unknown_log);
    if report.method != RecoveryMethod::Nothing {
        report.forked_sessions = forks::find(job, &found).await?;
    }
    report.foreign_sessions = found.foreign_sessions;
    report.mark_loss = mark_loss(job.from, is_mark_expected)?;
    Ok(report)
}
