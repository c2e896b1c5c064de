//! Messages: what agents and external systems said while a run went on.

use baton_api::{CommandAnswer, MessageDocument, NewMessage, Page};
use baton_core::command::Command;
use baton_core::names::FreeText;
use baton_store::Position;
use baton_views::PostedMessage;

use super::answer::{ApiResponse, PageQuery, after, cut, limit};
use super::command_result::command_on_run;
use super::write::{CommandDone, RunCommandParams, RunPath, WriteRequest};
use crate::lookup::{by_in, find_run};
use crate::openapi::{ReadProblems, WriteProblems};
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
    let found = app.read().messages(&run.run, after, limit as usize + 1).await?;
    let position = |it: &PostedMessage| it.position.0.to_string();
    Ok(ApiResponse::new(cut(found, limit, position, message_document)))
}

/// Posts a message to a run: nothing moves.
///
/// What an agent or a program says while it works. A run that is over takes none.
#[utoipa::path(post, path = "/api/v1/runs/{run}/messages", operation_id = "postMessage",
    tag = "events",
    params(RunCommandParams),
    request_body = NewMessage,
    responses(CommandDone, WriteProblems))]
pub(super) async fn post(
    app: RequestScope,
    Named(name): Named,
    write: WriteRequest<NewMessage>,
) -> Result<ApiResponse<CommandAnswer>, ApiProblem> {
    let run = find_run(&app, &name).await?.run;
    let by = by_in(&app, &run, write.asked.agent.as_deref())?;
    let words = FreeText::parse(&write.asked.text)?;
    command_on_run(&app, &write.caller, run.id, Command::Post { by, words }).await
}

fn message_document(it: PostedMessage) -> MessageDocument {
    MessageDocument {
        position: it.position.0,
        at: it.at,
        agent: it.by.map(|it| it.to_string()),
        agent_name: it.agent_name,
        by: it.principal.to_string(),
        text: it.text,
        damaged: if it.is_damaged { vec!["text".to_owned()] } else { Vec::new() },
    }
}
