//! `GET` and `POST /api/handoffs`.

use axum::body::Body;
use axum::http::{HeaderMap, StatusCode};
use baton_api::WordSet as _;
use baton_api::pipeline::{
    ActionResult, EarlierRun, HandoffListing, LeftOut, PipelineAccept, PipelineAction,
    PipelineCleanUp, PipelineCreate, PipelineReject, PipelineRow, PipelineTimeOut,
};
use baton_core::command::{Accept, Command, Create, Reject, Way};
use baton_core::contract::Profile;
use baton_core::names::{AgentId, Reason, StoryKey, WorkflowName};
use baton_core::run::{self, HandoffNo, HandoffState};
use baton_engine::{CommandResult, EngineError, RunTarget};
use baton_store::{HandoffFilter, HandoffRef, HandoffRow, Order, RunFilter, RunRef, RunRow};
use baton_views::in_url;
use jiff::SignedDuration;
use serde::Deserialize;
use utoipa::IntoParams;

use super::rows::{self, Keeps, MOST_ROWS};
use super::run::several_agents;
use super::{Typed, given, refused};
use crate::body;
use crate::lookup::{by, known_agent, not_found, story_key};
use crate::openapi::{ReadProblems, WriteProblems};
use crate::params::{NoParams, Params};
use crate::problem::ApiProblem;
use crate::scope::{RequestCaller, RequestScope};
use crate::values::{acknowledgement, lease, outcome, reason};

/// From the pipeline document: handoffs older than this are stale.
const STALE_MINUTES: u64 = 30;
const MOST_MINUTES: u64 = 525_600;
/// How many earlier runs of a story are listed; `/api/v1/runs?story=` lists all.
const MOST_EARLIER_RUNS: u32 = 20;

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct PipelineQuery {
    story_id: Option<String>,
    agent: Option<String>,
    /// `true`, to list only handoffs that have waited for too long.
    stale: Option<String>,
    /// How long is too long, in minutes. At most a year.
    minutes: Option<String>,
    /// With `storyId`: the number of one of the story's runs, in place of its newest one.
    run: Option<String>,
}

/// Shows the baton of a story, the pending handoffs of an agent, or the stale handoffs.
///
/// Takes `storyId`, `agent`, both, or `stale=true` with `minutes`; a request with none of them is
/// refused.
#[utoipa::path(get, path = "/api/handoffs", operation_id = "pipelineGetHandoffs", tag = "pipeline",
    params(PipelineQuery),
    responses(
        (status = 200, description = "What was asked for",
            body = HandoffListing),
        ReadProblems))]
pub(super) async fn get(
    app: RequestScope,
    Params(query): Params<PipelineQuery>,
) -> Result<Typed<HandoffListing>, ApiProblem> {
    let agent = by(&app, given(&query.agent))?;
    if given(&query.stale) == Some("true") {
        let minutes = match given(&query.minutes) {
            Some(minutes) => minutes.parse().map_err(|_| {
                ApiProblem::malformed("wrong_type", "`minutes` has to be a whole number")
            })?,
            None => STALE_MINUTES,
        };
        return stale(&app, minutes).await;
    }
    let story = story_key(&app, given(&query.story_id)).await?;
    match (story, agent) {
        (Some(story), None) => state(&app, &story, given(&query.run)).await,
        (story, Some(agent)) => pending(&app, story, agent).await,
        (None, None) => {
            Err(ApiProblem::malformed("missing_field", "say `storyId`, `agent` or `stale=true`"))
        }
    }
}

/// The holder of the baton in a story's newest run or in the run asked for, all handoffs of that run,
/// and which runs there were before it.
async fn state(
    app: &RequestScope,
    story: &StoryKey,
    asked: Option<&str>,
) -> Result<Typed<HandoffListing>, ApiProblem> {
    let views = app.read();
    let run = match asked {
        Some(asked) => Some(run_of(app, story, asked).await?),
        None => views.find_run(&RunRef::LatestOf(story.clone())).await?,
    };
    let Some(run) = run else {
        return Ok(Typed(HandoffListing {
            current_agent: Some(None),
            phase: Some(None),
            handoffs: Some(Vec::new()),
            ..HandoffListing::default()
        }));
    };
    let filter = HandoffFilter {
        run: Some(run.run.id),
        order: Order::NewestFirst,
        limit: MOST_ROWS,
        ..HandoffFilter::default()
    };
    let mut handoffs = views.handoffs(&filter).await?;
    let has_more_rows = handoffs.len() < run.run.n_handoffs as usize;
    handoffs.reverse();
    let workflow = app.read().workflow_of(&run).await?;
    let (handoffs, payloads) = rows::all(app, handoffs, Keeps::Last).await?;
    Ok(Typed(HandoffListing {
        current_agent: Some(run.run.current_agent().map(ToString::to_string)),
        current_agents: several_agents(&run.run),
        phase: Some(Some(run.run.phase(&workflow).to_owned())),
        handoffs: Some(handoffs),
        earlier_runs: earlier_runs(app, story, run.number).await?,
        left_out: left_out(has_more_rows, payloads),
        ..HandoffListing::default()
    }))
}

/// One of a story's runs, by its number.
async fn run_of(app: &RequestScope, story: &StoryKey, asked: &str) -> Result<RunRow, ApiProblem> {
    let number: u64 = asked
        .parse()
        .map_err(|_| ApiProblem::malformed("wrong_type", "`run` is the number of a run"))?;
    let run = app.read().find_run(&RunRef::Number(number)).await?;
    run.filter(|it| it.run.story == *story).ok_or_else(|| {
        let message = format!(
            "the story `{story}` has no run {number}; `/api/handoffs?storyId=` lists its earlier runs"
        );
        not_found("no_such_run", message)
    })
}

async fn earlier_runs(
    app: &RequestScope,
    story: &StoryKey,
    before: u64,
) -> Result<Vec<EarlierRun>, EngineError> {
    let filter = RunFilter {
        story: Some(story.clone()),
        order: Order::NewestFirst,
        after: before,
        limit: MOST_EARLIER_RUNS,
        ..RunFilter::default()
    };
    let earlier = |it: RunRow| EarlierRun {
        run: it.number,
        status: it.run.status.name().to_owned(),
        handoffs: it.run.n_handoffs,
        url: format!("/api/handoffs?storyId={}&run={}", in_url(story.as_str()), it.number),
    };
    Ok(app.read().runs(&filter).await?.into_iter().map(earlier).collect())
}

/// The pending handoffs of an agent: the newest in one story, or all.
async fn pending(
    app: &RequestScope,
    story: Option<StoryKey>,
    agent: AgentId,
) -> Result<Typed<HandoffListing>, ApiProblem> {
    let (order, limit) = match &story {
        Some(_) => (Order::NewestFirst, 1),
        None => (Order::OldestFirst, MOST_ROWS + 1),
    };
    let filter = HandoffFilter {
        story: story.clone(),
        to: Some(agent),
        states: vec![HandoffState::Open(run::State::Pending)],
        order,
        limit,
        ..HandoffFilter::default()
    };
    let mut found = app.read().handoffs(&filter).await?;
    if story.is_none() {
        let has_more_rows = cut(&mut found);
        let (handoffs, payloads) = rows::all(app, found, Keeps::First).await?;
        let left_out = left_out(has_more_rows, payloads);
        return Ok(Typed(HandoffListing {
            handoffs: Some(handoffs),
            left_out,
            ..HandoffListing::default()
        }));
    }
    let newest = match found.first() {
        Some(row) => Some(rows::one(app, row).await?),
        None => None,
    };
    Ok(Typed(HandoffListing { handoff: Some(newest), ..HandoffListing::default() }))
}

async fn stale(app: &RequestScope, minutes: u64) -> Result<Typed<HandoffListing>, ApiProblem> {
    if minutes > MOST_MINUTES {
        return Err(ApiProblem::malformed("wrong_type", "`minutes` is at most a year"));
    }
    let mut found = stale_rows(app, minutes, MOST_ROWS as usize).await?;
    let has_more_rows = cut(&mut found);
    let (stale, payloads) = rows::all(app, found, Keeps::First).await?;
    Ok(Typed(HandoffListing {
        stale: Some(stale),
        threshold_minutes: Some(minutes),
        left_out: left_out(has_more_rows, payloads),
        ..HandoffListing::default()
    }))
}

/// Cuts the list to the most rows of a response; true if there were more.
fn cut(rows: &mut Vec<HandoffRow>) -> bool {
    let has_more = rows.len() > MOST_ROWS as usize;
    rows.truncate(MOST_ROWS as usize);
    has_more
}

fn left_out(has_more_rows: bool, payloads: usize) -> Option<LeftOut> {
    let is_whole = !has_more_rows && payloads == 0;
    (!is_whole).then_some(LeftOut { has_more_rows, limit: MOST_ROWS, payloads })
}

/// Handoffs that have been pending for so long, one more than `most` if there are more; questions
/// to people are never stale.
pub(super) async fn stale_rows(
    app: &RequestScope,
    minutes: u64,
    most: usize,
) -> Result<Vec<HandoffRow>, EngineError> {
    let span = SignedDuration::from_mins(i64::try_from(minutes).unwrap_or(i64::MAX / 60));
    let since = app.read().now().saturating_sub(span).ok();
    let mut filter = HandoffFilter {
        states: vec![HandoffState::Open(run::State::Pending)],
        unmoved_since: since,
        limit: MOST_ROWS,
        ..HandoffFilter::default()
    };
    let mut stale = Vec::new();
    loop {
        let found = app.read().handoffs(&filter).await?;
        let is_last = found.len() < MOST_ROWS as usize;
        filter.after = found.last().map_or(0, |it| it.number);
        // Work that waits for its checks is at the orchestrator, and has a time of its own.
        let is_agents = |it: &HandoffRow| !it.to.agent.is_human() && !it.to.agent.is_orchestrator();
        stale.extend(found.into_iter().filter(is_agents));
        if is_last || stale.len() > most {
            return Ok(stale);
        }
    }
}

/// Creates, accepts, rejects, times out or cleans up handoffs.
///
/// `action` names the command and so the members that the body has. Packages are checked leniently:
/// what a contract asks for and the package lacks comes back as a warning.
#[utoipa::path(post, path = "/api/handoffs", operation_id = "pipelinePostHandoffs", tag = "pipeline",
    request_body = PipelineAction,
    responses(
        (status = 200, description = "Done: the handoff as it is after the action",
            body = ActionResult),
        (status = 202, description = "Handed on: the work waits for its checks",
            body = ActionResult),
        WriteProblems))]
pub(super) async fn post(
    app: RequestScope,
    Params(NoParams {}): Params<NoParams>,
    headers: HeaderMap,
    body: Body,
) -> Result<(StatusCode, Typed<ActionResult>), ApiProblem> {
    let text = body::read_text(&app.door, body).await?;
    let caller = app.door.keyed_caller(&headers, "/api/handoffs", &text)?;
    let actions = ["create", "accept", "reject", "timeout", "cleanup"];
    let action = body::action(&text, &actions)?;
    let done = match action {
        "create" => create(&app, &caller, body::parse_as(&text)?).await?,
        "accept" => accept(&app, &caller, body::parse_as(&text)?).await?,
        "reject" => reject(&app, &caller, body::parse_as(&text)?).await?,
        "timeout" => time_out(&app, &caller, body::parse_as(&text)?).await?,
        "cleanup" => clean_up(&app, &caller, body::parse_as(&text)?).await?,
        other => unreachable!("`{other}` is none of the actions"),
    };
    let made = done.handoff.as_ref().and_then(Option::as_ref).filter(|_| action == "create");
    // Only work that waits for its checks stays there.
    let is_checked = |it: &PipelineRow| {
        it.to_agent == AgentId::ORCHESTRATOR && it.state == run::State::Pending.name()
    };
    let status = if made.is_some_and(is_checked) { StatusCode::ACCEPTED } else { StatusCode::OK };
    Ok((status, Typed(done)))
}

async fn create(
    app: &RequestScope,
    caller: &RequestCaller,
    asked: PipelineCreate,
) -> Result<ActionResult, ApiProblem> {
    let key = app.read().story_key(&asked.story_id).await?;
    let from = known_agent(app, &asked.from_agent)?;
    let to = known_agent(app, &asked.to_agent)?;
    let workflow = asked.workflow.as_deref().map(WorkflowName::parse).transpose()?;
    let mode = asked.mode.map(|it| it.0);
    let within = RunTarget::Story { key, workflow, mode };
    let own = async |number: Option<u64>| match number {
        Some(number) => app.read().handoff_in(&within, &HandoffRef::Number(number)).await.map(Some),
        None => Ok(None),
    };
    let (supersedes, hands_on) = (own(asked.supersedes).await?, own(asked.handoff).await?);
    let create = Create {
        from,
        to,
        package: body::package(asked.payload.as_deref())?,
        outcome: asked.outcome.as_deref().map(outcome).transpose()?,
        reason: reason(asked.reason.as_deref())?,
        supersedes,
        hands_on,
        way: asked.kind.as_deref().map(way).transpose()?,
        token: None,
        profile: Profile::Lenient,
    };
    match caller.create(within, create).await {
        Ok(outcome) => Ok(done(app, &outcome).await?),
        Err(error) => Err(refused(app, error).await),
    }
}

async fn accept(
    app: &RequestScope,
    caller: &RequestCaller,
    asked: PipelineAccept,
) -> Result<ActionResult, ApiProblem> {
    let by = by(app, asked.agent.as_deref())?;
    let acknowledgement = acknowledgement(asked.payload.as_deref())?;
    let lease = lease(asked.lease_seconds)?;
    let command = |handoff| Command::Accept(Accept { handoff, by, acknowledgement, lease });
    let outcome = on_handoff(app, caller, asked.handoff_id, command).await?;
    let fence = Some(outcome.done.fence);
    Ok(ActionResult { fence, ..done(app, &outcome).await? })
}

async fn reject(
    app: &RequestScope,
    caller: &RequestCaller,
    asked: PipelineReject,
) -> Result<ActionResult, ApiProblem> {
    let by = by(app, asked.agent.as_deref())?;
    let reason = Reason::parse(&asked.reason)?;
    let command = |handoff| Command::Reject(Reject { handoff, by, reason, fence: None });
    let outcome = on_handoff(app, caller, asked.handoff_id, command).await?;
    let return_handoff = Some(row_of(app, &outcome, outcome.done.returned).await?);
    let gate = Some(row_of(app, &outcome, outcome.done.gate).await?);
    Ok(ActionResult { return_handoff, gate, ..done(app, &outcome).await? })
}

async fn time_out(
    app: &RequestScope,
    caller: &RequestCaller,
    asked: PipelineTimeOut,
) -> Result<ActionResult, ApiProblem> {
    let reason = reason(asked.reason.as_deref().or(Some("Agent timed out")))?;
    let command = |handoff| Command::TimeOut { handoff, reason };
    let outcome = on_handoff(app, caller, asked.handoff_id, command).await?;
    Ok(done(app, &outcome).await?)
}

async fn clean_up(
    app: &RequestScope,
    caller: &RequestCaller,
    asked: PipelineCleanUp,
) -> Result<ActionResult, ApiProblem> {
    let key = app.read().story_key(&asked.story_id).await?;
    let reason = reason(asked.reason.as_deref())?;
    let run = app.read().find_run(&RunRef::OpenOf(key)).await?;
    let (mut cancelled, mut kept) = (Vec::new(), Vec::new());
    if let Some(run) = run {
        let outcome = caller.on_run(run.run.id, Command::CleanUp { reason }).await?;
        cancelled = numbers(app, &outcome, &outcome.done.cancelled).await?;
        kept = numbers(app, &outcome, &outcome.done.kept).await?;
    }
    let (cancelled, kept) = (Some(cancelled), Some(kept));
    Ok(ActionResult { success: true, cancelled, kept, ..ActionResult::default() })
}

async fn on_handoff(
    app: &RequestScope,
    caller: &RequestCaller,
    number: u64,
    command: impl FnOnce(HandoffNo) -> Command,
) -> Result<CommandResult, ApiProblem> {
    match caller.on_handoff(&HandoffRef::Number(number), command).await {
        Ok(outcome) => Ok(outcome),
        Err(error) => Err(refused(app, error).await),
    }
}

/// `{success, handoff, warnings}`; some actions add members.
async fn done(app: &RequestScope, outcome: &CommandResult) -> Result<ActionResult, EngineError> {
    Ok(ActionResult {
        success: true,
        handoff: Some(row_of(app, outcome, outcome.done.handoff).await?),
        warnings: Some(outcome.done.warnings.iter().map(ToString::to_string).collect()),
        adopted: outcome.adopted,
        ..ActionResult::default()
    })
}

async fn row_of(
    app: &RequestScope,
    outcome: &CommandResult,
    no: Option<HandoffNo>,
) -> Result<Option<PipelineRow>, EngineError> {
    match no {
        Some(no) => Ok(Some(rows::one(app, &app.read().row_of(outcome, no).await?).await?)),
        None => Ok(None),
    }
}

async fn numbers(
    app: &RequestScope,
    outcome: &CommandResult,
    nos: &[HandoffNo],
) -> Result<Vec<u64>, EngineError> {
    let mut numbers = Vec::new();
    for no in nos {
        numbers.push(app.read().row_of(outcome, *no).await?.number);
    }
    Ok(numbers)
}

fn way(word: &str) -> Result<Way, ApiProblem> {
    Way::from_word(word).ok_or_else(|| {
        let known = Way::ALL.map(Way::name).join(", ");
        ApiProblem::malformed("unknown_kind", format!("`kind` is one of {known}"))
    })
}
