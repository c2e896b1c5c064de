//! `GET` and `POST /api/signal`: an agent's or a person's report on a story from outside the run.

use axum::body::Body;
use axum::http::{HeaderMap, StatusCode};
use baton_api::pipeline::{PipelineFlags, PipelineSignal};
use baton_core::command::{Command, Complete, Signal};
use baton_core::contract::Profile;
use baton_core::document::Node;
use baton_core::names::{CommitId, FreeText, Reason, StoryKey};
use baton_core::outcome::Outcome;
use baton_core::package::{Format, Package};
use baton_core::run::Baton;
use baton_core::story::Story;
use baton_engine::EngineError;
use baton_store::{RunRef, RunRow};
use baton_wire::json;
use serde::Deserialize;
use utoipa::IntoParams;

use super::{Typed, given, refused, story};
use crate::body;
use crate::openapi::{ReadProblems, WriteProblems};
use crate::params::{NoParams, Params};
use crate::problem::ApiProblem;
use crate::scope::RequestScope;

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct PipelineSignalQuery {
    #[param(required, min_length = 1, max_length = 200)]
    story_id: Option<String>,
}

/// Shows the progress of a story.
///
/// The flags that signals have set: whether it passes, whether it is merged, and its pull request.
#[utoipa::path(get, path = "/api/signal", operation_id = "pipelineGetSignal", tag = "pipeline",
    params(PipelineSignalQuery),
    responses(
        (status = 200, description = "The flags of the story",
            body = PipelineFlags),
        ReadProblems))]
pub(super) async fn get(
    app: RequestScope,
    Params(query): Params<PipelineSignalQuery>,
) -> Result<Typed<PipelineFlags>, ApiProblem> {
    let Some(key) = given(&query.story_id) else {
        return Err(ApiProblem::malformed("missing_field", "`storyId` is missing"));
    };
    flags(&app, &app.read().story_key(key).await?).await
}

/// Reports the progress of a story.
///
/// For what happens outside the run: the work passes, it is merged, it is blocked, or a note on how
/// far it is.
#[utoipa::path(post, path = "/api/signal", operation_id = "pipelinePostSignal", tag = "pipeline",
    request_body = PipelineSignal,
    responses(
        (status = 200, description = "The flags of the story afterwards",
            body = PipelineFlags),
        WriteProblems))]
pub(super) async fn post(
    app: RequestScope,
    Params(NoParams {}): Params<NoParams>,
    headers: HeaderMap,
    body: Body,
) -> Result<Typed<PipelineFlags>, ApiProblem> {
    let text = body::read_text(&app.door, body).await?;
    let actions = ["passed", "complete", "merged", "blocked", "progress"];
    let action = body::action(&text, &actions)?;
    let asked: PipelineSignal = body::parse_as(&text)?;
    let caller = app.door.keyed_caller(&headers, "/api/signal", &text)?;
    let key = app.read().story_key(&asked.story_id).await?;
    let run = latest(&app, &key).await?;
    let message = asked.message.as_deref();
    let command = match action {
        "merged" => {
            let commit = asked.merge_commit.as_deref().map(CommitId::parse).transpose()?;
            Command::Signal(Signal::Merged { commit })
        }
        "blocked" => blocked(&run, message)?,
        "progress" => {
            let words = message.ok_or_else(|| {
                ApiProblem::malformed("missing_field", "`message` is missing: how does it go?")
            })?;
            let by = run.run.current_agent().cloned();
            Command::Post { by, words: FreeText::parse(words)? }
        }
        _ => Command::Signal(Signal::Passed),
    };
    if let Err(error) = caller.on_run(run.run.id, command).await {
        return Err(refused(&app, error).await);
    }
    if let Some(pr_url) = asked.pr_url {
        // The link to the pull request belongs to the story.
        let row = app.read().story(&key).await?;
        app.caller().save_story(&Story { pr_url: Some(pr_url), ..row.story }).await?;
    }
    flags(&app, &key).await
}

/// The holder of the work cannot go on: its step ends as blocked.
fn blocked(run: &RunRow, message: Option<&str>) -> Result<Command, ApiProblem> {
    let at_work = run.run.branches.iter().find_map(|it| match &it.baton {
        Baton::Held { handoff } | Baton::Offered { handoff } => Some(*handoff),
        Baton::Parked { .. } | Baton::Loose { .. } | Baton::Done => None,
    });
    let Some(handoff) = at_work else {
        let message = "no agent is at work on this story, so none can be blocked";
        return Err(ApiProblem::new(StatusCode::CONFLICT, "not_holder", message));
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

async fn latest(app: &RequestScope, key: &StoryKey) -> Result<RunRow, ApiProblem> {
    let run = app.read().find_run(&RunRef::LatestOf(key.clone())).await;
    let no_run = || EngineError::NoSuchRun { which: key.to_string() };
    Ok(run?.ok_or_else(no_run)?)
}

/// The progress of a story, as the pipeline API's flags.
async fn flags(app: &RequestScope, key: &StoryKey) -> Result<Typed<PipelineFlags>, ApiProblem> {
    let row = app.read().story(key).await?;
    let run = app.read().find_run(&RunRef::LatestOf(key.clone())).await;
    let run = run?.map(|it| it.run);
    Ok(Typed(PipelineFlags {
        success: true,
        story_id: key.to_string(),
        status: story::status(&row).into(),
        pr_url: row.story.pr_url,
        passes: run.as_ref().is_some_and(story::is_passed),
        merged: run.as_ref().is_some_and(|it| it.is_merged),
        merge_commit: run.and_then(|it| it.merge_commit).map(|it| it.to_string()),
    }))
}
