//! The report of a finished run: `<workflow-complete>` of the XML handoff.

use axum::http::HeaderMap;
use axum::http::header::{CONTENT_TYPE, VARY};
use axum::response::{IntoResponse as _, Response};
use baton_api::ProblemDocument;
use baton_core::package::Format;
use baton_wire::formats;

use super::write::RunPath;
use crate::content_negotiation;
use crate::lookup::find_run;
use crate::openapi::ReadProblems;
use crate::params::Named;
use crate::problem::ApiProblem;
use crate::scope::RequestScope;

const OFFERED: [Format; 3] = [Format::Json, Format::Xml, Format::Yaml];

/// Gets the report of a completed or cancelled run.
///
/// `<workflow-complete>` of the XML handoff, in the format that `Accept` names.
#[utoipa::path(get, path = "/api/v1/runs/{run}/completion", operation_id = "getCompletion",
    tag = "runs",
    params(RunPath),
    responses(
        (status = 200, description = "The document; scalars are text in every format", content(
            (serde_json::Value = "application/json"),
            (String = "application/xml"),
            (String = "application/yaml"))),
        (status = 406, description = "None of the three formats is accepted", body = ProblemDocument,
            content_type = "application/problem+json"),
        (status = 409, description = "The run is still under way", body = ProblemDocument,
            content_type = "application/problem+json"),
        ReadProblems))]
pub(super) async fn get(
    app: RequestScope,
    Named(name): Named,
    headers: HeaderMap,
) -> Result<Response, ApiProblem> {
    let format = content_negotiation::wanted(&headers, &OFFERED)?;
    let run = find_run(&app, &name).await?.run.id;
    let document = app.read().completion(run).await?;
    let kind = format.media_type();
    Ok(([(CONTENT_TYPE, kind), (VARY, "accept")], formats::encode(&document, format))
        .into_response())
}
