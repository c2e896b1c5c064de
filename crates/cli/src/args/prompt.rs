//! What may be typed after `baton prompt`.

use clap::{Args, ValueEnum};

use super::Which;

#[derive(Debug, Args)]
pub(crate) struct PromptArgs {
    #[command(flatten)]
    pub(crate) which: Which,
    /// Where the agent finds Baton [default: http://127.0.0.1:4180]
    #[arg(long)]
    pub(crate) url: Option<String>,
    /// How long it may be; the least important is left out first, and it says so
    #[arg(long, value_name = "TOKENS")]
    pub(crate) budget: Option<u32>,
    /// How the agent speaks to Baton [default: curl with --url, else cli]
    #[arg(long)]
    pub(crate) face: Option<FaceName>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum FaceName {
    /// Over HTTP
    Curl,
    /// With the `baton` command
    Cli,
    /// By a block that it prints last
    Block,
}
