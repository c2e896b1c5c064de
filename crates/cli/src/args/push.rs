//! `baton push`: what may be typed.

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct PushArgs {
    /// Say what would change, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Take all pushed files away: every node uses its own again
    #[arg(long)]
    pub(crate) clear: bool,
}
