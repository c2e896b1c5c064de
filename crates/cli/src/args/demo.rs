//! What may be typed about the demo.

use std::net::SocketAddr;

use clap::Args;
use clap::builder::PossibleValuesParser;

/// The built-in workflows, in the order in which the demo shows them.
pub(crate) const SHOWN: [&str; 5] =
    ["story-pipeline", "issue-to-merge", "feature-phases", "bmad-delivery", "gated-project"];

#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Stop after one story; otherwise there is one for every workflow, and the page stays until Ctrl-C
    #[arg(long)]
    pub(crate) once: bool,
    /// Show this workflow alone [default: all of them, `story-pipeline` first]
    #[arg(long, value_name = "WORKFLOW", value_parser = PossibleValuesParser::new(SHOWN))]
    pub(crate) workflow: Option<String>,
    /// Answer for me: approve at every gate, and take the demo's own answer to the question
    #[arg(long)]
    pub(crate) yes: bool,
    /// How long an agent thinks
    #[arg(long, value_name = "MILLISECONDS", default_value_t = 700,
        value_parser = clap::value_parser!(u64).range(0..=10_000))]
    pub(crate) pace: u64,
    /// Where the page is; port 0 picks a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    pub(crate) listen: SocketAddr,
}
