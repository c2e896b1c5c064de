//! A receiver's prompt.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A prompt, with the hashes that identify it later.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Prompt)]
pub struct PromptDocument {
    pub text: String,
    /// The SHA-256 of the text.
    pub hash: String,
    /// The hash of the package in it.
    pub package_hash: Option<String>,
    /// An estimate, at four characters per token.
    pub tokens: usize,
    /// The parts that did not fit the budget.
    pub left_out: Vec<String>,
}
