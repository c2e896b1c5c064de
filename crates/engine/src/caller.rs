//! Who calls, and how: every read and every command has a caller.

use baton_core::hash::Hash;
use baton_core::names::Principal;
use baton_store::{IdempotencyRecord, Version};
use jiff::Timestamp;

use crate::{Attempt, EngineError};

/// Who sends a command, and how.
#[derive(Debug, Clone)]
pub struct Caller {
    pub principal: Principal,
    /// The idempotency key: makes a retry safe.
    pub key: Option<Key>,
    pub mode: CommandMode,
    /// The versions that the caller saw, any of which will do: a run that has moved since is not
    /// changed. No run has a version of an empty list.
    pub expected: Option<Vec<Version>>,
    /// The attempt that the caller belongs to, where it is an agent that a runner started.
    pub attempt: Option<Attempt>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandMode {
    Commit,
    /// Decide and report, but change nothing.
    DryRun,
}

/// An idempotency key, in the scope of a caller and an endpoint.
#[derive(Debug, Clone)]
pub struct Key {
    pub scope: String,
    pub key: String,
    /// Hash of the whole request.
    pub request: Hash,
}

impl Key {
    /// The answer to the request, to be stored with what it does.
    pub(crate) fn record(&self, answer: String, at: Timestamp) -> IdempotencyRecord {
        let (scope, key, request) = (self.scope.clone(), self.key.clone(), self.request);
        IdempotencyRecord { scope, key, request, answer, at }
    }
}

impl Caller {
    /// A caller without an idempotency key that commits.
    pub fn new(principal: Principal) -> Self {
        Self { principal, key: None, mode: CommandMode::Commit, expected: None, attempt: None }
    }

    /// For the commands that one request consists of: its idempotency key stands for the request,
    /// and cannot stand for each of them.
    #[must_use]
    pub fn without_key(&self) -> Self {
        Self { key: None, ..self.clone() }
    }

    /// Refuses a run whose version is not the one that the caller saw.
    pub(crate) fn still_meant(&self, actual: Version) -> Result<(), EngineError> {
        match &self.expected {
            Some(expected) if !expected.contains(&actual) => {
                Err(EngineError::Outdated { expected: expected.clone(), actual })
            }
            Some(_) | None => Ok(()),
        }
    }

    /// An internal component of Baton as the caller.
    pub fn of_baton(name: &'static str) -> Self {
        match Principal::parse(name) {
            Ok(principal) => Self::new(principal),
            Err(error) => unreachable!("a constant name is a name: {error}"),
        }
    }
}
