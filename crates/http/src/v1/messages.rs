//! Messages: what agents and external systems said while a run went on.

use baton_api::{MessageDocument, Page};
use baton_store::Position;
use baton_views::PostedMessage;

use super::answer::{ApiResponse, PageQuery, after, cut, limit};
use super::write::RunPath;
use crate::lookup::find_run;
use crate::openapi::ReadProblems;
use crate::params::{Named, Params};
use crate::problem::ApiProblem;
use crate::scope::RequestScope;

/// Lists the messages of a run.
///
/// What agents said on the way, oldest first.
#[utoipa::path(get, path = "/api/v1/runs/{run}/messages", operation_id = "listMessages",
    tag = "events",
    params(RunPath, PageQuery),
    responses(
        (status = 200, description = "One page of messages",
            body = Page<MessageDocument>),
        ReadProblems))]
pub(super) async fn list(
    app: RequestScope,
    Named(name): Named,
    Params(query): Params<PageQuery>,
) -> Result<ApiResponse<Page<MessageDocument>>, ApiProblem> {
    let limit = limit(query.limit)?;
    let run = find_run(&app, &name).await?;
    let after = Position(after(query.after)?);
    let found = app.read().messages(run.run.id, after, limit as usize + 1).await?;
    let position = |it: &PostedMessage| it.position.0.to_string();
    Ok(ApiResponse::new(cut(found, limit, position, message_document)))
}

fn message_document(it: PostedMessage) -> MessageDocument {
    MessageDocument {
        position: it.position.0,
        at: it.at,
        agent: it.by.map(|it| it.to_string()),
        by: it.principal.to_string(),
        text: it.text,
        damaged: if it.is_damaged { vec!["text".to_owned()] } else { Vec::new() },
    }
}
