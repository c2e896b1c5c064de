//! The receiver's prompt for a handoff: as plain text, or with its hashes as JSON.

use axum::http::HeaderMap;
use axum::http::header::{ACCEPT, CONTENT_TYPE, HOST};
use axum::response::{IntoResponse as _, Response};
use baton_api::{FaceWord, ProblemDocument, PromptDocument};
use baton_store::{HandoffRef, RunRef};
use baton_views::{BadDashboardUrl, DashboardUrl, Prompt, PromptOptions, PromptToken};
use serde::Deserialize;
use utoipa::IntoParams;

use super::document::refused;
use crate::lookup::handoff_ref;
use crate::openapi::ReadProblems;
use crate::params::{Named, Params};
use crate::problem::ApiProblem;
use crate::scope::RequestScope;
use crate::v1::answer::ApiResponse;
use crate::v1::shared_context::read_by;
use crate::v1::write::HandoffPath;

/// Lets a client that passes the prompt on record which prompt it was.
const HASH: &str = "x-baton-prompt-hash";

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(in crate::v1) struct PromptQuery {
    /// The run of a label such as `HO-001`: its id, its number or its story's key.
    run: Option<String>,
    /// The token budget, at four characters each; the least important parts are left out first.
    budget: Option<u32>,
    /// Baton's URL for the agent; if omitted, the one that the caller used.
    #[param(pattern = "^https?://[A-Za-z0-9.:-]+$", max_length = 200)]
    url: Option<String>,
    /// The interface through which the agent uses Baton; `curl` if omitted.
    #[serde(default)]
    #[param(inline)]
    face: FaceWord,
    /// For an agent that a runner starts: its commands carry the token in `BATON_TOKEN`.
    #[serde(default)]
    #[param(default = false)]
    with_token: bool,
}

/// Renders the receiver's prompt for a handoff.
///
/// Its role, its task, the package, and how to hand on through the chosen interface.
#[utoipa::path(get, path = "/api/v1/handoffs/{handoff}/prompt", operation_id = "getPrompt",
    tag = "handoffs",
    params(HandoffPath, PromptQuery),
    responses(
        (status = 200, description = "The prompt; JSON where `Accept` asks for it",
            content((String = "text/plain"), (PromptDocument = "application/json")),
            headers(("x-baton-prompt-hash" = String, description = "The SHA-256 of the prompt"))),
        (status = 409, description = "The handoff is finished", body = ProblemDocument,
            content_type = "application/problem+json"),
        (status = 422, description = "It is for a person, or the agent's own prompt cannot be filled in",
            body = ProblemDocument, content_type = "application/problem+json"),
        ReadProblems))]
pub(in crate::v1) async fn prompt(
    app: RequestScope,
    Named(name): Named,
    Params(query): Params<PromptQuery>,
    headers: HeaderMap,
) -> Result<Response, ApiProblem> {
    let which = handoff_ref(&app, &name, query.run.as_deref()).await?;
    let options = PromptOptions {
        dashboard_url: match query.url.as_deref() {
            Some(url) => Some(DashboardUrl::parse(url).map_err(|error| bad_url(&error))?),
            None => own_url(&headers)?,
        },
        token: query.with_token.then_some(PromptToken::Environment),
        budget_tokens: query.budget,
        face: query.face.0,
    };
    let prompt = app.read().prompt(&which, &options).await;
    if let Ok(prompt) = &prompt {
        record_prompt(&app, &which, prompt).await?;
    }
    match prompt {
        Ok(prompt) if wants_json(&headers) => {
            let rendered = PromptDocument {
                text: prompt.text,
                hash: prompt.hash.to_string(),
                package_hash: prompt.package.map(|it| it.to_string()),
                tokens: prompt.tokens,
                left_out: prompt.left_out,
            };
            let hash = [(HASH, rendered.hash.clone())];
            Ok((hash, ApiResponse::new(rendered)).into_response())
        }
        Ok(Prompt { text, hash, .. }) => {
            let plain = (CONTENT_TYPE.as_str(), "text/plain; charset=utf-8".to_owned());
            Ok(([plain, (HASH, hash.to_string())], text).into_response())
        }
        Err(error) => Err(refused(&app, error).await),
    }
}

/// Records that an agent got shared documents with its prompt. Who else renders it is not the agent.
async fn record_prompt(
    app: &RequestScope,
    which: &HandoffRef,
    prompt: &Prompt,
) -> Result<(), ApiProblem> {
    let Some(agent) = app.caller().agent() else { return Ok(()) };
    if prompt.documents.is_empty() {
        return Ok(());
    }
    let run = app.read().handoff(which).await?.run;
    let run = app.read().run(&RunRef::Id(run)).await?;
    read_by(app, &run.run, agent, prompt.documents.clone()).await
}

/// The URL by the host name that the caller used, which the guard has accepted. A caller in the same
/// process used none: no server runs.
fn own_url(headers: &HeaderMap) -> Result<Option<DashboardUrl>, ApiProblem> {
    let Some(host) = headers.get(HOST) else { return Ok(None) };
    DashboardUrl::parse(&format!("http://{}", host.to_str().unwrap_or_default()))
        .map(Some)
        .map_err(|error| ApiProblem::malformed("bad_host", error.to_string()))
}

fn bad_url(error: &BadDashboardUrl) -> ApiProblem {
    ApiProblem::malformed("bad_url", error.to_string())
}

fn wants_json(headers: &HeaderMap) -> bool {
    let accepted = headers.get(ACCEPT).and_then(|it| it.to_str().ok()).unwrap_or_default();
    let mut kinds = accepted.split(',').filter_map(|it| it.split(';').next());
    kinds.any(|it| it.trim().eq_ignore_ascii_case("application/json"))
}
