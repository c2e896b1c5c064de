//! Whether the data can be written, as the writer and the watcher found. Each change is logged
//! once, however many writes fail in between.

use std::error::Error;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use baton_store::WriteFault;

#[derive(Debug, Default)]
pub(crate) struct WriteHealth {
    state: Mutex<HealthState>,
    /// True while there is a fault; read before every commit.
    has_fault: AtomicBool,
}

#[derive(Debug, Default)]
struct HealthState {
    fault: Option<WriteFault>,
    /// Nothing may be written until the store is reopened.
    is_final: bool,
}

impl WriteHealth {
    /// For a store that is read-only because of `fault`.
    pub(crate) fn refusing(fault: WriteFault) -> Self {
        let state = HealthState { fault: Some(fault), is_final: true };
        Self { state: Mutex::new(state), has_fault: AtomicBool::new(true) }
    }

    pub(crate) fn fault(&self) -> Option<WriteFault> {
        if self.has_fault.load(Ordering::Acquire) { self.lock().fault.clone() } else { None }
    }

    /// Why nothing may be written at all. With any other fault, writes are still tried.
    pub(crate) fn refusal(&self) -> Option<WriteFault> {
        if !self.has_fault.load(Ordering::Acquire) {
            return None;
        }
        let state = self.lock();
        if state.is_final { state.fault.clone() } else { None }
    }

    /// A write failed.
    pub(crate) fn failed(&self, fault: &WriteFault, error: Option<&(dyn Error + 'static)>) {
        let mut state = self.lock();
        if state.is_final || state.fault.as_ref() == Some(fault) {
            return;
        }
        state.fault = Some(fault.clone());
        self.has_fault.store(true, Ordering::Release);
        drop(state);
        tracing::error!(error, "writes fail: {fault}");
    }

    /// Refuses every write from now on. A later call may only add detail.
    pub(crate) fn refuse(&self, fault: &WriteFault) {
        let mut state = self.lock();
        if state.is_final && state.fault.as_ref() == Some(fault) {
            return;
        }
        *state = HealthState { fault: Some(fault.clone()), is_final: true };
        self.has_fault.store(true, Ordering::Release);
        drop(state);
        tracing::error!("writes are refused: {fault}");
    }

    /// A write was tried and succeeded.
    pub(crate) fn recovered(&self) {
        let mut state = self.lock();
        if state.is_final || state.fault.take().is_none() {
            return;
        }
        self.has_fault.store(false, Ordering::Release);
        drop(state);
        tracing::warn!("the data can be written again");
    }

    /// A fault is set as a whole, so a poisoned lock is still good.
    fn lock(&self) -> MutexGuard<'_, HealthState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_lasts_until_a_write_succeeds() {
        let health = WriteHealth::default();
        assert_eq!((health.fault(), health.refusal()), (None, None));
        health.failed(&WriteFault::DiskFull, None);
        assert_eq!(health.fault(), Some(WriteFault::DiskFull));
        assert_eq!(health.refusal(), None, "room may have been made: it is tried");
        health.failed(&WriteFault::ReadOnly, None);
        assert_eq!(health.fault(), Some(WriteFault::ReadOnly));
        health.recovered();
        assert_eq!(health.fault(), None);
    }

    #[test]
    fn what_is_refused_stays_refused() {
        let replaced = |advice: &str| WriteFault::Replaced {
            what: "`baton.db` was deleted".to_owned(),
            advice: advice.to_owned(),
        };
        let health = WriteHealth::default();
        health.refuse(&replaced("stop Baton"));
        health.recovered();
        health.failed(&WriteFault::DiskFull, None);
        assert_eq!(health.refusal(), Some(replaced("stop Baton")));
        health.refuse(&replaced("stop Baton; there is a copy"));
        assert_eq!(health.refusal(), Some(replaced("stop Baton; there is a copy")));
    }
}
