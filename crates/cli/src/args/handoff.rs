//! What may be typed after `baton handoff`.

use baton_core::package::Format;
use baton_core::workflow::Mode;
use clap::{Args, Subcommand};

use super::documents::format;
use super::numbers::{ANY, whole_number};
use super::{By, ProfileArg, Which, WriteArgs, one_of};

#[derive(Debug, Subcommand)]
pub(crate) enum HandoffCommand {
    /// Hand off from one agent to another
    Create(HandoffCreate),
    /// List handoffs: the open ones, or all
    #[command(visible_alias = "ls")]
    List(HandoffList),
    /// Show one handoff with its package
    Show(Which),
    /// List what the attempts at a handoff printed and changed, and the files that its package names
    Files(Which),
    /// Print one of these files, or save it
    File {
        #[command(flatten)]
        which: Which,
        /// Its name, or the beginning of its SHA-256; of several with that name the newest
        name: String,
        /// Save it there instead; nothing is overwritten
        #[arg(long, value_name = "FILE")]
        output: Option<String>,
    },
    /// Print the package to hand on, with a mark for everything to fill in
    Template(HandoffTemplate),
    /// Accept a handoff: the receiver begins to work
    #[command(visible_alias = "take")]
    Accept {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        taken: Taken,
    },
    /// Keep the lease of a handoff: say that its holder is still at work
    Heartbeat {
        #[command(flatten)]
        which: Which,
        /// The fencing token that `accept --lease` printed
        #[arg(long, value_name = "N", value_parser = whole_number::<u32>(ANY))]
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
    /// Give held work back undone; its agent may take it up again
    Release {
        #[command(flatten)]
        which: Which,
        /// Why
        #[arg(long, value_name = "TEXT")]
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
    /// Give a handoff back, with the reason (a person at a gate says `baton reject`)
    Reject {
        #[command(flatten)]
        which: Which,
        /// What is wrong with it; the receiver of the returned work reads it
        #[arg(long, value_name = "TEXT")]
        reason: String,
        #[command(flatten)]
        by: By,
        #[command(flatten)]
        fence: FenceArgs,
        #[command(flatten)]
        write: WriteArgs,
    },
    /// Finish the work of a handoff; the workflow says who is next
    #[command(visible_alias = "done")]
    Complete(HandoffComplete),
    /// Take a pending handoff back
    Cancel {
        #[command(flatten)]
        which: Which,
        /// Why
        #[arg(long, value_name = "TEXT")]
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
        /// Why
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
        #[command(flatten)]
        write: WriteArgs,
    },
}

#[derive(Debug, Args)]
pub(crate) struct HandoffCreate {
    /// The story; its open run is meant, or a new one is begun
    #[arg(long, value_name = "STORY", required_unless_present_any = ["run", "file"])]
    pub(crate) story: Option<String>,
    /// Make the story if there is none of that key
    #[arg(long)]
    pub(crate) new_story: bool,
    /// The run, by number, id or story
    #[arg(long, conflicts_with = "story")]
    pub(crate) run: Option<String>,
    /// The agent that hands over; with `--file`, needed only if the document does not name it
    #[arg(long, value_name = "AGENT", required_unless_present = "file")]
    pub(crate) from: Option<String>,
    /// The agent that receives; with `--file`, it counts instead of the receiver in the document
    #[arg(long, value_name = "AGENT", required_unless_present = "file")]
    pub(crate) to: Option<String>,
    /// What is handed over: JSON, `@FILE`, or `-` for stdin
    #[arg(long, value_name = "JSON", required_unless_present = "file")]
    pub(crate) payload: Option<String>,
    /// A file with a whole handoff in JSON, XML, YAML or Markdown, from which sender, receiver, outcome and
    /// package are read; `-` for stdin
    #[arg(long, value_name = "FILE", conflicts_with_all = ["payload", "outcome", "reason", "supersedes"])]
    pub(crate) file: Option<String>,
    /// How the sender's work ended [default: as the edge says]
    #[arg(long)]
    pub(crate) outcome: Option<String>,
    /// Why, in a sentence for the receiver
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    /// A pending handoff of the same sender that this one replaces
    #[arg(long, value_name = "HANDOFF")]
    pub(crate) supersedes: Option<String>,
    /// The handoff whose work is handed on, where the sender has that of several branches
    #[arg(long, value_name = "HANDOFF")]
    pub(crate) handoff: Option<String>,
    /// The workflow of a new run
    #[arg(long, value_name = "WORKFLOW")]
    pub(crate) workflow: Option<String>,
    /// How much of a new run goes on without a person [default: the project's]
    #[arg(long, value_name = "MODE", value_parser = one_of(&Mode::ALL, Mode::name))]
    pub(crate) mode: Option<Mode>,
    #[command(flatten)]
    pub(crate) profile: ProfileArg,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

#[derive(Debug, Args)]
pub(crate) struct HandoffComplete {
    #[command(flatten)]
    pub(crate) which: Which,
    #[command(flatten)]
    pub(crate) on: HandedOn,
}

/// What a receiver may say when it begins.
#[derive(Debug, Args)]
pub(crate) struct Taken {
    /// The receiver's restatement of the task, or what is unclear: words or an
    /// `acknowledgment` document, `@FILE` or `-`
    #[arg(long, value_name = "TEXT")]
    pub(crate) acknowledgement: Option<String>,
    /// Promise a `heartbeat` at least this often; without one, the work is offered again
    #[arg(long, value_name = "SECONDS", value_parser = whole_number::<u32>(1..=3600))]
    pub(crate) lease: Option<u32>,
    #[command(flatten)]
    pub(crate) by: By,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

#[derive(Debug, Args)]
pub(crate) struct TakeArgs {
    /// The story whose handoff is taken, or the handoff by any of its names [default: the only one
    /// that is offered]
    pub(crate) story: Option<String>,
    #[command(flatten)]
    pub(crate) taken: Taken,
}

#[derive(Debug, Args)]
pub(crate) struct DoneArgs {
    /// The story whose handoff is complete, or the handoff by any of its names [default: the only one
    /// that is held]
    pub(crate) story: Option<String>,
    #[command(flatten)]
    pub(crate) on: HandedOn,
}

/// The result of finished work.
#[derive(Debug, Args)]
pub(crate) struct HandedOn {
    /// How the work ended: the workflow has an edge for each outcome
    #[arg(long, value_name = "OUTCOME", default_value = "success")]
    pub(crate) outcome: String,
    /// The receiver, where the workflow leaves a choice; `a,b` names all receivers of a fan-out
    #[arg(long, value_name = "AGENT", value_delimiter = ',')]
    pub(crate) to: Vec<String>,
    /// What is handed on: JSON, `@FILE`, or `-` for stdin
    #[arg(long, value_name = "JSON", default_value = "{}")]
    pub(crate) payload: String,
    /// Why, in a sentence for the receiver
    #[arg(long, value_name = "TEXT")]
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
    #[arg(long, value_name = "STORY", conflicts_with = "run")]
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
    /// Why, in a sentence for the receiver
    #[arg(long, value_name = "TEXT")]
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
    /// The fencing token that `accept --lease` printed: refused if the lease was lost since
    #[arg(long, value_name = "N", value_parser = whole_number::<u32>(ANY))]
    pub(crate) fence: Option<u32>,
}

#[derive(Debug, Args)]
pub(crate) struct HandoffList {
    /// Only those of this story
    #[arg(long, value_name = "STORY")]
    pub(crate) story: Option<String>,
    /// Only those of this run, by its number, its id or its story
    #[arg(long)]
    pub(crate) run: Option<String>,
    /// Only those that this agent receives
    #[arg(long, value_name = "AGENT")]
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
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = whole_number::<u32>(1..=500))]
    pub(crate) limit: u32,
    /// Only handoffs with a higher number
    #[arg(long, default_value_t = 0, value_name = "NUMBER", value_parser = whole_number::<u64>(ANY))]
    pub(crate) after: u64,
}
