//! What agents used: reported by a runner, listed for each attempt, summed up for each run.

use baton_api::{
    AgentUsageDocument, AttemptUsageDocument, BudgetDocument, CommandAnswer, Page, RunUsage,
    UsageDocument, UsageReport,
};
use baton_core::budget::{Budget, Usage};
use baton_core::command::{Command, RecordUsage};
use baton_core::decide;
use baton_core::names::ExecutorName;
use baton_core::run::{Run, Spent};
use baton_core::workflow::Workflow;
use baton_store::Position;
use baton_views::AttemptUsage;

use super::answer::{ApiResponse, PageQuery, after, cut, limit};
use super::handoffs::commands::on_handoff;
use super::write::{CommandDone, HandoffCommandParams, HandoffQuery, RunPath, WriteRequest};
use crate::lookup::{find_run, handoff_ref};
use crate::openapi::{ReadProblems, WriteProblems};
use crate::params::{Named, Params};
use crate::problem::ApiProblem;
use crate::scope::RequestScope;

/// Records what the program of an agent used.
///
/// Once for each program that was started, or for each part of its work. What is used counts for the
/// budgets of the run, the step, the edge and the agent. Needs the runner's credential, or the token of the
/// attempt. The handoff and its run may be over already.
#[utoipa::path(post, path = "/api/v1/handoffs/{handoff}/usage", operation_id = "recordUsage",
    tag = "runner",
    params(HandoffCommandParams),
    request_body = UsageReport,
    responses(CommandDone, WriteProblems))]
pub(super) async fn report(
    app: RequestScope,
    name: Named,
    write: WriteRequest<UsageReport, HandoffQuery>,
) -> Result<ApiResponse<CommandAnswer>, ApiProblem> {
    write.caller.check_runner_or_attempt()?;
    let asked = &write.asked;
    let usage = Usage {
        input_tokens: asked.input_tokens,
        cached_tokens: asked.cached_tokens,
        output_tokens: asked.output_tokens,
        micro_usd: asked.micro_usd,
        work_ms: asked.work_ms,
    };
    if !usage.is_plausible() {
        let message = "a number is too large, or `cachedTokens` is more than `inputTokens`";
        return Err(ApiProblem::malformed("wrong_type", message));
    }
    let executor = asked.executor.as_deref().map(ExecutorName::parse).transpose()?;
    let which = handoff_ref(&app, &name.0, write.query.run.as_deref()).await?;
    let row = app.read().handoff(&which).await?;
    let (to, from, fence) = (row.to, row.from.place, asked.fence);
    let (agent, place) = (to.agent.clone(), to.place);
    let command = |handoff| {
        Command::RecordUsage(RecordUsage { handoff, fence, agent, place, from, executor, usage })
    };
    let answer = on_handoff(&app, &name, &write, command).await?;
    app.usage.count(app.read().catalog().agents(), &to.agent, &usage);
    Ok(answer)
}

/// Lists what the attempts of a run used.
///
/// One item for each program that was started, oldest first.
#[utoipa::path(get, path = "/api/v1/runs/{run}/usage", operation_id = "listUsage", tag = "runs",
    params(RunPath, PageQuery),
    responses(
        (status = 200, description = "One page of attempts",
            body = Page<AttemptUsageDocument>),
        ReadProblems))]
pub(super) async fn list(
    app: RequestScope,
    Named(name): Named,
    Params(query): Params<PageQuery>,
) -> Result<ApiResponse<Page<AttemptUsageDocument>>, ApiProblem> {
    let limit = limit(query.limit)?;
    let run = find_run(&app, &name).await?;
    let after = Position(after(query.after)?);
    let found = app.read().usage(run.run.id, after, limit as usize + 1).await?;
    let position = |it: &AttemptUsage| it.position.0.to_string();
    Ok(ApiResponse::new(cut(found, limit, position, attempt_usage)))
}

fn attempt_usage(it: AttemptUsage) -> AttemptUsageDocument {
    AttemptUsageDocument {
        position: it.position.0,
        at: it.at,
        handoff: it.handoff.label(),
        fence: it.fence,
        agent: it.agent.to_string(),
        executor: it.executor.map(|it| it.to_string()),
        usage: usage_document(it.usage),
    }
}

/// `None` for a run whose agents report nothing and have no budget.
pub(super) fn run_usage(run: &Run, workflow: &Workflow) -> Option<RunUsage> {
    let budget = decide::run_budget(run, workflow);
    if run.spent.is_empty() && budget.is_unlimited() {
        return None;
    }
    Some(RunUsage {
        total: usage_document(run.used()),
        budget: budget_document(budget),
        agents: agent_usages(&run.spent),
    })
}

/// One for each agent and step, whichever edges brought the work.
fn agent_usages(spent: &[Spent]) -> Vec<AgentUsageDocument> {
    let mut sums: Vec<Spent> = Vec::new();
    for it in spent {
        match sums.iter_mut().find(|sum| sum.agent == it.agent && sum.step == it.step) {
            Some(sum) => {
                sum.n += it.n;
                sum.usage = sum.usage.plus(it.usage);
            }
            None => sums.push(it.clone()),
        }
    }
    let document = |it: Spent| AgentUsageDocument {
        agent: it.agent.to_string(),
        step: it.step.as_ref().map(ToString::to_string),
        n_reports: it.n,
        usage: usage_document(it.usage),
    };
    sums.into_iter().map(document).collect()
}

fn usage_document(it: Usage) -> UsageDocument {
    UsageDocument {
        input_tokens: it.input_tokens,
        cached_tokens: it.cached_tokens,
        output_tokens: it.output_tokens,
        micro_usd: it.micro_usd,
        work_ms: it.work_ms,
    }
}

/// `None` where nothing is limited.
pub(super) fn budget_document(it: Budget) -> Option<BudgetDocument> {
    let Budget { tokens, micro_usd, work_ms } = it;
    (!it.is_unlimited()).then_some(BudgetDocument { tokens, micro_usd, work_ms })
}
