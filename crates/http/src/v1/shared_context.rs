//! The shared context of a run: versioned documents by key.

use baton_api::{DryRun, NewContext, Page, SharedDocument};
use baton_core::collaboration::{Collaboration, ContextVersion, SetContext};
use baton_core::command::Command;
use baton_core::names::{AgentId, ContextKey, Reason};
use baton_core::run::Run;
use baton_views::ContextDocumentView;
use serde::Deserialize;
use utoipa::IntoParams;

use super::answer::ApiResponse;
use super::command_result::{WriteAnswer, made_in_run};
use super::handoffs::document::refused;
use super::write::{RunCommandParams, RunPath, WriteRequest};
use crate::lookup::{by_in, find_run, not_found};
use crate::openapi::{ReadProblems, WriteProblems};
use crate::params::{KeyedIn, Named, Params};
use crate::problem::ApiProblem;
use crate::scope::RequestScope;

/// Who reads.
#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ContextQuery {
    /// The agent that reads, which is recorded; an attempt's token speaks for its own.
    agent: Option<String>,
}

/// Lists the shared context of a run.
///
/// The newest version of each document, by key. That an agent read them is recorded.
#[utoipa::path(get, path = "/api/v1/runs/{run}/context", operation_id = "listContext",
    tag = "context",
    params(RunPath, ContextQuery),
    responses(
        (status = 200, description = "All documents", body = Page<SharedDocument>),
        ReadProblems))]
pub(super) async fn list(
    app: RequestScope,
    Named(name): Named,
    Params(query): Params<ContextQuery>,
) -> Result<ApiResponse<Page<SharedDocument>>, ApiProblem> {
    let run = find_run(&app, &name).await?;
    let documents = app.read().context(&run.run).await?;
    record_read(&app, &run.run, query.agent.as_deref(), &documents).await?;
    let items = documents.into_iter().map(document).collect();
    Ok(ApiResponse::new(Page { items, next: None }).at(run.version))
}

/// Gets the newest version of a context document.
///
/// That an agent read it is recorded.
#[utoipa::path(get, path = "/api/v1/runs/{run}/context/{key}", operation_id = "getContext",
    tag = "context",
    params(RunPath, ("key" = String, Path, description = "The document's key"), ContextQuery),
    responses(
        (status = 200, description = "The document", body = SharedDocument),
        ReadProblems))]
pub(super) async fn get(
    app: RequestScope,
    KeyedIn(name, key): KeyedIn,
    Params(query): Params<ContextQuery>,
) -> Result<ApiResponse<SharedDocument>, ApiProblem> {
    let run = find_run(&app, &name).await?;
    let key = ContextKey::parse(&key)?;
    let mut documents = app.read().context(&run.run).await?;
    documents.retain(|it| it.key == key);
    record_read(&app, &run.run, query.agent.as_deref(), &documents).await?;
    let found = documents.pop().map(document);
    found.map(ApiResponse::new).ok_or_else(|| unknown(run.number, &key))
}

/// Lists all versions of a context document.
///
/// Oldest first, each with its author. That an agent read them is recorded.
#[utoipa::path(get, path = "/api/v1/runs/{run}/context/{key}/history",
    operation_id = "getContextHistory", tag = "context",
    params(RunPath, ("key" = String, Path, description = "The document's key"), ContextQuery),
    responses(
        (status = 200, description = "All versions", body = Page<SharedDocument>),
        ReadProblems))]
pub(super) async fn history(
    app: RequestScope,
    KeyedIn(name, key): KeyedIn,
    Params(query): Params<ContextQuery>,
) -> Result<ApiResponse<Page<SharedDocument>>, ApiProblem> {
    let run = find_run(&app, &name).await?;
    let key = ContextKey::parse(&key)?;
    let versions = app.read().context_history(&run.run, &key).await?;
    if versions.is_empty() {
        return Err(unknown(run.number, &key));
    }
    record_read(&app, &run.run, query.agent.as_deref(), &versions).await?;
    let items = versions.into_iter().map(document).collect();
    Ok(ApiResponse::new(Page { items, next: None }))
}

/// Writes a new version of a context document.
///
/// Only if the document is still at the version that the caller has seen; 0 creates it. Otherwise the
/// response is 409 `context_changed` with `context`: the expected and the actual version, and who
/// changed it.
#[utoipa::path(put, path = "/api/v1/runs/{run}/context/{key}", operation_id = "setContext",
    tag = "context",
    params(RunCommandParams, ("key" = String, Path, description = "The document's key")),
    request_body = NewContext,
    responses(
        (status = 200, description = "What would happen (`dryRun`)", body = DryRun),
        (status = 201, description = "The new version", body = SharedDocument),
        WriteProblems))]
pub(super) async fn set(
    app: RequestScope,
    KeyedIn(name, key): KeyedIn,
    write: WriteRequest<NewContext>,
) -> Result<ApiResponse<WriteAnswer<SharedDocument>>, ApiProblem> {
    let run = find_run(&app, &name).await?.run;
    let key = ContextKey::parse(&key)?;
    let command = Collaboration::SetContext(SetContext {
        key: key.clone(),
        expected: write.asked.version,
        text: Reason::of_context(&write.asked.text)?,
        by: by_in(&app, &run, write.asked.agent.as_deref())?,
        principal: write.caller.principal().clone(),
    });
    made_in_run(&app, &write.caller, run.id, Command::Collaborate(command), async |row| {
        let mut documents = app.read().context(&row.run).await?;
        documents.retain(|it| it.key == key);
        let written = documents.pop().map(document).ok_or_else(|| unknown(row.number, &key))?;
        Ok((written, format!("context/{key}")))
    })
    .await
}

/// Records that an agent read documents. What a person reads is not recorded, and nothing is in a run
/// that is over.
async fn record_read(
    app: &RequestScope,
    run: &Run,
    agent: Option<&str>,
    documents: &[ContextDocumentView],
) -> Result<(), ApiProblem> {
    let agent = match app.caller().agent() {
        Some(agent) => Some(agent),
        None => by_in(app, run, agent)?,
    };
    let Some(by) = agent else { return Ok(()) };
    let version =
        |it: &ContextDocumentView| ContextVersion { key: it.key.clone(), version: it.version };
    read_by(app, run, by, documents.iter().map(version).collect()).await
}

/// Records that an agent read these versions.
pub(super) async fn read_by(
    app: &RequestScope,
    run: &Run,
    by: AgentId,
    documents: Vec<ContextVersion>,
) -> Result<(), ApiProblem> {
    if documents.is_empty() || run.is_finished() {
        return Ok(());
    }
    let read = Collaboration::ReadContext { by, documents };
    match app.caller().on_run(run.id, Command::Collaborate(read)).await {
        Ok(_) => Ok(()),
        Err(error) => Err(refused(app, error).await),
    }
}

fn unknown(number: u64, key: &ContextKey) -> ApiProblem {
    let message = format!(
        "there is no context document `{key}` in run {number}; `baton context list {number}` shows those \
         there are"
    );
    not_found("no_such_context", message)
}

fn document(it: ContextDocumentView) -> SharedDocument {
    SharedDocument {
        key: it.key.to_string(),
        version: it.version,
        changed_by: it.by,
        changed_at: it.at,
        bytes: it.n_bytes,
        text: it.text,
    }
}
