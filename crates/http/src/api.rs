//! The documents of `/api/v1`, as the server writes them and a client reads them: one type for
//! both, so that they cannot drift apart. A client ignores members that it does not know.

pub use crate::problem::{Broken, ProblemDocument as Problem};
pub use crate::v1::answer::Page;
pub use crate::v1::archive::{ArchiveDocument, Rebuilt};
pub use crate::v1::command_result::{CommandAnswer, Committed, DryRun, Touched};
pub use crate::v1::enums::{
    BatonWord, GateKindWord, KindWord, OutcomeWord, StateWord, StatusWord, WaitWord,
};
pub use crate::v1::events::EventDocument as Event;
pub use crate::v1::handoffs::commands::{
    Acceptance, Cancellation, CheckResult, Clarification, Completion, GivenBack, QuestionAnswer,
    Rejection, VerdictWord,
};
pub use crate::v1::handoffs::detail::{
    Allowed, AnsweredGate, Detail, EvidenceDocument, GateDocument, HandoffExtras, OpenGate,
    Question,
};
pub use crate::v1::handoffs::document::{HandoffDocument, HandoffSummary};
pub use crate::v1::handoffs::parts::{Delegation, Escalation, Heartbeat, LeaseUntil, Returned};
pub use crate::v1::handoffs::prompt::PromptDocument as Prompt;
pub use crate::v1::handoffs::{HeldToken, NewHandoff, ProfileWord, WayWord};
pub use crate::v1::inbox::{AnswerWord, ChoiceDocument, Item, PersonsWord};
pub use crate::v1::runs::document::{PassedGateDocument, RunDetail, RunDocument};
pub use crate::v1::runs::{Because, Goto, Nothing, StartRequest, Why};
pub use crate::v1::status::{ProjectStatus, ToDo};
pub use crate::v1::stories::{NewStory, StoryDocument as Story, StoryStatus, StoryText};

use axum::http::HeaderName;

/// The caller's name, for the record.
pub const AS: HeaderName = HeaderName::from_static("baton-as");
/// The version of the Baton that answers; every response of a server has it.
pub const VERSION: HeaderName = HeaderName::from_static("baton-version");
/// The server instance, from its start to its end; every response of a server has it. A request
/// with this header is meant for that instance only, not for a later server at the same address.
pub const INSTANCE: HeaderName = HeaderName::from_static("baton-instance");
