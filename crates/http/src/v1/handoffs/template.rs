//! A template of the package that the receiver of a handoff could hand on.

use axum::http::HeaderMap;
use axum::http::header::{CONTENT_TYPE, VARY};
use axum::response::{IntoResponse as _, Response};
use baton_api::ProblemDocument;
use baton_core::package::Format;
use serde::Deserialize;
use utoipa::IntoParams;

use super::document::refused;
use super::{media_type, rendered};
use crate::content_negotiation;
use crate::lookup::{find_handoff, known_agent};
use crate::openapi::ReadProblems;
use crate::params::{Named, Params};
use crate::problem::ApiProblem;
use crate::scope::RequestScope;
use crate::v1::write::HandoffPath;
use crate::values::outcome;

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(in crate::v1) struct TemplateQuery {
    /// The run of a label such as `HO-001`: its id, its number or its story's key.
    run: Option<String>,
    /// The agent that would get the package; if omitted, the one that the workflow has for the
    /// outcome.
    #[param(pattern = "^[a-z0-9]+(-[a-z0-9]+)*$", max_length = 64)]
    to: Option<String>,
    /// How the work ended; if omitted, as the edge to the receiver says, or `success`.
    outcome: Option<String>,
}

/// Gets a template of the package to hand on.
///
/// What the receiver of the handoff could hand on: it passes in strict once every mark is filled in
/// as it says.
#[utoipa::path(get, path = "/api/v1/handoffs/{handoff}/template", operation_id = "getTemplate",
    tag = "handoffs",
    params(HandoffPath, TemplateQuery),
    responses(
        (status = 200, description = "The template",
            content(
                (serde_json::Value = "application/json"),
                (String = "application/xml"),
                (String = "application/yaml"),
                (String = "text/markdown"))),
        (status = 406, description = "None of the formats is accepted", body = ProblemDocument,
            content_type = "application/problem+json"),
        (status = 409, description = "The handoff is finished, or waits for a person",
            body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, description = "No edge leads to that agent", body = ProblemDocument,
            content_type = "application/problem+json"),
        ReadProblems))]
pub(in crate::v1) async fn template(
    app: RequestScope,
    Named(name): Named,
    Params(query): Params<TemplateQuery>,
    headers: HeaderMap,
) -> Result<Response, ApiProblem> {
    let format = content_negotiation::wanted(&headers, &Format::ALL)?;
    let row = find_handoff(&app, &name, query.run.as_deref()).await?;
    let to = query.to.as_deref().map(|it| known_agent(&app, it)).transpose()?;
    let outcome = query.outcome.as_deref().map(outcome).transpose()?;
    match app.read().template(&row, to.as_ref(), outcome).await {
        Ok(template) => {
            let text = rendered(&template, format, row.number)?;
            Ok(([(CONTENT_TYPE, media_type(format)), (VARY, "accept")], text).into_response())
        }
        Err(error) => Err(refused(&app, error).await),
    }
}
