//! `GET /api/story/{id}`: a story and its progress.

use baton_api::pipeline::PipelineStory;
use baton_core::run::{Run, RunStatus};
use baton_store::{RunRef, StoryRow};

use super::run::several_agents;
use super::{Typed, rows};
use crate::openapi::ReadProblems;
use crate::params::Named;
use crate::problem::ApiProblem;
use crate::scope::RequestScope;

/// Shows a story and its progress.
///
/// The story's own text, the phase of its newest run and the agent that has to act.
#[utoipa::path(get, path = "/api/story/{id}", operation_id = "pipelineGetStory", tag = "pipeline",
    params(("id" = String, Path, description = "Its key")),
    responses((status = 200, description = "The story", body = PipelineStory), ReadProblems))]
pub(super) async fn get(
    app: RequestScope,
    Named(id): Named,
) -> Result<Typed<PipelineStory>, ApiProblem> {
    let key = app.read().story_key(&id).await?;
    let row = app.read().story(&key).await?;
    let run = app.read().find_run(&RunRef::LatestOf(key)).await?;
    let phase = match &run {
        Some(run) => Some(run.run.phase(&*app.read().workflow_of(run).await?).to_owned()),
        None => None,
    };
    let status = status(&row).into();
    let (story, run) = (row.story, run.as_ref().map(|it| &it.run));
    Ok(Typed(PipelineStory {
        id: story.key.to_string(),
        title: story.title,
        description: story.description,
        acceptance: story.acceptance,
        depends_on: story.depends_on.iter().map(ToString::to_string).collect(),
        priority: story.priority,
        working_branch: story.branch,
        pr_url: story.pr_url,
        status,
        created_at: rows::time_text(row.created_at),
        phase,
        current_agent: run.and_then(Run::current_agent).map(ToString::to_string),
        current_agents: run.map(several_agents).unwrap_or_default(),
        passes: run.is_some_and(is_passed),
        merged: run.is_some_and(|it| it.is_merged),
        merge_commit: run.and_then(|it| it.merge_commit.as_ref()).map(ToString::to_string),
    }))
}

/// Whether the work is good, as a signal or the end of the run says.
pub(super) fn is_passed(run: &Run) -> bool {
    run.is_passed || run.status == RunStatus::Completed
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
