//! The rules by name. Each has a page in `docs/lint/`, with a bad and a good example.

use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Never refuses; good to know.
    Info,
    /// Refuses in strict.
    Warning,
    /// Refuses in strict, and nobody should send it.
    Error,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
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

impl Rule {
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

    /// A stable word that settings and programs may name.
    pub fn code(self) -> &'static str {
        match self {
            Rule::VagueSummary => "vague_summary",
            Rule::LongSummary => "long_summary",
            Rule::BlankField => "blank_field",
            Rule::Placeholder => "placeholder",
            Rule::Unmeasurable => "unmeasurable",
            Rule::ArtifactWithoutPath => "artifact_without_path",
            Rule::ArtifactOutside => "artifact_outside",
            Rule::ArtifactMissing => "artifact_missing",
            Rule::ArtifactChanged => "artifact_changed",
            Rule::QuestionWithoutPriority => "question_without_priority",
            Rule::DecisionWithoutRationale => "decision_without_rationale",
            Rule::ClaimWithoutEvidence => "claim_without_evidence",
            Rule::CountMismatch => "count_mismatch",
            Rule::StaleWorkflowState => "stale_workflow_state",
            Rule::WrongRange => "wrong_range",
            Rule::Secret => "secret",
            Rule::PersonalData => "personal_data",
            Rule::InvisibleCharacter => "invisible_character",
            Rule::InstructionToReader => "instruction_to_reader",
        }
    }

    pub fn parse(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.code() == code)
    }

    pub fn severity(self) -> Severity {
        match self {
            Rule::ArtifactOutside
            | Rule::ArtifactMissing
            | Rule::CountMismatch
            | Rule::WrongRange
            | Rule::Secret => Severity::Error,
            Rule::VagueSummary
            | Rule::LongSummary
            | Rule::BlankField
            | Rule::Placeholder
            | Rule::Unmeasurable
            | Rule::ArtifactWithoutPath
            | Rule::ArtifactChanged
            | Rule::QuestionWithoutPriority
            | Rule::DecisionWithoutRationale
            | Rule::StaleWorkflowState
            | Rule::PersonalData
            | Rule::InvisibleCharacter
            | Rule::InstructionToReader => Severity::Warning,
            Rule::ClaimWithoutEvidence => Severity::Info,
        }
    }

    /// What is wrong where the rule trips, for lists of rules.
    pub fn about(self) -> &'static str {
        match self {
            Rule::VagueSummary => "a summary says nothing about this work in particular",
            Rule::LongSummary => "a summary has more than three sentences or 600 characters",
            Rule::BlankField => "a field is there but says nothing",
            Rule::Placeholder => "a field still holds what a template had in it",
            Rule::Unmeasurable => "nobody could tell whether a criterion or constraint is kept",
            Rule::ArtifactWithoutPath => "an artifact does not say where it is",
            Rule::ArtifactOutside => "an artifact is outside the project",
            Rule::ArtifactMissing => "an artifact is not on the disk",
            Rule::ArtifactChanged => "an artifact has changed since it was handed over",
            Rule::QuestionWithoutPriority => "an open question does not say how urgent it is",
            Rule::DecisionWithoutRationale => "a decision does not say why",
            Rule::ClaimWithoutEvidence => "something is said to pass, and nothing shows it",
            Rule::CountMismatch => "a list is longer than the number that counts it",
            Rule::StaleWorkflowState => "the workflow's state is not what the document says",
            Rule::WrongRange => "lines are said to be verified that do not exist",
            Rule::Secret => "a key, a token or a password stands in the text",
            Rule::PersonalData => "a reason names a person's address or number",
            Rule::InvisibleCharacter => "a text holds characters that nobody sees",
            Rule::InstructionToReader => "a text gives orders to whoever reads it",
        }
    }

    /// What to do about it, as a fragment of a sentence.
    pub fn fix(self) -> &'static str {
        match self {
            Rule::VagueSummary => "name what was made or changed, with numbers, names or paths",
            Rule::LongSummary => "keep one to three sentences and move the rest to its own field",
            Rule::BlankField => "fill it in, or leave the field out",
            Rule::Placeholder => "write what belongs there, or ask for what you do not know",
            Rule::Unmeasurable => "say it so that it can be checked: a number, a command, a result",
            Rule::ArtifactWithoutPath => "add its `path`, relative to the project's root",
            Rule::ArtifactOutside => "write the path relative to the project's root",
            Rule::ArtifactMissing => "make the file, correct the path, or take it off the list",
            Rule::ArtifactChanged => "look at it again, and hand over its new hash",
            Rule::QuestionWithoutPriority => "add `priority`: high, medium or low",
            Rule::DecisionWithoutRationale => "add `rationale`: why this and nothing else",
            Rule::ClaimWithoutEvidence => "add the command and what it printed",
            Rule::CountMismatch => "correct the number or the list",
            Rule::StaleWorkflowState => "bring it up to date, or leave it out: Baton knows it",
            Rule::WrongRange => "write `path:start-end` with lines that the file has",
            Rule::Secret => "take it out, and replace it where it was valid",
            Rule::PersonalData => "say what the reason is without saying who",
            Rule::InvisibleCharacter => "take the characters out, or write them as U+XXXX",
            Rule::InstructionToReader => "say what is, and leave what to do to the expectations",
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

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}
