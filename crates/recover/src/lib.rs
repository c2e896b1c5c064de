//! Brings back everything that damaged data still proves, into a new database.
//!
//! First whole images are tried: the pages of the database and its log put together in each way that
//! may be right, and judged by `verify_all`. Where none is whole, or one has not all that was found,
//! single rows are taken from every page: events are proven by the chain of their run, texts by
//! their names, and everything else is made again from the events. The old files are only read.

mod archived;
mod bring_back;
mod error;
mod images;
mod leftovers;
mod numbers;
mod prove;
mod report;
mod survey;

use baton_files::{Dir, Mode};
use baton_store::{Definition, Store as _};
use baton_store_sqlite::{LastMark, SqliteStore, Wreck};
use jiff::Timestamp;

use crate::survey::Surveyed;

pub use crate::archived::ArchiveFolders;
pub use crate::error::RecoverError;
pub use crate::report::{
    Incomplete, LostText, MissingPart, RecoveryMethod, RecoveryReport, SavedCounts,
};

/// Where the new database is put, in the folder that the caller gave.
pub const RESULT: &str = "result";
/// What is proven and could not be put into the database, beside it.
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
    let mut wreck = Wreck::open(job.from)?;
    let found = Surveyed::survey(job, wreck.as_mut(), mark.as_ref())?;
    let whole = match &mut wreck {
        Some(wreck) => images::first_whole(job, wreck, &found).await?,
        None => None,
    };
    let mut report = match whole {
        Some(report) => report,
        None if wreck.is_none() && found.sessions.is_empty() => {
            RecoveryReport::whole(RecoveryMethod::Nothing, SavedCounts::default())
        }
        None => bring_back::bring_back(job, wreck.as_mut(), &found, mark.as_ref())?,
    };
    if report.method != RecoveryMethod::Nothing {
        settle(job, mark.as_ref()).await?;
    }
    report.compare_with(mark.as_ref());
    Ok(report)
}

/// The new database is another than the old one to whoever has heard of that, and newer; and it is
/// whole, or it is not given out.
async fn settle(job: &RecoverJob<'_>, mark: Option<&LastMark>) -> Result<(), RecoverError> {
    let dir = job.workshop.make_dirs(RESULT, Mode::Private)?;
    let store = SqliteStore::open_in(&dir).map_err(RecoverError::Open)?;
    let settled = async {
        store.begin_epoch_after(mark.map_or(0, |it| it.number)).await?;
        baton_engine::verify_all(&store).await
    };
    let settled = settled.await;
    store.close().await;
    let problems = settled.map_err(RecoverError::Store)?.problems;
    if problems.is_empty() { Ok(()) } else { Err(RecoverError::NotWhole { problems }) }
}
