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
}

impl LintRule {
    pub const ALL: [Self; 19] = [
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
    ];

    /// A stable name for settings and programs.
    pub fn code(self) -> &'static str {
        match self {
            LintRule::VagueSummary => "vague_summary",
            LintRule::LongSummary => "long_summary",
            LintRule::BlankField => "blank_field",
            LintRule::Placeholder => "placeholder",
            LintRule::Unmeasurable => "unmeasurable",
            LintRule::ArtifactWithoutPath => "artifact_without_path",
            LintRule::ArtifactOutside => "artifact_outside",
            LintRule::ArtifactMissing => "artifact_missing",
            LintRule::ArtifactChanged => "artifact_changed",
            LintRule::QuestionWithoutPriority => "question_without_priority",
            LintRule::DecisionWithoutRationale => "decision_without_rationale",
            LintRule::ClaimWithoutEvidence => "claim_without_evidence",
            LintRule::CountMismatch => "count_mismatch",
            LintRule::StaleWorkflowState => "stale_workflow_state",
            LintRule::WrongRange => "wrong_range",
            LintRule::Secret => "secret",
            LintRule::PersonalData => "personal_data",
            LintRule::InvisibleCharacter => "invisible_character",
            LintRule::InstructionToReader => "instruction_to_reader",
        }
    }

    pub fn parse(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.code() == code)
    }

    pub fn severity(self) -> Severity {
        match self {
            LintRule::ArtifactOutside
            | LintRule::ArtifactMissing
            | LintRule::CountMismatch
            | LintRule::WrongRange
            | LintRule::Secret => Severity::Error,
            LintRule::VagueSummary
            | LintRule::LongSummary
            | LintRule::BlankField
            | LintRule::Placeholder
            | LintRule::Unmeasurable
            | LintRule::ArtifactWithoutPath
            | LintRule::ArtifactChanged
            | LintRule::QuestionWithoutPriority
            | LintRule::DecisionWithoutRationale
            | LintRule::StaleWorkflowState
            | LintRule::PersonalData
            | LintRule::InvisibleCharacter
            | LintRule::InstructionToReader => Severity::Warning,
            LintRule::ClaimWithoutEvidence => Severity::Info,
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
            LintRule::ArtifactMissing => "make the file, correct the path, or take it off the list",
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
