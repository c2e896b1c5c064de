//! What may be typed. One enum a noun; each verb is carried out by the file of its noun.

mod answers;
mod documents;
mod handoff;
mod prompt;
mod purpose;
mod runner;

use std::net::SocketAddr;
use std::path::PathBuf;

use baton_core::contract::Profile;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use uuid::Uuid;

pub(crate) use self::answers::{AnswerArgs, EvidenceArgs, Modify, Say};
pub(crate) use self::documents::{Convert, Extract, Lint};
pub(crate) use self::handoff::{
    HandoffCommand, HandoffComplete, HandoffCreate, HandoffList, HandoffTemplate, PartArgs,
};
pub(crate) use self::prompt::PromptArgs;
pub(crate) use self::runner::{RunnerArgs, RunnerCommand, TrustArgs, WorkspaceCommand};
use crate::show::OutputFormat;

/// Pass work between AI agents and people without dropping it.
#[derive(Debug, Parser)]
#[command(name = "baton", version, propagate_version = true, arg_required_else_help = true)]
pub(crate) struct Cli {
    /// The project's folder; by default the nearest one above that has a `.baton` folder
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
    /// Where the data is [default: `.baton/data` of the project]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Ask the server there [default: BATON_URL, else the one that has the project's data, else none]
    #[arg(long, global = true, value_name = "URL")]
    pub(crate) server: Option<String>,
    /// Print JSON, for programs: the API's own
    #[arg(long, global = true)]
    json: bool,
    /// Who is asking, for the record [default: your login name]
    #[arg(long = "as", global = true, value_name = "NAME")]
    pub(crate) principal: Option<String>,
    #[command(subcommand)]
    pub(crate) command: CliCommand,
}

impl Cli {
    pub(crate) fn format(&self) -> OutputFormat {
        if self.json { OutputFormat::Json } else { OutputFormat::Table }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum CliCommand {
    /// Make this folder a Baton project
    Init {
        /// In a project that has lost its data: begin with an empty database
        #[arg(long)]
        new_data: bool,
    },
    /// Watch scripted agents pass a story along, in a project of its own
    Demo(Demo),
    /// Serve this project over HTTP: the API, live events, a page
    Serve(Serve),
    /// Run agents for a server: claim their work, start their programs, take their results
    Runner(RunnerArgs),
    /// Play the part of an agent in a script: what a runner starts for the executor `scripted`
    #[command(hide = true)]
    Play { script: String },
    /// Show which programs this project would start, and allow them
    Trust(TrustArgs),
    /// The folders that runs are worked on in
    #[command(subcommand)]
    Workspace(WorkspaceCommand),
    /// Who has the baton, and what waits for you
    Status,
    /// What happens, as it happens: one line an event
    Watch(Watch),
    /// Open the server's page in a browser
    Open(OpenArgs),
    /// The work that waits or is under way
    #[command(subcommand)]
    Story(StoryCommand),
    /// The ways that a story can go
    #[command(subcommand)]
    Workflow(WorkflowCommand),
    /// Who can receive a handoff
    #[command(subcommand)]
    Agent(AgentCommand),
    /// Stories on their way
    #[command(subcommand)]
    Run(RunCommand),
    /// Work changing hands
    #[command(subcommand)]
    Handoff(HandoffCommand),
    /// Print the prompt of the agent that receives a handoff
    Prompt(PromptArgs),
    /// Everything that waits for a person, and what each answer would do
    Inbox,
    /// Say yes at a gate: the work goes on
    Approve(Say),
    /// Say no at a gate: the work goes back
    Reject(Say),
    /// Hand on something else at a gate: your own package
    Modify(Modify),
    /// Answer a question, or what a gate asks
    Answer(AnswerArgs),
    /// Record what was checked; at an automatic gate it may let the work on
    Evidence(EvidenceArgs),
    /// Find what is wrong with this project, and what to type about it
    Doctor,
    /// Check that every chain of events and the store itself are sound
    Verify,
    /// The archive: the log as files that can be read without Baton
    #[command(subcommand)]
    Archive(ArchiveCommand),
    /// Copy all data into one file, verified, while it may be in use
    Backup { file: PathBuf },
    /// Put a backup in the place of the data
    Restore {
        file: PathBuf,
        /// Do so even where there is data: it is put aside, not thrown away
        #[arg(long)]
        replace: bool,
    },
    /// Save all that damaged data still proves into a new database; the old files stay as they are
    Recover(Recover),
    /// Write a document in another format, with nothing lost
    Convert(Convert),
    /// Find what is poor about a handoff before it is sent
    Lint(Lint),
    /// Find the handoff in what an agent printed
    Extract(Extract),
    /// Print a JSON Schema; without a name, list them
    Schema { name: Option<String> },
    /// Say what an error code means and what to do; without a code, list them
    Explain {
        /// As it stands behind a message, such as `behind_gate`
        code: Option<String>,
    },
    /// Print a script that completes `baton` commands in your shell
    Completions { shell: clap_complete::Shell },
}

#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Where to listen; port 0 picks a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:4180")]
    pub(crate) listen: SocketAddr,
    /// Start no agents
    #[arg(long)]
    pub(crate) no_runner: bool,
    /// A name, besides the loopback ones, by which browsers and programs may call it
    #[arg(long, value_name = "HOST[:PORT]")]
    pub(crate) allow_host: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Recover {
    /// The damaged database, or the folder with its `baton.db` and `baton.db-wal` [default: the
    /// project's data]
    #[arg(long, value_name = "PATH")]
    pub(crate) from: Option<PathBuf>,
    /// Only what the archive has of the data with this id, such as that before `init --new-data`
    #[arg(long, value_name = "ID", conflicts_with = "from")]
    pub(crate) archived: Option<Uuid>,
    /// Where the folder with the new database goes [default: the project's data]
    #[arg(long, value_name = "DIR")]
    pub(crate) to: Option<PathBuf>,
    /// Say what could be saved and what is missing, and keep nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Watch {
    /// Only this run, by number, id or story (`run:2`, `story:2`), until it is over [default: all, until Ctrl-C]
    pub(crate) run: Option<String>,
    /// From the beginning, not only from now on
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, Args)]
pub(crate) struct OpenArgs {
    /// A run, or a handoff as `handoff:7`, `RUN/HO-002` or its id [default: all runs]
    #[arg(value_name = "RUN|HANDOFF")]
    pub(crate) what: Option<String>,
    /// Print the address, and start no browser
    #[arg(long)]
    pub(crate) print: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Stop after one story; otherwise stories follow until Ctrl-C
    #[arg(long)]
    pub(crate) once: bool,
    /// How long an agent pretends to work
    #[arg(long, value_name = "MILLISECONDS", default_value_t = 700)]
    pub(crate) pace: u64,
}

#[derive(Debug, Subcommand)]
pub(crate) enum StoryCommand {
    /// Add a story
    Add(StoryAdd),
    /// List all stories
    List,
    /// Show one story and its runs
    Show { key: String },
    /// Add or update stories from a YAML or JSON file (`-` for stdin)
    Import { file: String },
}

#[derive(Debug, Args)]
pub(crate) struct StoryAdd {
    /// What people call it, such as `v0.1:1.1.1` or `owner/repo#123`
    pub(crate) key: String,
    /// [default: the key]
    #[arg(long)]
    pub(crate) title: Option<String>,
    #[arg(long, default_value = "")]
    pub(crate) description: String,
    /// An acceptance criterion; give it again for more
    #[arg(long)]
    pub(crate) acceptance: Vec<String>,
    /// A story that has to be finished first; give it again for more
    #[arg(long, value_name = "KEY")]
    pub(crate) depends_on: Vec<String>,
    /// Higher goes first
    #[arg(long, default_value_t = 0, allow_hyphen_values = true)]
    pub(crate) priority: i64,
    #[arg(long)]
    pub(crate) branch: Option<String>,
    #[arg(long)]
    pub(crate) pr_url: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum WorkflowCommand {
    /// List the workflows of this project
    List,
    /// Show the steps, edges and contracts of one
    Show { name: String },
    /// Find everything that is wrong with one, by its name or its file
    Check { name: String },
    /// Print one as a Mermaid diagram
    Graph { name: String },
    /// Copy a built-in one into the project, to change it
    Eject { name: String },
}

#[derive(Debug, Clone, Copy, Subcommand)]
pub(crate) enum ArchiveCommand {
    /// Make every file again from the log; files of others are left alone
    Rebuild,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AgentCommand {
    /// List the agents of this project
    List,
    /// Show one, with its prompt
    Show { id: String },
    /// Write the file of a new one
    New {
        id: String,
        #[arg(long, default_value = "What this agent is for")]
        description: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum RunCommand {
    /// Hand a story in; without a key, the next one that is ready
    Start {
        story: Option<String>,
        /// Make the story if there is none of that key
        #[arg(long, requires = "story")]
        new_story: bool,
        #[arg(long, value_name = "NAME")]
        workflow: Option<String>,
        /// The agent that gets it, where the first step has several
        #[arg(long, value_name = "AGENT")]
        to: Option<String>,
        /// Begin at this step; the gates before it are recorded as waived by you
        #[arg(long, value_name = "STEP", requires = "reason", requires = "story")]
        at: Option<String>,
        /// Why it starts, or why there
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
        #[command(flatten)]
        write: WriteArgs,
    },
    /// List runs: the open ones, or all
    List {
        #[arg(long)]
        all: bool,
    },
    /// Show one run with its handoffs
    Show { run: String },
    /// Let nothing begin; what is held may finish
    Pause {
        run: String,
        #[arg(long)]
        reason: Option<String>,
        #[command(flatten)]
        write: WriteArgs,
    },
    /// Go on after a pause
    Resume {
        run: String,
        #[command(flatten)]
        write: WriteArgs,
    },
    /// End a run and everything open in it
    Cancel {
        run: String,
        #[arg(long)]
        reason: Option<String>,
        #[command(flatten)]
        write: WriteArgs,
    },
    /// Send a run back to a step that it has been at
    Goto {
        run: String,
        step: String,
        #[arg(long)]
        reason: String,
        #[command(flatten)]
        write: WriteArgs,
    },
    /// Pass over the optional step that the baton is at
    Skip {
        run: String,
        #[arg(long)]
        reason: String,
        #[command(flatten)]
        write: WriteArgs,
    },
    /// Cancel what is pending in a run; questions to people are kept
    Cleanup {
        run: String,
        #[arg(long)]
        reason: Option<String>,
        #[command(flatten)]
        write: WriteArgs,
    },
}

/// A handoff by any of its names.
#[derive(Debug, Args)]
pub(crate) struct Which {
    /// Its number (`12`), its id, or its label (`HO-002`) with `--run` or as `RUN/HO-002`;
    /// a run by its number, its id or its story, `run:2` and `story:2` where it could be both
    pub(crate) handoff: String,
    #[arg(long)]
    pub(crate) run: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct By {
    /// The agent that does it; checked against who may [default: who may]
    #[arg(long, value_name = "AGENT")]
    pub(crate) by: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ProfileArg {
    /// How severe the contract is taken [default: the project's, else strict]
    #[arg(long, value_parser = one_of(&Profile::ALL, Profile::name))]
    pub(crate) profile: Option<Profile>,
}

/// Reads the name of a value, and lists the names in `--help`.
fn one_of<T: Copy + Send + Sync>(
    all: &'static [T],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    let find = move |word: String| all.iter().copied().find(|it| name(*it) == word);
    PossibleValuesParser::new(all.iter().map(|it| name(*it)))
        .try_map(move |word| find(word).ok_or("it is none of the possible values"))
}

/// As [`one_of`], for values with the name that is typed, and with what each means.
fn one_of_described<T: Copy + Send + Sync>(
    all: &'static [(&'static str, T, &'static str)],
) -> impl TypedValueParser<Value = T> {
    let values = all.iter().map(|(name, _, about)| PossibleValue::new(*name).help(*about));
    PossibleValuesParser::new(values).try_map(move |word| {
        let found = all.iter().find(|(name, ..)| *name == word);
        found.map(|(_, value, _)| *value).ok_or("it is none of the possible values")
    })
}

/// What every command that changes something takes.
#[derive(Debug, Args)]
pub(crate) struct WriteArgs {
    /// Say what would happen, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Makes the command safe to send twice: the same key gives the same answer
    #[arg(long, value_name = "KEY", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) key: Option<String>,
}
