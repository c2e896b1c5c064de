//! The source of time and ids: the only file that asks the operating system for either.
#![expect(clippy::disallowed_methods, reason = "this is the one place that may")]

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use baton_core::decide::IdSource;
use jiff::{SignedDuration, Timestamp};
use uuid::Uuid;

/// Time, ids and nonces. Everything else takes them as values.
pub trait Clock: IdSource {
    fn now(&self) -> Timestamp;

    fn as_fresh(&self) -> &dyn IdSource;
}

/// The machine's own clock and randomness.
#[derive(Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn as_fresh(&self) -> &dyn IdSource {
        self
    }
}

impl IdSource for SystemClock {
    fn id(&self) -> Uuid {
        // A machine whose clock is wrong by decades still gets ids: they only sort badly.
        if Timestamp::now() < Timestamp::UNIX_EPOCH {
            return Uuid::new_v7(uuid::Timestamp::from_unix(uuid::NoContext, 0, 0));
        }
        Uuid::now_v7()
    }

    fn nonce(&self) -> [u8; 16] {
        *Uuid::new_v4().as_bytes()
    }
}

/// The machine's own clock, set right by what it differs from another one: the clock that several
/// machines have in common.
#[derive(Debug, Default)]
pub struct ShiftedClock {
    machine: SystemClock,
    /// In nanoseconds, to be added. The store that compares the clocks changes it.
    offset: Arc<AtomicI64>,
}

impl ShiftedClock {
    pub fn new(offset: Arc<AtomicI64>) -> Self {
        Self { machine: SystemClock, offset }
    }
}

impl Clock for ShiftedClock {
    fn now(&self) -> Timestamp {
        let now = self.machine.now();
        let offset = SignedDuration::from_nanos(self.offset.load(Ordering::Relaxed));
        now.saturating_add(offset).unwrap_or(now)
    }

    fn as_fresh(&self) -> &dyn IdSource {
        self
    }
}

impl IdSource for ShiftedClock {
    fn id(&self) -> Uuid {
        self.machine.id()
    }

    fn nonce(&self) -> [u8; 16] {
        self.machine.nonce()
    }
}

/// A clock that is set by hand and counts instead of drawing random ids: the same commands give the
/// same events, on any store.
#[derive(Debug)]
pub struct FixedClock {
    now: Mutex<Timestamp>,
    drawn: AtomicU64,
}

impl FixedClock {
    pub fn at(now: Timestamp) -> Self {
        Self { now: Mutex::new(now), drawn: AtomicU64::new(1) }
    }

    pub fn advance(&self, by: SignedDuration) {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner) += by;
    }

    fn draw(&self) -> u128 {
        self.drawn.fetch_add(1, Ordering::Relaxed).into()
    }
}

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn as_fresh(&self) -> &dyn IdSource {
        self
    }
}

impl IdSource for FixedClock {
    fn id(&self) -> Uuid {
        Uuid::from_u128(self.draw())
    }

    fn nonce(&self) -> [u8; 16] {
        self.draw().to_be_bytes()
    }
}
