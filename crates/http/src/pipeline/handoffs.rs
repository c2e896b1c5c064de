//! `GET` and `POST /api/handoffs`.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, Uri};
use baton_api::pipeline::{ActionResult, HandoffListing, LeftOut, PipelineAction, PipelineRow};
use baton_core::acknowledgement::Acknowledgement;
use baton_core::command::{Accept, Command, Create, LeaseTime, Reject, Way};
use baton_core::contract::Profile;
use baton_core::names::{AgentId, Reason, StoryKey, WorkflowName};
use baton_core::outcome::Outcome as StepOutcome;
use baton_core::run::{self, HandoffNo, HandoffState};
use baton_engine::{Caller, CommandResult, EngineError, RunTarget};
use baton_store::{HandoffFilter, HandoffRow, Order, RunRef};
use jiff::SignedDuration;

use super::described::PipelineQuery;
use super::rows::{self, Keeps, MOST_ROWS};
use super::{Typed, by_number, refused};
use crate::App;
use crate::body::{self, Envelope};
use crate::caller::caller;
use crate::openapi::{ReadProblems, WriteProblems};
use crate::problem::ApiProblem;
use crate::query::Query;

/// From the pipeline document: handoffs older than this are stale.
const STALE_MINUTES: u64 = 30;
const MOST_MINUTES: u64 = 525_600;

/// The baton of a story, the pending handoffs of an agent, or the stale handoffs.
#[utoipa::path(get, path = "/api/handoffs", operation_id = "pipelineGetHandoffs", tag = "pipeline",
    params(PipelineQuery),
    responses((status = 200, body = HandoffListing), ReadProblems))]
pub(super) async fn get(
    State(app): State<Arc<App>>,
    uri: Uri,
) -> Result<Typed<HandoffListing>, ApiProblem> {
    let query = Query::read(&uri, &["storyId", "agent", "stale", "minutes"])?;
    let agent = query.get("agent").map(|it| known_agent(&app, it)).transpose()?;
    if query.get("stale") == Some("true") {
        let minutes = query.number("minutes")?.unwrap_or(STALE_MINUTES);
        return stale(&app, minutes).await;
    }
    let story = match query.get("storyId") {
        Some(name) => Some(app.engine.story_key(name).await?),
        None => None,
    };
    match (story, agent) {
        (Some(story), None) => state(&app, &story).await,
        (story, Some(agent)) => pending(&app, story, agent).await,
        (None, None) => {
            Err(ApiProblem::malformed("missing_field", "say `storyId`, `agent` or `stale=true`"))
        }
    }
}

/// The holder of the baton in a story's newest run, and all handoffs of that run.
async fn state(app: &App, story: &StoryKey) -> Result<Typed<HandoffListing>, ApiProblem> {
    let store = app.engine.store();
    let run = store.run(&RunRef::LatestOf(story.clone())).await.map_err(EngineError::from)?;
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
    let mut handoffs = store.handoffs(&filter).await.map_err(EngineError::from)?;
    let has_more_rows = handoffs.len() < run.run.n_handoffs as usize;
    handoffs.reverse();
    let workflow = app.engine.workflow_of(&run).await?;
    let (handoffs, payloads) = rows::all(app, handoffs, Keeps::Last).await?;
    Ok(Typed(HandoffListing {
        current_agent: Some(run.run.current_agent().map(ToString::to_string)),
        phase: Some(Some(run.run.phase(&workflow).to_owned())),
        handoffs: Some(handoffs),
        left_out: left_out(has_more_rows, payloads),
        ..HandoffListing::default()
    }))
}

/// The pending handoffs of an agent: the newest in one story, or all.
async fn pending(
    app: &App,
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
    let mut found = app.engine.store().handoffs(&filter).await.map_err(EngineError::from)?;
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

async fn stale(app: &App, minutes: u64) -> Result<Typed<HandoffListing>, ApiProblem> {
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
    app: &App,
    minutes: u64,
    most: usize,
) -> Result<Vec<HandoffRow>, EngineError> {
    let span = SignedDuration::from_mins(i64::try_from(minutes).unwrap_or(i64::MAX / 60));
    let since = app.engine.clock().now().saturating_sub(span).ok();
    let mut filter = HandoffFilter {
        states: vec![HandoffState::Open(run::State::Pending)],
        unmoved_since: since,
        limit: MOST_ROWS,
        ..HandoffFilter::default()
    };
    let mut stale = Vec::new();
    loop {
        let found = app.engine.store().handoffs(&filter).await?;
        let is_last = found.len() < MOST_ROWS as usize;
        filter.after = found.last().map_or(0, |it| it.number);
        stale.extend(found.into_iter().filter(|it| !it.to.agent.is_human()));
        if is_last || stale.len() > most {
            return Ok(stale);
        }
    }
}

const ACTIONS: &str = "create, accept, reject, timeout, cleanup";

/// Creates, accepts, rejects, times out or cleans up handoffs.
#[utoipa::path(post, path = "/api/handoffs", operation_id = "pipelinePostHandoffs", tag = "pipeline",
    request_body = PipelineAction,
    responses((status = 200, body = ActionResult), WriteProblems))]
pub(super) async fn post(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Typed<ActionResult>, ApiProblem> {
    let (text, mut envelope) = body::read(body).await?;
    let caller = caller(&headers, "/api/handoffs", &text)?;
    let action = envelope.text("action")?;
    match action {
        Some("create") => create(&app, &caller, &mut envelope).await,
        Some("accept") => accept(&app, &caller, &envelope).await,
        Some("reject") => reject(&app, &caller, &envelope).await,
        Some("timeout") => time_out(&app, &caller, &envelope).await,
        Some("cleanup") => clean_up(&app, &caller, &envelope).await,
        Some(other) => {
            let message = format!("there is no action `{other}`; there are {ACTIONS}");
            Err(ApiProblem::malformed("unknown_action", message))
        }
        None => {
            Err(ApiProblem::malformed("missing_field", format!("`action` is one of {ACTIONS}")))
        }
    }
}

async fn create(
    app: &App,
    caller: &Caller,
    envelope: &mut Envelope,
) -> Result<Typed<ActionResult>, ApiProblem> {
    envelope.only(&[
        "action",
        "storyId",
        "fromAgent",
        "toAgent",
        "payload",
        "outcome",
        "reason",
        "supersedes",
        "kind",
        "workflow",
    ])?;
    let key = app.engine.story_key(envelope.required_text("storyId")?).await?;
    let from = known_agent(app, envelope.required_text("fromAgent")?)?;
    let to = known_agent(app, envelope.required_text("toAgent")?)?;
    let workflow = envelope.text("workflow")?.map(WorkflowName::parse).transpose()?;
    let within = RunTarget::Story { key, workflow };
    let supersedes = match envelope.number("supersedes")? {
        Some(number) => Some(app.engine.handoff_in(&within, &by_number(number)).await?),
        None => None,
    };
    let create = Create {
        from,
        to,
        package: envelope.package("payload")?,
        outcome: envelope.text("outcome")?.map(outcome).transpose()?,
        reason: envelope.text("reason")?.map(Reason::parse).transpose()?,
        supersedes,
        way: envelope.text("kind")?.map(way).transpose()?,
        token: None,
        profile: Profile::Lenient,
    };
    match app.engine.create(caller, within, create).await {
        Ok(outcome) => Ok(Typed(done(app, &outcome).await?)),
        Err(error) => Err(refused(app, error).await),
    }
}

async fn accept(
    app: &App,
    caller: &Caller,
    envelope: &Envelope,
) -> Result<Typed<ActionResult>, ApiProblem> {
    envelope.only(&["action", "handoffId", "payload", "agent", "leaseSeconds"])?;
    let by = by(app, envelope)?;
    let acknowledgement = acknowledgement(envelope)?;
    let lease = lease(envelope)?;
    let command = |handoff| Command::Accept(Accept { handoff, by, acknowledgement, lease });
    let outcome = on_handoff(app, caller, envelope, command).await?;
    let fence = Some(outcome.done.fence);
    Ok(Typed(ActionResult { fence, ..done(app, &outcome).await? }))
}

async fn reject(
    app: &App,
    caller: &Caller,
    envelope: &Envelope,
) -> Result<Typed<ActionResult>, ApiProblem> {
    envelope.only(&["action", "handoffId", "reason", "agent"])?;
    let by = by(app, envelope)?;
    let reason = Reason::parse(envelope.required_text("reason")?)?;
    let command = |handoff| Command::Reject(Reject { handoff, by, reason, fence: None });
    let outcome = on_handoff(app, caller, envelope, command).await?;
    let return_handoff = Some(row_of(app, &outcome, outcome.done.returned).await?);
    let gate = Some(row_of(app, &outcome, outcome.done.gate).await?);
    Ok(Typed(ActionResult { return_handoff, gate, ..done(app, &outcome).await? }))
}

async fn time_out(
    app: &App,
    caller: &Caller,
    envelope: &Envelope,
) -> Result<Typed<ActionResult>, ApiProblem> {
    envelope.only(&["action", "handoffId", "reason"])?;
    let reason = envelope.text("reason")?.unwrap_or("Agent timed out");
    let reason = Some(Reason::parse(reason)?);
    let command = |handoff| Command::TimeOut { handoff, reason };
    let outcome = on_handoff(app, caller, envelope, command).await?;
    Ok(Typed(done(app, &outcome).await?))
}

async fn clean_up(
    app: &App,
    caller: &Caller,
    envelope: &Envelope,
) -> Result<Typed<ActionResult>, ApiProblem> {
    envelope.only(&["action", "storyId", "reason"])?;
    let key = app.engine.story_key(envelope.required_text("storyId")?).await?;
    let reason = envelope.text("reason")?.map(Reason::parse).transpose()?;
    let store = app.engine.store();
    let run = store.run(&RunRef::OpenOf(key)).await.map_err(EngineError::from)?;
    let cleaned = |cancelled, kept| {
        Typed(ActionResult {
            success: true,
            cancelled: Some(cancelled),
            kept: Some(kept),
            ..ActionResult::default()
        })
    };
    let Some(run) = run else { return Ok(cleaned(Vec::new(), Vec::new())) };
    let outcome = app.engine.on_run(caller, run.run.id, Command::CleanUp { reason }).await?;
    let cancelled = numbers(app, &outcome, &outcome.done.cancelled).await?;
    let kept = numbers(app, &outcome, &outcome.done.kept).await?;
    Ok(cleaned(cancelled, kept))
}

async fn on_handoff(
    app: &App,
    caller: &Caller,
    envelope: &Envelope,
    command: impl FnOnce(HandoffNo) -> Command,
) -> Result<CommandResult, ApiProblem> {
    let number = envelope.required_number("handoffId")?;
    match app.engine.on_handoff(caller, &by_number(number), command).await {
        Ok(outcome) => Ok(outcome),
        Err(error) => Err(refused(app, error).await),
    }
}

/// `{success, handoff, warnings}`; some actions add members.
async fn done(app: &App, outcome: &CommandResult) -> Result<ActionResult, EngineError> {
    Ok(ActionResult {
        success: true,
        handoff: Some(row_of(app, outcome, outcome.done.handoff).await?),
        warnings: Some(outcome.done.warnings.iter().map(ToString::to_string).collect()),
        ..ActionResult::default()
    })
}

async fn row_of(
    app: &App,
    outcome: &CommandResult,
    no: Option<HandoffNo>,
) -> Result<Option<PipelineRow>, EngineError> {
    match no {
        Some(no) => Ok(Some(rows::one(app, &app.engine.row_of(outcome, no).await?).await?)),
        None => Ok(None),
    }
}

async fn numbers(
    app: &App,
    outcome: &CommandResult,
    nos: &[HandoffNo],
) -> Result<Vec<u64>, EngineError> {
    let mut numbers = Vec::new();
    for no in nos {
        numbers.push(app.engine.row_of(outcome, *no).await?.number);
    }
    Ok(numbers)
}

/// An agent that is defined in a file, or one of the two built-in ones.
fn known_agent(app: &App, name: &str) -> Result<AgentId, ApiProblem> {
    let agent = AgentId::parse(name)?;
    if app.engine.catalog().knows(&agent) {
        return Ok(agent);
    }
    let known: Vec<&str> = app.engine.catalog().agents().iter().map(|it| it.id.as_str()).collect();
    let message = format!("there is no agent `{agent}`; there are {}", known.join(", "));
    Err(ApiProblem::malformed("unknown_agent", message))
}

fn by(app: &App, envelope: &Envelope) -> Result<Option<AgentId>, ApiProblem> {
    envelope.text("agent")?.map(|it| known_agent(app, it)).transpose()
}

fn lease(envelope: &Envelope) -> Result<Option<LeaseTime>, ApiProblem> {
    let Some(seconds) = envelope.number("leaseSeconds")? else { return Ok(None) };
    let lease = u32::try_from(seconds).ok().and_then(LeaseTime::from_seconds);
    let most = LeaseTime::MOST_SECONDS;
    let wrong = || {
        ApiProblem::malformed("wrong_type", format!("`leaseSeconds` is a number from 1 to {most}"))
    };
    lease.map(Some).ok_or_else(wrong)
}

fn acknowledgement(envelope: &Envelope) -> Result<Option<Acknowledgement>, ApiProblem> {
    let Some(document) = envelope.get("payload") else { return Ok(None) };
    let read = Acknowledgement::read(document, baton_wire::json::print(document));
    read.map(Some).map_err(|problems| {
        let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
        ApiProblem::malformed("bad_acknowledgement", problems.join("; "))
    })
}

fn outcome(word: &str) -> Result<StepOutcome, ApiProblem> {
    StepOutcome::parse(word).ok_or_else(|| {
        let known: Vec<&str> = StepOutcome::CLAIMABLE.iter().map(|it| it.name()).collect();
        let message = format!("there is no outcome `{word}`; there are {}", known.join(", "));
        ApiProblem::malformed("unknown_outcome", message)
    })
}

fn way(word: &str) -> Result<Way, ApiProblem> {
    match word {
        "sequential" => Ok(Way::Sequential),
        "delegation" => Ok(Way::Delegation),
        "escalation" => Ok(Way::Escalation),
        "return" => Ok(Way::Return),
        _ => {
            let message = "`kind` is one of sequential, delegation, escalation, return";
            Err(ApiProblem::malformed("unknown_kind", message))
        }
    }
}
