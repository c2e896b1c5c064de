//! Brings back everything that damaged data still proves, into a new database.
//!
//! First whole images are tried: the pages of the database and its log put together in each way that
//! may be right, and judged by `verify_all`. Where none is whole, or one has not all that was found,
//! single rows are taken from every page: events are proven by the chain of their run, texts by
//! their names, and everything else is made again from the events. The old files are only read.

mod archived;
mod assemble;
mod bring_back;
mod error;
mod images;
mod leftovers;
mod numbers;
mod prove;
mod report;
mod soundness;
mod survey;

use std::collections::BTreeSet;

use baton_files::Dir;
use baton_store::Definition;
use baton_store_sqlite::{LastMark, UnprovenTable, Wreck};
use jiff::Timestamp;

use crate::images::Judged;
use crate::soundness::{Sieve, Verdict};
use crate::survey::Surveyed;

pub use crate::archived::{AheadError, ArchiveFolders, SessionAhead};
pub use crate::error::RecoverError;
pub use crate::report::{
    Incomplete, LostText, MissingPart, RecoveryMethod, RecoveryReport, SavedCounts,
};

/// Where the new database is put, in the folder that the caller gave.
pub const RESULT: &str = "result";
/// What was found and not put into the database, beside it.
pub const LEFTOVERS: &str = "leftovers.jsonl";

/// What to recover, and with what.
#[derive(Debug)]
pub struct RecoverJob<'a> {
    /// Has the damaged files. Nothing in it is changed.
    pub from: &'a Dir,
    /// A private folder for what is being made; the result is in [`RESULT`] of it.
    pub workshop: &'a Dir,
    /// Workflows that the project has as files: where the database has lost one, its hash tells
    /// whether it is here.
    pub definitions: Vec<Definition>,
    /// The archive of the project, if it keeps one.
    pub archive: Option<ArchiveFolders>,
    pub now: Timestamp,
}

/// Makes a new database, and says what it has and what is missing.
pub async fn recover(job: &RecoverJob<'_>) -> Result<RecoveryReport, RecoverError> {
    let mark = LastMark::read(job.from)?;
    let mark = mark.as_ref();
    let mut wreck = Wreck::open(job.from)?;
    let found = Surveyed::survey(job, wreck.as_mut(), mark)?;
    let judged = match &mut wreck {
        Some(wreck) => images::first_whole(job, wreck, &found, mark).await?,
        None => Judged::NoneWhole(BTreeSet::new()),
    };
    let mut report = match judged {
        Judged::Whole(report) => match soundness::settle(job, mark).await? {
            Verdict::Sound => report,
            Verdict::Unsound { problems, .. } => return Err(RecoverError::NotWhole { problems }),
        },
        Judged::NoneWhole(_) if wreck.is_none() && found.sessions.is_empty() => {
            RecoveryReport::whole(RecoveryMethod::Nothing, SavedCounts::default())
        }
        Judged::NoneWhole(whole) => {
            let hold = bring_back::gather(job, wreck.as_mut(), &found, mark)?;
            let identity = found.project.map(|it| (it, bring_back::last_mark(&hold, mark)));
            let sieve = Sieve { job, hold: &hold, identity, mark };
            let report = sieve.bring_back().await?;
            let unproven = UnprovenTable::ALL.into_iter().filter(|it| !whole.contains(it));
            RecoveryReport { unproven: unproven.collect(), ..report }
        }
    };
    report.compare_with(mark);
    Ok(report)
}
