//! The approvals of a gate that needs those of several people.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The approvals that a gate needs, and those that it has.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Approvals)]
pub struct ApprovalsDocument {
    /// How many people have to approve.
    pub need: u32,
    pub given: Vec<ApprovalDocument>,
    /// Who may still approve; empty where any person may.
    pub open: Vec<String>,
    pub any_person: bool,
    /// Who made the package and so may not approve it; omitted if that is not known, or allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// Votes that were passed on, from the person that the workflow names to the one who has it now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub delegated: Vec<Vec<String>>,
    /// Too few people may approve, because the author of the package is one of them: an operator has to
    /// move the run, or the package is rejected and made by another person.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub out_of_reach: bool,
    /// All of it in one sentence.
    #[schema(
        example = "1 of 2 approvals: ana at 2026-11-18T09:00:00Z (unauthenticated); ben may approve"
    )]
    pub progress: String,
}

/// One approval.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Approval)]
pub struct ApprovalDocument {
    pub by: String,
    /// The person whose vote it is, where that was passed on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_behalf_of: Option<String>,
    pub at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// Whether Baton knows that it was this person. Until there is access control it does not.
    pub authenticated: bool,
}

/// The person who is to approve in the caller's place.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({"to": "ben", "comment": "I am away this week."}))]
pub struct VoteDelegation {
    #[schema(min_length = 1, max_length = 200)]
    pub to: String,
    #[schema(min_length = 1, max_length = 10_000)]
    pub comment: Option<String>,
}
