//! The documents of the HTTP API: every request and response, as the server writes them and a client
//! reads them. One type for reading, writing and schema, so that they cannot drift apart.
//!
//! A client ignores members that it does not know. How rows of the store become these documents is
//! in `baton-http`.

mod agents;
mod approvals;
mod archive;
mod audit;
mod blockers;
mod checkpoints;
mod checks;
mod claims;
mod command_result;
mod conversation;
mod decisions;
mod definitions;
mod error_pages;
mod events;
mod files;
mod flat;
mod handoff_commands;
mod handoffs;
mod inbox;
mod insights;
mod messages;
mod metrics;
mod page;
pub mod pipeline;
mod problem;
mod prompt;
mod receiver_names;
mod redactions;
mod retention;
mod runs;
mod shared_context;
mod status;
mod stories;
mod usage;
mod word;
mod workflows;

use http::HeaderName;

pub use crate::agents::{AgentDocument, AgentProfile, Attribution, Avatar};
pub use crate::approvals::{ApprovalDocument, ApprovalsDocument, VoteDelegation};
pub use crate::archive::{ArchiveDocument, Rebuilt};
pub use crate::audit::{AuditEntry, ExportFormat, ExportWriter};
pub use crate::blockers::BlockerDocument;
pub use crate::checkpoints::{CheckpointDocument, LoggedEvent};
pub use crate::checks::{CheckClaim, CheckClaimRequest, CheckReport, ObservedResult};
pub use crate::claims::{
    Claim, ClaimRequest, LostAttempt, NewMessage, PermissionRequest, WithdrawnPermission,
};
pub use crate::command_result::{
    CommandAnswer, Committed, CommittedTag, DryRun, DryRunTag, Touched,
};
pub use crate::conversation::{
    AskAnswer, AskDocument, ConversationDecision, ConversationDocument, ConversationItemDocument,
    NewAsk,
};
pub use crate::decisions::{DecisionDocument, DecisionRecordDocument, NewDecision};
pub use crate::definitions::{
    ApprovalThresholdDocument, ApproversDocument, BlockerRouteDocument, DelegateDocument,
    EdgeDocument, EdgeGateDocument, RaiseRuleDocument, StepDocument, WorkflowDocument,
};
pub use crate::error_pages::{ERROR_PAGES, error_page};
pub use crate::events::EventDocument;
pub use crate::files::{FileDocument, FileNotice};
pub use crate::handoff_commands::{
    Acceptance, Cancellation, CheckResult, Clarification, Completion, Delegation, Escalation,
    GivenBack, Heartbeat, HeldToken, KeyedCommand, LeaseUntil, NewHandoff, QuestionAnswer,
    Rejection, Returned,
};
pub use crate::handoffs::{
    Allowed, AnsweredGate, AnsweredTag, DelegatedVote, EvidenceDocument, GateDocument,
    HandoffDetail, HandoffDocument, HandoffExtras, HandoffSummary, OpenGate, OpenTag, Question,
};
pub use crate::inbox::{
    ChoiceDocument, InboxItemDocument, PersonsWord, SaidPartDocument, SenderDocument,
};
pub use crate::insights::{
    AgentInsights, EdgeInsights, InsightCost, InsightFigures, InsightsDocument,
    RejectReasonDocument, RejectedBy, WeekInsights, WorkflowInsights,
};
pub use crate::messages::MessageDocument;
pub use crate::metrics::{AgentMetrics, HandoffMetrics, StateCount};
pub use crate::page::Page;
pub use crate::problem::{Broken, ProblemDocument};
pub use crate::prompt::PromptDocument;
pub use crate::receiver_names::ReceiverNames;
pub use crate::redactions::{
    DroppedBefore, HandoffPart, RedactedText, RedactionRequest, RedactionResult,
};
pub use crate::retention::{RetainedRunDocument, RetentionResult};
pub use crate::runs::{
    Because, BranchDocument, Goto, Nothing, PassedGateDocument, RerouteRequest, RestartDocument,
    RunDefinition, RunDetail, RunDocument, StartRequest, Why,
};
pub use crate::shared_context::{NewContext, SharedDocument};
pub use crate::status::{LogDelayDocument, NodeDocument, ProjectStatus, ToDo};
pub use crate::stories::{NewStory, StoryDocument, StoryStatus, StoryText};
pub use crate::usage::{
    AgentUsageDocument, AttemptUsageDocument, BudgetDocument, RunUsage, UsageDocument, UsageReport,
};
pub use crate::word::{
    AnswerWord, BatonWord, FaceWord, FileKindWord, GateKindWord, KindWord, ModeWord, OrderWord,
    OutcomeWord, ProfileWord, RerouteCauseWord, StateWord, StatusWord, VerdictWord, WaitWord,
    WayWord, Word, WordSet,
};
pub use crate::workflows::{
    AgentHandoff, NumberedPage, StepProgress, StepStatus, WorkflowProgress, WorkflowStatus,
};

/// The caller's name, for the record.
pub const AS: HeaderName = HeaderName::from_static("baton-as");
/// The version of the Baton that answers; every response of a server has it.
pub const VERSION: HeaderName = HeaderName::from_static("baton-version");
/// The server instance, from its start to its end; every response of a server has it. A request
/// with this header is meant for that instance only, not for a later server at the same address.
pub const INSTANCE: HeaderName = HeaderName::from_static("baton-instance");
