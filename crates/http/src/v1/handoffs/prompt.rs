//! What the receiver of a handoff is told: as plain text, or with its hashes as JSON.

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::{ACCEPT, CONTENT_TYPE, HOST};
use axum::response::{IntoResponse as _, Response};
use baton_engine::{AgentInterface, BadDashboardUrl, DashboardUrl, Prompt, PromptOptions};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::document::refused;
use crate::App;
use crate::openapi::ReadProblems;
use crate::params::{Named, Params};
use crate::problem::{ApiProblem, ProblemDocument};
use crate::v1::answer::ApiResponse;
use crate::v1::names::handoff_ref;

/// So that whoever sends the prompt on can say later which it was.
const HASH: &str = "x-baton-prompt-hash";

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(in crate::v1) struct PromptQuery {
    /// The run that a label such as `HO-001` is of: its id, its number or its story's key.
    run: Option<String>,
    /// How many tokens it may have, at four characters each; the least important is left out first.
    budget: Option<u32>,
    /// Where the agent finds Baton; where left out, where the caller has found it.
    #[param(pattern = "^https?://[A-Za-z0-9.:-]+$", max_length = 200)]
    url: Option<String>,
    /// How the agent speaks to Baton.
    #[serde(default)]
    #[param(inline, default = "curl")]
    face: FaceWord,
}

/// A prompt, with what tells it from others later.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Prompt)]
pub struct PromptDocument {
    pub text: String,
    /// The SHA-256 of the text.
    pub hash: String,
    /// Of the package in it.
    pub package_hash: Option<String>,
    /// An estimate, at four characters each.
    pub tokens: usize,
    /// What the budget had no room for.
    pub left_out: Vec<String>,
}

#[derive(Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = Face)]
enum FaceWord {
    #[default]
    Curl,
    Cli,
    Block,
}

impl From<FaceWord> for AgentInterface {
    fn from(word: FaceWord) -> Self {
        match word {
            FaceWord::Curl => Self::Curl,
            FaceWord::Cli => Self::Cli,
            FaceWord::Block => Self::Block,
        }
    }
}

/// What the receiver of a handoff is told: who it is, its task, the package, how to hand on.
#[utoipa::path(get, path = "/api/v1/handoffs/{handoff}/prompt", operation_id = "getPrompt",
    tag = "handoffs",
    params(("handoff" = String, Path, description = "Its id, its number, or `RUN/HO-001`"),
        PromptQuery),
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
    State(app): State<Arc<App>>,
    Named(name): Named,
    Params(query): Params<PromptQuery>,
    headers: HeaderMap,
) -> Result<Response, ApiProblem> {
    let which = handoff_ref(&app, &name, query.run.as_deref()).await?;
    let options = PromptOptions {
        dashboard_url: match query.url.as_deref() {
            Some(url) => DashboardUrl::parse(url).map_err(|error| bad_url(&error))?,
            None => own_url(&headers)?,
        },
        token: None,
        budget_tokens: query.budget,
        face: query.face.into(),
    };
    match app.engine.prompt(&which, &options).await {
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

/// By the name that the caller used, which the guard has let in.
fn own_url(headers: &HeaderMap) -> Result<DashboardUrl, ApiProblem> {
    let host = headers.get(HOST).and_then(|it| it.to_str().ok()).unwrap_or_default();
    DashboardUrl::parse(&format!("http://{host}"))
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
