//! Read models: what people, agents and other programs see of the work, computed from the store.
//!
//! Nothing here changes a run. [`Views`] reads on behalf of a caller; the archive is a projection
//! into files, which can be rebuilt from the store at any time.
#![cfg_attr(test, expect(clippy::disallowed_methods, reason = "tests make files of their own"))]

mod archive;
mod asks;
mod attribution;
mod cast;
mod completion;
mod conversation;
mod decisions;
mod evidence;
mod gate_record;
mod handoff_queries;
mod history;
mod inbox;
mod insights;
mod messages;
mod passed_gates;
mod prompt;
mod shared_context;
mod usage;

use std::ops::Deref;

use baton_engine::{Caller, Engine, Reader};

pub use crate::archive::{
    ARCHIVED_LOG, ARCHIVED_LOG_MOST_BYTES, ARCHIVED_PROJECT, ARCHIVED_WORKFLOWS, Archive,
    ArchiveError, ArchiveHealth, ArchivePlaces, ArchiveStatus, Archived, Archivist, DiskError,
    run_of_session,
};
pub use crate::asks::{AskProgress, AskRecord};
pub use crate::attribution::{ShownAgent, step_title};
pub use crate::cast::Cast;
pub use crate::conversation::{
    ConversationItem, ConversationKind, ConversationPage, ConversationWindow, StatedDecision,
};
pub use crate::decisions::{Decided, DecisionRecord, DecisionStatus};
pub use crate::evidence::unverified_claims;
pub use crate::gate_record::{GateAnswered, GateDelegation, GateRecord, GateVote};
pub use crate::handoff_queries::{
    Blocking, GivenApproval, PassedVote, PersonsAnswer, QuestionAndAnswer,
};
pub use crate::inbox::{
    GateQuestion, InboxChoice, InboxItem, ObservedEvidence, SaidPart, SenderWords, Then, Waits,
};
pub use crate::insights::{
    InsightEdge, InsightGroup, InsightWindow, Insights, Percentiles, RejectCounts, RejectReason,
};
pub use crate::messages::PostedMessage;
pub use crate::passed_gates::{GatePassage, PassedGate};
pub use crate::prompt::{
    AgentInterface, BadDashboardUrl, DashboardUrl, Prompt, PromptOptions, PromptToken, in_url,
};
pub use crate::shared_context::ContextDocumentView;
pub use crate::usage::AttemptUsage;

/// What one caller reads: rows and texts as a [`Reader`] has them, and the read models.
#[derive(Clone, Copy)]
pub struct Views<'a>(Reader<'a>);

impl<'a> Views<'a> {
    pub fn new(engine: &'a Engine, caller: &'a Caller) -> Self {
        Self(engine.read_as(caller))
    }
}

impl<'a> From<Reader<'a>> for Views<'a> {
    fn from(reader: Reader<'a>) -> Self {
        Self(reader)
    }
}

impl<'a> Deref for Views<'a> {
    type Target = Reader<'a>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}
