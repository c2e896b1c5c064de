//! A write request: its body, its sender, its idempotency key, the run's expected version, and
//! whether it is a dry run.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{FromRequest, FromRequestParts as _, MatchedPath, Request};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode};
use baton_api::CommandAnswer;
use baton_engine::CommandMode;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use utoipa::openapi::header::{Header, HeaderBuilder};
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::response::{Response as Described, ResponseBuilder};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{Content, Ref, RefOr, Required};
use utoipa::{IntoParams, IntoResponses, ToSchema};

use crate::App;
use crate::body;
use crate::openapi::TAGS;
use crate::params::Params;
use crate::preconditions::Preconditions;
use crate::problem::ApiProblem;
use crate::scope::RequestCaller;

pub(super) struct WriteRequest<T, Q = WriteQuery> {
    pub(super) asked: T,
    pub(super) query: Q,
    pub(super) caller: RequestCaller,
    pub(super) preconditions: Preconditions,
}

/// The query of every write.
#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct WriteQuery {
    /// Decide and report what would happen, but change nothing.
    #[serde(default)]
    #[param(default = false)]
    dry_run: bool,
}

/// The query of every write to a handoff.
#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct HandoffQuery {
    /// The run of a label such as `HO-001`: its id, its number or its story's key.
    pub(super) run: Option<String>,
    /// Decide and report what would happen, but change nothing.
    #[serde(default)]
    #[param(default = false)]
    dry_run: bool,
}

pub(super) trait HasMode {
    fn mode(&self) -> CommandMode;
}

impl HasMode for WriteQuery {
    fn mode(&self) -> CommandMode {
        mode(self.dry_run)
    }
}

impl HasMode for HandoffQuery {
    fn mode(&self) -> CommandMode {
        mode(self.dry_run)
    }
}

fn mode(is_dry_run: bool) -> CommandMode {
    if is_dry_run { CommandMode::DryRun } else { CommandMode::Commit }
}

impl<T, Q> FromRequest<Arc<App>> for WriteRequest<T, Q>
where
    T: DeserializeOwned + ToSchema,
    Q: DeserializeOwned + IntoParams + HasMode + Send,
{
    type Rejection = ApiProblem;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, ApiProblem> {
        let (mut parts, body) = request.into_parts();
        let Params(query) = Params::<Q>::from_request_parts(&mut parts, app).await?;
        check_content_type(&parts.headers)?;
        let preconditions = Preconditions::read(&parts.headers)?;
        let (text, asked) = body::read_as(&app.door, body).await?;
        let path = parts.extensions.get::<MatchedPath>().map_or("", MatchedPath::as_str);
        let route = format!("{} {path}", parts.method);
        // The URI belongs to the request: the same key for another handoff is another request.
        let request = format!("{}\n{text}", parts.uri);
        let caller = app.door.keyed_caller(&parts.headers, &route, &request)?;
        let caller = caller.with(query.mode(), preconditions.versions());
        Ok(Self { asked, caller, query, preconditions })
    }
}

/// JSON, or curl's default. Other formats have a content type of their own.
fn check_content_type(headers: &HeaderMap) -> Result<(), ApiProblem> {
    let kind = match headers.get(CONTENT_TYPE).map(|it| it.to_str().unwrap_or("?")) {
        None => return Ok(()),
        Some(kind) => kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase(),
    };
    match kind.as_str() {
        "application/json" | "application/x-www-form-urlencoded" => Ok(()),
        _ => Err(ApiProblem::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "content_type",
            "send application/json",
        )),
    }
}

/// Declares the parameters that routes share, for the OpenAPI document.
macro_rules! shared_params {
    ($($(#[$doc:meta])* $name:ident => $params:expr;)*) => {$(
        $(#[$doc])*
        pub(super) struct $name;

        impl IntoParams for $name {
            fn into_params(place: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
                let params: fn(&dyn Fn() -> Option<ParameterIn>) -> Vec<Parameter> = $params;
                params(&place)
            }
        }
    )*};
}

shared_params! {
    /// The name of a handoff in the path.
    HandoffPath => |_| vec![in_path("handoff", "Its id, its number, or `RUN/HO-001`")];
    /// The name of a run in the path.
    RunPath => |_| vec![in_path("run", "Its id, its number or its story's key")];
    /// A command on a handoff.
    HandoffCommandParams => |place| [
        HandoffPath::into_params(place),
        HandoffQuery::into_params(place),
        RunHeaders::into_params(place),
    ].concat();
    /// A command on a run.
    RunCommandParams => |place| [
        RunPath::into_params(place),
        WriteQuery::into_params(place),
        RunHeaders::into_params(place),
    ].concat();
    /// The headers of a write to a run.
    RunHeaders => |_| {
        let description = "Only if the run is still at this version: an `ETag` given before";
        let if_match = tags("If-Match", description);
        vec![key_header(), if_match, as_header()]
    };
    /// The headers of a write to a story.
    StoryHeaders => |_| {
        let if_match = tags("If-Match", "Only if the story is still what it was: an `ETag` given before");
        let if_none_match = tags("If-None-Match", "`*`: only if there is no such story");
        vec![key_header(), if_match, if_none_match, as_header()]
    };
    /// The headers of a write that is not to a run.
    KeyHeader => |_| vec![key_header(), as_header()];
    /// The header of a read that depends on the caller.
    AsHeader => |_| vec![as_header()];
}

fn in_path(name: &str, description: &str) -> Parameter {
    let schema = ObjectBuilder::new().schema_type(Type::String);
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Path)
        .required(Required::True)
        .description(Some(description))
        .schema(Some(schema))
        .build()
}

/// A header with entity tags.
fn tags(name: &str, description: &str) -> Parameter {
    let tags = ObjectBuilder::new().schema_type(Type::String).pattern(Some(TAGS));
    header(name, description, tags)
}

fn as_header() -> Parameter {
    let description = "Who asks, for the record; `local` where left out. It is a word, not a \
                       credential, and believed only because requests come from this machine alone";
    header("Baton-As", description, plain_text())
}

fn key_header() -> Parameter {
    let description = "Makes it safe to send twice: the same key gets the same answer";
    header("Idempotency-Key", description, plain_text())
}

/// 1 to 200 printable characters.
fn plain_text() -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .pattern(Some("^[!-~]([ -~]*[!-~])?$"))
        .min_length(Some(1))
        .max_length(Some(200))
}

fn header(name: &str, description: &str, schema: ObjectBuilder) -> Parameter {
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Header)
        .description(Some(description))
        .schema(Some(schema))
        .build()
}

/// The responses of a command on a run or a handoff.
pub(super) struct CommandDone;

/// The responses of a command that creates a handoff.
pub(super) struct HandedOff;

impl IntoResponses for CommandDone {
    fn responses() -> BTreeMap<String, RefOr<Described>> {
        let done = answers("Done; with `dryRun`, what would happen");
        let version = "The run's version; omitted in a dry run";
        let parked = answers("Taken: the work waits for its checks");
        BTreeMap::from([
            ("200".to_owned(), done.header("ETag", text_header(version)).into()),
            ("202".to_owned(), parked.header("ETag", text_header(version)).into()),
        ])
    }
}

impl IntoResponses for HandedOff {
    fn responses() -> BTreeMap<String, RefOr<Described>> {
        let handed_off = answers("Handed off")
            .header("Location", text_header("The handoff"))
            .header("ETag", text_header("The run's version"));
        let parked = answers("Taken: the work waits for its checks")
            .header("Location", text_header("The handoff"))
            .header("ETag", text_header("The run's version"));
        BTreeMap::from([
            ("200".to_owned(), answers("What would happen (`dryRun`)").into()),
            ("201".to_owned(), handed_off.into()),
            ("202".to_owned(), parked.into()),
        ])
    }
}

/// A response with the result of a command.
fn answers(description: &str) -> ResponseBuilder {
    let content = Content::new(Some(Ref::from_schema_name(CommandAnswer::name())));
    ResponseBuilder::new().description(description).content("application/json", content)
}

fn text_header(description: &str) -> Header {
    let text = ObjectBuilder::new().schema_type(Type::String);
    HeaderBuilder::new().schema(Some(text)).description(Some(description)).build()
}
