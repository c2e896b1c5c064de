//! Why a command was not carried out, with everything that a face needs to report it.

use baton_core::names::{AgentId, NameError, StoryKey, WorkflowName};
use baton_core::problem::Problem;
use baton_core::refusal::{Refusal, RefusalClass};
use baton_core::run::{HandoffNo, RunStatus};
use baton_core::shell::shell_word;
use baton_core::workflow::Mode;
use baton_store::{HandoffRow, StoreError, Version};

#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The rules refuse the command.
    #[error("{}", with_numbers(refusal, numbers))]
    Refused {
        refusal: Refusal,
        /// The current state of the handoff in question.
        handoff: Option<Box<HandoffRow>>,
        /// What callers type for the handoffs that the refusal names by their labels.
        numbers: Box<[(HandoffNo, u64)]>,
    },
    #[error("there is no handoff {which}")]
    NoSuchHandoff {
        /// Between quotes.
        which: String,
    },
    #[error("there is no run `{which}`")]
    NoSuchRun { which: String },
    #[error("story `{key}` has no run; `baton run start {}` starts one", shell_word(key.as_str()))]
    StoryWithoutRun { key: StoryKey },
    #[error(
        "there is no story `{key}`, which the document names; did you mean `{meant}`? Correct the \
         document, or say that the story is new: `--new-story`, over HTTP `newStory=true`"
    )]
    MistypedStory { key: StoryKey, meant: StoryKey },
    #[error("there is no story `{key}`; {}", story_hint(key, near.as_ref()))]
    NoSuchStory {
        key: StoryKey,
        /// The story that was probably meant.
        near: Option<StoryKey>,
    },
    #[error("`{name}` means both {what}; say {spellings}")]
    AmbiguousName {
        name: String,
        what: String,
        /// Spellings that are unambiguous.
        spellings: String,
    },
    #[error(
        "`{label}` is a label within a run; say which with `--run {}` (in the API `run`), or as {}",
        candidates.first().map_or("RUN", |(run, _)| run.as_str()), or_run_label(label, candidates)
    )]
    WhichRun {
        label: String,
        /// The open runs that have such a handoff, each with its number.
        candidates: Vec<(String, u64)>,
    },
    #[error(transparent)]
    BadName(NameError),
    #[error("the story `{key}` is too large: {}", listed(problems))]
    StoryTooLarge { key: StoryKey, problems: Vec<Problem> },
    #[error("there is no workflow `{name}`; {known}")]
    NoSuchWorkflow {
        name: WorkflowName,
        /// The workflow that was probably meant, or those that there are.
        known: String,
    },
    #[error(
        "`{workflow}` has no mode `{}`: none of its edges has it in `ask_in`; its modes: {known}",
        mode.name()
    )]
    NoSuchMode {
        workflow: WorkflowName,
        mode: Mode,
        /// The modes that it has.
        known: String,
    },
    #[error(
        "{}it is not clear which workflow is meant; add `--workflow NAME` (in the API `workflow`) with \
         one of: {known}", sentence(why.as_deref())
    )]
    WorkflowUnclear {
        known: String,
        /// Why the project's own one is not used.
        why: Option<String>,
    },
    #[error(
        "the story `{story}` is under way as run {number} already; `baton run show {number}` shows it, and `baton run cancel {number}` ends it"
    )]
    AlreadyOpen { story: StoryKey, number: u64 },
    #[error(
        "the story `{story}` comes after {}; `baton run start {} --anyway` (in the API `anyway`) starts it \
         all the same", unfinished(open), shell_word(story.as_str())
    )]
    DependsOnOthers {
        story: StoryKey,
        /// The stories that it depends on and that are not finished.
        open: Vec<StoryKey>,
    },
    #[error(
        "run {number} is still under way, so there is no completion yet; `baton run show {number}` tells where it is"
    )]
    RunOpen { number: u64 },
    #[error("this project keeps no archive; add `[archive]` to `.baton/baton.toml`")]
    NoArchive,
    #[error("{problem}")]
    ArchiveFailing { problem: String },
    #[error("no story is ready: {why}")]
    NothingReady { why: String },
    #[error("the document cannot be taken: {why}")]
    BadDocument { why: String },
    #[error("the document does not say which run it is for; {}", or_none(candidates))]
    RunUnknown {
        /// Open runs that the document could mean.
        candidates: String,
    },
    #[error(
        "the document does not say who sends it, and no agent holds the work; name the sending agent"
    )]
    SenderUnknown,
    #[error("{}", nothing_at_hand(*number, *status))]
    NothingAtHand { number: u64, status: RunStatus },
    #[error(
        "handoff {number} ({handoff}) is for `{to}`, who is not started with a prompt; `baton inbox` shows \
         what people are asked"
    )]
    NoPrompt { handoff: HandoffNo, number: u64, to: AgentId },
    #[error(
        "no server of this project is running, so there is no address for the agent; `baton serve` starts \
         one, `--url` gives another, and `--face cli` needs none"
    )]
    NoServer,
    #[error(
        "the prompt of `{agent}` has names that Baton does not know: {unknown}; known: {known}"
    )]
    UnknownVariable { agent: AgentId, unknown: String, known: String },
    #[error("the run is at version {}, not at {}; read it again", actual.0, any_of(expected))]
    Outdated { expected: Vec<Version>, actual: Version },
    #[error("this idempotency key was used for another request; use a new one")]
    KeyReused,
    #[error(
        "this token is for one attempt of `{agent}`{}, and cannot {} anything else", of_handoff(*handoff), verb(command)
    )]
    OtherAttempt { agent: AgentId, handoff: Option<HandoffNo>, command: &'static str },
    #[error("other commands keep changing this run first; try again")]
    Contended,
    #[error("Baton is shutting down; try again in a moment")]
    Closing,
    #[error(transparent)]
    Store(StoreError),
}

impl From<NameError> for EngineError {
    fn from(error: NameError) -> Self {
        Self::BadName(error)
    }
}

impl From<StoreError> for EngineError {
    /// Only a shutdown closes a store; a concurrent reader gets `Closing`.
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Closed => Self::Closing,
            StoreError::Unavailable(_)
            | StoreError::Unwritable(_)
            | StoreError::Damaged { .. }
            | StoreError::Nul => Self::Store(error),
        }
    }
}

/// The class of an error. Each face maps it to its own terms: an HTTP status, an exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorClass {
    Malformed,
    Unacceptable,
    NotFound,
    Conflict,
    /// The caller expected another version of the run.
    Outdated,
    /// The caller's credential does not reach that far.
    Forbidden,
    Unavailable,
}

/// `12`, or `12 or 14`.
fn any_of(versions: &[Version]) -> String {
    if versions.is_empty() {
        return "any that was named".to_owned();
    }
    let versions: Vec<String> = versions.iter().map(|it| it.0.to_string()).collect();
    versions.join(" or ")
}

impl EngineError {
    /// A stable code that callers may match on; the message may change, this may not.
    pub fn code(&self) -> &'static str {
        match self {
            EngineError::Refused { refusal, .. } => refusal.code(),
            EngineError::NoSuchHandoff { .. } => "no_such_handoff",
            EngineError::NoSuchRun { .. } | EngineError::StoryWithoutRun { .. } => "no_such_run",
            EngineError::NoSuchStory { .. } | EngineError::MistypedStory { .. } => "no_such_story",
            EngineError::AmbiguousName { .. } => "ambiguous_name",
            EngineError::WhichRun { .. } => "which_run",
            EngineError::BadName(error) => error.code(),
            EngineError::StoryTooLarge { .. } => "story_too_large",
            EngineError::NoSuchWorkflow { .. } => "no_such_workflow",
            EngineError::NoSuchMode { .. } => "no_such_mode",
            EngineError::WorkflowUnclear { .. } => "workflow_unclear",
            EngineError::AlreadyOpen { .. } => "already_open",
            EngineError::DependsOnOthers { .. } => "depends_on_others",
            EngineError::RunOpen { .. } => "run_open",
            EngineError::NoArchive => "no_archive",
            EngineError::ArchiveFailing { .. } => "archive_failing",
            EngineError::NothingReady { .. } => "nothing_ready",
            EngineError::BadDocument { .. } => "bad_document",
            EngineError::RunUnknown { .. } => "run_unknown",
            EngineError::SenderUnknown => "sender_unknown",
            EngineError::NothingAtHand { .. } => "nothing_at_hand",
            EngineError::NoPrompt { .. } => "no_prompt",
            EngineError::NoServer => "no_server",
            EngineError::UnknownVariable { .. } => "unknown_variable",
            EngineError::Outdated { .. } => "outdated",
            EngineError::KeyReused => "key_reused",
            EngineError::OtherAttempt { .. } => "other_attempt",
            EngineError::Contended => "contended",
            EngineError::Closing => "closing",
            EngineError::Store(error) => error.code(),
        }
    }

    pub fn class(&self) -> ErrorClass {
        match self {
            EngineError::Refused { refusal, .. } => match refusal.class() {
                RefusalClass::Malformed => ErrorClass::Malformed,
                RefusalClass::Unacceptable => ErrorClass::Unacceptable,
                RefusalClass::Conflict => ErrorClass::Conflict,
            },
            EngineError::NoArchive
            | EngineError::NoSuchHandoff { .. }
            | EngineError::NoSuchRun { .. }
            | EngineError::StoryWithoutRun { .. }
            | EngineError::NoSuchStory { .. }
            | EngineError::MistypedStory { .. }
            | EngineError::NoSuchWorkflow { .. } => ErrorClass::NotFound,
            EngineError::BadDocument { .. }
            | EngineError::WhichRun { .. }
            | EngineError::BadName(_) => ErrorClass::Malformed,
            EngineError::StoryTooLarge { .. }
            | EngineError::NoSuchMode { .. }
            | EngineError::WorkflowUnclear { .. }
            | EngineError::RunUnknown { .. }
            | EngineError::SenderUnknown
            | EngineError::NoPrompt { .. }
            | EngineError::NoServer
            | EngineError::UnknownVariable { .. }
            | EngineError::KeyReused => ErrorClass::Unacceptable,
            EngineError::AmbiguousName { .. }
            | EngineError::AlreadyOpen { .. }
            | EngineError::DependsOnOthers { .. }
            | EngineError::RunOpen { .. }
            | EngineError::NothingReady { .. }
            | EngineError::NothingAtHand { .. } => ErrorClass::Conflict,
            EngineError::Outdated { .. } => ErrorClass::Outdated,
            EngineError::OtherAttempt { .. } => ErrorClass::Forbidden,
            EngineError::Store(StoreError::Nul) => ErrorClass::Malformed,
            EngineError::ArchiveFailing { .. }
            | EngineError::Contended
            | EngineError::Closing
            | EngineError::Store(
                StoreError::Unavailable(_)
                | StoreError::Unwritable(_)
                | StoreError::Closed
                | StoreError::Damaged { .. },
            ) => ErrorClass::Unavailable,
        }
    }

    /// The current state of the handoff in question, if there is one.
    pub fn handoff(&self) -> Option<&HandoffRow> {
        if let Self::Refused { handoff, .. } = self { handoff.as_deref() } else { None }
    }

    /// For a run that a row of the store has named: if it is not found, the caller is not at fault.
    pub(crate) fn of_stored_row(self) -> Self {
        if let Self::NoSuchRun { which } = self {
            let what = format!("run {which} is named by another row, and is not found by its id");
            return Self::Store(StoreError::Damaged { what });
        }
        self
    }

    pub(crate) fn refused(refusal: Refusal) -> Self {
        Self::Refused { refusal, handoff: None, numbers: Box::default() }
    }

    /// A refusal about a handoff of which the row is at hand.
    pub fn refused_about(refusal: Refusal, row: HandoffRow) -> Self {
        let numbers = Box::new([(row.no, row.number)]);
        Self::Refused { refusal, handoff: Some(Box::new(row)), numbers }
    }
}

/// The refusal with what callers type beside each label: `handoff 3 (HO-002)`.
fn with_numbers(refusal: &Refusal, numbers: &[(HandoffNo, u64)]) -> String {
    let mut text = refusal.to_string();
    for (no, number) in numbers.iter().filter(|(no, _)| refusal.mentioned().contains(no)) {
        let label = no.label();
        let mut named = String::with_capacity(text.len());
        let mut rest = text.as_str();
        while let Some(at) = rest.find(&label) {
            let (before, behind) = (&rest[..at], &rest[at + label.len()..]);
            let is_longer = behind.starts_with(|it: char| it.is_ascii_digit());
            named.push_str(before);
            match is_longer {
                true => named.push_str(&label),
                false => named += &format!("handoff {number} ({label})"),
            }
            rest = behind;
        }
        named.push_str(rest);
        text = named;
    }
    text
}

fn or_run_label(label: &str, candidates: &[(String, u64)]) -> String {
    if candidates.is_empty() {
        return format!("`RUN/{label}`");
    }
    let named = |(run, number): &(String, u64)| format!("`{run}/{label}` (handoff {number})");
    candidates.iter().map(named).collect::<Vec<_>>().join(" or ")
}

fn listed(problems: &[Problem]) -> String {
    let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
    problems.join("; ")
}

fn story_hint(key: &StoryKey, near: Option<&StoryKey>) -> String {
    let near = near.map(|it| format!("did you mean `{it}`? ")).unwrap_or_default();
    format!("{near}`baton story add {} --title \"...\"` adds it", shell_word(key.as_str()))
}

/// "`a` and `b`, which are not finished".
fn unfinished(open: &[StoryKey]) -> String {
    const MOST: usize = 5;
    let mut names: Vec<String> = open.iter().take(MOST).map(|it| format!("`{it}`")).collect();
    if open.len() > MOST {
        names.push(format!("{} more", open.len() - MOST));
    }
    let last = names.pop().unwrap_or_default();
    match names.len() {
        0 => format!("{last}, which is not finished"),
        _ => format!("{} and {last}, which are not finished", names.join(", ")),
    }
}

fn nothing_at_hand(number: u64, status: RunStatus) -> String {
    match status {
        RunStatus::Completed | RunStatus::Cancelled => format!(
            "run {number} is {}, so no handoff is open in it; `baton run show {number}` shows how it went",
            status.name()
        ),
        RunStatus::Open | RunStatus::Paused => format!(
            "no handoff is open in run {number}, so there is nothing in it to complete or take up; \
             `baton run show {number}` shows where it is"
        ),
    }
}

fn sentence(text: Option<&str>) -> String {
    text.map(|it| format!("{it}. ")).unwrap_or_default()
}

fn of_handoff(handoff: Option<HandoffNo>) -> String {
    handoff.map(|it| format!(" at {it}")).unwrap_or_default()
}

/// A command's name as a verb in a sentence.
fn verb(command: &str) -> String {
    command.replace('_', " ")
}

fn or_none(candidates: &str) -> String {
    if candidates.is_empty() {
        return "no run is open".to_owned();
    }
    format!("open: {candidates}")
}
