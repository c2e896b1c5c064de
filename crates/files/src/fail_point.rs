//! A place before each change of the disk where a test can kill the process, as `kill -9` would.
//!
//! [`kill_at`] and [`kill_at_stage`] are called by `baton` in debug builds alone, for `BATON_KILL_AT_STEP` and
//! `BATON_KILL_AT_STAGE`. Otherwise a step costs one load of an integer that never changes.

use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// How many steps are left before the process is killed; 0 while no test asks for it.
static N_LEFT: AtomicU64 = AtomicU64::new(0);

/// What is about to change on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiskStep {
    Create,
    MakeDir,
    Write,
    Truncate,
    SetMode,
    Rename,
    Remove,
    Sync,
}

/// Kills this process before its `step`-th change of the disk, counted from 1.
pub fn kill_at(step: u64) {
    N_LEFT.store(step, Ordering::Relaxed);
}

/// A stage of longer work at which a process is killed, once.
static STAGE: Mutex<Option<StageKill>> = Mutex::new(None);

struct StageKill {
    stage: String,
    /// This process, where left out.
    victim: Option<i32>,
}

/// Kills this process, or another, when [`stage`] is called with this name.
pub fn kill_at_stage(stage: &str, victim: Option<i32>) {
    let kill = StageKill { stage: stage.to_owned(), victim };
    *STAGE.lock().unwrap_or_else(PoisonError::into_inner) = Some(kill);
}

/// Called when longer work has come to a stage.
pub fn stage(name: &str) {
    let mut armed = STAGE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(due) = armed.take_if(|it| it.stage == name) else { return };
    let _ = std::io::stderr().write_all(format!("killed at {name}\n").as_bytes());
    match due.victim.and_then(rustix::process::Pid::from_raw) {
        None => kill(),
        Some(victim) => {
            let _ = rustix::process::kill_process(victim, rustix::process::Signal::KILL);
        }
    }
}

/// Called before each change of the disk.
#[inline]
pub(crate) fn step(step: DiskStep, path: &Path) {
    if N_LEFT.load(Ordering::Relaxed) != 0 {
        count_down(step, path);
    }
}

/// Whether a test counts steps: then a write is split in two, so that it can be torn.
#[inline]
pub(crate) fn is_armed() -> bool {
    N_LEFT.load(Ordering::Relaxed) != 0
}

#[cold]
fn count_down(step: DiskStep, path: &Path) {
    if N_LEFT.fetch_sub(1, Ordering::Relaxed) == 1 {
        let line = format!("killed before {step:?} of {}\n", path.display());
        let _ = std::io::stderr().write_all(line.as_bytes());
        kill();
    }
}

fn kill() -> ! {
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    std::process::abort()
}
