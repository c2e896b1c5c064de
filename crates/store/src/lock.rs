//! A named lock between the processes that use one store.

use std::any::Any;

/// Held until it is dropped.
pub struct StoreLock {
    /// What releases the lock when it is dropped; `None` where there is nothing to release.
    _held: Option<Box<dyn Any + Send>>,
}

impl StoreLock {
    /// For a store that only one process uses.
    pub fn unshared() -> Self {
        Self { _held: None }
    }

    /// Released when `held` is dropped.
    pub fn until_dropped(held: impl Any + Send) -> Self {
        Self { _held: Some(Box::new(held)) }
    }
}
