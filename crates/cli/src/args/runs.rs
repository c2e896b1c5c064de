//! What may be typed after `baton run`.

use baton_core::detour::RerouteCause;
use baton_core::workflow::Mode;
use clap::{Args, Subcommand};

use super::{WriteArgs, one_of};

#[derive(Debug, Subcommand)]
pub(crate) enum RunCommand {
    /// Start a story: offer it to the first agent of its workflow
    Start {
        /// The story's key [default: the next story that is ready]
        story: Option<String>,
        /// Make the story if there is none of that key
        #[arg(long, requires = "story")]
        new_story: bool,
        /// Start a story that is finished once more, without asking
        #[arg(long, requires = "story")]
        again: bool,
        /// Start a story although others that it depends on are not finished
        #[arg(long, requires = "story")]
        anyway: bool,
        /// The workflow that it goes through [default: the project's]
        #[arg(long, value_name = "WORKFLOW")]
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
        /// How much goes on without a person, where the workflow says on which edges it asks
        #[arg(long, value_name = "MODE", value_parser = one_of(&Mode::ALL, Mode::name))]
        mode: Option<Mode>,
        /// What agents may use before a person is asked: `5usd`, `200000tokens`, `2h`, or several of them
        #[arg(long, value_name = "AMOUNT")]
        budget: Option<String>,
        #[command(flatten)]
        write: WriteArgs,
    },
    /// List runs: the open ones, or all
    #[command(visible_alias = "ls")]
    List {
        /// Also those that are completed or cancelled
        #[arg(long)]
        all: bool,
    },
    /// Show one run with its handoffs
    Show {
        /// The run, by its number, its id or its story
        run: String,
    },
    /// Print the conversation of a run: words, handoffs, decisions, questions
    Log(RunLog),
    /// Say something on a run: nothing moves
    Say {
        /// The run, by its number, its id or its story
        run: String,
        /// Your words: text, `@FILE` or `-`
        text: String,
        /// The agent that says it [default: you do]
        #[arg(long, value_name = "AGENT")]
        agent: Option<String>,
        #[command(flatten)]
        write: WriteArgs,
    },
    /// Let nothing begin; what is held may finish
    Pause {
        /// The run, by its number, its id or its story
        run: String,
        /// Why
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
        #[command(flatten)]
        write: WriteArgs,
    },
    /// Go on after a pause
    Resume {
        /// The run, by its number, its id or its story
        run: String,
        #[command(flatten)]
        write: WriteArgs,
    },
    /// End a run and everything open in it
    Cancel {
        /// The run, by its number, its id or its story
        run: String,
        /// Why
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
        #[command(flatten)]
        write: WriteArgs,
    },
    /// Send a run back to a step that it has been at
    Goto {
        /// The run, by its number, its id or its story
        run: String,
        /// The step, by its name
        step: String,
        /// Why; the agent there reads it
        #[arg(long, value_name = "TEXT")]
        reason: String,
        #[command(flatten)]
        write: WriteArgs,
    },
    /// Pass over the optional step that the baton is at
    Skip {
        /// The run, by its number, its id or its story
        run: String,
        /// Why
        #[arg(long, value_name = "TEXT")]
        reason: String,
        #[command(flatten)]
        write: WriteArgs,
    },
    /// Send what blocks a step to another agent instead of the one that resolves it
    Reroute {
        /// The run, by its number, its id or its story
        run: String,
        /// The agent that gets it, or `human` for a person
        #[arg(long, value_name = "AGENT")]
        to: String,
        /// Why the workflow's table does not count here
        #[arg(long, value_name = "CAUSE", value_parser = one_of(&RerouteCause::ALL, RerouteCause::name))]
        cause: RerouteCause,
        /// Why, in your words
        #[arg(long, value_name = "TEXT")]
        reason: String,
        /// The handoff to the agent that resolves it, where several branches are blocked
        #[arg(long, value_name = "HANDOFF")]
        handoff: Option<String>,
        #[command(flatten)]
        write: WriteArgs,
    },
    /// Cancel what is pending in a run; questions to people are kept
    Cleanup {
        /// The run, by its number, its id or its story
        run: String,
        /// Why
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
        #[command(flatten)]
        write: WriteArgs,
    },
}

#[derive(Debug, Args)]
pub(crate) struct RunLog {
    /// The run, by its number, its id or its story
    pub(crate) run: String,
    /// Go on printing what comes, until the run ends
    #[arg(long, short = 'f')]
    pub(crate) follow: bool,
    /// From the beginning [default: only the end]
    #[arg(long)]
    pub(crate) all: bool,
    /// How much is read at once
    #[arg(long, value_name = "NUMBER", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=500))]
    pub(crate) limit: u32,
}
