//! The requests and responses of the pipeline API, for the OpenAPI document.
#![expect(
    dead_code,
    reason = "the routes read and write documents; these types only describe them"
)]

use serde::Deserialize;
use utoipa::IntoParams;

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(super) struct PipelineQuery {
    story_id: Option<String>,
    agent: Option<String>,
    /// `true`, to list only handoffs that have waited for too long.
    stale: Option<String>,
    /// How long is too long, in minutes. At most a year.
    minutes: Option<String>,
}

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(super) struct PipelineSignalQuery {
    #[param(min_length = 1, max_length = 200)]
    story_id: String,
}
