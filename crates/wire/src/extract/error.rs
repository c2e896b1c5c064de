//! Why an agent's output gives no handoff.

use std::ops::Range;

use super::NearMiss;
use crate::formats::FormatError;

fn near(miss: Option<&NearMiss>) -> String {
    miss.map(|it| format!("; {it}")).unwrap_or_default()
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExtractError {
    #[error("there is no handoff in the output{}", near(near_miss.as_ref()))]
    Nothing {
        /// What looks most like one.
        near_miss: Option<NearMiss>,
    },
    #[error("the last handoff in the output cannot be read: {error}")]
    Broken {
        /// Its bytes in the output.
        span: Range<usize>,
        error: FormatError,
    },
}

impl ExtractError {
    /// Stable: programs match on it.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Nothing { .. } => "no_handoff",
            Self::Broken { error, .. } => error.code(),
        }
    }
}
