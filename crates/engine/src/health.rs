//! Checks all data in the background after an unclean shutdown. Damage in one run blocks writes to
//! that run, and to no other.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use baton_core::run::RunId;
use baton_store::{RunFilter, RunRef, RunRow, Store, StoreCheck, StoreError, WriteFault};
use tokio::sync::watch;

use crate::verify::{RunVerifier, readable, verify_run};
use crate::{BackgroundTask, Engine};

/// How many runs are read per page.
const PAGE: u32 = 200;
/// Rest this many times as long as the work took: at most a tenth of one core.
const REST: u32 = 9;
/// Shorter bursts of work are added up before a rest.
const LEAST_WORK: Duration = Duration::from_millis(5);
/// How often a run that changes during its check is checked again.
const MOST_LOOKS: usize = 5;

/// The progress of a data check.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DataCheck {
    pub progress: CheckProgress,
    /// How many runs were checked.
    pub n_runs: u64,
    pub n_problems: u64,
    pub first_problem: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CheckProgress {
    /// The data was closed cleanly, so no check was needed.
    #[default]
    NotNeeded,
    Running,
    Finished,
    /// The data could not be read to its end; the server log has the cause.
    Failed,
}

/// The engine's knowledge of its data.
#[derive(Default)]
pub(crate) struct DataHealth {
    check: watch::Sender<DataCheck>,
    /// What is wrong with each damaged run.
    damaged: RwLock<BTreeMap<RunId, String>>,
    has_damaged: AtomicBool,
}

impl DataHealth {
    /// A damaged run can be read but not written: damage must not spread.
    pub(crate) fn refuse_damaged(&self, run: RunId) -> Result<(), StoreError> {
        if !self.has_damaged.load(Ordering::Acquire) {
            return Ok(());
        }
        match self.damaged.read().unwrap_or_else(PoisonError::into_inner).get(&run) {
            Some(what) => {
                let advice = "nothing is written to this run; `baton verify` names all damage";
                Err(StoreError::Damaged { what: format!("{what}; {advice}") })
            }
            None => Ok(()),
        }
    }

    fn begin(&self) {
        let progress = CheckProgress::Running;
        self.check.send_replace(DataCheck { progress, ..DataCheck::default() });
    }

    fn found(&self, run: Option<RunId>, found: &StoreCheck) {
        let Some(first) = found.problems.first() else { return };
        if let Some(run) = run {
            let mut damaged = self.damaged.write().unwrap_or_else(PoisonError::into_inner);
            damaged.entry(run).or_insert_with(|| first.clone());
            self.has_damaged.store(true, Ordering::Release);
        }
        self.check.send_modify(|check| {
            check.n_problems += found.n_problems;
            if check.first_problem.is_none() {
                tracing::error!(problem = first, "the data is damaged");
                check.first_problem = Some(first.clone());
            }
        });
    }

    fn end(&self, checked: Result<(), StoreError>) {
        let progress = match checked {
            Ok(()) => CheckProgress::Finished,
            Err(error) => {
                let error: &(dyn std::error::Error + 'static) = &error;
                tracing::error!(error, "the data could not be checked to its end");
                CheckProgress::Failed
            }
        };
        self.check.send_modify(|check| {
            check.progress = progress;
            let DataCheck { n_runs, n_problems, .. } = check;
            tracing::info!(n_runs, n_problems, "the data was checked");
        });
    }
}

impl Engine {
    /// What prevents writes at the moment.
    pub fn write_fault(&self) -> Option<WriteFault> {
        self.store.write_fault()
    }

    /// The progress of the data check, if there is one.
    pub fn data_check(&self) -> DataCheck {
        self.health.check.borrow().clone()
    }

    /// Checks everything in the background. A [`DataChecker`] calls it.
    pub async fn check_data(&self) {
        self.health.begin();
        let checked = self.check_all().await;
        self.health.end(checked);
    }

    async fn check_all(&self) -> Result<(), StoreError> {
        let check = self.store.check_slowly().await?;
        self.health.found(None, &check);
        let mut pace = Pace::default();
        let mut after = 0;
        loop {
            let filter = RunFilter { after, limit: PAGE, ..RunFilter::default() };
            match readable(self.store.runs(&filter).await)? {
                Ok(page) => {
                    let Some(last) = page.last() else { return Ok(()) };
                    after = last.number;
                    self.check_page(&page, &mut pace).await?;
                }
                // One unreadable run must not hide the others.
                Err(_) => {
                    self.check_apart(after + 1, &mut pace).await?;
                    after += u64::from(PAGE);
                }
            }
        }
    }

    /// Reads a page of runs one by one, from the number `first`.
    async fn check_apart(&self, first: u64, pace: &mut Pace) -> Result<(), StoreError> {
        for number in first..first + u64::from(PAGE) {
            match readable(self.store.run(&RunRef::Number(number)).await)? {
                Ok(Some(row)) => self.check_page(&[row], pace).await?,
                Ok(None) => {}
                Err(what) => {
                    let problems = vec![format!("run {number} cannot be read: {what}")];
                    self.health.found(None, &problems.into());
                }
            }
        }
        Ok(())
    }

    async fn check_page(&self, page: &[RunRow], pace: &mut Pace) -> Result<(), StoreError> {
        let mut verifier = RunVerifier::new(self.store.as_ref());
        for row in page {
            let problems = match readable(verifier.verify(row).await)? {
                // The run may have moved on during the check.
                Ok(problems) if !problems.is_empty() => self.problems_at_rest(row.run.id).await?,
                Ok(_) => Vec::new(),
                Err(what) => {
                    vec![format!("run {} cannot be read: {what}", row.number)]
                }
            };
            self.health.found(Some(row.run.id), &problems.into());
            self.health.check.send_modify(|it| it.n_runs += 1);
            pace.rest().await;
        }
        Ok(())
    }

    /// The problems of a run that did not move while it was checked.
    async fn problems_at_rest(&self, run: RunId) -> Result<Vec<String>, StoreError> {
        let store = self.store.as_ref();
        for _ in 0..MOST_LOOKS {
            let before = version(store, run).await?;
            let problems = verify_run(store, run).await?.problems;
            if problems.is_empty() || version(store, run).await? == before {
                return Ok(problems);
            }
        }
        // The run keeps moving, so its state can be read.
        Ok(Vec::new())
    }
}

async fn version(store: &dyn Store, run: RunId) -> Result<Option<u64>, StoreError> {
    Ok(store.run(&RunRef::Id(run)).await?.map(|it| it.version.0))
}

/// Limits the share of time that the check takes.
struct Pace {
    rested_at: Instant,
}

impl Default for Pace {
    fn default() -> Self {
        Self { rested_at: Instant::now() }
    }
}

impl Pace {
    async fn rest(&mut self) {
        let worked = self.rested_at.elapsed();
        if worked >= LEAST_WORK {
            tokio::time::sleep(worked * REST).await;
            self.rested_at = Instant::now();
        }
    }
}

/// Checks the data once, until done or stopped. A server starts one after an unclean shutdown.
pub struct DataChecker;

impl DataChecker {
    pub fn start(engine: Arc<Engine>) -> BackgroundTask {
        // Set before the first request is served, so that no client takes the data for checked.
        engine.health.begin();
        BackgroundTask::start(|mut stopped| async move {
            // The check writes nothing, so it may be cancelled at any point.
            tokio::select! {
                _ = stopped.wait_for(|it| *it) => {}
                () = engine.check_data() => {}
            }
        })
    }
}
