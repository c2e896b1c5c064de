//! The rules by name. Each has a page in `docs/lint/`, with a bad and a good example.

use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Never refuses; for information.
    Info,
    /// Refuses in strict.
    Warning,
    /// Refuses in strict, and should never be sent.
    Error,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LintRule {
    VagueSummary,
    LongSummary,
    BlankField,
    Placeholder,
    Unmeasurable,
    ArtifactWithoutPath,
    ArtifactOutside,
    ArtifactMissing,
    ArtifactChanged,
    QuestionWithoutPriority,
    DecisionWithoutRationale,
    ClaimWithoutEvidence,
    CountMismatch,
    StaleWorkflowState,
    WrongRange,
    Secret,
    PersonalData,
    InvisibleCharacter,
    InstructionToReader,
    MissingParty,
    RepeatedField,
    UnknownStatus,
    BadTimestamp,
    UnknownWord,
    ImpossibleNumber,
    FailedCheck,
    IncompleteItem,
    DecisionWithoutId,
    UnclearAcknowledgement,
    NumberMismatch,
}

impl LintRule {
    pub const ALL: [Self; 30] = [
        Self::VagueSummary,
        Self::LongSummary,
        Self::BlankField,
        Self::Placeholder,
        Self::Unmeasurable,
        Self::ArtifactWithoutPath,
        Self::ArtifactOutside,
        Self::ArtifactMissing,
        Self::ArtifactChanged,
        Self::QuestionWithoutPriority,
        Self::DecisionWithoutRationale,
        Self::ClaimWithoutEvidence,
        Self::CountMismatch,
        Self::StaleWorkflowState,
        Self::WrongRange,
        Self::Secret,
        Self::PersonalData,
        Self::InvisibleCharacter,
        Self::InstructionToReader,
        Self::MissingParty,
        Self::RepeatedField,
        Self::UnknownStatus,
        Self::BadTimestamp,
        Self::UnknownWord,
        Self::ImpossibleNumber,
        Self::FailedCheck,
        Self::IncompleteItem,
        Self::DecisionWithoutId,
        Self::UnclearAcknowledgement,
        Self::NumberMismatch,
    ];

    /// A stable name for settings and programs.
    pub fn code(self) -> &'static str {
        self.row().0
    }

    pub fn parse(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.code() == code)
    }

    pub fn severity(self) -> Severity {
        self.row().1
    }

    fn row(self) -> (&'static str, Severity) {
        use Severity::{Error, Info, Warning};
        match self {
            Self::VagueSummary => ("vague_summary", Warning),
            Self::LongSummary => ("long_summary", Warning),
            Self::BlankField => ("blank_field", Warning),
            Self::Placeholder => ("placeholder", Warning),
            Self::Unmeasurable => ("unmeasurable", Warning),
            Self::ArtifactWithoutPath => ("artifact_without_path", Warning),
            Self::ArtifactOutside => ("artifact_outside", Error),
            Self::ArtifactMissing => ("artifact_missing", Error),
            Self::ArtifactChanged => ("artifact_changed", Warning),
            Self::QuestionWithoutPriority => ("question_without_priority", Warning),
            Self::DecisionWithoutRationale => ("decision_without_rationale", Warning),
            Self::ClaimWithoutEvidence => ("claim_without_evidence", Info),
            Self::CountMismatch => ("count_mismatch", Error),
            Self::StaleWorkflowState => ("stale_workflow_state", Warning),
            Self::WrongRange => ("wrong_range", Error),
            Self::Secret => ("secret", Error),
            Self::PersonalData => ("personal_data", Warning),
            Self::InvisibleCharacter => ("invisible_character", Warning),
            Self::InstructionToReader => ("instruction_to_reader", Warning),
            Self::MissingParty => ("missing_party", Warning),
            Self::RepeatedField => ("repeated_field", Error),
            Self::UnknownStatus => ("unknown_status", Error),
            Self::BadTimestamp => ("bad_timestamp", Warning),
            Self::UnknownWord => ("unknown_word", Warning),
            Self::ImpossibleNumber => ("impossible_number", Error),
            Self::FailedCheck => ("failed_check", Error),
            Self::IncompleteItem => ("incomplete_item", Warning),
            Self::DecisionWithoutId => ("decision_without_id", Warning),
            Self::UnclearAcknowledgement => ("unclear_acknowledgement", Error),
            Self::NumberMismatch => ("number_mismatch", Error),
        }
    }

    /// What is wrong where the rule matches, for lists of rules.
    pub fn about(self) -> &'static str {
        match self {
            LintRule::VagueSummary => "a summary says nothing about this work in particular",
            LintRule::LongSummary => "a summary has more than three sentences or 600 characters",
            LintRule::BlankField => "a field is there but says nothing",
            LintRule::Placeholder => "a field still holds what a template had in it",
            LintRule::Unmeasurable => "whether a criterion or constraint is kept cannot be checked",
            LintRule::ArtifactWithoutPath => "an artifact does not say where it is",
            LintRule::ArtifactOutside => "an artifact is outside the project",
            LintRule::ArtifactMissing => "an artifact is not on the disk",
            LintRule::ArtifactChanged => "an artifact has changed since it was handed over",
            LintRule::QuestionWithoutPriority => "an open question does not say how urgent it is",
            LintRule::DecisionWithoutRationale => "a decision does not say why",
            LintRule::ClaimWithoutEvidence => "something is said to pass, and nothing shows it",
            LintRule::CountMismatch => "a list is longer than the number that counts it",
            LintRule::StaleWorkflowState => "the workflow's state is not what the document says",
            LintRule::WrongRange => "lines are said to be verified that do not exist",
            LintRule::Secret => "a key, a token or a password stands in the text",
            LintRule::PersonalData => "a reason names a person's address or number",
            LintRule::InvisibleCharacter => "a text holds invisible characters",
            LintRule::InstructionToReader => "a text gives orders to its reader",
            LintRule::MissingParty => "a handoff does not say from whom or to whom",
            LintRule::RepeatedField => "a field that has one value is there several times",
            LintRule::UnknownStatus => "a status is not a word that any document has",
            LintRule::BadTimestamp => "a timestamp is not a time",
            LintRule::UnknownWord => "a word is not one of those that the document has for it",
            LintRule::ImpossibleNumber => "a number cannot be what it counts",
            LintRule::FailedCheck => "success is claimed, and a check failed",
            LintRule::IncompleteItem => {
                "an item of a list leaves out what the receiver needs of it"
            }
            LintRule::DecisionWithoutId => "a decision has no id to refer to",
            LintRule::UnclearAcknowledgement => {
                "an acknowledgement leaves out what it is for, or contradicts itself"
            }
            LintRule::NumberMismatch => "a number is not the one in its address",
        }
    }

    /// What to do about it, as a fragment of a sentence.
    pub fn fix(self) -> &'static str {
        match self {
            LintRule::VagueSummary => "name what was made or changed, with numbers, names or paths",
            LintRule::LongSummary => {
                "keep one to three sentences and move the rest to its own field"
            }
            LintRule::BlankField => "fill it in, or leave the field out",
            LintRule::Placeholder => "write what belongs there, or ask for what you do not know",
            LintRule::Unmeasurable => {
                "say it so that it can be checked: a number, a command, a result"
            }
            LintRule::ArtifactWithoutPath => "add its `path`, relative to the project's root",
            LintRule::ArtifactOutside => "write the path relative to the project's root",
            LintRule::ArtifactMissing => {
                "make the file, correct the path, or say `status: deleted` beside its `path`"
            }
            LintRule::ArtifactChanged => "look at it again, and hand over its new hash",
            LintRule::QuestionWithoutPriority => "add `priority`: high, medium or low",
            LintRule::DecisionWithoutRationale => "add `rationale`: why this and nothing else",
            LintRule::ClaimWithoutEvidence => "add the command and what it printed",
            LintRule::CountMismatch => "correct the number or the list",
            LintRule::StaleWorkflowState => "bring it up to date, or leave it out: Baton knows it",
            LintRule::WrongRange => "write `path:start-end` with lines that the file has",
            LintRule::Secret => "take it out, and replace it where it was valid",
            LintRule::PersonalData => "say what the reason is without saying who",
            LintRule::InvisibleCharacter => "take the characters out, or write them as U+XXXX",
            LintRule::InstructionToReader => {
                "say what is, and leave what to do to the expectations"
            }
            LintRule::MissingParty => {
                "name the agent in `from` and `to`, or in `from_agent` and `to_agent`"
            }
            LintRule::RepeatedField => "keep one of them",
            LintRule::UnknownStatus => {
                "use one of the document's words, such as `success`, `failure` or `blocked`"
            }
            LintRule::BadTimestamp => "write it as `2024-01-15T10:30:00Z`",
            LintRule::UnknownWord => "use one of these words",
            LintRule::ImpossibleNumber => "correct the number",
            LintRule::FailedCheck => "mend it, or hand it over as `failure` or `blocked`",
            LintRule::IncompleteItem => "add what is missing to the item",
            LintRule::DecisionWithoutId => "add `id`, such as `D-001`",
            LintRule::UnclearAcknowledgement => {
                "say `received`, what is `understood`, and what is unclear"
            }
            LintRule::NumberMismatch => "correct the number or the address",
        }
    }
}

impl Severity {
    pub fn name(self) -> &'static str {
        match self {
            Severity::Info => "info",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

impl fmt::Display for LintRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}
