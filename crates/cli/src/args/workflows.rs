//! `baton workflow`: what may be typed.

use baton_core::workflow::Mode;
use clap::{Args, Subcommand};

use super::numbers::{ANY, whole_number};
use super::one_of;

#[derive(Debug, Subcommand)]
pub(crate) enum WorkflowCommand {
    /// List the workflows of this project
    #[command(visible_alias = "ls")]
    List,
    /// Show the steps, edges and contracts of a workflow
    Show {
        /// The workflow's name
        #[arg(value_name = "WORKFLOW")]
        name: String,
    },
    /// Find everything that is wrong with a workflow
    Check {
        /// The workflow's name, or its file
        #[arg(value_name = "WORKFLOW|FILE")]
        name: String,
    },
    /// Print a workflow as a Mermaid diagram, or as a picture in the terminal
    Graph {
        /// The workflow's name, or its file
        #[arg(value_name = "WORKFLOW|FILE")]
        name: String,
        /// A picture for the terminal
        #[arg(long)]
        text: bool,
    },
    /// Print a workflow as a page of Markdown
    Docs {
        /// The workflow's name, or its file
        #[arg(value_name = "WORKFLOW|FILE")]
        name: String,
    },
    /// Make a workflow in the project: a chain of steps, with a way back from the review
    New(NewWorkflow),
    /// Try a workflow without work, by the real rules: by a script, or by chance
    Simulate(SimulateArgs),
    /// Compare what a run began with to the file as it is now
    Diff {
        /// The run: its number, its id or its story's key
        #[arg(value_name = "RUN")]
        run: String,
    },
    /// Copy a built-in workflow into the project, to change it
    Eject {
        /// The workflow's name
        #[arg(value_name = "WORKFLOW")]
        name: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct NewWorkflow {
    /// The name of the new workflow; asked for at a terminal
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// A step and the agent that does it, in order; once for each step; asked for at a terminal
    #[arg(long = "step", value_name = "STEP[=AGENT]")]
    pub(crate) steps: Vec<String>,
    /// The step that may send work back to the one before it
    #[arg(long, value_name = "STEP")]
    pub(crate) review: Option<String>,
    /// What people call it [default: its name]
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct SimulateArgs {
    /// The workflow's name, or its file
    #[arg(value_name = "WORKFLOW|FILE")]
    pub(crate) name: String,
    /// A file with a move a line: `STEP: OUTCOME`, `human: ANSWER`, with `-> AGENT` where there is a choice
    #[arg(long, value_name = "FILE", conflicts_with_all = ["runs", "seed"])]
    pub(crate) script: Option<String>,
    /// How many runs are drawn; one is shown whole
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole_number::<u32>(1..=1_000_000))]
    pub(crate) runs: u32,
    /// The same seed draws the same runs
    #[arg(long, value_name = "S", default_value_t = 1, value_parser = whole_number::<u64>(ANY))]
    pub(crate) seed: u64,
    /// The mode of the runs
    #[arg(long, value_name = "MODE", value_parser = one_of(&Mode::ALL, Mode::name))]
    pub(crate) mode: Option<Mode>,
}
