//! What may be typed about running agents.

use clap::{Args, Subcommand};

use super::token::{TypedToken, typed_token};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct RunnerArgs {
    #[command(subcommand)]
    pub(crate) command: Option<RunnerCommand>,
    /// Run only these agents [default: all that have an executor in baton.toml]
    #[arg(long, value_name = "AGENT,...", value_delimiter = ',')]
    pub(crate) agents: Vec<String>,
    /// Of these, run only agents whose files list one of these capabilities
    #[arg(long, value_name = "CAPABILITY,...", value_delimiter = ',')]
    pub(crate) capabilities: Vec<String>,
    /// The first line of `runner.key` of the server; `@FILE` reads it from a file
    /// [default: BATON_RUNNER_TOKEN, else that of this project]
    #[arg(long, value_name = "TOKEN", value_parser = typed_token)]
    pub(crate) token: Option<TypedToken>,
    /// Stop once there is nothing to do
    #[arg(long)]
    pub(crate) once: bool,
    /// Stop when the standard input ends: with the process that started it
    #[arg(long, hide = true)]
    pub(crate) until_input_ends: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RunnerCommand {
    /// Show which agents are at work, and how the last attempts ended
    Status,
}

#[derive(Debug, Args)]
pub(crate) struct TrustArgs {
    /// Allow it without asking
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum WorkspaceCommand {
    /// List the folders that runs are worked on in
    List,
    /// Print the folder of a run, for `cd "$(baton workspace path 7)"`
    Path {
        /// A run's number, or its story's key
        run: String,
    },
    /// Remove the folders of runs that are over, or of one run; what is not committed is kept under a ref
    Clean {
        /// A run's number, or its story's key [default: every run that is over]
        run: Option<String>,
    },
}
