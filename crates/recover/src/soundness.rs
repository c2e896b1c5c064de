//! The result always verifies. Where the complete result does not, the runs at fault are left out
//! and named, and the rest is kept.

use std::collections::BTreeSet;

use baton_files::FileMode;
use baton_store::{Store as _, StoreError};
use baton_store_sqlite::{LastMark, SalvageDatabase, SqliteStore};
use uuid::Uuid;

use crate::bring_back::bring_back;
use crate::report::RecoveryReport;
use crate::{RESULT, RecoverError, RecoverJob};

/// Each try is a whole database. A fault without a named run is found by bisection, so this is
/// enough for a dozen of them among a million runs.
const MOST_TRIES: u32 = 250;

/// What verification found in an unfinished database.
pub(crate) struct Unsound {
    pub(crate) problems: Vec<String>,
    /// The runs that problems were found in, by number.
    runs: BTreeSet<u64>,
}

/// Makes the result newer than what `mark` was written for, with a new epoch, and verifies it.
pub(crate) async fn settle(
    job: &RecoverJob<'_>,
    mark: Option<&LastMark>,
) -> Result<Result<(), Unsound>, RecoverError> {
    let dir = job.scratch.make_dirs(RESULT, FileMode::Private)?;
    let store = SqliteStore::open_in(&dir).map_err(RecoverError::Open)?;
    let settled = async {
        store.begin_epoch_after(mark.map_or(0, |it| it.number)).await?;
        baton_engine::verify_all(&store).await
    };
    let settled = settled.await;
    store.close().await;
    let verified = settled.map_err(RecoverError::Store)?;
    if verified.is_sound() {
        return Ok(Ok(()));
    }
    Ok(Err(Unsound { problems: verified.problems, runs: verified.unsound_runs }))
}

/// Row by row, and run by run where the whole does not verify.
pub(crate) struct SoundSubset<'a> {
    pub(crate) job: &'a RecoverJob<'a>,
    pub(crate) salvaged: &'a SalvageDatabase,
    pub(crate) identity: Option<(Uuid, u64)>,
    pub(crate) mark: Option<&'a LastMark>,
}

impl SoundSubset<'_> {
    /// The largest database that verifies: without the runs named as unsound, or else without those
    /// that make it fail.
    pub(crate) async fn largest_sound(&self) -> Result<RecoveryReport, RecoverError> {
        let mut left_out = BTreeSet::new();
        loop {
            let Unsound { problems, runs } = match self.attempt(&left_out).await? {
                Ok(report) => return Ok(report),
                Err(unsound) => unsound,
            };
            let n_before = left_out.len();
            left_out.extend(runs);
            if left_out.len() == n_before {
                return self.halve(left_out, problems).await;
            }
        }
    }

    async fn halve(
        &self,
        mut left_out: BTreeSet<u64>,
        mut problems: Vec<String>,
    ) -> Result<RecoveryReport, RecoverError> {
        let all: Vec<u64> =
            self.salvaged.run_numbers()?.into_iter().filter(|it| !left_out.contains(it)).collect();
        // Everything is left out, and added again group by group.
        left_out.extend(&all);
        let mut groups = vec![all];
        let mut last = None;
        let (mut n_tries, mut has_kept) = (0, false);
        while let Some(mut group) = groups.pop() {
            if group.is_empty() || n_tries >= MOST_TRIES {
                continue;
            }
            n_tries += 1;
            for number in &group {
                left_out.remove(number);
            }
            match self.attempt(&left_out).await? {
                Ok(report) => {
                    has_kept = true;
                    last = Some(report);
                }
                Err(unsound) => {
                    (problems, last) = (unsound.problems, None);
                    left_out.extend(&group);
                    if group.len() > 1 {
                        let second = group.split_off(group.len() / 2);
                        groups.extend([second, group]);
                    }
                }
            }
        }
        match last {
            Some(report) => Ok(report),
            // The last try failed: rebuild the one before it.
            None if has_kept => {
                let rebuilt = self.attempt(&left_out).await?;
                rebuilt.map_err(|Unsound { problems, .. }| RecoverError::NotWhole { problems })
            }
            None => Err(RecoverError::NotWhole { problems }),
        }
    }

    async fn attempt(
        &self,
        left_out: &BTreeSet<u64>,
    ) -> Result<Result<RecoveryReport, Unsound>, RecoverError> {
        match bring_back(self.job, self.salvaged, self.identity, left_out) {
            Ok(report) => Ok(settle(self.job, self.mark).await?.map(|()| report)),
            // Two runs may not fit into one database: two that claim one id, for example.
            Err(RecoverError::Store(error)) if !is_passing(&error) => {
                Ok(Err(Unsound { problems: vec![error.to_string()], runs: BTreeSet::new() }))
            }
            Err(error) => Err(error),
        }
    }
}

/// An error of the disk, not of the data written to it.
fn is_passing(error: &StoreError) -> bool {
    match error {
        StoreError::Unwritable(_) | StoreError::Closed => true,
        StoreError::Damaged { .. } | StoreError::Unavailable(_) | StoreError::Nul => false,
    }
}
