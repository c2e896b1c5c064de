//! What agents and people share in a run: decisions, context documents, questions between agents.

use clap::{Args, Subcommand};

use super::WriteArgs;

#[derive(Debug, Subcommand)]
pub(crate) enum DecisionCommand {
    /// List the decisions of a run
    #[command(visible_alias = "ls")]
    List {
        /// The run, by its number, its id or its story
        run: String,
        /// Also what is open, what an answer has closed, and what rejected packages had decided
        #[arg(long)]
        all: bool,
    },
    /// Show one decision with its reasoning
    Show {
        /// The run, by its number, its id or its story
        run: String,
        /// The number of the decision in its run
        number: u32,
    },
    /// Record a decision: nothing moves
    Record {
        /// The run, by its number, its id or its story
        run: String,
        #[command(flatten)]
        decision: DecisionArgs,
        #[command(flatten)]
        write: WriteArgs,
    },
    /// Replace a decision by another; the old one stays, marked as superseded
    Supersede {
        /// The run, by its number, its id or its story
        run: String,
        /// The number of the decision that is replaced
        number: u32,
        #[command(flatten)]
        decision: DecisionArgs,
        #[command(flatten)]
        write: WriteArgs,
    },
    /// Lock a decision: from then on only a person supersedes it
    Lock {
        /// The run, by its number, its id or its story
        run: String,
        /// The number of the decision in its run
        number: u32,
        /// Why
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
        #[command(flatten)]
        write: WriteArgs,
    },
}

#[derive(Debug, Args)]
pub(crate) struct DecisionArgs {
    /// What is decided: text, `@FILE` or `-`
    pub(crate) decision: String,
    /// The reasoning: text, `@FILE` or `-`
    #[arg(long, value_name = "TEXT")]
    pub(crate) because: Option<String>,
    /// What it is about: two standing decisions on one subject are shown as a conflict
    #[arg(long, value_name = "TEXT")]
    pub(crate) subject: Option<String>,
    /// What was considered and not chosen; may be given several times
    #[arg(long = "instead-of", value_name = "TEXT")]
    pub(crate) alternatives: Vec<String>,
    /// The number of a decision that it rests on; may be given several times
    #[arg(long, value_name = "NUMBER")]
    pub(crate) depends_on: Vec<u32>,
    /// The agent that decides [default: you do]
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ContextCommand {
    /// List the shared context of a run
    #[command(visible_alias = "ls")]
    List {
        /// The run, by its number, its id or its story
        run: String,
    },
    /// Print the newest version of a document
    Get {
        /// The run, by its number, its id or its story
        run: String,
        /// The document's key, such as `api-design`
        #[arg(id = "document", value_name = "KEY")]
        key: String,
        /// The agent that reads it, for the record
        #[arg(long, value_name = "AGENT")]
        agent: Option<String>,
    },
    /// Write a new version of a document
    ///
    /// Write a new version of a document. Refused where it has changed since the version that you have read.
    Set {
        /// The run, by its number, its id or its story
        run: String,
        /// The document's key, such as `api-design`
        #[arg(id = "document", value_name = "KEY")]
        key: String,
        /// Its text: text, `@FILE` or `-`
        text: String,
        /// The version that you have read; 0 for a new document
        #[arg(id = "if_version", long = "if-version", value_name = "NUMBER")]
        version: u32,
        /// The agent that writes it [default: you do]
        #[arg(long, value_name = "AGENT")]
        agent: Option<String>,
        #[command(flatten)]
        write: WriteArgs,
    },
    /// List all versions of a document
    History {
        /// The run, by its number, its id or its story
        run: String,
        /// The document's key
        #[arg(id = "document", value_name = "KEY")]
        key: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum QuestionCommand {
    /// List the questions between the agents of a run
    #[command(visible_alias = "ls")]
    List {
        /// The run, by its number, its id or its story
        run: String,
    },
    /// Ask another agent inside a step; nothing moves
    Ask {
        /// The run, by its number, its id or its story
        run: String,
        /// The agent that asks
        #[arg(value_name = "FROM")]
        agent: String,
        /// The agent that is asked
        #[arg(value_name = "TO")]
        to: String,
        /// The question: text, `@FILE` or `-`
        question: String,
        /// Wait for the answer: 30 seconds, and 30 more after the question was put again
        #[arg(long)]
        wait: bool,
        #[command(flatten)]
        write: WriteArgs,
    },
    /// Answer a question between agents
    Answer {
        /// The run, by its number, its id or its story
        run: String,
        /// The number of the question in its run
        number: u32,
        /// The answer: text, `@FILE` or `-`
        answer: String,
        /// The agent that answers [default: you do]
        #[arg(long, value_name = "AGENT")]
        agent: Option<String>,
        #[command(flatten)]
        write: WriteArgs,
    },
    /// Wait until a question is answered or given up
    Wait {
        /// The run, by its number, its id or its story
        run: String,
        /// The number of the question in its run
        number: u32,
    },
}
