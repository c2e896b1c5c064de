//! Retention by hand: what a server does by itself, and a rehearsal of it.

use baton_api::{RetainedRunDocument, RetentionResult};
use baton_engine::CommandMode;
use serde::Deserialize;
use utoipa::ToSchema;

use super::super::answer::ApiResponse;
use super::super::write::{KeyHeader, WriteQuery, WriteRequest};
use crate::openapi::WriteProblems;
use crate::problem::ApiProblem;
use crate::scope::RequestScope;

const MOST_ITEMS: usize = 500;
const SECONDS_A_DAY: u64 = 86_400;

/// Nothing: the project's file says what is kept.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({}))]
pub(in crate::v1) struct RetentionRequest {}

/// Drops old messages of finished runs.
///
/// Those that `[retention]` of the project's file does not keep any longer; open runs are not
/// touched. A server does this by itself every hour. The log still verifies, and an event of each run
/// says what was dropped.
#[utoipa::path(post, path = "/api/v1/audit/retention", operation_id = "applyRetention", tag = "audit",
    params(WriteQuery, KeyHeader),
    request_body = RetentionRequest,
    responses(
        (status = 200, description = "What was dropped, or would be", body = RetentionResult),
        WriteProblems))]
pub(in crate::v1) async fn apply(
    app: RequestScope,
    write: WriteRequest<RetentionRequest>,
) -> Result<ApiResponse<RetentionResult>, ApiProblem> {
    let kept = app.read().fresh_catalog().project().retention.messages;
    let mut result = RetentionResult {
        messages_kept_days: kept.map(|it| it.as_secs().unsigned_abs() / SECONDS_A_DAY),
        is_recorded: write.caller.mode() != CommandMode::DryRun,
        messages: 0,
        runs: 0,
        items: Vec::new(),
    };
    let Some(kept) = kept else { return Ok(ApiResponse::new(result)) };
    let mut after = 0;
    loop {
        let pass = write.caller.retain(kept, after).await?;
        for it in pass.runs {
            result.runs += 1;
            result.messages += it.n_messages;
            if result.items.len() < MOST_ITEMS {
                result.items.push(RetainedRunDocument {
                    run: it.number,
                    run_id: it.id.0,
                    story: it.story.to_string(),
                    messages: it.n_messages,
                });
            }
        }
        match pass.next {
            Some(next) => after = next,
            None => return Ok(ApiResponse::new(result)),
        }
    }
}
