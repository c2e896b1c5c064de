//! Why a command was refused. The message says what to do differently; the code is for programs.

use jiff::Timestamp;

use crate::collaboration::ContextMark;
use crate::document::Node;
use crate::hash::Hash;
use crate::names::{AgentId, ContextKey, Principal, StepId};
use crate::outcome::Outcome;
use crate::problem::Problem;
use crate::run::HandoffNo;
use crate::sent_file::{MOST_FILE_BYTES, MOST_FILES};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("the run is {status} and takes no more commands; start a new one")]
    RunFinished { status: &'static str },
    #[error(
        "{handoff} is finished, and a finished handoff never changes; `baton handoff list` shows those that are open"
    )]
    Finished { handoff: HandoffNo },
    #[error("cannot {command} {handoff} while it is {}; {hint}", condition(state))]
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
    #[error(
        "{handoff} is from `{sender}`, not from `{said}`; correct `from` in the acknowledgement"
    )]
    NotTheSender { handoff: HandoffNo, sender: AgentId, said: AgentId },
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
    #[error(
        "`{from}` does not hand to {to} together: {known}; name all of them, one of them, or leave \
         the receiver out"
    )]
    NotTheReceivers {
        from: String,
        /// Each between quotes.
        to: String,
        /// Where the work would go.
        known: String,
    },
    #[error("{}", choose(step, outcome, choices))]
    ChooseReceiver {
        step: StepId,
        /// How the step ended, or [`Refusal::START`].
        outcome: &'static str,
        /// The agents that may be named.
        choices: Vec<AgentId>,
    },
    #[error(
        "{what}: {}; say which one is meant with `--handoff`, over HTTP `handoff`",
        among(choices)
    )]
    WhichHandoff {
        /// What there are several of.
        what: String,
        /// Each with the step that its branch begins with.
        choices: Vec<(HandoffNo, StepId)>,
    },
    #[error("the document says `{phase}` for `{field}`, but {why}; correct the one or the other")]
    WrongPhase { field: &'static str, phase: String, why: String },
    #[error("the work cannot be at `{step}` now: {hint}")]
    OutsideBranch { step: StepId, hint: String },
    #[error("the step `{step}` is not optional and cannot be skipped")]
    NotOptional { step: StepId },
    /// Without a contract, only the linter refuses.
    #[error("{} (rules broken: {})", broken(contract.as_deref()), problems.len())]
    Contract { contract: Option<String>, problems: Vec<Problem>, skeleton: Box<Node> },
    #[error("{handoff} is a gate and takes only an answer: {choices}")]
    GateOpen { handoff: HandoffNo, choices: String },
    #[error("{handoff} waits for its checks: {checks}; its sender gets it back if they fail")]
    ChecksOpen { handoff: HandoffNo, checks: String },
    #[error("{handoff} waits for no checks that this runner could run")]
    NoChecks { handoff: HandoffNo },
    #[error("{handoff} is not a gate and takes no answer; accept or reject it instead")]
    NotAGate { handoff: HandoffNo },
    #[error("{handoff} does not take the answer `{answer}`; it takes {choices}")]
    NotAChoice { handoff: HandoffNo, answer: &'static str, choices: String },
    #[error("the step `{step}` does not let its work be rejected")]
    RejectNever { step: StepId },
    #[error("the run is paused; type `baton run resume RUN` first")]
    Paused,
    #[error("the run is not paused")]
    NotPaused,
    #[error("{handoff} is not due {}", before(due.as_ref()))]
    NotDue { handoff: HandoffNo, due: Option<Timestamp> },
    #[error("{handoff} is marked stale already")]
    AlreadyStale { handoff: HandoffNo },
    #[error("there is no step `{step}` that the run has been at; it has been at: {visited}")]
    NotVisited { step: StepId, visited: String },
    #[error("there is no step `{step}` in the workflow; {known}")]
    NoSuchStep {
        step: StepId,
        /// The steps that there are, or the one that was probably meant.
        known: String,
    },
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
        "`{by}` is the name of an agent or of a part of Baton, and only a person may do that; a person \
         says so under a name of their own"
    )]
    NotAPerson { by: Principal },
    #[error("only {approvers} may answer {handoff}, not `{by}`; {instead}")]
    NotAnApprover { handoff: HandoffNo, by: Principal, approvers: String, instead: String },
    #[error(
        "`{by}` made the package of {handoff} and may not approve it; another person has to, or it is \
         rejected and made again"
    )]
    OwnWork { handoff: HandoffNo, by: Principal },
    #[error(
        "`{by}` is how callers go by that state no name, and an approval of {handoff} counts people; say who \
         you are: `--as NAME`, or the header `Baton-As`"
    )]
    UnnamedCaller { handoff: HandoffNo, by: Principal },
    #[error("{}", approved_before(*handoff, by, before))]
    AlreadyApproved { handoff: HandoffNo, by: Principal, before: Principal },
    #[error("the vote of `{by}` on {handoff} cannot go to `{to}`: {why}")]
    BadDelegate { handoff: HandoffNo, by: Principal, to: Principal, why: String },
    #[error(
        "{handoff} names no approvers, so that there is no vote to pass on: any person may answer it"
    )]
    NoVote { handoff: HandoffNo },
    #[error(
        "the answer is about a package with the hash {expected}, and the package of {handoff} has \
         {actual}: it was made again since; read it, then answer"
    )]
    PackageChanged { handoff: HandoffNo, expected: Hash, actual: String },
    #[error("the baton is at no step that could be skipped: {whereabouts}")]
    NothingToSkip { whereabouts: String },
    #[error(
        "no agent is resolving blockers of this run, so there is nothing to send elsewhere: {whereabouts}"
    )]
    NoDetour { whereabouts: String },
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
    #[error("{}", stale(*handoff, *fence, *current))]
    StaleFence { handoff: HandoffNo, fence: u32, current: Option<u32> },
    #[error(
        "{n_files} files with {n_bytes} bytes of this attempt at {handoff} are kept, and more than \
         {MOST_FILES} files or {MOST_FILE_BYTES} bytes are not; send fewer or smaller files"
    )]
    FilesFull { handoff: HandoffNo, n_files: u32, n_bytes: u64 },
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
    #[error(
        "there is no decision {decision} in this run, which has {n}; `baton decision list` shows them"
    )]
    NoSuchDecision { decision: u32, n: usize },
    #[error(
        "decision {decision} is closed or superseded already; `baton decision list RUN` shows those that stand"
    )]
    DecisionSuperseded { decision: u32 },
    #[error("decision {decision} is locked; only a person may supersede it")]
    DecisionLocked { decision: u32 },
    #[error("the run has {n} decisions, and that is the most")]
    TooManyDecisions { n: usize },
    #[error("{}", changed(key, *expected, *actual, by))]
    ContextChanged { key: ContextKey, expected: u32, actual: u32, by: String },
    #[error(
        "the shared context would have {n_bytes} bytes in {n_documents} documents; the most is {} bytes in {} documents: shorten one",
        ContextMark::MOST_BYTES,
        ContextMark::MOST_DOCUMENTS
    )]
    ContextFull { n_bytes: usize, n_documents: usize },
    #[error(
        "`{by}` cannot ask `{to}` now: {path}, so neither would ever get an answer; answer first"
    )]
    AskCycle { by: AgentId, to: AgentId, path: String },
    #[error("{n} questions between agents are open in this run, and that is the most; answer one")]
    TooManyAsks { n: usize },
    #[error("question {ask} is not open; the run has had {n}")]
    NoOpenAsk { ask: u32, n: u32 },
    #[error("question {ask} is for `{to}`, not for `{by}`; only `{to}` or a person may answer it")]
    NotAsked { ask: u32, to: AgentId, by: AgentId },
    #[error("question {ask} may still be answered until {due}")]
    AskNotDue { ask: u32, due: Timestamp },
}

impl Refusal {
    /// In place of an outcome, where a run starts at the step.
    pub const START: &'static str = "start";

    /// A stable code that callers may match on; the message may change, this may not.
    pub fn code(&self) -> &'static str {
        self.row().0
    }

    /// The general remedy: each API layer maps this to its own terms.
    pub fn class(&self) -> RefusalClass {
        self.row().1
    }

    /// The handoff that conflicts, if any.
    pub fn handoff(&self) -> Option<HandoffNo> {
        self.row().2.copied()
    }

    /// Every handoff that the message names by its label.
    pub fn mentioned(&self) -> Vec<HandoffNo> {
        let mut mentioned: Vec<HandoffNo> = self.handoff().into_iter().collect();
        if let Self::WhichHandoff { choices, .. } = self {
            mentioned.extend(choices.iter().map(|(no, _)| *no));
        }
        if let Self::NotHolder { whereabouts, .. }
        | Self::NothingToSkip { whereabouts }
        | Self::FrameOpen { whereabouts, .. } = self
        {
            let words = whereabouts.split(|it: char| !it.is_ascii_alphanumeric() && it != '-');
            for no in words.filter_map(HandoffNo::parse_label) {
                if !mentioned.contains(&no) {
                    mentioned.push(no);
                }
            }
        }
        mentioned
    }

    fn row(&self) -> (&'static str, RefusalClass, Option<&HandoffNo>) {
        use RefusalClass::{Conflict, Malformed, Unacceptable};
        match self {
            Self::RunFinished { .. } => ("run_finished", Conflict, None),
            Self::Finished { handoff } => ("finished", Conflict, Some(handoff)),
            Self::WrongState { handoff, .. } => ("wrong_state", Conflict, Some(handoff)),
            Self::AlreadyAccepted { handoff, .. } => ("already_accepted", Conflict, Some(handoff)),
            Self::NotYours { handoff, .. } => ("not_yours", Conflict, Some(handoff)),
            Self::NotTheSender { handoff, .. } => ("not_the_sender", Unacceptable, Some(handoff)),
            Self::NotHolder { .. } => ("not_holder", Conflict, None),
            Self::AcceptFirst { handoff } => ("accept_first", Conflict, Some(handoff)),
            Self::Duplicate { handoff, .. } => ("duplicate", Conflict, Some(handoff)),
            Self::NotAnEdge { .. } => ("not_an_edge", Unacceptable, None),
            Self::NotTheReceivers { .. } => ("not_an_edge", Unacceptable, None),
            Self::ChooseReceiver { .. } => ("choose_receiver", Unacceptable, None),
            Self::WhichHandoff { .. } => ("which_handoff", Unacceptable, None),
            Self::WrongPhase { .. } => ("wrong_phase", Unacceptable, None),
            Self::NotOptional { .. } => ("not_optional", Unacceptable, None),
            Self::Contract { contract: Some(_), .. } => ("contract", Unacceptable, None),
            Self::Contract { contract: None, .. } => ("lint", Unacceptable, None),
            Self::GateOpen { handoff, .. } => ("gate_open", Conflict, Some(handoff)),
            Self::ChecksOpen { handoff, .. } => ("checks_open", Conflict, Some(handoff)),
            Self::NoChecks { handoff } => ("nothing_to_check", Conflict, Some(handoff)),
            Self::NotAGate { handoff } => ("not_a_gate", Conflict, Some(handoff)),
            Self::NotAChoice { handoff, .. } => ("not_a_choice", Unacceptable, Some(handoff)),
            Self::RejectNever { .. } => ("reject_never", Conflict, None),
            Self::Paused => ("paused", Conflict, None),
            Self::NotPaused => ("not_paused", Conflict, None),
            Self::NotDue { handoff, .. } => ("not_due", Conflict, Some(handoff)),
            Self::AlreadyStale { handoff } => ("already_stale", Conflict, Some(handoff)),
            Self::NotVisited { .. } => ("not_visited", Unacceptable, None),
            Self::NothingToSkip { .. } => ("nothing_to_skip", Conflict, None),
            Self::NoSuchStep { .. } => ("no_such_step", Unacceptable, None),
            Self::BehindGate { .. } => ("behind_gate", Conflict, None),
            Self::OutsideBranch { .. } => ("outside_branch", Conflict, None),
            Self::NotAPerson { .. } => ("not_a_person", Conflict, None),
            Self::NotAnApprover { handoff, .. } => ("not_an_approver", Conflict, Some(handoff)),
            Self::OwnWork { handoff, .. } => ("own_work", Conflict, Some(handoff)),
            Self::UnnamedCaller { handoff, .. } => ("unnamed_caller", Conflict, Some(handoff)),
            Self::AlreadyApproved { handoff, .. } => ("already_approved", Conflict, Some(handoff)),
            Self::BadDelegate { handoff, .. } => ("bad_delegate", Unacceptable, Some(handoff)),
            Self::NoVote { handoff } => ("no_vote", Conflict, Some(handoff)),
            Self::PackageChanged { handoff, .. } => ("package_changed", Conflict, Some(handoff)),
            Self::NoDetour { .. } => ("no_detour", Conflict, None),
            Self::UnknownAgent { .. } => ("unknown_agent", Malformed, None),
            Self::FrameOpen { handoff, .. } => ("frame_open", Conflict, Some(handoff)),
            Self::NotInFrame { handoff } => ("not_in_frame", Conflict, Some(handoff)),
            Self::TooDeep { .. } => ("too_deep", Conflict, None),
            Self::QuestionOpen { handoff } => ("question_open", Conflict, Some(handoff)),
            Self::NotAQuestion { handoff } => ("not_a_question", Conflict, Some(handoff)),
            Self::StaleFence { handoff, .. } => ("stale_fence", Conflict, Some(handoff)),
            Self::FilesFull { handoff, .. } => ("files_full", Unacceptable, Some(handoff)),
            Self::FenceRequired { handoff } => ("fence_required", Conflict, Some(handoff)),
            Self::NoLease { handoff } => ("no_lease", Conflict, Some(handoff)),
            Self::NotYet { handoff, .. } => ("not_yet", Conflict, Some(handoff)),
            Self::NotHeldBack { handoff } => ("not_held_back", Conflict, Some(handoff)),
            Self::CommentRequired { handoff, .. } => {
                ("comment_required", Unacceptable, Some(handoff))
            }
            Self::PackageRequired { handoff } => ("package_required", Unacceptable, Some(handoff)),
            Self::TooManyChecks { handoff, .. } => ("too_many_checks", Conflict, Some(handoff)),
            Self::NoSuchDecision { .. } => ("no_such_decision", Unacceptable, None),
            Self::DecisionSuperseded { .. } => ("decision_superseded", Conflict, None),
            Self::DecisionLocked { .. } => ("decision_locked", Conflict, None),
            Self::TooManyDecisions { .. } => ("too_many_decisions", Conflict, None),
            Self::ContextChanged { .. } => ("context_changed", Conflict, None),
            Self::ContextFull { .. } => ("context_full", Conflict, None),
            Self::AskCycle { .. } => ("question_cycle", Conflict, None),
            Self::TooManyAsks { .. } => ("too_many_questions", Conflict, None),
            Self::NoOpenAsk { .. } => ("no_open_question", Conflict, None),
            Self::NotAsked { .. } => ("not_asked", Conflict, None),
            Self::AskNotDue { .. } => ("question_not_due", Conflict, None),
        }
    }
}

fn broken(contract: Option<&str>) -> String {
    contract.map_or_else(
        || "the linter does not let the package through".to_owned(),
        |it| format!("the package breaks the contract `{it}`"),
    )
}

fn choose(step: &StepId, outcome: &str, choices: &[AgentId]) -> String {
    if outcome == Refusal::START {
        let agents = match choices.len() {
            1 => "one agent".to_owned(),
            2 => "two agents".to_owned(),
            n => format!("{n} agents"),
        };
        let options: Vec<String> = choices.iter().map(|it| format!("`--to {it}`")).collect();
        return format!("`{step}` has {agents}: add {}", options.join(" or "));
    }
    let names: Vec<String> = choices.iter().map(|it| format!("`{it}`")).collect();
    format!(
        "the step `{step}` has several ways on for `{outcome}`; name one of {}",
        names.join(", ")
    )
}

fn among(choices: &[(HandoffNo, StepId)]) -> String {
    let names: Vec<String> =
        choices.iter().map(|(no, branch)| format!("{no} in the branch `{branch}`")).collect();
    names.join(", ")
}

/// The name of a state behind "is".
fn condition(state: &str) -> String {
    match state {
        "clarification" => "in clarification".to_owned(),
        state => state.replace('_', " "),
    }
}

fn on(outcome: Option<Outcome>) -> String {
    outcome.map_or_else(String::new, |it| format!(" on {}", it.name()))
}

fn or_run(command: Option<&str>) -> String {
    command.map_or_else(String::new, |it| format!(", or waive the gate with `{it}`"))
}

fn changed(key: &ContextKey, expected: u32, actual: u32, by: &str) -> String {
    match (expected, actual) {
        (_, 0) => {
            format!("there is no context document `{key}`; version 0 creates it (`--if-version 0`)")
        }
        (0, _) => format!(
            "the context document `{key}` exists: `{by}` made version {actual}; read it, then change that"
        ),
        _ => format!(
            "the context document `{key}` is not at version {expected}: `{by}` made version {actual}; read it, then change that"
        ),
    }
}

fn approved_before(handoff: HandoffNo, by: &Principal, before: &Principal) -> String {
    match by == before {
        true => format!("`{by}` has approved {handoff} already; another person has to"),
        false => format!(
            "`{by}` looks like `{before}`, who has approved {handoff} already: one person counts once"
        ),
    }
}

fn before(due: Option<&Timestamp>) -> String {
    due.map_or_else(|| "at any time".to_owned(), |it| format!("before {it}"))
}

fn stale(handoff: HandoffNo, fence: u32, current: Option<u32>) -> String {
    match current {
        Some(it) if it < fence => format!(
            "fencing token {fence} was never given out: {handoff} has fencing token {it}; use that one"
        ),
        Some(it) => format!(
            "the lease of fencing token {fence} was lost: {handoff} has fencing token {it} now"
        ),
        None => format!("the lease of fencing token {fence} was lost: {handoff} is over"),
    }
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
