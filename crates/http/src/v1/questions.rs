//! Questions of agents to agents inside a step.

use std::time::Duration;

use baton_api::{AgentProfile, AskAnswer, AskDocument, CommandAnswer, DryRun, NewAsk, Page};
use baton_core::collaboration::Collaboration;
use baton_core::command::Command;
use baton_core::names::FreeText;
use baton_store::{RunRef, RunRow};
use baton_views::{AskProgress, AskRecord};
use serde::Deserialize;
use tokio::time::{Instant, sleep_until};
use utoipa::IntoParams;

use super::answer::{ApiResponse, PageQuery, after, cut, limit};
use super::command_result::{WriteAnswer, command_on_run, made_in_run};
use super::write::{CommandDone, RunCommandParams, RunPath, WriteRequest};
use crate::lookup::{by, find_run, known_agent_of, not_found};
use crate::openapi::{ReadProblems, WriteProblems};
use crate::params::{Named, NumberedIn, Params};
use crate::problem::ApiProblem;
use crate::scope::RequestScope;

/// How long a caller may wait for an answer in one request.
const MOST_WAIT_SECONDS: u32 = 60;

/// How long to wait for an answer.
#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct WaitQuery {
    /// Answer only when the question is no longer open, or after this time.
    #[serde(default)]
    #[param(minimum = 0, maximum = 60, default = 0)]
    wait_seconds: u32,
}

/// Lists the questions between the agents of a run.
///
/// Those inside a step, oldest first. A receiver's question about its handoff is a handoff itself.
#[utoipa::path(get, path = "/api/v1/runs/{run}/questions", operation_id = "listAgentQuestions",
    tag = "conversation",
    params(RunPath, PageQuery),
    responses(
        (status = 200, description = "One page of questions", body = Page<AskDocument>),
        ReadProblems))]
pub(super) async fn list(
    app: RequestScope,
    Named(name): Named,
    Params(query): Params<PageQuery>,
) -> Result<ApiResponse<Page<AskDocument>>, ApiProblem> {
    let limit = limit(query.limit)?;
    let run = find_run(&app, &name).await?;
    let after = after(query.after)?;
    let asks = app.read().asks(&run.run).await?;
    let asks = asks.into_iter().filter(|it| u64::from(it.no) > after);
    let asks: Vec<_> = asks.take(limit as usize + 1).collect();
    Ok(ApiResponse::new(cut(asks, limit, |it| it.no.to_string(), document)))
}

/// Gets a question, and waits for its answer.
///
/// A question is put again after 30 seconds without an answer, and given up after 30 more.
#[utoipa::path(get, path = "/api/v1/runs/{run}/questions/{number}",
    operation_id = "getAgentQuestion", tag = "conversation",
    params(RunPath, ("number" = u32, Path, description = "Counted in the run, from 1"), WaitQuery),
    responses((status = 200, description = "The question", body = AskDocument), ReadProblems))]
pub(super) async fn get(
    app: RequestScope,
    NumberedIn(name, number): NumberedIn,
    Params(query): Params<WaitQuery>,
) -> Result<ApiResponse<AskDocument>, ApiProblem> {
    if query.wait_seconds > MOST_WAIT_SECONDS {
        let message = format!("`waitSeconds` is a number from 0 to {MOST_WAIT_SECONDS}");
        return Err(ApiProblem::malformed("wrong_type", message));
    }
    let id = find_run(&app, &name).await?.run.id;
    let until = Instant::now() + Duration::from_secs(query.wait_seconds.into());
    let mut news = app.caller().news();
    loop {
        // Before the look, so that what comes during it is seen at the next one.
        news.borrow_and_update();
        let run = app.read().run(&RunRef::Id(id)).await?;
        let open = run.run.asks.iter().find(|it| it.no == number);
        let now = app.read().now();
        let Some(open) = open.filter(|_| Instant::now() < until) else {
            return Ok(ApiResponse::new(numbered(&app, &run, number).await?));
        };
        if open.due <= now {
            app.caller().lapse_asks(&run.run).await?;
            continue;
        }
        let in_time = Duration::try_from(open.due.duration_since(now)).unwrap_or_default();
        let wake = until.min(Instant::now() + in_time);
        let is_open = tokio::select! {
            it = news.changed() => it.is_ok(),
            () = sleep_until(wake) => true,
            () = app.live.closed() => false,
        };
        if !is_open {
            return Ok(ApiResponse::new(numbered(&app, &run, number).await?));
        }
    }
}

/// Asks another agent inside a step: nothing moves.
///
/// Refused where the other agent waits, directly or through others, for the one that asks: neither
/// would ever get an answer.
#[utoipa::path(post, path = "/api/v1/runs/{run}/questions", operation_id = "askAgent",
    tag = "conversation",
    params(RunCommandParams),
    request_body = NewAsk,
    responses(
        (status = 200, description = "What would happen (`dryRun`)", body = DryRun),
        (status = 201, description = "The question", body = AskDocument),
        WriteProblems))]
pub(super) async fn ask(
    app: RequestScope,
    Named(name): Named,
    write: WriteRequest<NewAsk>,
) -> Result<ApiResponse<WriteAnswer<AskDocument>>, ApiProblem> {
    let run = find_run(&app, &name).await?.run;
    let by = known_agent_of(&app, &write.asked.agent, Some(&run.workflow))?;
    let to = known_agent_of(&app, &write.asked.to, Some(&run.workflow))?;
    if [&by, &to].iter().any(|it| it.is_human() || it.is_orchestrator()) {
        let message = "only agents ask each other here; a person is asked with a handoff to `human`, \
                       and answers in the inbox";
        return Err(ApiProblem::malformed("unknown_agent", message));
    }
    let question = FreeText::parse(&write.asked.question)?;
    let command = Command::Collaborate(Collaboration::Ask { by, to, question });
    made_in_run(&app, &write.caller, run.id, command, async |row| {
        let number = row.run.n_asks;
        Ok((numbered(&app, row, number).await?, format!("questions/{number}")))
    })
    .await
}

/// Answers a question between agents.
///
/// Only the agent that was asked, or a person, may answer.
#[utoipa::path(post, path = "/api/v1/runs/{run}/questions/{number}/answer",
    operation_id = "answerAgent", tag = "conversation",
    params(RunCommandParams, ("number" = u32, Path, description = "Counted in the run, from 1")),
    request_body = AskAnswer,
    responses(CommandDone, WriteProblems))]
pub(super) async fn answer(
    app: RequestScope,
    NumberedIn(name, ask): NumberedIn,
    write: WriteRequest<AskAnswer>,
) -> Result<ApiResponse<CommandAnswer>, ApiProblem> {
    let run = find_run(&app, &name).await?.run.id;
    let by = by(&app, write.asked.agent.as_deref())?;
    let answer = FreeText::parse(&write.asked.answer)?;
    let command = Command::Collaborate(Collaboration::Reply { ask, by, answer });
    command_on_run(&app, &write.caller, run, command).await
}

async fn numbered(
    app: &RequestScope,
    run: &RunRow,
    number: u32,
) -> Result<AskDocument, ApiProblem> {
    let asks = app.read().asks(&run.run).await?;
    let found = asks.into_iter().find(|it| it.no == number).map(document);
    let message = || format!("there is no question {number} in this run");
    found.ok_or_else(|| not_found("no_such_question", message()))
}

fn document(it: AskRecord) -> AskDocument {
    let status = it.progress.name().to_owned();
    let (answer, answered_by, ended_at) = match it.progress {
        AskProgress::Open => (None, None, None),
        AskProgress::Answered { by, answer, at } => {
            (answer, Some(AgentProfile::from(&by)), Some(at))
        }
        AskProgress::Unanswered { at } => (None, None, Some(at)),
    };
    AskDocument {
        number: it.no,
        correlation_id: it.correlation,
        status,
        from: AgentProfile::from(&it.from),
        to: AgentProfile::from(&it.to),
        question: it.question,
        asked_at: it.asked_at,
        attempts: it.attempts,
        due: it.due,
        answer,
        answered_by,
        ended_at,
    }
}
