//! Runs: list, start, show, steer.

pub(crate) mod document;

use baton_api::{
    Because, CommandAnswer, Goto, Nothing, OrderWord, Page, RerouteRequest, RunDefinition,
    RunDetail, RunDocument, StartRequest, StatusWord, Why,
};
use baton_core::budget::Budget;
use baton_core::command::{Command, Reroute};
use baton_core::names::{Reason, StepId, WorkflowName};
use baton_core::run::RunStatus;
use baton_engine::{Dependencies, RunTarget, StartRun, StartingPoint};
use baton_store::{RunFilter, RunRef};
use serde::Deserialize;
use utoipa::IntoParams;

use self::document::{run_detail, run_document};
use super::answer::{ApiResponse, after, limit};
use super::command_result::{tell, tell_run};
use super::handoffs::document::refused;
use super::window;
use super::write::{CommandDone, RunCommandParams, RunHeaders, RunPath, WriteRequest};
use crate::body;
use crate::lookup::{find_run, known_agent, known_agent_of, story_key, typed_story};
use crate::openapi::{ReadProblems, WriteProblems};
use crate::params::{Named, Params};
use crate::problem::ApiProblem;
use crate::scope::RequestScope;
use crate::values::{reason, words};

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct RunListQuery {
    /// Any of these statuses, separated by commas.
    #[param(value_type = Option<Vec<StatusWord>>, style = Form, explode = false)]
    status: Option<String>,
    /// The key of a story.
    #[param(min_length = 1, max_length = 200)]
    story: Option<String>,
    /// The name of a workflow.
    #[param(pattern = "^[a-z0-9]+(-[a-z0-9]+)*$", max_length = 64)]
    workflow: Option<String>,
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

/// Lists runs.
///
/// By their number. If few match the filter, a page may be short and still have a `next`.
#[utoipa::path(get, path = "/api/v1/runs", operation_id = "listRuns", tag = "runs",
    params(RunListQuery),
    responses(
        (status = 200, description = "One page of runs",
            body = Page<RunDocument>),
        ReadProblems))]
pub(super) async fn list(
    app: RequestScope,
    Params(query): Params<RunListQuery>,
) -> Result<ApiResponse<Page<RunDocument>>, ApiProblem> {
    let limit = limit(query.limit)?;
    let filter = RunFilter {
        story: story_key(&app, query.story.as_deref()).await?,
        workflow: query.workflow.as_deref().map(WorkflowName::parse).transpose()?,
        statuses: words::<RunStatus>("status", query.status.as_deref())?,
        only_waiting: false,
        only_blocked: false,
        order: query.order.0,
        after: after(query.after)?,
        until: 0,
        limit: limit + 1,
    };
    let found = window::runs(*app.read(), &filter).await?;
    let mut shown = Vec::new();
    for row in &found.rows {
        shown.push((row.number, run_document(&app, row).await?));
    }
    let given_up_at = found.given_up_at();
    Ok(ApiResponse::new(window::page(shown, given_up_at, limit)))
}

/// Shows a run.
///
/// Where the baton is, who has to act, and the gates that the work has passed. Its `ETag` is its
/// version.
#[utoipa::path(get, path = "/api/v1/runs/{run}", operation_id = "getRun", tag = "runs",
    params(RunPath),
    responses(
        (status = 200, description = "The run",
            body = RunDetail, headers(("ETag" = String, description = "The run's version"))),
        ReadProblems))]
pub(super) async fn get(
    app: RequestScope,
    Named(name): Named,
) -> Result<ApiResponse<RunDetail>, ApiProblem> {
    let row = find_run(&app, &name).await?;
    Ok(ApiResponse::new(run_detail(&app, &row).await?).at(row.version))
}

/// Shows the workflow of a run.
///
/// As it was when the run began, beside the project's as it is now.
#[utoipa::path(get, path = "/api/v1/runs/{run}/definition", operation_id = "getRunDefinition",
    tag = "runs",
    params(RunPath),
    responses((status = 200, description = "The workflow, then and now", body = RunDefinition), ReadProblems))]
pub(super) async fn definition(
    app: RequestScope,
    Named(name): Named,
) -> Result<ApiResponse<RunDefinition>, ApiProblem> {
    let row = find_run(&app, &name).await?;
    let (pin, workflow) = (row.run.pin, &row.run.workflow);
    let began_with = app.read().definition(&pin).await?;
    let catalog = app.read().fresh_catalog();
    let current = catalog.workflow(workflow).ok().map(|it| it.text.clone());
    Ok(ApiResponse::new(RunDefinition {
        name: workflow.to_string(),
        hash: pin.to_string(),
        text: began_with.map(|it| it.text).unwrap_or_default(),
        current,
    }))
}

/// Starts a run of a story.
///
/// Without `story`, of the story that is next in order. If the baton of its run is loose, the story
/// is handed in again.
#[utoipa::path(post, path = "/api/v1/runs", operation_id = "startRun", tag = "runs",
    params(super::write::WriteQuery, RunHeaders),
    request_body = Option<StartRequest>,
    responses(
        (status = 200, description = "What would happen (`dryRun`)", body = CommandAnswer),
        (status = 201, description = "Begun", body = CommandAnswer, headers(
            ("Location" = String, description = "The run"),
            ("ETag" = String, description = "The run's version"))),
        WriteProblems))]
pub(super) async fn start(
    app: RequestScope,
    write: WriteRequest<StartRequest>,
) -> Result<ApiResponse<CommandAnswer>, ApiProblem> {
    let WriteRequest { asked, caller, .. } = write;
    let workflow = asked.workflow.as_deref().map(WorkflowName::parse).transpose()?;
    let to = asked.to_agent.as_deref().map(|it| known_agent(&app, it)).transpose()?;
    let package =
        asked.package.as_deref().map(|it| body::package_or_document(Some(it))).transpose()?;
    let reason = reason(asked.reason.as_deref())?;
    let at = asked.at.as_deref().map(|it| at(it, reason.as_ref())).transpose()?;
    let mode = asked.mode.map(|it| it.0);
    let budget = asked.budget.as_deref().map(budget).transpose()?.unwrap_or_default();
    let dependencies = if asked.anyway { Dependencies::Anyway } else { Dependencies::First };
    let of = |story| StartRun { story, workflow, to, package, reason, mode, budget, dependencies };
    let outcome = match (asked.story, at) {
        (Some(key), at) => {
            let story = typed_story(&app, &key, asked.new_story.into()).await?;
            match at {
                Some(at) => caller.start_at(of(story), at).await,
                None => caller.start(of(story)).await,
            }
        }
        (None, None) => caller.start_next(of).await,
        (None, Some(_)) => {
            return Err(ApiProblem::malformed(
                "missing_field",
                "`at` needs a `story`: name the one to start",
            ));
        }
    };
    match outcome {
        Ok(outcome) => tell_run(&app, &caller, &outcome).await,
        Err(error) => Err(refused(&app, error).await),
    }
}

/// Pauses a run.
///
/// No handoff can be accepted until it is resumed; work that is held may finish.
#[utoipa::path(post, path = "/api/v1/runs/{run}/pause", operation_id = "pauseRun", tag = "runs",
    params(RunCommandParams),
    request_body = Option<Why>,
    responses(CommandDone, WriteProblems))]
pub(super) async fn pause(
    app: RequestScope,
    name: Named,
    write: WriteRequest<Why>,
) -> Result<ApiResponse<CommandAnswer>, ApiProblem> {
    let reason = reason(write.asked.reason.as_deref())?;
    on_run(&app, &name, &write, Command::Pause { reason }).await
}

/// Resumes a paused run.
///
/// Its pending handoffs can be accepted again.
#[utoipa::path(post, path = "/api/v1/runs/{run}/resume", operation_id = "resumeRun", tag = "runs",
    params(RunCommandParams),
    request_body = Option<Nothing>,
    responses(CommandDone, WriteProblems))]
pub(super) async fn resume(
    app: RequestScope,
    name: Named,
    write: WriteRequest<Nothing>,
) -> Result<ApiResponse<CommandAnswer>, ApiProblem> {
    on_run(&app, &name, &write, Command::Resume).await
}

/// Cancels a run.
///
/// Everything that is open in it is cancelled with it.
#[utoipa::path(post, path = "/api/v1/runs/{run}/cancel", operation_id = "cancelRun", tag = "runs",
    params(RunCommandParams),
    request_body = Option<Why>,
    responses(CommandDone, WriteProblems))]
pub(super) async fn cancel(
    app: RequestScope,
    name: Named,
    write: WriteRequest<Why>,
) -> Result<ApiResponse<CommandAnswer>, ApiProblem> {
    let reason = reason(write.asked.reason.as_deref())?;
    on_run(&app, &name, &write, Command::CancelRun { reason }).await
}

/// Sends a run back to a step.
///
/// To one that it has visited. Gates that are crossed on the way are recorded as waived by the
/// caller.
#[utoipa::path(post, path = "/api/v1/runs/{run}/goto", operation_id = "gotoStep", tag = "runs",
    params(RunCommandParams),
    request_body = Goto,
    responses(CommandDone, WriteProblems))]
pub(super) async fn goto(
    app: RequestScope,
    name: Named,
    write: WriteRequest<Goto>,
) -> Result<ApiResponse<CommandAnswer>, ApiProblem> {
    let (step, reason) = (StepId::parse(&write.asked.step)?, Reason::parse(&write.asked.reason)?);
    let by = write.caller.principal().clone();
    on_run(&app, &name, &write, Command::Goto { step, reason, by }).await
}

/// Skips the optional step that the baton is at.
///
/// The work goes on along the success edge, with the reason on the record.
#[utoipa::path(post, path = "/api/v1/runs/{run}/skip", operation_id = "skipStep", tag = "runs",
    params(RunCommandParams),
    request_body = Because,
    responses(CommandDone, WriteProblems))]
pub(super) async fn skip(
    app: RequestScope,
    name: Named,
    write: WriteRequest<Because>,
) -> Result<ApiResponse<CommandAnswer>, ApiProblem> {
    let reason = Reason::parse(&write.asked.reason)?;
    on_run(&app, &name, &write, Command::Skip { reason }).await
}

/// Sends what blocks a step elsewhere.
///
/// Not where the workflow's table says, for one of four causes, which is recorded.
#[utoipa::path(post, path = "/api/v1/runs/{run}/reroute", operation_id = "rerouteBlockers",
    tag = "runs",
    params(RunCommandParams),
    request_body = RerouteRequest,
    responses(CommandDone, WriteProblems))]
pub(super) async fn reroute(
    app: RequestScope,
    name: Named,
    write: WriteRequest<RerouteRequest>,
) -> Result<ApiResponse<CommandAnswer>, ApiProblem> {
    let asked = &write.asked;
    let run = find_run(&app, &name.0).await?.run;
    let to = known_agent_of(&app, &asked.to, Some(&run.workflow))?;
    let reason = Reason::parse(&asked.reason)?;
    let by = write.caller.principal().clone();
    let handoff = match asked.handoff.as_deref() {
        Some(name) => {
            let which = app.read().handoff_named(name, Some(run.id)).await?;
            Some(app.read().handoff_in(&RunTarget::Run(RunRef::Id(run.id)), &which).await?)
        }
        None => None,
    };
    let reroute = Reroute { handoff, to, cause: asked.cause.0, reason, by };
    on_run(&app, &name, &write, Command::Reroute(reroute)).await
}

/// Cancels the pending handoffs of a run.
///
/// Questions to people are kept; `kept` of the response names them.
#[utoipa::path(post, path = "/api/v1/runs/{run}/cleanup", operation_id = "cleanUpRun", tag = "runs",
    params(RunCommandParams),
    request_body = Option<Why>,
    responses(CommandDone, WriteProblems))]
pub(super) async fn clean_up(
    app: RequestScope,
    name: Named,
    write: WriteRequest<Why>,
) -> Result<ApiResponse<CommandAnswer>, ApiProblem> {
    let reason = reason(write.asked.reason.as_deref())?;
    on_run(&app, &name, &write, Command::CleanUp { reason }).await
}

async fn on_run<T>(
    app: &RequestScope,
    Named(name): &Named,
    write: &WriteRequest<T>,
    command: Command,
) -> Result<ApiResponse<CommandAnswer>, ApiProblem> {
    let run = find_run(app, name).await?.run.id;
    match write.caller.on_run(run, command).await {
        Ok(outcome) => tell(app, &write.caller, &outcome).await,
        Err(error) => Err(refused(app, error).await),
    }
}

fn budget(text: &str) -> Result<Budget, ApiProblem> {
    Budget::parse(text).map_err(|error| ApiProblem::malformed("wrong_type", error.to_string()))
}

/// Starting past gates needs a reason.
fn at(step: &str, reason: Option<&Reason>) -> Result<StartingPoint, ApiProblem> {
    let step = StepId::parse(step)?;
    match reason.cloned() {
        Some(reason) => Ok(StartingPoint { step, reason }),
        None => Err(ApiProblem::malformed(
            "missing_field",
            "`at` needs a `reason`: say why the run starts there",
        )),
    }
}
