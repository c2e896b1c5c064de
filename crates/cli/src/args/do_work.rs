//! What may be typed about `baton do`.

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct DoArgs {
    /// What is to be done, in a sentence
    #[arg(required_unless_present = "continue_run", conflicts_with = "continue_run")]
    pub(crate) idea: Option<String>,
    /// Go on with the run that was left
    #[arg(long = "continue")]
    pub(crate) continue_run: bool,
    /// The way that the work goes [default: the project's own, else `story-pipeline`]
    #[arg(long, value_name = "WORKFLOW", conflicts_with = "continue_run")]
    pub(crate) workflow: Option<String>,
    /// The programs to use, in the order to try: `claude`, `codex`, `gemini` [default: those of `baton.toml`,
    /// else all that are installed and logged in]
    #[arg(long, value_name = "PROGRAMS", value_delimiter = ',')]
    pub(crate) agents: Vec<String>,
    /// What agents may use before you are asked: `5usd`, `200000tokens`, `2h`, or several of them
    #[arg(long, value_name = "AMOUNT", conflicts_with = "continue_run")]
    pub(crate) budget: Option<String>,
    /// Approve for me at the gates that the workflow declares. What needs a decision, such as a used-up budget, still stops the work
    #[arg(long)]
    pub(crate) yes: bool,
}
