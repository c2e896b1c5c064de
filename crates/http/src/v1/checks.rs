//! Checks of parked work: a runner takes them, and says what came of them.

use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use baton_api::{CheckClaim, CheckClaimRequest, CheckReport, CommandAnswer, ObservedResult};
use baton_core::command::{Command, LeaseTime, RanCheck, ReportChecks};
use baton_core::evidence::{CheckRun, MOST_CHECKS};
use baton_core::names::{CheckName, CommitId, FreeText};
use baton_engine::CommandResult;
use baton_store::RunRef;

use super::answer::ApiResponse;
use super::claims::ClaimQuery;
use super::handoffs::commands::on_handoff;
use super::handoffs::document::handoff_document;
use super::long_poll::PollWait;
use super::runs::document::run_document;
use super::write::{CommandDone, HandoffCommandParams, HandoffQuery, KeyHeader, WriteRequest};
use crate::openapi::WriteProblems;
use crate::params::Named;
use crate::problem::ApiProblem;
use crate::scope::RequestScope;
use crate::values::lease;

/// Takes the checks of the most urgent work that waits for them under a lease, for a runner.
///
/// Only work whose checks the runner can all run. Needs the runner's credential.
#[utoipa::path(post, path = "/api/v1/claims/checks", operation_id = "claimChecks", tag = "runner",
    params(KeyHeader),
    request_body = CheckClaimRequest,
    responses(
        (status = 200, description = "Work whose checks are to be run now", body = CheckClaim),
        (status = 204, description = "There is nothing to do, and nothing came while it waited"),
        WriteProblems))]
pub(super) async fn claim(
    app: RequestScope,
    write: WriteRequest<CheckClaimRequest, ClaimQuery>,
) -> Result<Response, ApiProblem> {
    write.caller.check_runner()?;
    let asked = &write.asked;
    if asked.checks.len() > MOST_CHECKS {
        let message = format!("`checks` names at most {MOST_CHECKS} checks");
        return Err(ApiProblem::malformed("wrong_type", message));
    }
    let can_run = asked.checks.iter().map(|it| CheckName::parse(it));
    let can_run = can_run.collect::<Result<Vec<_>, _>>()?;
    let lease = lease(asked.lease_seconds)?.unwrap_or(LeaseTime::USUAL);
    let wait = PollWait::of(asked.wait_seconds)?;
    let claimed = wait.until_found(&app, || write.caller.claim_checks(&can_run, lease)).await?;
    match claimed {
        Some(outcome) => Ok(answer(&app, &outcome, lease).await?.into_response()),
        None => Ok(StatusCode::NO_CONTENT.into_response()),
    }
}

/// Records what came of the checks of parked work, and hands it on or sends it back.
///
/// This alone decides a check that the project has a command for. Needs the runner's credential.
#[utoipa::path(post, path = "/api/v1/handoffs/{handoff}/checks", operation_id = "reportChecks",
    tag = "runner",
    params(HandoffCommandParams),
    request_body = CheckReport,
    responses(CommandDone, WriteProblems))]
pub(super) async fn report(
    app: RequestScope,
    name: Named,
    write: WriteRequest<CheckReport, HandoffQuery>,
) -> Result<ApiResponse<CommandAnswer>, ApiProblem> {
    write.caller.check_runner()?;
    let asked = &write.asked;
    if asked.results.is_empty() || asked.results.len() > MOST_CHECKS + 1 {
        let message = format!("`results` has 1 to {} results", MOST_CHECKS + 1);
        return Err(ApiProblem::malformed("wrong_type", message));
    }
    let results = asked.results.iter().map(result).collect::<Result<Vec<_>, _>>()?;
    let fence = asked.fence;
    let command = |handoff| Command::ReportChecks(ReportChecks { handoff, fence, results });
    on_handoff(&app, &name, &write, command).await
}

fn result(it: &ObservedResult) -> Result<RanCheck, ApiProblem> {
    let commit = |id: Option<&String>| id.map(|it| CommitId::parse(it)).transpose();
    Ok(RanCheck {
        check: CheckName::parse(&it.check)?,
        verdict: it.verdict.0,
        detail: FreeText::parse(&it.detail)?,
        ran: CheckRun {
            exit_code: it.exit_code,
            millis: it.millis,
            commit: commit(it.commit.as_ref())?,
            tree: commit(it.tree.as_ref())?,
        },
    })
}

async fn answer(
    app: &RequestScope,
    outcome: &CommandResult,
    lease: LeaseTime,
) -> Result<ApiResponse<CheckClaim>, ApiProblem> {
    let (Some(taken), Some(fence)) = (outcome.done.handoff, outcome.done.fence) else {
        unreachable!("a claim answers with what was taken")
    };
    let row = app.read().row_of(outcome, taken).await?;
    let run = app.read().run(&RunRef::Id(outcome.run)).await?;
    let work = run.run.handoff(taken).and_then(|it| it.checks.as_deref());
    // Empty for a repeated claim of what has ended since.
    let checks = work.map(|it| it.checks.iter().map(ToString::to_string).collect());
    let for_agent = work.map(|it| it.worker.agent.to_string());
    Ok(ApiResponse::new(CheckClaim {
        handoff: handoff_document(app, &row).await?,
        run: run_document(app, &run).await?,
        checks: checks.unwrap_or_default(),
        for_agent: for_agent.unwrap_or_default(),
        fence,
        lease_seconds: lease.seconds(),
    }))
}
