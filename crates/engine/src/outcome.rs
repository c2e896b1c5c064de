//! The result of a committed command, and its stored form for idempotent retries.

use baton_core::decide::Effects;
use baton_core::problem::Problem;
use baton_core::run::{HandoffNo, RunId};
use baton_store::{HandoffRow, IdempotencyRecord, Version};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::Key;

/// What a command did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandResult {
    pub run: RunId,
    /// Version of the run after the command.
    pub version: Version,
    pub done: Effects,
    /// The handoffs that the command created or changed, as they were then, in the order of their
    /// first event. In a dry run the new ones have no number.
    pub rows: Vec<HandoffRow>,
    pub at: Timestamp,
    /// The story did not exist, and this command created it.
    pub adopted: bool,
    /// An idempotent replay: the command was carried out before, and this is the stored answer.
    pub is_repeat: bool,
}

/// The stored form: small, and without user text except the paths of warnings.
#[derive(Serialize, Deserialize)]
struct Stored {
    run: Uuid,
    version: u64,
    handoff: Option<u32>,
    returned: Option<u32>,
    gate: Option<u32>,
    #[serde(default)]
    question: Option<u32>,
    #[serde(default)]
    fence: Option<u32>,
    cancelled: Vec<u32>,
    kept: Vec<u32>,
    warnings: Vec<Problem>,
    #[serde(default)]
    adopted: bool,
    touched: Vec<(u32, String)>,
}

impl CommandResult {
    pub(crate) fn to_answered(&self, key: &Key) -> IdempotencyRecord {
        let done = &self.done;
        let numbers = |nos: &[HandoffNo]| nos.iter().map(|it| it.0).collect();
        let stored = Stored {
            run: self.run.0,
            version: self.version.0,
            handoff: done.handoff.map(|it| it.0),
            returned: done.returned.map(|it| it.0),
            gate: done.gate.map(|it| it.0),
            question: done.question.map(|it| it.0),
            fence: done.fence,
            cancelled: numbers(&done.cancelled),
            kept: numbers(&done.kept),
            warnings: done.warnings.clone(),
            adopted: self.adopted,
            touched: self.rows.iter().map(|it| (it.no.0, it.state.name().to_owned())).collect(),
        };
        key.record(serde_json::to_string(&stored).unwrap_or_default(), self.at)
    }

    /// The result of a repeated command without its rows, and the handoffs that they are of.
    pub(crate) fn from_answered(answered: &IdempotencyRecord) -> Option<(Self, Vec<HandoffNo>)> {
        let stored: Stored = serde_json::from_str(&answered.answer).ok()?;
        let nos = |nos: Vec<u32>| nos.into_iter().map(HandoffNo).collect();
        let done = Effects {
            handoff: stored.handoff.map(HandoffNo),
            returned: stored.returned.map(HandoffNo),
            gate: stored.gate.map(HandoffNo),
            question: stored.question.map(HandoffNo),
            fence: stored.fence,
            cancelled: nos(stored.cancelled),
            kept: nos(stored.kept),
            warnings: stored.warnings,
        };
        let result = Self {
            run: RunId(stored.run),
            version: Version(stored.version),
            done,
            rows: Vec::new(),
            at: answered.at,
            adopted: stored.adopted,
            is_repeat: true,
        };
        Some((result, stored.touched.into_iter().map(|(no, _)| HandoffNo(no)).collect()))
    }
}
