//! Why a command was refused. The message says what to do differently; the code is for programs.

use jiff::Timestamp;

use crate::document::Node;
use crate::names::{AgentId, Principal, StepId};
use crate::outcome::Outcome;
use crate::problem::Problem;
use crate::run::HandoffNo;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("the run is {status} and takes no more commands; start a new one")]
    RunFinished { status: &'static str },
    #[error("{handoff} is finished, and a finished handoff never changes")]
    Finished { handoff: HandoffNo },
    #[error("cannot {command} {handoff} while it is {state}; {hint}")]
    WrongState {
        command: &'static str,
        handoff: HandoffNo,
        state: &'static str,
        hint: &'static str,
    },
    #[error("{handoff} is already accepted by `{holder}`; wait for it, or take other work")]
    AlreadyAccepted { handoff: HandoffNo, holder: AgentId },
    #[error("only `{allowed}` may {command} {handoff}, not `{by}`")]
    NotYours { command: &'static str, handoff: HandoffNo, allowed: AgentId, by: AgentId },
    #[error("`{by}` does not have the baton: {whereabouts}")]
    NotHolder { by: AgentId, whereabouts: String },
    #[error("{handoff} is not accepted yet; accept it, then hand on")]
    AcceptFirst { handoff: HandoffNo },
    #[error("{handoff} from `{from}` to `{to}` is still pending; answer it, or supersede it")]
    Duplicate { handoff: HandoffNo, from: AgentId, to: AgentId },
    #[error("there is no edge from `{from}` to `{to}`{} here; {known}", on(*outcome))]
    NotAnEdge {
        from: String,
        to: AgentId,
        /// The step's outcome, where it matters.
        outcome: Option<Outcome>,
        known: String,
    },
    #[error("the step `{step}` has several ways on for `{outcome}`; name one of {choices}")]
    ChooseReceiver { step: StepId, outcome: &'static str, choices: String },
    #[error("the step `{step}` is not optional and cannot be skipped")]
    NotOptional { step: StepId },
    /// Without a contract, only the linter refuses.
    #[error("{} (rules broken: {})", broken(contract.as_deref()), problems.len())]
    Contract { contract: Option<String>, problems: Vec<Problem>, skeleton: Box<Node> },
    #[error("{handoff} is a gate and takes only an answer: {choices}")]
    GateOpen { handoff: HandoffNo, choices: String },
    #[error("{handoff} is not a gate and takes no answer; accept or reject it instead")]
    NotAGate { handoff: HandoffNo },
    #[error("{handoff} does not take the answer `{answer}`; it takes {choices}")]
    NotAChoice { handoff: HandoffNo, answer: &'static str, choices: String },
    #[error("the step `{step}` does not let its work be rejected")]
    RejectNever { step: StepId },
    #[error("the run is paused; resume it first")]
    Paused,
    #[error("the run is not paused")]
    NotPaused,
    #[error("{handoff} is not due {}", before(due.as_ref()))]
    NotDue { handoff: HandoffNo, due: Option<Timestamp> },
    #[error("{handoff} is marked stale already")]
    AlreadyStale { handoff: HandoffNo },
    #[error("there is no step `{step}` that the run has been at; it has been at: {visited}")]
    NotVisited { step: StepId, visited: String },
    #[error("there is no step `{step}` in the workflow; it has: {known}")]
    NoSuchStep { step: StepId, known: String },
    #[error(
        "`{place}` is behind {gates}, which this work has not passed; hand it to `{first}` and on \
         from there{}",
        or_run(instead.as_deref())
    )]
    BehindGate {
        place: String,
        /// Each gate with its name and its edge.
        gates: String,
        /// The start of the path through the first of them.
        first: String,
        /// The command with which an operator may waive them on record.
        instead: Option<String>,
    },
    #[error(
        "`{by}` is an agent of this workflow, and only a person may open its gates or go past them; \
         the person says so under another name"
    )]
    NotAPerson { by: Principal },
    #[error("the baton is at no step that could be skipped: {whereabouts}")]
    NothingToSkip { whereabouts: String },
    #[error("there is no agent `{agent}`; add a file for it, or name another")]
    UnknownAgent { agent: AgentId },
    #[error("{handoff} is parked: {whereabouts}; its holder continues when that is returned")]
    FrameOpen { handoff: HandoffNo, whereabouts: String },
    #[error("{handoff} was not delegated, so it cannot be returned; complete it instead")]
    NotInFrame { handoff: HandoffNo },
    #[error(
        "the work is delegated {depth} deep, and that is the most; a delegated part has to be returned first"
    )]
    TooDeep { depth: usize },
    #[error("{handoff} is a question; answer it, or accept it to answer it later")]
    QuestionOpen { handoff: HandoffNo },
    #[error("{handoff} is no question, and there is none about it")]
    NotAQuestion { handoff: HandoffNo },
    #[error("the lease of fencing token {fence} was lost: {handoff} {}", held_now(*current))]
    StaleFence { handoff: HandoffNo, fence: u32, current: Option<u32> },
    #[error(
        "a lease on this step was lost; accept {handoff}, or send the fencing token of your lease"
    )]
    FenceRequired { handoff: HandoffNo },
    #[error("{handoff} has no lease to renew; accept it with one")]
    NoLease { handoff: HandoffNo },
    #[error("{handoff} is held back until {until}")]
    NotYet { handoff: HandoffNo, until: Timestamp },
    #[error("{handoff} is not held back")]
    NotHeldBack { handoff: HandoffNo },
    #[error("the answer `{answer}` to {handoff} needs a comment; add one")]
    CommentRequired { handoff: HandoffNo, answer: &'static str },
    #[error("to modify {handoff}, send the package that replaces the old one")]
    PackageRequired { handoff: HandoffNo },
    #[error(
        "{handoff} has had {n} different checks, and that is the most; record one of those again"
    )]
    TooManyChecks { handoff: HandoffNo, n: usize },
}

impl Refusal {
    /// A stable code that callers may match on; the message may change, this may not.
    pub fn code(&self) -> &'static str {
        match self {
            Refusal::RunFinished { .. } => "run_finished",
            Refusal::Finished { .. } => "finished",
            Refusal::WrongState { .. } => "wrong_state",
            Refusal::AlreadyAccepted { .. } => "already_accepted",
            Refusal::NotYours { .. } => "not_yours",
            Refusal::NotHolder { .. } => "not_holder",
            Refusal::AcceptFirst { .. } => "accept_first",
            Refusal::Duplicate { .. } => "duplicate",
            Refusal::NotAnEdge { .. } => "not_an_edge",
            Refusal::ChooseReceiver { .. } => "choose_receiver",
            Refusal::NotOptional { .. } => "not_optional",
            Refusal::Contract { contract: Some(_), .. } => "contract",
            Refusal::Contract { contract: None, .. } => "lint",
            Refusal::GateOpen { .. } => "gate_open",
            Refusal::NotAGate { .. } => "not_a_gate",
            Refusal::NotAChoice { .. } => "not_a_choice",
            Refusal::RejectNever { .. } => "reject_never",
            Refusal::Paused => "paused",
            Refusal::NotPaused => "not_paused",
            Refusal::NotDue { .. } => "not_due",
            Refusal::AlreadyStale { .. } => "already_stale",
            Refusal::NotVisited { .. } => "not_visited",
            Refusal::NothingToSkip { .. } => "nothing_to_skip",
            Refusal::NoSuchStep { .. } => "no_such_step",
            Refusal::BehindGate { .. } => "behind_gate",
            Refusal::NotAPerson { .. } => "not_a_person",
            Refusal::UnknownAgent { .. } => "unknown_agent",
            Refusal::FrameOpen { .. } => "frame_open",
            Refusal::NotInFrame { .. } => "not_in_frame",
            Refusal::TooDeep { .. } => "too_deep",
            Refusal::QuestionOpen { .. } => "question_open",
            Refusal::NotAQuestion { .. } => "not_a_question",
            Refusal::StaleFence { .. } => "stale_fence",
            Refusal::FenceRequired { .. } => "fence_required",
            Refusal::NoLease { .. } => "no_lease",
            Refusal::NotYet { .. } => "not_yet",
            Refusal::NotHeldBack { .. } => "not_held_back",
            Refusal::CommentRequired { .. } => "comment_required",
            Refusal::PackageRequired { .. } => "package_required",
            Refusal::TooManyChecks { .. } => "too_many_checks",
        }
    }

    /// The handoff that conflicts, if any.
    pub fn handoff(&self) -> Option<HandoffNo> {
        match self {
            Refusal::Finished { handoff }
            | Refusal::WrongState { handoff, .. }
            | Refusal::AlreadyAccepted { handoff, .. }
            | Refusal::NotYours { handoff, .. }
            | Refusal::AcceptFirst { handoff }
            | Refusal::Duplicate { handoff, .. }
            | Refusal::GateOpen { handoff, .. }
            | Refusal::NotAGate { handoff }
            | Refusal::NotAChoice { handoff, .. }
            | Refusal::NotDue { handoff, .. }
            | Refusal::AlreadyStale { handoff }
            | Refusal::FrameOpen { handoff, .. }
            | Refusal::NotInFrame { handoff, .. }
            | Refusal::QuestionOpen { handoff, .. }
            | Refusal::NotAQuestion { handoff, .. }
            | Refusal::StaleFence { handoff, .. }
            | Refusal::FenceRequired { handoff, .. }
            | Refusal::NoLease { handoff, .. }
            | Refusal::NotYet { handoff, .. }
            | Refusal::NotHeldBack { handoff, .. }
            | Refusal::CommentRequired { handoff, .. }
            | Refusal::PackageRequired { handoff, .. }
            | Refusal::TooManyChecks { handoff, .. } => Some(*handoff),
            Refusal::RunFinished { .. }
            | Refusal::NotHolder { .. }
            | Refusal::NotAnEdge { .. }
            | Refusal::ChooseReceiver { .. }
            | Refusal::NotOptional { .. }
            | Refusal::Contract { .. }
            | Refusal::RejectNever { .. }
            | Refusal::Paused
            | Refusal::NotPaused
            | Refusal::NotVisited { .. }
            | Refusal::NoSuchStep { .. }
            | Refusal::BehindGate { .. }
            | Refusal::NotAPerson { .. }
            | Refusal::NothingToSkip { .. }
            | Refusal::TooDeep { .. }
            | Refusal::UnknownAgent { .. } => None,
        }
    }

    /// The general remedy: each API layer maps this to its own terms.
    pub fn class(&self) -> RefusalClass {
        match self {
            Refusal::RunFinished { .. }
            | Refusal::Finished { .. }
            | Refusal::WrongState { .. }
            | Refusal::AlreadyAccepted { .. }
            | Refusal::NotYours { .. }
            | Refusal::NotHolder { .. }
            | Refusal::AcceptFirst { .. }
            | Refusal::Duplicate { .. }
            | Refusal::GateOpen { .. }
            | Refusal::NotAGate { .. }
            | Refusal::RejectNever { .. }
            | Refusal::Paused
            | Refusal::NotPaused
            | Refusal::NotDue { .. }
            | Refusal::AlreadyStale { .. }
            | Refusal::BehindGate { .. }
            | Refusal::NotAPerson { .. }
            | Refusal::NothingToSkip { .. }
            | Refusal::FrameOpen { .. }
            | Refusal::NotInFrame { .. }
            | Refusal::TooDeep { .. }
            | Refusal::QuestionOpen { .. }
            | Refusal::NotAQuestion { .. }
            | Refusal::StaleFence { .. }
            | Refusal::FenceRequired { .. }
            | Refusal::NoLease { .. }
            | Refusal::NotYet { .. }
            | Refusal::NotHeldBack { .. }
            | Refusal::TooManyChecks { .. } => RefusalClass::Conflict,
            Refusal::NotAnEdge { .. }
            | Refusal::ChooseReceiver { .. }
            | Refusal::NotOptional { .. }
            | Refusal::NotAChoice { .. }
            | Refusal::NotVisited { .. }
            | Refusal::NoSuchStep { .. }
            | Refusal::CommentRequired { .. }
            | Refusal::PackageRequired { .. }
            | Refusal::Contract { .. } => RefusalClass::Unacceptable,
            Refusal::UnknownAgent { .. } => RefusalClass::Malformed,
        }
    }
}

fn broken(contract: Option<&str>) -> String {
    contract.map_or_else(
        || "the linter does not let the package through".to_owned(),
        |it| format!("the package breaks the contract `{it}`"),
    )
}

fn on(outcome: Option<Outcome>) -> String {
    outcome.map_or_else(String::new, |it| format!(" on {}", it.name()))
}

fn or_run(command: Option<&str>) -> String {
    command.map_or_else(String::new, |it| format!(", or waive the gate with `{it}`"))
}

fn before(due: Option<&Timestamp>) -> String {
    due.map_or_else(|| "at any time".to_owned(), |it| format!("before {it}"))
}

fn held_now(fence: Option<u32>) -> String {
    fence.map_or_else(|| "is over".to_owned(), |it| format!("has fencing token {it} now"))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusalClass {
    /// The command names something that does not exist.
    Malformed,
    /// Well formed, but its content breaks the rules.
    Unacceptable,
    /// Valid in itself, but not in the run's current state.
    Conflict,
}
