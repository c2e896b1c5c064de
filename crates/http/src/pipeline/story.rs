//! `GET /api/story/{id}`: a story and its progress.

use std::sync::Arc;

use axum::extract::State;
use baton_api::pipeline::PipelineStory;
use baton_core::document::Node;
use baton_core::run::{Run, RunStatus};
use baton_engine::EngineError;
use baton_store::{RunRef, RunRow, StoryRow};

use super::{Json, rows};
use crate::App;
use crate::openapi::ReadProblems;
use crate::params::Named;
use crate::problem::ApiProblem;

/// A story and its progress.
#[utoipa::path(get, path = "/api/story/{id}", operation_id = "pipelineGetStory", tag = "pipeline",
    params(("id" = String, Path, description = "Its key")),
    responses((status = 200, body = PipelineStory), ReadProblems))]
pub(super) async fn get(State(app): State<Arc<App>>, Named(id): Named) -> Result<Json, ApiProblem> {
    let key = app.engine.story_key(&id).await?;
    let row = app.engine.story(&key).await?;
    let run = app.engine.store().run(&RunRef::LatestOf(key)).await.map_err(EngineError::from)?;
    let phase = match &run {
        Some(run) => {
            let workflow = app.engine.workflow_of(run).await?;
            Node::text(run.run.phase(&workflow))
        }
        None => Node::Null,
    };
    let agent = run.as_ref().and_then(|it| it.run.current_agent());
    let story = story_members(&row);
    let more = [
        ("phase", phase),
        ("currentAgent", agent.map_or(Node::Null, |it| Node::text(it.as_str()))),
    ];
    let flags = flags(run.as_ref());
    Ok(Json(Node::map(story.into_iter().chain(more).chain(flags))))
}

/// The signals about a story: not who has the baton, but how far the work has come.
pub(super) fn flags(run: Option<&RunRow>) -> [(&'static str, Node); 3] {
    let run = run.map(|it| &it.run);
    let is_done = |it: &Run| it.is_passed || it.status == RunStatus::Completed;
    let commit = run.and_then(|it| it.merge_commit.as_ref());
    [
        ("passes", Node::Bool(run.is_some_and(is_done))),
        ("merged", Node::Bool(run.is_some_and(|it| it.is_merged))),
        ("mergeCommit", commit.map_or(Node::Null, |it| Node::text(it.as_str()))),
    ]
}

pub(super) fn story_members(row: &StoryRow) -> Vec<(&'static str, Node)> {
    let story = &row.story;
    let texts = |items: &[String]| Node::List(items.iter().map(Node::text).collect());
    let depends_on = story.depends_on.iter().map(|it| Node::text(it.as_str())).collect();
    let maybe = |text: &Option<String>| text.as_ref().map_or(Node::Null, Node::text);
    vec![
        ("id", Node::text(story.key.as_str())),
        ("title", Node::text(&story.title)),
        ("description", Node::text(&story.description)),
        ("acceptance", texts(&story.acceptance)),
        ("depends_on", Node::List(depends_on)),
        ("priority", Node::Number(story.priority.into())),
        ("working_branch", maybe(&story.branch)),
        ("pr_url", maybe(&story.pr_url)),
        ("status", Node::text(status(row))),
        ("created_at", rows::time(row.created_at)),
    ]
}

/// The pipeline API's statuses of a story.
pub(super) fn status(row: &StoryRow) -> &'static str {
    match row.latest.map(|(_, status)| status) {
        None => "pending",
        Some(RunStatus::Open) => "in_progress",
        Some(RunStatus::Paused) => "paused",
        Some(RunStatus::Completed) => "passed",
        Some(RunStatus::Cancelled) => "skipped",
    }
}
