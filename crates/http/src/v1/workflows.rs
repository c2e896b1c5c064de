//! The workflow API's two routes: the status of a workflow in progress, and its handoffs. Its
//! workflow instance is a run here.

mod steps;
mod trail;

use baton_api::{
    AgentHandoff, Attribution, NumberedPage, RunDetail, StepStatus, WorkflowProgress,
    WorkflowStatus,
};
use baton_core::names::AgentId;
use baton_core::run::{Run, RunStatus, State as Open};
use baton_core::workflow::Workflow;
use baton_engine::EngineError;
use baton_store::{HandoffFilter, Order, RunRow};
use serde::Deserialize;
use utoipa::IntoParams;

use self::steps::step_statuses;
use self::trail::trail;
use super::agents::step_title;
use super::answer::ApiResponse;
use super::dates::{first_instant, instant_after};
use super::runs::document::run_detail;
use crate::lookup::find_run;
use crate::openapi::ReadProblems;
use crate::params::{Named, Params};
use crate::problem::ApiProblem;
use crate::scope::RequestScope;

const RECENT: u32 = 5;
const USUAL_PAGE: u32 = 20;
const MOST_ON_A_PAGE: u32 = 100;

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct HandoffsQuery {
    /// Counted from 1.
    #[param(minimum = 1, default = 1)]
    page: Option<u32>,
    /// From 1 to 100; anything else counts as the nearer of the two.
    #[param(default = 20)]
    page_size: Option<i64>,
    /// The first day in UTC, or the first instant as RFC 3339 has it.
    #[param(pattern = r"^\d{4}-\d{2}-\d{2}([Tt].+)?$")]
    from_date: Option<String>,
    /// The last day in UTC, or the last instant. Both ends are included.
    #[param(pattern = r"^\d{4}-\d{2}-\d{2}([Tt].+)?$")]
    to_date: Option<String>,
    /// The sender or the receiver.
    #[param(pattern = "^[a-z0-9]+(-[a-z0-9]+)*$", max_length = 64)]
    agent: Option<String>,
}

/// Shows a run under the workflow API's name.
///
/// The same as `/api/v1/runs/{run}`: `{id}` is a run, not a workflow. Workflows are at
/// `/api/v1/definitions`.
#[utoipa::path(get, path = "/api/v1/workflows/{id}", operation_id = "getWorkflow",
    tag = "workflows",
    params(("id" = String, Path, description = "A run: its id, its number or its story's key")),
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

/// Shows the status of a run with attribution.
///
/// Its steps, its current agent, and the last handoffs. `{id}` is a run.
#[utoipa::path(get, path = "/api/v1/workflows/{id}/status", operation_id = "getWorkflowStatus",
    tag = "workflows",
    params(("id" = String, Path, description = "A run: its id, its number or its story's key")),
    responses(
        (status = 200, description = "The status",
            body = WorkflowStatus, headers(("ETag" = String, description = "The run's version"))),
        ReadProblems))]
pub(super) async fn status(
    app: RequestScope,
    Named(name): Named,
) -> Result<ApiResponse<WorkflowStatus>, ApiProblem> {
    let row = find_run(&app, &name).await?;
    let workflow = app.read().workflow_of(&row).await?;
    let steps = step_statuses(&app, &row, &workflow).await?;
    let recent = HandoffFilter { order: Order::NewestFirst, limit: RECENT, ..of_run(&row) };
    let mut recent = app.read().handoffs(&recent).await?;
    recent.reverse();
    let recent = trail(&app, &row.run, &workflow, &recent, "recentHandoffs").await?;
    let current = steps.iter().position(StepStatus::is_current);
    let n_done = steps.iter().filter(|it| it.is_done()).count();
    let percent = match row.run.status {
        RunStatus::Completed => 100,
        RunStatus::Open | RunStatus::Paused | RunStatus::Cancelled => {
            n_done * 100 / steps.len().max(1)
        }
    };
    Ok(ApiResponse::new(WorkflowStatus {
        id: row.run.id.0,
        workflow_instance_id: row.run.id.0,
        workflow_id: workflow.name.to_string(),
        name: workflow.title.clone(),
        status: status_name(&row.run),
        current_step: current.and_then(|it| u32::try_from(it + 1).ok()),
        total_steps: u32::try_from(steps.len()).unwrap_or(u32::MAX),
        percent_complete: u32::try_from(percent).unwrap_or(100),
        started_at: row.run.started_at,
        current_agent: current_agent(&app, &row.run, &workflow).await?,
        recent_handoffs: recent.items,
        damaged: recent.damaged,
        steps,
    })
    .at(row.version))
}

/// Lists the handoffs of a run with attribution.
///
/// Who handed what to whom, by time and then by id, in numbered pages. `{id}` is a run.
#[utoipa::path(get, path = "/api/v1/workflows/{id}/handoffs", operation_id = "listWorkflowHandoffs",
    tag = "workflows",
    params(("id" = String, Path, description = "A run: its id, its number or its story's key"),
        HandoffsQuery),
    responses(
        (status = 200, description = "One page of handoffs",
            body = NumberedPage<AgentHandoff>),
        ReadProblems))]
pub(super) async fn handoffs(
    app: RequestScope,
    Named(name): Named,
    Params(query): Params<HandoffsQuery>,
) -> Result<ApiResponse<NumberedPage<AgentHandoff>>, ApiProblem> {
    let page = at_least_one("page", query.page.unwrap_or(1))?;
    let page_size = query.page_size.unwrap_or(USUAL_PAGE.into()).clamp(1, MOST_ON_A_PAGE.into());
    let page_size = u32::try_from(page_size).unwrap_or(USUAL_PAGE);
    let row = find_run(&app, &name).await?;
    let workflow = app.read().workflow_of(&row).await?;
    let filter = HandoffFilter {
        // Unknown ids are allowed: an agent that is in no file any more may have sent handoffs.
        with: query.agent.as_deref().map(AgentId::parse).transpose()?,
        created_from: first_instant(query.from_date.as_deref(), "fromDate")?,
        created_before: instant_after(query.to_date.as_deref(), "toDate")?,
        skip: u64::from(page - 1) * u64::from(page_size),
        limit: page_size,
        ..of_run(&row)
    };
    let store = app.read();
    let total_items = store.count_handoffs(&filter).await?;
    let total_pages = total_items.div_ceil(page_size.into());
    let rows = store.handoffs(&filter).await?;
    let trail = trail(&app, &row.run, &workflow, &rows, "items").await?;
    Ok(ApiResponse::new(NumberedPage {
        items: trail.items,
        damaged: trail.damaged,
        page,
        page_size,
        total_items,
        total_pages,
        has_previous: page > 1,
        has_next: u64::from(page) < total_pages,
    }))
}

/// A question does not move responsibility from one agent to another: it is no handoff here.
fn of_run(row: &RunRow) -> HandoffFilter {
    HandoffFilter {
        run: Some(row.run.id),
        only_moves: true,
        by_time: true,
        ..HandoffFilter::default()
    }
}

async fn current_agent(
    app: &RequestScope,
    run: &Run,
    workflow: &Workflow,
) -> Result<Option<Attribution>, EngineError> {
    let Some(agent) = run.current_agent() else { return Ok(None) };
    let step = steps::current_step(run).and_then(|it| step_title(workflow, &it));
    let agent = app.read().cast(run).await?.today(agent);
    Ok(Some(Attribution::from(&agent).at(step)))
}

fn status_name(run: &Run) -> WorkflowProgress {
    match (run.status, run.gate()) {
        (RunStatus::Completed, _) => WorkflowProgress::Completed,
        (RunStatus::Cancelled, _) => WorkflowProgress::Cancelled,
        (RunStatus::Paused, _) => WorkflowProgress::Paused,
        (RunStatus::Open, Some(_)) => WorkflowProgress::WaitingForApproval,
        (RunStatus::Open, None) => match run.current().map(|it| it.state) {
            Some(Open::Clarification) => WorkflowProgress::WaitingForInput,
            Some(Open::Pending | Open::Accepted | Open::Parked) | None => WorkflowProgress::Running,
        },
    }
}

fn at_least_one(name: &str, number: u32) -> Result<u32, ApiProblem> {
    if number > 0 {
        return Ok(number);
    }
    Err(ApiProblem::malformed("wrong_type", format!("`{name}` is a number from 1")))
}
