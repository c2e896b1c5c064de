//! What may be typed after `baton handoff`.

use baton_core::package::Format;
use clap::{Args, Subcommand};

use super::documents::format;
use super::{By, ProfileArg, Which, WriteArgs};

#[derive(Debug, Subcommand)]
pub(crate) enum HandoffCommand {
    /// Hand off from one agent to another
    Create(HandoffCreate),
    /// List handoffs: the open ones, or all
    List(HandoffList),
    /// Show one handoff with its package
    Show(Which),
    /// Print the package to hand on, with a mark for everything to fill in
    Template(HandoffTemplate),
    /// Take a handoff
    Accept {
        #[command(flatten)]
        which: Which,
        /// The receiver's restatement of the task, or what is unclear: words or an
        /// `acknowledgment` document, `@FILE` or `-`
        #[arg(long, value_name = "TEXT")]
        acknowledgement: Option<String>,
        /// Promise to be heard of at least this often; `heartbeat` keeps the promise
        #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..=3600))]
        lease: Option<u32>,
        #[command(flatten)]
        by: By,
        #[command(flatten)]
        write: WriteArgs,
    },
    /// Say that you are alive, and still at it
    Heartbeat {
        #[command(flatten)]
        which: Which,
        /// What `accept --lease` gave you
        #[arg(long, value_name = "N")]
        fence: u32,
    },
    /// Ask the sender something before going on
    Clarify {
        #[command(flatten)]
        which: Which,
        /// The question: text, `@FILE` or `-`
        #[arg(long, value_name = "TEXT")]
        question: String,
        #[command(flatten)]
        by: By,
        #[command(flatten)]
        fence: FenceArgs,
        #[command(flatten)]
        write: WriteArgs,
    },
    /// Answer a question about a handoff; no need to accept it first
    Answer {
        #[command(flatten)]
        which: Which,
        /// The answer: text, `@FILE` or `-`
        #[arg(long, value_name = "TEXT")]
        text: String,
        #[command(flatten)]
        by: By,
        #[command(flatten)]
        fence: FenceArgs,
        #[command(flatten)]
        write: WriteArgs,
    },
    /// Give held work back undone, for anybody to take up again
    Release {
        #[command(flatten)]
        which: Which,
        #[arg(long)]
        reason: Option<String>,
        #[command(flatten)]
        by: By,
        #[command(flatten)]
        fence: FenceArgs,
        #[command(flatten)]
        write: WriteArgs,
    },
    /// Hand a part of held work to a specialist, and wait for it
    Delegate {
        #[command(flatten)]
        part: PartArgs,
        /// The specialist
        #[arg(long, value_name = "AGENT")]
        to: String,
    },
    /// Return a delegated part to the holder that waits for it
    Return {
        #[command(flatten)]
        part: PartArgs,
        /// How it ended
        #[arg(long, default_value = "success")]
        outcome: String,
    },
    /// Ask a person, and wait for the answer
    Escalate {
        #[command(flatten)]
        part: PartArgs,
    },
    /// Give a handoff back, with the reason
    Reject {
        #[command(flatten)]
        which: Which,
        #[arg(long)]
        reason: String,
        #[command(flatten)]
        by: By,
        #[command(flatten)]
        fence: FenceArgs,
        #[command(flatten)]
        write: WriteArgs,
    },
    /// Finish the work of a handoff; the workflow says who is next
    Complete(HandoffComplete),
    /// Take a pending handoff back
    Cancel {
        #[command(flatten)]
        which: Which,
        #[arg(long)]
        reason: Option<String>,
        #[command(flatten)]
        by: By,
        #[command(flatten)]
        write: WriteArgs,
    },
    /// Time out a handoff that was not answered or finished
    Timeout {
        #[command(flatten)]
        which: Which,
        #[arg(long)]
        reason: Option<String>,
        #[command(flatten)]
        write: WriteArgs,
    },
}

#[derive(Debug, Args)]
pub(crate) struct HandoffCreate {
    /// The story; its open run is meant, or a new one is begun
    #[arg(long, value_name = "KEY", required_unless_present_any = ["run", "file"])]
    pub(crate) story: Option<String>,
    /// Make the story if there is none of that key
    #[arg(long)]
    pub(crate) new_story: bool,
    /// The run, by number, id or story
    #[arg(long, conflicts_with = "story")]
    pub(crate) run: Option<String>,
    /// Who hands over; with `--file`, where the document does not say
    #[arg(long, value_name = "AGENT", required_unless_present = "file")]
    pub(crate) from: Option<String>,
    /// Who gets it; with `--file`, whatever the document suggests
    #[arg(long, value_name = "AGENT", required_unless_present = "file")]
    pub(crate) to: Option<String>,
    /// What is handed over: JSON, `@FILE`, or `-` for stdin
    #[arg(long, value_name = "JSON", required_unless_present = "file")]
    pub(crate) payload: Option<String>,
    /// A whole document in JSON, XML, YAML or Markdown, which says the rest itself; `-` for stdin
    #[arg(long, conflicts_with_all = ["payload", "outcome", "reason", "supersedes"])]
    pub(crate) file: Option<String>,
    /// How the sender's work ended [default: as the edge says]
    #[arg(long)]
    pub(crate) outcome: Option<String>,
    #[arg(long)]
    pub(crate) reason: Option<String>,
    /// A pending handoff of the same sender that this one replaces
    #[arg(long, value_name = "HANDOFF")]
    pub(crate) supersedes: Option<String>,
    /// The workflow of a new run
    #[arg(long, value_name = "NAME")]
    pub(crate) workflow: Option<String>,
    #[command(flatten)]
    pub(crate) profile: ProfileArg,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

#[derive(Debug, Args)]
pub(crate) struct HandoffComplete {
    #[command(flatten)]
    pub(crate) which: Which,
    #[arg(long, default_value = "success")]
    pub(crate) outcome: String,
    /// The receiver, where the workflow leaves a choice
    #[arg(long, value_name = "AGENT")]
    pub(crate) to: Option<String>,
    /// What is handed on: JSON, `@FILE`, or `-` for stdin
    #[arg(long, value_name = "JSON", default_value = "{}")]
    pub(crate) payload: String,
    #[arg(long)]
    pub(crate) reason: Option<String>,
    #[command(flatten)]
    pub(crate) by: By,
    #[command(flatten)]
    pub(crate) fence: FenceArgs,
    #[command(flatten)]
    pub(crate) profile: ProfileArg,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

#[derive(Debug, Args)]
pub(crate) struct HandoffTemplate {
    /// The handoff whose receiver hands on [default: the current one of the run or the story]
    #[arg(required_unless_present_any = ["run", "story"])]
    pub(crate) handoff: Option<String>,
    /// The run, by number, id or story
    #[arg(long)]
    pub(crate) run: Option<String>,
    /// The story, whose open run is meant
    #[arg(long, value_name = "KEY", conflicts_with = "run")]
    pub(crate) story: Option<String>,
    /// Who would get it [default: as the workflow has it for the outcome]
    #[arg(long, value_name = "AGENT")]
    pub(crate) to: Option<String>,
    /// How the work ended [default: as the edge says]
    #[arg(long)]
    pub(crate) outcome: Option<String>,
    /// What to write it in
    #[arg(long, value_name = "FORMAT", value_parser = format(), default_value = "json")]
    pub(crate) format: Format,
}

/// A part of held work, on its way from the holder.
#[derive(Debug, Args)]
pub(crate) struct PartArgs {
    /// What the holder holds
    #[command(flatten)]
    pub(crate) which: Which,
    /// What is handed over: JSON, `@FILE`, or `-` for stdin
    #[arg(long, value_name = "JSON")]
    pub(crate) payload: String,
    #[arg(long)]
    pub(crate) reason: Option<String>,
    #[command(flatten)]
    pub(crate) fence: FenceArgs,
    #[command(flatten)]
    pub(crate) profile: ProfileArg,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

#[derive(Debug, Args)]
pub(crate) struct FenceArgs {
    /// What you hold it with: refused, if you have lost it since
    #[arg(long, value_name = "N")]
    pub(crate) fence: Option<u32>,
}

#[derive(Debug, Args)]
pub(crate) struct HandoffList {
    #[arg(long, value_name = "KEY")]
    pub(crate) story: Option<String>,
    #[arg(long)]
    pub(crate) run: Option<String>,
    /// Only what this agent is to receive
    #[arg(long)]
    pub(crate) agent: Option<String>,
    /// Only in this state; give it again for more
    #[arg(long, value_name = "STATE")]
    pub(crate) state: Vec<String>,
    /// Only handoffs that are stale: not answered or finished for long
    #[arg(long)]
    pub(crate) stale: bool,
    /// Finished ones too
    #[arg(long)]
    pub(crate) all: bool,
    /// At most so many
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=500))]
    pub(crate) limit: u32,
    /// Only handoffs with a higher number
    #[arg(long, default_value_t = 0, value_name = "NUMBER")]
    pub(crate) after: u64,
}
