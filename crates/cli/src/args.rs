//! What may be typed. One enum a noun; each verb is carried out by the file of its noun.

mod answers;
mod audit;
mod dashed_text;
mod database;
mod demo;
mod do_work;
mod documents;
mod handoff;
mod help;
mod insights;
mod migrate;
mod numbers;
mod prompt;
mod purpose;
mod push;
mod runner;
mod runs;
mod shared;
mod slip;
mod stories;
mod token;
mod workflows;

use std::net::SocketAddr;
use std::path::PathBuf;

use baton_core::contract::Profile;
use baton_core::shell::shell_word;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use uuid::Uuid;

pub(crate) use self::answers::{AnswerArgs, DelegateArgs, EvidenceArgs, Modify, Say};
pub(crate) use self::audit::{AuditCommand, AuditRange, AuditRedact, AuditVerify};
pub(crate) use self::dashed_text::with_dashed_texts;
pub(crate) use self::database::{
    OF_ENVIRONMENT, TypedDatabase, VARIABLE as DATABASE_VARIABLE, moved_to_environment,
    url_in_environment,
};
pub(crate) use self::demo::Demo;
#[cfg(test)]
pub(crate) use self::demo::SHOWN;
pub(crate) use self::do_work::DoArgs;
pub(crate) use self::documents::{Convert, Extract, Lint};
pub(crate) use self::handoff::{
    DoneArgs, HandedOn, HandoffCommand, HandoffCreate, HandoffList, HandoffTemplate, PartArgs,
    TakeArgs, Taken,
};
pub(crate) use self::help::{greeting, root};
pub(crate) use self::insights::{InsightsArgs, InsightsBy};
pub(crate) use self::migrate::MigrateArgs;
use self::numbers::listen_address;
pub(crate) use self::prompt::PromptArgs;
pub(crate) use self::push::PushArgs;
pub(crate) use self::runner::{RunnerArgs, RunnerCommand, TrustArgs, WorkspaceCommand};
pub(crate) use self::runs::{RunCommand, RunLog};
pub(crate) use self::shared::{ContextCommand, DecisionArgs, DecisionCommand, QuestionCommand};
pub(crate) use self::slip::nearest_first;
pub(crate) use self::stories::{StoryAdd, StoryCommand, StoryEdit};
pub(crate) use self::token::{TOKEN_VARIABLE, TypedToken, token_moved_to_environment};
pub(crate) use self::workflows::{NewWorkflow, SimulateArgs, WorkflowCommand};
use crate::show::OutputFormat;

/// The heading of what every command takes.
const GLOBAL: &str = "Global options";

/// Pass work between AI agents and people without dropping it.
#[derive(Debug, Parser)]
#[command(name = "baton", version, propagate_version = true, arg_required_else_help = true)]
pub(crate) struct Cli {
    /// The project's folder [default: the nearest one above that has a `.baton` folder]
    #[arg(long, global = true, value_name = "DIR", help_heading = GLOBAL, hide_short_help = true)]
    pub(crate) project: Option<PathBuf>,
    /// Where the data is [default: `.baton/data` of the project]
    #[arg(long, global = true, value_name = "DIR", help_heading = GLOBAL, hide_short_help = true)]
    pub(crate) data: Option<PathBuf>,
    /// The PostgreSQL database with the data, as `postgres://USER@HOST/NAME` [default: BATON_DATABASE_URL, else
    /// `database_url` of the project, else none: the data is in a folder]
    ///
    /// A password is safer in BATON_DATABASE_URL: what is typed can be seen in the list of processes for a moment.
    #[arg(long, global = true, value_name = "DATABASE_URL", help_heading = GLOBAL, hide_short_help = true, value_parser = typed_database)]
    pub(crate) database_url: Option<TypedDatabase>,
    /// Ask the server there [default: BATON_URL, else the one that has the project's data, else none]
    ///
    /// `baton runner` takes several, separated by commas: the next one once the last does not answer.
    #[arg(long, global = true, value_name = "URL", help_heading = GLOBAL, hide_short_help = true)]
    pub(crate) server: Option<String>,
    /// Print JSON, for programs: the same document that the HTTP API answers with
    #[arg(long, global = true, help_heading = GLOBAL)]
    json: bool,
    /// Your name, for the record [default: your login name]
    #[arg(long = "as", global = true, value_name = "NAME", help_heading = GLOBAL, hide_short_help = true)]
    pub(crate) principal: Option<String>,
    #[command(subcommand)]
    pub(crate) command: CliCommand,
}

impl Cli {
    pub(crate) fn format(&self) -> OutputFormat {
        if self.json { OutputFormat::Json } else { OutputFormat::Table }
    }

    /// The options with an address of a database.
    pub(crate) fn typed_databases(&self) -> Vec<(&'static str, &TypedDatabase)> {
        let mut typed: Vec<_> = self.database_url.iter().map(|it| ("--database-url", it)).collect();
        if let CliCommand::Migrate(args) = &self.command {
            typed.extend([("--from", &args.from), ("--to", &args.to)]);
        }
        typed
    }

    /// The credential that was typed.
    pub(crate) fn typed_token(&self) -> Option<&TypedToken> {
        let CliCommand::Runner(args) = &self.command else { return None };
        args.token.as_ref()
    }

    /// The same caller with another command somewhere else.
    pub(crate) fn at(
        &self,
        project: Option<PathBuf>,
        data: Option<PathBuf>,
        server: Option<String>,
        command: CliCommand,
    ) -> Self {
        let principal = self.principal.clone();
        let database_url = self.database_url.clone();
        Self { project, data, database_url, server, json: self.json, principal, command }
    }
}

/// Takes any value: one that is refused here would be repeated in the message.
#[expect(clippy::unnecessary_wraps, reason = "the parser asks for a result")]
fn typed_database(text: &str) -> Result<TypedDatabase, std::convert::Infallible> {
    Ok(TypedDatabase::new(text))
}

#[derive(Debug, Subcommand)]
pub(crate) enum CliCommand {
    /// Make this folder a Baton project
    Init {
        /// In a project that has lost its data: begin with an empty database
        #[arg(long)]
        new_data: bool,
        /// Succeed also where the folder is a project already: for what starts again and again
        #[arg(long, conflicts_with = "new_data")]
        if_new: bool,
    },
    /// Watch scripted agents do real work, in a repository of its own
    Demo(Demo),
    /// Take an idea to a finished branch of this repository
    Do(DoArgs),
    /// Serve this project over HTTP: the API, live events, a page
    Serve(Serve),
    /// Run agents for a server: start their programs, take their results
    Runner(RunnerArgs),
    /// Play the part of an agent in a script: what a runner starts for the executor `scripted`
    #[command(hide = true)]
    Play {
        /// A script, in YAML
        script: String,
    },
    /// Show which programs this project would start, and allow them
    Trust(TrustArgs),
    /// List, find and clean the folders that runs are worked on in
    #[command(subcommand)]
    Workspace(WorkspaceCommand),
    /// Show who has the baton, and what waits for you
    #[command(visible_alias = "st")]
    Status,
    /// Print what happens as it happens: one line per event
    Watch(Watch),
    /// Open the server's page in a browser
    Open(OpenArgs),
    /// Add, list and edit stories: the pieces of work
    #[command(subcommand)]
    Story(StoryCommand),
    /// List, check and copy workflows: the ways that a story can go
    #[command(subcommand, visible_alias = "wf")]
    Workflow(WorkflowCommand),
    /// List, check and add agents: who can receive a handoff
    #[command(subcommand)]
    Agent(AgentCommand),
    /// Start, show, pause and cancel runs: stories on their way
    #[command(subcommand)]
    Run(RunCommand),
    /// Accept the handoff that is offered to you
    Take(TakeArgs),
    /// Complete the handoff that you hold; the workflow says who is next
    Done(DoneArgs),
    /// Create, show, accept, reject and complete handoffs
    #[command(subcommand, visible_alias = "ho")]
    Handoff(HandoffCommand),
    /// Print the prompt of the agent that receives a handoff
    Prompt(PromptArgs),
    /// Show all that waits for a person, and what each answer would do
    Inbox,
    /// Say yes at a gate: the work goes on
    Approve(Say),
    /// Let another person approve in your place
    ///
    /// Let another person approve in your place, at a gate that names you as one of its approvers. Your vote
    /// counts once, whoever has it; it does not come back.
    Delegate(DelegateArgs),
    /// Say no at a gate: the work goes back
    ///
    /// Say no at a gate: the work goes back. An agent that gives work back says `baton handoff reject`.
    Reject(Say),
    /// Say yes at a gate with a package of your own
    Modify(Modify),
    /// Answer an escalation or a question that waits for a person
    Answer(AnswerArgs),
    /// Record the result of a check
    ///
    /// Record the result of a check. At an automatic gate the work goes on once all checks have passed.
    Evidence(EvidenceArgs),
    /// List, record, supersede and lock decisions
    #[command(subcommand)]
    Decision(DecisionCommand),
    /// Read and write what the agents of a run share
    #[command(subcommand)]
    Context(ContextCommand),
    /// Ask another agent inside a step, and answer
    #[command(subcommand)]
    Question(QuestionCommand),
    /// Find what is wrong with this project, and what to type about it
    Doctor,
    /// Check that every chain of events and the database are sound
    Verify,
    /// Show how fast and how well work is handed off
    Insights(InsightsArgs),
    /// Show, export, sign and verify the record of every run
    #[command(subcommand)]
    Audit(AuditCommand),
    /// Write the archive again: all runs as files
    #[command(subcommand)]
    Archive(ArchiveCommand),
    /// Copy all data into one file, verified, while it may be in use
    Backup {
        /// The file to write; it must not exist yet
        file: PathBuf,
    },
    /// Put a backup in the place of the data
    Restore {
        /// A file that `baton backup` wrote, or a folder with a `baton.db`
        file: PathBuf,
        /// Do so even where there is data: it is put aside, not thrown away
        #[arg(long)]
        replace: bool,
    },
    /// Move all data from a folder to a PostgreSQL database, or back
    ///
    /// Move all data from a folder to a PostgreSQL database, or back. Every row is compared, every chain is
    /// verified, and the old side stays as it is. Typed again after an interruption, it goes on.
    Migrate(MigrateArgs),
    /// Give the workflow and agent files to all nodes of the database
    ///
    /// Give this project's workflow and agent files to all nodes of its database: they use these, whatever files
    /// they have themselves. Each is pinned by its hash; runs under way keep the workflow they began with.
    Push(PushArgs),
    /// Save all that damaged data still proves into a new database
    ///
    /// Save all that damaged data still proves into a new database. The old files stay as they are.
    Recover(Recover),
    /// Write a document in another format, with nothing lost
    Convert(Convert),
    /// Find what is poor about a handoff before it is sent
    Lint(Lint),
    /// Find the handoff in what an agent printed
    Extract(Extract),
    /// Print a JSON Schema; without a name, list them
    Schema {
        /// The schema's name
        #[arg(value_name = "SCHEMA")]
        name: Option<String>,
    },
    /// Say what an error code means and what to do
    Explain {
        /// The code, as a message has it at its end, such as `behind_gate` [default: list them]
        code: Option<String>,
    },
    /// Print a script that completes commands and names in your shell
    ///
    /// Print a script that completes commands, options, workflows, agents, stories, runs and handoffs as
    /// you type them. The examples say where to put it. In PowerShell and Elvish it completes
    /// commands and options only.
    Completions {
        /// The shell that you use
        shell: clap_complete::Shell,
    },
    /// Print what could stand at the end of a command line; the scripts of `completions` ask this
    #[command(name = "__complete", hide = true)]
    Complete {
        /// The shell that asks
        #[arg(value_name = "SHELL")]
        shell: String,
        /// The words so far, the last one incomplete; from bash the line as it was typed
        #[arg(last = true, value_name = "WORD", allow_hyphen_values = true)]
        words: Vec<String>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Where to listen; port 0 picks a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:4180", value_parser = listen_address)]
    pub(crate) listen: SocketAddr,
    /// Start no agents
    #[arg(long)]
    pub(crate) no_runner: bool,
    /// A name, besides the loopback ones, by which browsers and programs may call it
    #[arg(long, value_name = "HOST[:PORT]")]
    pub(crate) allow_host: Vec<String>,
    /// Stop when the standard input ends: with the process that started it
    #[arg(long, hide = true)]
    pub(crate) until_input_ends: bool,
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
    /// Only this run, by its number, its id or its story, until it is over [default: all runs, until Ctrl-C]
    pub(crate) run: Option<String>,
    /// Begin with what has happened already
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, Args)]
pub(crate) struct OpenArgs {
    /// A run, or a handoff as `handoff:7`, `RUN/HO-002` or its id [default: the page of all runs]
    #[arg(value_name = "RUN|HANDOFF")]
    pub(crate) what: Option<String>,
    /// Print the address, and start no browser
    #[arg(long)]
    pub(crate) print: bool,
}

#[derive(Debug, Clone, Copy, Subcommand)]
pub(crate) enum ArchiveCommand {
    /// Make every file again from the log; files of others are left alone
    Rebuild,
}

/// Stands where no description was typed.
pub(crate) const NO_DESCRIPTION: &str = "What this agent is for";

#[derive(Debug, Subcommand)]
pub(crate) enum AgentCommand {
    /// List the agents of this project
    #[command(visible_alias = "ls")]
    List,
    /// Show one agent, with its prompt
    Show {
        /// The agent's id
        #[arg(value_name = "AGENT")]
        id: String,
    },
    /// Find everything that is wrong with an agent's file, or with those of all agents
    Check {
        /// The agent's id, or its file [default: every agent of the project]
        #[arg(value_name = "AGENT|FILE")]
        id: Option<String>,
    },
    /// Find the coding agents that are installed here: Claude Code, Codex, Gemini CLI
    Detect,
    /// Write the file of a new agent
    New {
        /// The new agent's id: lower-case letters and digits, joined by `-`
        #[arg(value_name = "ID")]
        id: String,
        /// What it is for, in one sentence
        #[arg(long, value_name = "TEXT", default_value = NO_DESCRIPTION)]
        description: String,
    },
}

/// A handoff by any of its names.
#[derive(Debug, Args)]
pub(crate) struct Which {
    /// The handoff: its number (`12`), or its story for the one that is open there (`shop:12`)
    ///
    /// The handoff, by any of its names: its number (`12`), its label with its run (`3/HO-002`, or
    /// `HO-002` with `--run 3`), its id, the id that its sender gave it (`HO-2024-001`), its run or
    /// its story for the one that is open there (`shop:12`), or `STORY/AGENT` for the open one that
    /// this agent received. Where a number could be a run and a story, `run:2` or `story:2` says
    /// which.
    pub(crate) handoff: String,
    /// The run that the handoff belongs to, by its number, its id or its story
    #[arg(long)]
    pub(crate) run: Option<String>,
}

impl Which {
    /// The handoff as it was typed, for a command in a message.
    pub(crate) fn typed(&self) -> String {
        let run = self.run.as_ref().map(|it| format!(" --run {}", shell_word(it)));
        shell_word(&self.handoff) + &run.unwrap_or_default()
    }
}

#[derive(Debug, Args)]
pub(crate) struct By {
    /// The agent that does this; refused if it may not [default: the agent that may]
    #[arg(long, value_name = "AGENT")]
    pub(crate) by: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ProfileArg {
    /// Which rules of the contract refuse a package: `strict` all, `lenient` only those it must keep
    /// [default: the project's, else strict]
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
    /// Make it safe to send this command twice: a second one with the same key changes nothing
    #[arg(long, value_name = "KEY", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) key: Option<String>,
}
