//! `GET` and `POST /api/signal`: an agent's or a person's report on a story from outside the run.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use baton_core::command::{Command, Complete, Signal};
use baton_core::contract::Profile;
use baton_core::document::Node;
use baton_core::names::{CommitId, FreeText, Reason, StoryKey};
use baton_core::outcome::Outcome;
use baton_core::package::{Format, Package};
use baton_core::run::{Baton, HandoffNo};
use baton_core::story::Story;
use baton_engine::{Caller, EngineError};
use baton_store::{RunRef, RunRow};
use baton_wire::json;

use super::described::{PipelineFlags, PipelineSignal, PipelineSignalQuery};
use super::{Json, refused, story};
use crate::App;
use crate::body::{self, Envelope};
use crate::caller::caller;
use crate::openapi::{ReadProblems, WriteProblems};
use crate::problem::ApiProblem;
use crate::query::Query;

const ACTIONS: &str = "passed, complete, merged, blocked, progress";

/// The progress of a story, by the signals that it has had.
#[utoipa::path(get, path = "/api/signal", operation_id = "pipelineGetSignal", tag = "pipeline",
    params(PipelineSignalQuery),
    responses((status = 200, body = PipelineFlags), ReadProblems))]
pub(super) async fn get(State(app): State<Arc<App>>, uri: Uri) -> Result<Json, ApiProblem> {
    let query = Query::read(&uri, &["storyId"])?;
    let Some(key) = query.get("storyId") else {
        return Err(ApiProblem::malformed("missing_field", "`storyId` is missing"));
    };
    flags(&app, &app.engine.story_key(key).await?).await
}

/// Reports the progress of a story.
#[utoipa::path(post, path = "/api/signal", operation_id = "pipelinePostSignal", tag = "pipeline",
    request_body = PipelineSignal,
    responses((status = 200, body = PipelineFlags), WriteProblems))]
pub(super) async fn post(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json, ApiProblem> {
    let (text, envelope) = body::read(body).await?;
    envelope.only(&["action", "storyId", "message", "prUrl", "mergeCommit"])?;
    let caller = caller(&headers, "/api/signal", &text)?;
    let key = app.engine.story_key(envelope.required_text("storyId")?).await?;
    let run = latest(&app, &key).await?;
    let message = envelope.text("message")?;
    let command = match envelope.text("action")? {
        Some("passed" | "complete") => Command::Signal(Signal::Passed),
        Some("merged") => {
            let commit = envelope.text("mergeCommit")?.map(CommitId::parse).transpose()?;
            Command::Signal(Signal::Merged { commit })
        }
        Some("blocked") => blocked(&run, message)?,
        Some("progress") => {
            let words = message.ok_or_else(|| {
                ApiProblem::malformed("missing_field", "`message` is missing: how does it go?")
            })?;
            let by = run.run.current_agent().cloned();
            Command::Post { by, words: FreeText::parse(words)? }
        }
        Some(other) => {
            let message = format!("there is no action `{other}`; there are {ACTIONS}");
            return Err(ApiProblem::malformed("unknown_action", message));
        }
        None => {
            let message = format!("`action` is one of {ACTIONS}");
            return Err(ApiProblem::malformed("missing_field", message));
        }
    };
    signal(&app, &caller, &run, command).await?;
    keep_link(&app, &envelope, &key).await?;
    flags(&app, &key).await
}

async fn signal(
    app: &App,
    caller: &Caller,
    run: &RunRow,
    command: Command,
) -> Result<(), ApiProblem> {
    match app.engine.on_run(caller, run.run.id, command).await {
        Ok(_) => Ok(()),
        Err(error) => Err(refused(app, error).await),
    }
}

/// The holder of the work cannot go on: its step ends as blocked.
fn blocked(run: &RunRow, message: Option<&str>) -> Result<Command, ApiProblem> {
    let handoff: HandoffNo = match run.run.baton() {
        Baton::Held { handoff } | Baton::Offered { handoff } => *handoff,
        Baton::Parked { .. } | Baton::Loose { .. } | Baton::Done => {
            let message = "no agent is at work on this story, so none can be blocked";
            return Err(ApiProblem::new(StatusCode::CONFLICT, "not_holder", message));
        }
    };
    let reason = message.map(Reason::parse).transpose()?;
    let document = Node::map(message.map(|it| ("reason", Node::text(it))));
    Ok(Command::Complete(Complete {
        handoff,
        by: None,
        outcome: Outcome::Blocked,
        package: Package::new(Format::Json, json::print(&document), document),
        to: None,
        reason,
        fence: None,
        profile: Profile::Lenient,
    }))
}

/// The link to the pull request belongs to the story.
async fn keep_link(app: &App, envelope: &Envelope, key: &StoryKey) -> Result<(), ApiProblem> {
    let Some(pr_url) = envelope.text("prUrl")? else { return Ok(()) };
    let row = app.engine.story(key).await?;
    let story = Story { pr_url: Some(pr_url.to_owned()), ..row.story };
    Ok(app.engine.save_story(&story).await?)
}

async fn latest(app: &App, key: &StoryKey) -> Result<RunRow, ApiProblem> {
    let run = app.engine.store().run(&RunRef::LatestOf(key.clone())).await;
    let no_run = || EngineError::NoSuchRun { which: key.to_string() };
    Ok(run.map_err(EngineError::from)?.ok_or_else(no_run)?)
}

/// The progress of a story, as the pipeline API's flags.
async fn flags(app: &App, key: &StoryKey) -> Result<Json, ApiProblem> {
    let row = app.engine.story(key).await?;
    let run = app.engine.store().run(&RunRef::LatestOf(key.clone())).await;
    let run = run.map_err(EngineError::from)?;
    let members = [
        ("success", Node::Bool(true)),
        ("storyId", Node::text(key.as_str())),
        ("status", Node::text(story::status(&row))),
        ("prUrl", row.story.pr_url.as_ref().map_or(Node::Null, Node::text)),
    ];
    Ok(Json(Node::map(members.into_iter().chain(story::flags(run.as_ref())))))
}
