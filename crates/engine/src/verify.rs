//! Verifies a store: every hash chain is walked, every run replayed, every text hashed.
//!
//! Unreadable data is reported like any other problem, and the check goes on with the next run. A
//! run is streamed, so that the longest one needs no more memory than its open handoffs and 16
//! bytes for each of its texts. The store's own check is [`Store::check`].

mod due;
mod run;
mod texts;

use std::collections::BTreeSet;

use baton_core::hash::Hash;
use baton_core::run::RunId;
use baton_store::{RunRef, RunRow, Store, StoreCheck, StoreError, TimerRow};
use baton_wire::workflow_file;

use self::due::DueTimes;
use crate::checkpoints::{CheckpointTrust, verify_checkpoints};
use crate::timers::timer;

const PAGE: u32 = 500;
/// How many problems are reported in full.
const MOST_IN_WORDS: usize = 200;
/// How many run numbers are tried one by one where the list of runs itself cannot be read.
const MOST_SKIPPED: u32 = 10_000;

/// What was checked, and the problems found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Verified {
    pub n_runs: u64,
    pub n_events: u64,
    /// Texts that are recorded as lost since the data was recovered from damage.
    pub n_lost_texts: u64,
    /// Numbers of runs, handoffs and events that are recorded as lost since then.
    pub n_lost_numbers: u64,
    /// Texts that were redacted, as events say.
    pub n_redacted_texts: u64,
    /// Signed checkpoints in the store, each compared with the log.
    pub n_checkpoints: u64,
    /// The first problems; each names the table and row, or the run and handoff.
    pub problems: Vec<String>,
    /// How many problems are not in `problems`.
    pub n_more: u64,
    /// How many problems there are, including those that a line of `problems` only counts.
    pub n_problems: u64,
    /// The numbers of the runs with problems.
    pub unsound_runs: BTreeSet<u64>,
}

impl Verified {
    pub fn is_sound(&self) -> bool {
        self.problems.is_empty()
    }

    /// Adds problems that were found elsewhere.
    pub fn extend(&mut self, problems: impl IntoIterator<Item = String>) {
        let problems: Vec<String> = problems.into_iter().collect();
        self.extend_with(problems.into());
    }

    /// Adds the problems of the store itself.
    pub fn extend_with(&mut self, check: StoreCheck) {
        self.n_problems += check.n_problems;
        for problem in check.problems {
            if self.problems.len() < MOST_IN_WORDS {
                self.problems.push(problem);
            } else {
                self.n_more += 1;
            }
        }
    }

    fn in_run(&mut self, number: u64, what: &str) {
        self.unsound_runs.insert(number);
        self.extend([format!("run {number}: {what}")]);
    }
}

/// Verifies every run of a store, and the store itself.
pub async fn verify_all(store: &dyn Store) -> Result<Verified, StoreError> {
    verify_all_with(store, &CheckpointTrust::default()).await
}

/// As [`verify_all`], compared with checkpoints that are kept elsewhere, and with the key that all
/// must be signed by.
pub async fn verify_all_with(
    store: &dyn Store,
    trust: &CheckpointTrust,
) -> Result<Verified, StoreError> {
    let mut verified = Verified::default();
    verified.extend_with(store.check().await?);
    verify_runs(store, &mut verified).await?;
    if let Ok(losses) = readable(store.losses().await)? {
        verified.n_lost_numbers = losses.n_numbers;
    }
    match readable(verify_checkpoints(store, trust).await)? {
        Ok((n_checkpoints, problems)) => {
            verified.n_checkpoints = n_checkpoints;
            verified.extend(problems);
        }
        Err(what) => verified.extend([format!("the checkpoints cannot be compared: {what}")]),
    }
    Ok(verified)
}

async fn verify_runs(store: &dyn Store, verified: &mut Verified) -> Result<(), StoreError> {
    let mut known = VerifyCache::default();
    let mut after = 0;
    let mut n_skipped = 0;
    loop {
        let numbers = match readable(store.run_numbers(after, PAGE).await)? {
            Ok(numbers) => numbers,
            // Part of the list is damaged: the runs after it may be intact.
            Err(_) if n_skipped < MOST_SKIPPED => {
                n_skipped += 1;
                after += 1;
                continue;
            }
            Err(what) => {
                let problem = format!("the runs after number {after} cannot be listed: {what}");
                verified.extend([problem]);
                return Ok(());
            }
        };
        for number in &numbers {
            verify_number(store, *number, &mut known, verified).await?;
        }
        match numbers.last() {
            Some(last) => after = *last,
            None => return Ok(()),
        }
    }
}

/// Verifies one run.
pub async fn verify_run(store: &dyn Store, run: RunId) -> Result<Verified, StoreError> {
    let mut verified = Verified::default();
    if let Some(row) = store.run(&RunRef::Id(run)).await? {
        let mut known = VerifyCache::default();
        verify_number(store, row.number, &mut known, &mut verified).await?;
    }
    Ok(verified)
}

/// Verifies one run after the other.
pub(crate) struct RunVerifier<'a> {
    store: &'a dyn Store,
    known: VerifyCache,
}

impl<'a> RunVerifier<'a> {
    pub(crate) fn new(store: &'a dyn Store) -> Self {
        Self { store, known: VerifyCache::default() }
    }

    /// The problems of a run, unless it has moved on since it was read.
    pub(crate) async fn verify(&mut self, row: &RunRow) -> Result<Vec<String>, StoreError> {
        let mut verified = Verified::default();
        verify_row(self.store, row, &mut self.known, &mut verified).await?;
        Ok(verified.problems)
    }
}

/// What is read once for all runs.
#[derive(Default)]
struct VerifyCache {
    due: DueTimes,
    /// The workflows whose content matched their hash: many runs share a few.
    sound: BTreeSet<Hash>,
}

async fn verify_number(
    store: &dyn Store,
    number: u64,
    known: &mut VerifyCache,
    verified: &mut Verified,
) -> Result<(), StoreError> {
    verified.n_runs += 1;
    let row = match readable(store.run(&RunRef::Number(number)).await)? {
        Ok(Some(row)) => row,
        Ok(None) => {
            verified.in_run(number, "it is listed, and its row is not there");
            return Ok(());
        }
        Err(what) => {
            verified.in_run(number, &format!("it cannot be read: {what}"));
            return Ok(());
        }
    };
    verify_row(store, &row, known, verified).await
}

async fn verify_row(
    store: &dyn Store,
    row: &RunRow,
    known: &mut VerifyCache,
    verified: &mut Verified,
) -> Result<(), StoreError> {
    let number = row.number;
    if let Err(what) = readable(run::verify(store, row, verified).await)? {
        verified.in_run(number, &format!("it cannot be read to its end: {what}"));
    }
    if let Err(what) = readable(check_workflow(store, row, known, verified).await)? {
        verified.in_run(number, &format!("its workflow cannot be read: {what}"));
    }
    let schedule = match readable(store.schedule(row.run.id).await)? {
        Ok(schedule) => schedule,
        Err(what) => {
            verified.in_run(number, &format!("its timers cannot be read: {what}"));
            return Ok(());
        }
    };
    check_timers(row, &schedule.timers, verified);
    // An unreadable workflow was reported above.
    if let Ok(Some(problem)) = readable(known.due.problem(store, row, schedule.due).await)? {
        verified.in_run(number, problem);
    }
    Ok(())
}

/// Separates damage, which is a finding, from a store that cannot be read at all.
pub fn readable<T>(result: Result<T, StoreError>) -> Result<Result<T, String>, StoreError> {
    match result {
        Ok(value) => Ok(Ok(value)),
        Err(StoreError::Damaged { what }) => Ok(Err(what)),
        Err(
            error @ (StoreError::Unavailable(_)
            | StoreError::Unwritable(_)
            | StoreError::Closed
            | StoreError::Nul),
        ) => Err(error),
    }
}

/// Every handoff has the timer that its state requires, and no other has one. The end of a lease is
/// the one thing that no event records.
fn check_timers(row: &RunRow, stored: &[TimerRow], verified: &mut Verified) {
    let expected_timers: Vec<_> =
        row.run.handoffs.iter().filter_map(|it| Some((it.no, timer(it)?))).collect();
    let is_told = |it: &TimerRow| {
        expected_timers.iter().any(|(no, timer)| *no == it.no && timer.is(it.what, it.due))
    };
    let n_told = stored.iter().filter(|it| is_told(it)).count();
    if (n_told, n_told) != (stored.len(), expected_timers.len()) {
        verified.in_run(row.number, "its timers differ from what its events require");
    }
}

/// The workflow that the run is pinned to exists and has the pinned hash.
async fn check_workflow(
    store: &dyn Store,
    row: &RunRow,
    known: &mut VerifyCache,
    verified: &mut Verified,
) -> Result<(), StoreError> {
    let pin = row.run.pin;
    if known.sound.contains(&pin) {
        return Ok(());
    }
    let definition = store.definition(&pin).await?;
    let is_sound = definition.is_some_and(|it| {
        workflow_file::parse(&it.text).is_ok_and(|workflow| {
            workflow.hash == pin && it.hash == pin && workflow.name == it.name
        })
    });
    if is_sound {
        known.sound.insert(pin);
    } else {
        verified.in_run(row.number, "the workflow that it began with is not there as it was");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_problem_is_counted_and_the_first_are_named() {
        let mut verified = Verified::default();
        let problems = vec!["a row".to_owned(), "999 more problems".to_owned()];
        verified.extend_with(StoreCheck { problems, n_problems: 1000 });
        verified.extend((0..300).map(|n| format!("problem {n}")));
        assert_eq!((verified.problems.len(), verified.n_more), (200, 102));
        assert_eq!(verified.n_problems, 1300);
    }
}
