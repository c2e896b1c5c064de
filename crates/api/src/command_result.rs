//! The result of a command, and of a dry run.

use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

use crate::flat::{part, whole};
use crate::handoffs::HandoffDocument;
use crate::runs::RunDocument;
use crate::word::StateWord;

/// What a command did, or in a dry run would do; `result` tells the two apart.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
#[schema(discriminator(property_name = "result", mapping(
    ("committed" = "#/components/schemas/Committed"),
    ("dry_run" = "#/components/schemas/DryRun"))))]
#[expect(clippy::large_enum_variant, reason = "one is made for each answer, and kept nowhere")]
pub enum CommandAnswer {
    Done(Committed),
    Rehearsed(DryRun),
}

/// The result of a command that was committed.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Committed {
    #[serde(default)]
    #[schema(inline, required = true)]
    pub result: CommittedTag,
    pub success: bool,
    /// The same command was carried out before; nothing was done again.
    pub is_repeat: bool,
    /// The run after the command.
    pub run: RunDocument,
    /// The handoff that the command changed or created.
    pub handoff: Option<HandoffDocument>,
    /// The handoff that returns rejected work.
    pub return_handoff: Option<HandoffDocument>,
    /// The gate handoff that asks a person.
    pub gate: Option<HandoffDocument>,
    /// The handoff that asks the sender a question.
    pub question: Option<HandoffDocument>,
    /// The holder's fencing token, to be passed with later commands on the handoff.
    pub fence: Option<u32>,
    /// The lease: for how long the holder of `handoff` may be silent.
    pub lease_seconds: Option<u32>,
    /// Labels of the handoffs that were cancelled.
    pub cancelled: Vec<String>,
    /// Labels of the handoffs that a clean-up kept.
    pub kept: Vec<String>,
    /// What the contract recommends and the package lacks.
    pub warnings: Vec<String>,
    /// The story did not exist: this command created it.
    #[serde(default)]
    pub adopted: bool,
}

/// What the command would do. Nothing was changed.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DryRun)]
pub struct DryRun {
    #[serde(default)]
    #[schema(inline, required = true)]
    pub result: DryRunTag,
    pub dry_run: bool,
    pub handoffs: Vec<Touched>,
    /// The version that the run would have.
    pub version: u64,
    pub warnings: Vec<String>,
    /// The story does not exist: the command would create it.
    #[serde(default)]
    pub adopted: bool,
}

/// `result` of what was committed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CommittedTag {
    #[default]
    Committed,
}

/// `result` of a dry run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DryRunTag {
    #[default]
    DryRun,
}

/// A handoff, and the state that it would have.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Touched {
    #[schema(example = "HO-001")]
    pub label: String,
    pub state: StateWord,
}

impl<'de> Deserialize<'de> for CommandAnswer {
    /// A dry run is recognised by its own member, whatever else is in the document.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Marked {
            dry_run: Option<bool>,
        }
        let raw = whole(deserializer)?;
        let Marked { dry_run } = part(&raw)?;
        match dry_run {
            Some(true) => Ok(Self::Rehearsed(part(&raw)?)),
            Some(false) | None => Ok(Self::Done(part(&raw)?)),
        }
    }
}
