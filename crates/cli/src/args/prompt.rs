//! What may be typed after `baton prompt`.

use baton_core::agent::AgentInterface;
use clap::Args;

use super::numbers::{ANY, whole_number};
use super::{Which, one_of_described};

#[derive(Debug, Args)]
pub(crate) struct PromptArgs {
    #[command(flatten)]
    pub(crate) which: Which,
    /// The address of the server, for the agent [default: that of this project's server]
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// How long it may be; the least important is left out first, and it says so
    #[arg(long, value_name = "TOKENS", value_parser = whole_number::<u32>(ANY))]
    pub(crate) budget: Option<u32>,
    /// How the agent speaks to Baton [default: curl with --url, else cli]
    #[arg(long, value_parser = one_of_described(FACES))]
    pub(crate) face: Option<AgentInterface>,
}

const FACES: &[(&str, AgentInterface, &str)] = &[
    ("curl", AgentInterface::Curl, "Over HTTP"),
    ("cli", AgentInterface::Cli, "With the `baton` command"),
    ("block", AgentInterface::Block, "By a block that it prints last"),
];
