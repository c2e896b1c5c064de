//! What a person may say: at a gate, to a question, about a check.

use baton_core::evidence::Verdict;
use baton_core::gate::AnswerKind;
use clap::Args;

use super::{Which, WriteArgs, one_of, one_of_described};

#[derive(Debug, Args)]
pub(crate) struct AnswerArgs {
    #[command(flatten)]
    pub(crate) which: Which,
    /// What you choose, where you are given a choice; without it the comment is the answer
    #[arg(value_parser = one_of_described(CHOICES))]
    pub(crate) choice: Option<AnswerKind>,
    /// The agent, for `hand-to`
    #[arg(value_name = "AGENT", required_if_eq("choice", "hand-to"))]
    pub(crate) agent: Option<String>,
    /// Your words: text, `@FILE` or `-`
    #[arg(long, value_name = "TEXT", required_unless_present = "choice")]
    pub(crate) comment: Option<String>,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

/// What can be chosen by name, and what it does.
const CHOICES: &[(&str, AnswerKind, &str)] = &[
    ("continue", AnswerKind::Continue, "Let the agent go on, with as many rounds again"),
    ("accept", AnswerKind::Accept, "Take the work as it is"),
    ("hand-to", AnswerKind::HandTo, "Let another agent do it"),
    ("abort", AnswerKind::Abort, "Cancel the run"),
    ("approve", AnswerKind::Approve, "The work is good"),
    ("reject", AnswerKind::Reject, "The work is not good"),
    ("question", AnswerKind::Question, "Ask back first; the comment is the question"),
];

/// A person's word at a gate.
#[derive(Debug, Args)]
pub(crate) struct Say {
    #[command(flatten)]
    pub(crate) which: Which,
    /// Your words: text, `@FILE` or `-`
    #[arg(long, value_name = "TEXT")]
    pub(crate) comment: Option<String>,
    /// The hash of the package that you have read, as `baton handoff show` has it; refused if it is another
    #[arg(long, value_name = "HASH")]
    pub(crate) content_hash: Option<String>,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

#[derive(Debug, Args)]
pub(crate) struct DelegateArgs {
    #[command(flatten)]
    pub(crate) which: Which,
    /// Who approves in your place
    #[arg(long, value_name = "PERSON")]
    pub(crate) to: String,
    /// Your words: text, `@FILE` or `-`
    #[arg(long, value_name = "TEXT")]
    pub(crate) comment: Option<String>,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

#[derive(Debug, Args)]
pub(crate) struct Modify {
    #[command(flatten)]
    pub(crate) say: Say,
    /// What goes on instead: JSON, `@FILE`, or `-` for stdin
    #[arg(long, value_name = "JSON")]
    pub(crate) payload: String,
}

#[derive(Debug, Args)]
pub(crate) struct EvidenceArgs {
    #[command(flatten)]
    pub(crate) which: Which,
    /// What was checked, such as `lint`
    pub(crate) check: String,
    /// How the check went
    #[arg(value_parser = one_of(&Verdict::ALL, Verdict::name))]
    pub(crate) verdict: Verdict,
    /// What was seen: text, `@FILE` or `-`
    #[arg(long, value_name = "TEXT")]
    pub(crate) detail: Option<String>,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}
