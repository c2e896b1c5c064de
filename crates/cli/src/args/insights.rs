//! What may be typed after `baton insights`.

use clap::Args;

use super::numbers::whole_number;
use super::one_of;

#[derive(Debug, Args)]
pub(crate) struct InsightsArgs {
    /// What the rows are
    #[arg(long, value_name = "GROUP", default_value = "agent", value_parser = one_of(&InsightsBy::ALL, InsightsBy::name))]
    pub(crate) by: InsightsBy,
    /// How many days back from now
    #[arg(long, value_name = "N", default_value_t = 28, value_parser = whole_number::<u32>(1..=366))]
    pub(crate) days: u32,
    /// Only runs of this workflow
    #[arg(long, value_name = "WORKFLOW")]
    pub(crate) workflow: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InsightsBy {
    Agent,
    Edge,
    Workflow,
    Week,
    /// Why work was sent back.
    Reason,
}

impl InsightsBy {
    const ALL: [Self; 5] = [Self::Agent, Self::Edge, Self::Workflow, Self::Week, Self::Reason];

    fn name(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Edge => "edge",
            Self::Workflow => "workflow",
            Self::Week => "week",
            Self::Reason => "reason",
        }
    }
}
