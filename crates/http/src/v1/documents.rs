//! A whole document, in any of the four formats: its content decides which command is carried out.

use std::sync::Arc;

use axum::extract::{FromRequest, FromRequestParts as _, Request};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use baton_api::{CommandAnswer, ModeWord, ProfileWord};
use baton_core::acknowledgement::Acknowledgement;
use baton_core::command::Way;
use baton_core::names::{AgentId, WorkflowName};
use baton_core::package::{Format, Package};
use baton_engine::{CommandMode, DocumentHints, ReceiveResult};
use baton_store::{HandoffRow, RunRef};
use baton_wire::formats;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use utoipa::{IntoParams, ToSchema};

use super::answer::ApiResponse;
use super::command_result::{tell, tell_handoff};
use super::handoffs::document::refused;
use super::write::{HasMode, RunHeaders, WriteRequest};
use crate::App;
use crate::body;
use crate::lookup::{by, handoff_ref, run_id, typed_story};
use crate::openapi::WriteProblems;
use crate::params::Params;
use crate::preconditions::Preconditions;
use crate::problem::ApiProblem;
use crate::scope::{RequestCaller, RequestScope};
use crate::values::lease;

/// What the document itself does not say.
#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct DocumentQuery {
    /// The run: its id, its number or its story's key.
    run: Option<String>,
    /// The handoff that the document accepts or ends: its id, its number, or its label with `run`.
    handoff: Option<String>,
    /// The key of the story: its open run, or a new one if it has none.
    #[param(min_length = 1, max_length = 200)]
    story: Option<String>,
    /// Creates the story if there is none of that key. Otherwise an unknown `story` is refused, and
    /// so is a key in the document that is nearly another's.
    #[serde(default)]
    #[param(default = false)]
    new_story: bool,
    /// For a new run; if omitted, the workflow that has a matching edge.
    #[param(pattern = "^[a-z0-9]+(-[a-z0-9]+)*$", max_length = 64)]
    workflow: Option<String>,
    /// For a new run; if omitted, the project's.
    #[param(inline)]
    mode: Option<ModeWord>,
    /// The sender, if the document does not name one; by default the run's holder.
    #[param(pattern = "^[a-z0-9]+(-[a-z0-9]+)*$", max_length = 64)]
    agent: Option<String>,
    /// The receiver, whatever the document suggests.
    #[param(pattern = "^[a-z0-9]+(-[a-z0-9]+)*$", max_length = 64)]
    to: Option<String>,
    /// The sender's fencing token.
    fence: Option<u32>,
    /// For an acknowledgement: the lease; the receiver promises a heartbeat at least this often.
    #[param(minimum = 1, maximum = 3600)]
    lease_seconds: Option<u32>,
    #[serde(default)]
    #[param(inline)]
    profile: ProfileWord,
    /// Decide and report what would happen, but change nothing.
    #[serde(default)]
    #[param(default = false)]
    dry_run: bool,
}

/// The query of `accept`, of which all but `run` and `dryRun` is for an acknowledgement that is not JSON.
#[derive(IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
#[expect(dead_code, reason = "it only describes what is read as `HandoffQuery` or `DocumentQuery`")]
pub(super) struct AcceptQuery {
    /// The run of a label such as `HO-001`: its id, its number or its story's key.
    run: Option<String>,
    /// For a document: the agent that accepts, if it does not name one.
    #[param(pattern = "^[a-z0-9]+(-[a-z0-9]+)*$", max_length = 64)]
    agent: Option<String>,
    /// For a document: the lease; the receiver promises a heartbeat at least this often.
    #[param(minimum = 1, maximum = 3600)]
    lease_seconds: Option<u32>,
    /// Decide and report what would happen, but change nothing.
    #[param(default = false)]
    dry_run: Option<bool>,
}

/// The query of `delegate`, of which all but `run` and `dryRun` is for a body that is not JSON.
#[derive(IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
#[expect(dead_code, reason = "it only describes what is read as `HandoffQuery` or `DocumentQuery`")]
pub(super) struct DelegateQuery {
    /// The run of a label such as `HO-001`: its id, its number or its story's key.
    run: Option<String>,
    /// For a document: the specialist, if it does not name one.
    #[param(pattern = "^[a-z0-9]+(-[a-z0-9]+)*$", max_length = 64)]
    to: Option<String>,
    /// For a document: the fencing token.
    fence: Option<u32>,
    /// Decide and report what would happen, but change nothing.
    #[param(default = false)]
    dry_run: Option<bool>,
}

/// A document as it was sent, and its sender.
pub(crate) struct SentDocument {
    query: DocumentQuery,
    caller: RequestCaller,
    package: Package,
    /// Where the route, and not the document, says where it goes.
    way: Option<Way>,
}

impl SentDocument {
    /// The run that the caller names.
    pub(super) fn run(&self) -> Option<&str> {
        self.query.run.as_deref()
    }
}

/// Takes a document: hands work on, accepts it, ends a step, or records progress.
///
/// The XML handoff, the metadata block or the YAML handoff, in JSON, XML, YAML or Markdown, by
/// `Content-Type`; without one, by its first characters.
#[utoipa::path(post, path = "/api/v1/documents", operation_id = "receiveDocument",
    tag = "handoffs",
    params(DocumentQuery, RunHeaders),
    request_body(description = "The document", content(
        (serde_json::Value = "application/json", example = json!({
            "handoff": { "from": "analyst", "to": "implementer", "status": "completed" } })),
        (String = "application/xml",
            example = "<handoff><from>analyst</from><to>implementer</to></handoff>"),
        (String = "application/yaml", example = "handoff:\n  from: analyst\n  to: implementer\n"),
        (String = "text/markdown"))),
    responses(
        (status = 200, description = "Taken up, or what would happen (`dryRun`)",
            body = CommandAnswer),
        (status = 201, description = "Handed on", body = CommandAnswer, headers(
            ("Location" = String, description = "The handoff"),
            ("ETag" = String, description = "The run's version"))),
        (status = 202, description = "Noted: it moves nothing; or handed on, and waits for its checks",
            body = CommandAnswer),
        WriteProblems))]
pub(super) async fn receive(app: RequestScope, sent: SentDocument) -> Result<Response, ApiProblem> {
    take(&app, sent).await
}

/// Carries out the command that a document contains.
pub(super) async fn take(app: &RequestScope, sent: SentDocument) -> Result<Response, ApiProblem> {
    let SentDocument { query, caller, package, way } = sent;
    let hints = DocumentHints { way, ..hints(app, &query).await? };
    match caller.receive(package, &hints).await {
        Ok(ReceiveResult::Moved(outcome)) => {
            Ok(tell_handoff(app, &caller, &outcome).await?.into_response())
        }
        Ok(ReceiveResult::TakenUp(outcome)) => {
            Ok(tell(app, &caller, &outcome).await?.into_response())
        }
        Ok(ReceiveResult::Noted(outcome)) => {
            let answer: ApiResponse<CommandAnswer> = tell(app, &caller, &outcome).await?;
            let mut response = answer.into_response();
            if caller.mode() == CommandMode::Commit {
                *response.status_mut() = StatusCode::ACCEPTED;
            }
            Ok(response)
        }
        Err(error) => Err(refused(app, error).await),
    }
}

async fn hints(app: &RequestScope, query: &DocumentQuery) -> Result<DocumentHints, ApiProblem> {
    let handoff = match &query.handoff {
        Some(name) => Some(handoff_ref(app, name, query.run.as_deref()).await?),
        None => None,
    };
    Ok(DocumentHints {
        run: run_id(app, query.run.as_deref()).await?.map(RunRef::Id),
        handoff,
        story: match query.story.as_deref() {
            Some(name) => Some(typed_story(app, name, query.new_story.into()).await?),
            None => None,
        },
        new_story: query.new_story,
        workflow: query.workflow.as_deref().map(WorkflowName::parse).transpose()?,
        mode: query.mode.map(|it| it.0),
        agent: by(app, query.agent.as_deref())?,
        to: by(app, query.to.as_deref())?,
        way: None,
        fence: query.fence,
        lease: lease(query.lease_seconds)?,
        profile: query.profile.0,
    })
}

impl FromRequest<Arc<App>> for SentDocument {
    type Rejection = ApiProblem;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, ApiProblem> {
        let (mut parts, body) = request.into_parts();
        let Params(query) = Params::<DocumentQuery>::from_request_parts(&mut parts, app).await?;
        let preconditions = Preconditions::read(&parts.headers)?;
        let text = body::read_text(&app.door, body).await?;
        let request = format!("{}\n{text}", parts.uri);
        let route = format!("{} /api/v1/documents", parts.method);
        let caller = app.door.keyed_caller(&parts.headers, &route, &request)?;
        let mode = if query.dry_run { CommandMode::DryRun } else { CommandMode::Commit };
        let format = format_of(&parts.headers, &text)?;
        let document = formats::decode(format, &text)?;
        let package = Package::new(format, text, document);
        let caller = caller.with(mode, preconditions.versions());
        Ok(Self { query, caller, package, way: None })
    }
}

/// The body of a command's own route, or a document that contains the same command.
pub(super) enum CommandOrDocument<T, Q> {
    Command(Box<WriteRequest<T, Q>>),
    Document(Box<SentDocument>),
}

impl<T, Q> FromRequest<Arc<App>> for CommandOrDocument<T, Q>
where
    T: DeserializeOwned + ToSchema,
    Q: DeserializeOwned + IntoParams + HasMode + Send,
{
    type Rejection = ApiProblem;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, ApiProblem> {
        if is_document(request.headers()) {
            return Ok(Self::Document(Box::new(SentDocument::from_request(request, app).await?)));
        }
        Ok(Self::Command(Box::new(WriteRequest::from_request(request, app).await?)))
    }
}

/// Accepts one handoff with a document, which has to be an acknowledgement.
pub(super) async fn take_up(
    app: &RequestScope,
    mut sent: SentDocument,
    handoff: &str,
) -> Result<Response, ApiProblem> {
    if !Acknowledgement::is_one(&sent.package.document) {
        let message = "to take a handoff up, send an `acknowledgment` document";
        return Err(ApiProblem::malformed("bad_acknowledgement", message));
    }
    sent.query.handoff = Some(handoff.to_owned());
    take(app, sent).await
}

/// Ends one handoff with a document, which says how.
pub(super) async fn end(
    app: &RequestScope,
    mut sent: SentDocument,
    handoff: &str,
) -> Result<Response, ApiProblem> {
    sent.query.handoff = Some(handoff.to_owned());
    take(app, sent).await
}

/// Sends a part of held work with a document: to `to`, or the receiver that the document or the query
/// names.
pub(super) async fn send_part(
    app: &RequestScope,
    mut sent: SentDocument,
    held: &HandoffRow,
    way: Way,
    to: Option<AgentId>,
) -> Result<Response, ApiProblem> {
    sent.query.handoff = Some(held.number.to_string());
    sent.query.agent = Some(held.to.agent.to_string());
    sent.query.to = to.map(|it| it.to_string()).or(sent.query.to);
    sent.way = Some(way);
    take(app, sent).await
}

/// True if the content type alone says that the body is a document.
fn is_document(headers: &HeaderMap) -> bool {
    match media_type(headers).and_then(Format::of_media_type) {
        Some(Format::Xml | Format::Yaml | Format::Markdown) => true,
        Some(Format::Json) | None => false,
    }
}

fn format_of(headers: &HeaderMap, text: &str) -> Result<Format, ApiProblem> {
    let guess = |text| formats::guess(text).unwrap_or(Format::Json);
    match media_type(headers) {
        // curl's default content type.
        None | Some("application/x-www-form-urlencoded") => Ok(guess(text)),
        Some(kind) => Format::of_media_type(kind).ok_or_else(|| {
            let known = Format::ALL.map(Format::media_type).join(", ");
            let message = format!("send one of {known}");
            ApiProblem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "content_type", message)
        }),
    }
}

fn media_type(headers: &HeaderMap) -> Option<&str> {
    let kind = headers.get(CONTENT_TYPE)?.to_str().unwrap_or("?");
    Some(kind.split(';').next().unwrap_or_default().trim())
}
