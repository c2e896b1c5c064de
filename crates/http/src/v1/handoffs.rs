//! Handoffs: list, create, show. Commands on one are in `commands` and `parts`.

pub(crate) mod commands;
pub(crate) mod detail;
pub(crate) mod document;
pub(crate) mod parts;
pub(crate) mod prompt;
pub(crate) mod template;

use axum::http::header::{CONTENT_TYPE, ETAG, VARY};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse as _, Response};
use baton_api::{
    CommandAnswer, HandoffDetail, HandoffSummary, KindWord, NewHandoff, OrderWord, Page,
    ProblemDocument, StateWord,
};
use baton_core::command::{Create, Token};
use baton_core::content::ContentKind;
use baton_core::document::Node;
use baton_core::names::WorkflowName;
use baton_core::package::Format;
use baton_core::run::HandoffState;
use baton_engine::RunTarget;
use baton_store::{HandoffFilter, RunRef};
use baton_wire::formats;
use serde::Deserialize;
use utoipa::IntoParams;

use self::detail::handoff_detail;
use self::document::{refused, rows};
use super::answer::{ApiResponse, after, limit};
use super::command_result::tell_handoff;
use super::documents::{self, CommandOrDocument, DocumentQuery};
use super::window;
use super::write::{HandoffPath, RunHeaders, WriteQuery, WriteRequest};
use crate::body;
use crate::content_negotiation;
use crate::lookup::{
    find_handoff, find_run, known_agent, not_found, run_id, story_key, typed_story,
};
use crate::openapi::{ReadProblems, WriteProblems};
use crate::params::{Named, Params};
use crate::preconditions::{format_tag, version_tag};
use crate::problem::ApiProblem;
use crate::scope::RequestScope;
use crate::values::{outcome, reason, words};

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct HandoffListQuery {
    /// A run: its id, its number or its story's key.
    #[param(min_length = 1, max_length = 200)]
    run: Option<String>,
    /// The key of a story.
    #[param(min_length = 1, max_length = 200)]
    story: Option<String>,
    /// The receiver.
    #[param(pattern = "^[a-z0-9]+(-[a-z0-9]+)*$", max_length = 64)]
    agent: Option<String>,
    /// Any of these states, separated by commas.
    #[param(value_type = Option<Vec<StateWord>>, style = Form, explode = false)]
    state: Option<String>,
    #[param(inline)]
    kind: Option<KindWord>,
    /// Only handoffs that have waited for too long, or only the others.
    stale: Option<bool>,
    #[serde(default)]
    #[param(inline)]
    order: OrderWord,
    /// Only what comes after this cursor: `next` of the previous page.
    #[param(minimum = 0)]
    after: Option<i64>,
    /// The page size at most.
    #[param(minimum = 1, maximum = 500, default = 50)]
    limit: Option<u32>,
}

/// Lists handoffs.
///
/// By their number, without packages. If few match the filter, a page may be short and still have a
/// `next`.
#[utoipa::path(get, path = "/api/v1/handoffs", operation_id = "listHandoffs", tag = "handoffs",
    params(HandoffListQuery),
    responses(
        (status = 200, description = "One page of handoffs",
            body = Page<HandoffSummary>),
        ReadProblems))]
pub(super) async fn list(
    app: RequestScope,
    Params(query): Params<HandoffListQuery>,
) -> Result<ApiResponse<Page<HandoffSummary>>, ApiProblem> {
    let limit = limit(query.limit)?;
    let mut states = words::<HandoffState>("state", query.state.as_deref())?;
    if query.stale == Some(true) && states.is_empty() {
        // A handoff that has ended is no longer stale.
        states = HandoffState::ALL.into_iter().filter(|it| it.is_open()).collect();
    }
    let filter = HandoffFilter {
        run: run_id(&app, query.run.as_deref()).await?,
        story: story_key(&app, query.story.as_deref()).await?,
        to: query.agent.as_deref().map(|it| known_agent(&app, it)).transpose()?,
        kind: query.kind.map(|it| it.0),
        states,
        is_stale: query.stale,
        order: query.order.0,
        after: after(query.after)?,
        limit: limit + 1,
        ..HandoffFilter::default()
    };
    let found = window::handoffs(*app.read(), &filter).await?;
    let shown = rows(&app, &found.rows).await?;
    let numbered: Vec<_> = found.rows.iter().map(|it| it.number).zip(shown).collect();
    Ok(ApiResponse::new(window::page(numbered, found.given_up_at(), limit)))
}

/// Hands off from one agent to another.
///
/// A body that is not JSON is a whole document, as `/api/v1/documents` takes it; only then may the
/// query contain more than `dryRun`.
#[utoipa::path(post, path = "/api/v1/handoffs", operation_id = "createHandoff", tag = "handoffs",
    params(DocumentQuery, RunHeaders),
    request_body(description = "The handoff to create, or a whole document", content(
        (NewHandoff = "application/json"),
        (String = "application/xml"),
        (String = "application/yaml"),
        (String = "text/markdown"))),
    responses(
        (status = 200, description = "What would happen (`dryRun`)", body = CommandAnswer),
        (status = 202, description = "A document that moves nothing is noted", body = CommandAnswer),
        (status = 201, description = "Handed off", body = CommandAnswer, headers(
            ("Location" = String, description = "The handoff"),
            ("ETag" = String, description = "The run's version"))),
        WriteProblems))]
pub(super) async fn create(
    app: RequestScope,
    asked: CommandOrDocument<NewHandoff, WriteQuery>,
) -> Result<Response, ApiProblem> {
    let WriteRequest { asked, caller, .. } = match asked {
        CommandOrDocument::Command(write) => *write,
        CommandOrDocument::Document(sent) => return documents::take(&app, *sent).await,
    };
    let within = within(&app, &asked).await?;
    let own = async |name: &str| {
        let run = match &within {
            RunTarget::Run(which) => which.clone(),
            RunTarget::Story { key, .. } => RunRef::LatestOf(key.clone()),
        };
        let run = app.read().run(&run).await?.run.id;
        let which = app.read().handoff_named(name, Some(run)).await?;
        Ok::<_, ApiProblem>(app.read().handoff_in(&within, &which).await?)
    };
    let supersedes = match asked.supersedes.as_deref() {
        Some(name) => Some(own(name).await?),
        None => None,
    };
    let hands_on = match asked.handoff.as_deref() {
        Some(name) => Some(own(name).await?),
        None => None,
    };
    let token = match &asked.token {
        Some(token) => Some(Token { handoff: own(&token.handoff).await?, fence: token.fence }),
        None => None,
    };
    let create = Create {
        from: known_agent(&app, &asked.from_agent)?,
        to: known_agent(&app, &asked.to_agent)?,
        package: body::package_or_document(asked.package.as_deref())?,
        outcome: asked.outcome.as_deref().map(outcome).transpose()?,
        reason: reason(asked.reason.as_deref())?,
        supersedes,
        hands_on,
        way: asked.kind.map(|it| it.0),
        token,
        profile: asked.profile.0,
    };
    match caller.create(within, create).await {
        Ok(outcome) => Ok(tell_handoff(&app, &caller, &outcome).await?.into_response()),
        Err(error) => Err(refused(&app, error).await),
    }
}

async fn within(app: &RequestScope, asked: &NewHandoff) -> Result<RunTarget, ApiProblem> {
    match (&asked.run, &asked.story) {
        (Some(run), None) => Ok(RunTarget::Run(RunRef::Id(find_run(app, run).await?.run.id))),
        (None, Some(story)) => Ok(RunTarget::Story {
            key: typed_story(app, story, asked.new_story.into()).await?,
            workflow: asked.workflow.as_deref().map(WorkflowName::parse).transpose()?,
            mode: asked.mode.map(|it| it.0),
        }),
        (Some(_), Some(_)) | (None, None) => {
            Err(ApiProblem::malformed("missing_field", "say `story` or `run`, one of the two"))
        }
    }
}

/// The query of a read of one handoff.
#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct OneQuery {
    /// The run of a label such as `HO-001`: its id, its number or its story's key.
    pub(super) run: Option<String>,
}

/// Shows a handoff.
///
/// The package, the questions about it, and the commands that it allows now. In XML, YAML or
/// Markdown it is a YAML handoff document, with Baton's own data under `baton`.
#[utoipa::path(get, path = "/api/v1/handoffs/{handoff}", operation_id = "getHandoff",
    tag = "handoffs",
    params(HandoffPath, OneQuery),
    responses(
        (status = 200, description = "The handoff, in the format that `Accept` names",
            content(
                (HandoffDetail = "application/json"),
                (String = "application/xml"),
                (String = "application/yaml"),
                (String = "text/markdown")),
            headers(("ETag" = String, description = "The run's version"))),
        (status = 406, description = "None of the formats is accepted", body = ProblemDocument,
            content_type = "application/problem+json"),
        ReadProblems))]
pub(super) async fn get(
    app: RequestScope,
    Named(name): Named,
    Params(query): Params<OneQuery>,
    headers: HeaderMap,
) -> Result<Response, ApiProblem> {
    let row = find_handoff(&app, &name, query.run.as_deref()).await?;
    let run = app.read().run(&RunRef::Id(row.run)).await?;
    match content_negotiation::wanted(&headers, &Format::ALL)? {
        Format::Json => {
            let detail = handoff_detail(&app, &row, &run).await?;
            let mut response = ApiResponse::new(detail).at(run.version).into_response();
            response.headers_mut().insert(VARY, HeaderValue::from_static("accept"));
            Ok(response)
        }
        format @ (Format::Xml | Format::Yaml | Format::Markdown) => {
            let document = app.read().handoff_document(&row).await?;
            let etag = version_tag(run.version, format);
            let headers = [(CONTENT_TYPE, media_type(format)), (ETAG, &etag), (VARY, "accept")];
            let text = rendered(&document, format, row.number)?;
            Ok((headers, text).into_response())
        }
    }
}

/// Gets the package of a handoff.
///
/// Byte for byte as its sender wrote it; in another format, without loss, if `Accept` asks for one.
#[utoipa::path(get, path = "/api/v1/handoffs/{handoff}/package", operation_id = "getPackage",
    tag = "handoffs",
    params(HandoffPath, OneQuery),
    responses(
        (status = 200, description = "The package, in the sender's format by default",
            content(
                (serde_json::Value = "application/json"),
                (String = "application/xml"),
                (String = "application/yaml"),
                (String = "text/markdown")),
            headers(("ETag" = String, description = "The hash of the package"))),
        (status = 406, description = "None of the formats is accepted", body = ProblemDocument,
            content_type = "application/problem+json"),
        ReadProblems))]
pub(super) async fn package(
    app: RequestScope,
    Named(name): Named,
    Params(query): Params<OneQuery>,
    headers: HeaderMap,
) -> Result<Response, ApiProblem> {
    let row = find_handoff(&app, &name, query.run.as_deref()).await?;
    let texts = app.read().whole_texts_of(&row).await?;
    let content = row.package.and_then(|it| texts.content(it));
    let none = || {
        not_found("no_package", format!("handoff {} ({}) hands nothing over", row.number, row.no))
    };
    let content = content.ok_or_else(none)?;
    match content.kind {
        // What stands in the place of a package that was taken out says so.
        ContentKind::Words => {
            let (number, no, text) = (row.number, row.no, &content.text);
            let message = format!("the package of handoff {number} ({no}) is not there: {text}");
            Err(not_found("no_package", message))
        }
        ContentKind::Package { format, hash } => {
            let wanted = content_negotiation::wanted(&headers, &own_first(format))?;
            let text = if wanted == format {
                content.text.to_string()
            } else {
                rendered(&formats::decode(format, &content.text)?, wanted, row.number)?
            };
            let etag = format_tag(&hash.to_string(), (wanted != format).then_some(wanted));
            let headers = [(CONTENT_TYPE, media_type(wanted)), (ETAG, &etag), (VARY, "accept")];
            Ok((headers, text).into_response())
        }
    }
}

/// Rendering a document in another format may make it many times as large.
const MOST_RENDERED: usize = 16 * 1024 * 1024;

fn rendered(document: &Node, format: Format, number: u64) -> Result<String, ApiProblem> {
    let text = formats::encode(document, format);
    if text.len() <= MOST_RENDERED {
        return Ok(text);
    }
    let (n_bytes, name) = (text.len(), format.name());
    Err(ApiProblem::too_large(format!(
        "as {name} it would have {n_bytes} bytes, and an answer has at most {MOST_RENDERED}; take \
         it as it was written, from /api/v1/handoffs/{number}/package without `Accept`"
    )))
}

/// Every format; the package's own, which needs no conversion, first.
fn own_first(own: Format) -> Vec<Format> {
    let others = Format::ALL.into_iter().filter(|it| *it != own);
    std::iter::once(own).chain(others).collect()
}

fn media_type(format: Format) -> &'static str {
    match format {
        Format::Json => "application/json",
        Format::Xml => "application/xml",
        Format::Yaml => "application/yaml",
        Format::Markdown => "text/markdown; charset=utf-8",
    }
}
