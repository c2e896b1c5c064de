//! `GET` and `POST /api/run`: start the next story, answer the open gate, stop, reset.

use axum::body::Body;
use axum::http::HeaderMap;
use baton_api::pipeline::{
    PipelineAgentState, PipelineGate, PipelineProgress, PipelineReset, PipelineRunAction,
    PipelineRunAnswer, PipelineRunState, PipelineStoryProgress,
};
use baton_core::command::{Command, GateAnswer};
use baton_core::document::Node;
use baton_core::gate::{Answer, Gate, GateCause};
use baton_core::names::{FreeText, Reason, StoryKey, WorkflowName};
use baton_core::run::{Baton, HandoffNo, HandoffState, Run, RunStatus};
use baton_engine::{Dependencies, EngineError, StartRun};
use baton_store::{HandoffFilter, HandoffRef, HandoffRow, RunFilter, RunRef, RunRow};
use baton_wire::json;

use super::handoffs::stale_rows;
use super::{Typed, refused};
use crate::body;
use crate::lookup::{UnknownStory, story_key, typed_story};
use crate::openapi::{ReadProblems, WriteProblems};
use crate::params::{NoParams, Params};
use crate::problem::ApiProblem;
use crate::scope::{RequestCaller, RequestScope};
use crate::values::reason;

/// From the pipeline document: handoffs pending for so long are cleaned up at a start.
const STALE_MINUTES: u64 = 30;
/// How many runs are read together.
const PAGE: u32 = 200;
/// How many stories under way are listed.
const MOST_STORIES: usize = 50;

/// Shows the current story, the progress of all stories, and the current agent.
///
/// The current story is the one whose run moved last.
#[utoipa::path(get, path = "/api/run", operation_id = "pipelineGetRun", tag = "pipeline",
    responses(
        (status = 200, description = "The state of the pipeline",
            body = PipelineRunState),
        ReadProblems))]
pub(super) async fn get(app: RequestScope) -> Result<Typed<PipelineRunState>, ApiProblem> {
    let last = app.read().runs_moved_last(1).await?;
    Ok(Typed(run_state(&app, last.first(), None).await?))
}

/// Starts, continues, stops or resets the pipeline.
///
/// `start` begins a story or the next one in order, or goes on with one that was stopped; `continue`
/// resumes and may answer a gate; `stop` pauses every open run: agents finish what they have, and a
/// runner takes nothing new; `reset` times out what is pending and goes back to the start.
#[utoipa::path(post, path = "/api/run", operation_id = "pipelinePostRun", tag = "pipeline",
    request_body = PipelineRunAction,
    responses(
        (status = 200, description = "The state afterwards, or for `reset` what was cleared",
            body = PipelineRunAnswer),
        WriteProblems))]
pub(super) async fn post(
    app: RequestScope,
    Params(NoParams {}): Params<NoParams>,
    headers: HeaderMap,
    body: Body,
) -> Result<Typed<PipelineRunAnswer>, ApiProblem> {
    let text = body::read_text(&app.door, body).await?;
    let action = body::action(&text, &["start", "continue", "stop", "reset"])?;
    let asked: PipelineRunAction = body::parse_as(&text)?;
    let caller = app.door.keyed_caller(&headers, "/api/run", &text)?;
    // Runs are an operator's; an agent has its handoff.
    caller.check_no_attempt("run")?;
    let state = match action {
        "start" => start(&app, &caller, &asked).await?,
        "continue" => go_on(&app, &caller, &asked).await?,
        "stop" => stop(&app, &caller, &asked).await?,
        _ => return Ok(Typed(PipelineRunAnswer::Reset(reset(&app, &caller).await?))),
    };
    Ok(Typed(PipelineRunAnswer::State(state)))
}

/// Starts the next ready story or the named one, or returns the run that is already in progress.
async fn start(
    app: &RequestScope,
    caller: &RequestCaller,
    request: &PipelineRunAction,
) -> Result<PipelineRunState, ApiProblem> {
    // A mistyped key must not create a story: only a handoff that an agent creates does.
    let asked = match request.story_id.as_deref().or(single_story(request)) {
        Some(name) => Some(typed_story(app, name, UnknownStory::Refused).await?),
        None => None,
    };
    let workflow = request.workflow.as_deref().map(WorkflowName::parse).transpose()?;
    let timed_out = time_out(caller, stale_rows(app, STALE_MINUTES, usize::MAX).await?).await?;
    if let Some(run) = open_runs(app, asked.as_ref(), 0).await?.first() {
        if run.run.status == RunStatus::Paused {
            caller.without_key().on_run(run.run.id, Command::Resume).await?;
        }
        let is_loose = run.run.loose_branch().is_some();
        if is_loose {
            begin(app, caller, run.run.story.clone(), None).await?;
        }
        return answer(app, &run.run.story, timed_out).await;
    }
    let story = match asked {
        Some(story) => story,
        None => match app.read().next_ready().await {
            Ok(story) => story.key,
            Err(error @ EngineError::NothingReady { .. }) => {
                return Ok(run_state(app, None, Some(error.to_string())).await?);
            }
            Err(error) => return Err(error.into()),
        },
    };
    let warnings = begin(app, caller, story.clone(), workflow).await?;
    Ok(PipelineRunState { warnings, ..answer(app, &story, timed_out).await? })
}

/// The story that the configuration of a start names.
fn single_story(request: &PipelineRunAction) -> Option<&str> {
    request.config.as_ref()?.get("singleStoryId")?.as_str().filter(|it| !it.is_empty())
}

async fn begin(
    app: &RequestScope,
    caller: &RequestCaller,
    story: StoryKey,
    workflow: Option<WorkflowName>,
) -> Result<Vec<String>, ApiProblem> {
    // The pipeline API knows no dependencies.
    let dependencies = Dependencies::Anyway;
    let start = StartRun { workflow, dependencies, ..StartRun::of(story) };
    match caller.start(start).await {
        Ok(outcome) => Ok(outcome.done.warnings.iter().map(ToString::to_string).collect()),
        Err(error) => Err(refused(app, error).await),
    }
}

/// Answers the oldest open gate, and resumes what was stopped.
async fn go_on(
    app: &RequestScope,
    caller: &RequestCaller,
    request: &PipelineRunAction,
) -> Result<PipelineRunState, ApiProblem> {
    let response = request.gate_response.as_deref().map(|it| json::parse(it.get())).transpose()?;
    let asked = story_key(app, request.story_id.as_deref()).await?;
    let (mut first, mut last, mut oldest, mut after) = (None, None, None, 0);
    loop {
        let page = open_runs(app, asked.as_ref(), after).await?;
        let Some(end) = page.last() else { break };
        after = end.number;
        first = first.or_else(|| page.first().map(|it| it.run.story.clone()));
        for run in page.iter().filter(|it| it.run.status == RunStatus::Paused) {
            caller.without_key().on_run(run.run.id, Command::Resume).await?;
            last = Some(run.run.story.clone());
        }
        let gates = page.into_iter().filter_map(|it| Some((it.run.gate()?.0.created_at, it)));
        oldest = oldest.into_iter().chain(gates).min_by_key(|(at, _)| *at);
    }
    let oldest = oldest.as_ref().and_then(|(_, it)| Some((it, it.run.gate()?)));
    if let (Some(response), Some((run, (handoff, gate)))) = (&response, oldest) {
        let (answer, comment) = gate_answer(gate, response)?;
        let command = Command::Answer(GateAnswer {
            handoff: handoff.no,
            answer,
            by: caller.principal().clone(),
            comment,
            package: None,
        });
        if let Err(error) = caller.on_run(run.run.id, command).await {
            return Err(refused(app, error).await);
        }
        last = Some(run.run.story.clone());
    } else if response.is_some() {
        let message = "no gate is open; `GET /api/run` says what is";
        return Err(ApiProblem::new(axum::http::StatusCode::CONFLICT, "no_gate", message));
    }
    match last.or(first) {
        Some(story) => answer(app, &story, Vec::new()).await,
        None => Ok(run_state(app, None, Some("no run is open".to_owned())).await?),
    }
}

/// Maps the pipeline API's gate responses to ours: those that approve, send back, or ask.
fn gate_answer(gate: &Gate, response: &Node) -> Result<(Answer, Option<FreeText>), ApiProblem> {
    let text = |name: &str| response.member(name).and_then(Node::as_text);
    let word = response.as_text().or_else(|| text("response")).unwrap_or_default();
    let candidates: &[Answer] = match word {
        "merge" | "skip" | "auto" | "submit" | "approve" => {
            &[Answer::Approve, Answer::Continue, Answer::Reply]
        }
        "feedback" | "reject" => &[Answer::Reject, Answer::Continue, Answer::Reply],
        "clarify" | "question" => &[Answer::Question, Answer::Reply, Answer::Continue],
        "continue" => &[Answer::Continue],
        "accept" => &[Answer::Accept],
        "answer" => &[Answer::Reply],
        "abort" => &[Answer::Abort],
        _ => {
            let message =
                "`gateResponse.response` is one of merge, skip, auto, submit, feedback, clarify";
            return Err(ApiProblem::malformed("unknown_response", message));
        }
    };
    let comment = ["feedback", "clarification", "report", "comment"].iter().find_map(|it| text(it));
    let comment = comment.map(FreeText::parse).transpose()?;
    let taken = candidates.iter().find(|it| gate.takes(it)).unwrap_or(&candidates[0]);
    let words = comment.or_else(|| FreeText::parse(word).ok().filter(|_| taken.needs_words()));
    Ok((taken.clone(), words))
}

/// Pauses: no work begins; work that is held may finish.
async fn stop(
    app: &RequestScope,
    caller: &RequestCaller,
    request: &PipelineRunAction,
) -> Result<PipelineRunState, ApiProblem> {
    let asked = story_key(app, request.story_id.as_deref()).await?;
    let reason = reason(request.reason.as_deref())?;
    let mut after = 0;
    loop {
        let page = open_runs(app, asked.as_ref(), after).await?;
        let Some(end) = page.last() else { break };
        after = end.number;
        for run in page.iter().filter(|it| it.run.status == RunStatus::Open) {
            let pause = Command::Pause { reason: reason.clone() };
            caller.without_key().on_run(run.run.id, pause).await?;
        }
    }
    let current = match asked {
        Some(story) => app.read().find_run(&RunRef::OpenOf(story)).await?,
        None => app.read().runs_moved_last(1).await?.into_iter().next(),
    };
    Ok(run_state(app, current.as_ref(), None).await?)
}

/// Times out every handoff that waits for an agent, and ends the pause of every run: `start` begins
/// anew with what is loose then.
async fn reset(app: &RequestScope, caller: &RequestCaller) -> Result<PipelineReset, ApiProblem> {
    let filter = HandoffFilter {
        states: vec![HandoffState::Open(baton_core::run::State::Pending)],
        ..HandoffFilter::default()
    };
    let pending = app.read().handoffs(&filter).await?;
    let (kept, ours): (Vec<_>, Vec<_>) = pending.into_iter().partition(|it| it.to.agent.is_human());
    let cleared = time_out(caller, ours).await?;
    let mut after = 0;
    loop {
        let page = open_runs(app, None, after).await?;
        let Some(end) = page.last() else { break };
        after = end.number;
        for run in page.iter().filter(|it| it.run.status == RunStatus::Paused) {
            caller.without_key().on_run(run.run.id, Command::Resume).await?;
        }
    }
    Ok(PipelineReset {
        success: true,
        cleared_handoffs: cleared.len() as u64,
        cleared,
        kept: kept.iter().map(|it| it.number).collect(),
    })
}

/// Times handoffs out; those that changed meanwhile are left alone.
async fn time_out(caller: &RequestCaller, rows: Vec<HandoffRow>) -> Result<Vec<u64>, ApiProblem> {
    let caller = caller.without_key();
    let mut numbers = Vec::new();
    for row in rows {
        let reason = Reason::parse(&format!("{} did not take it in time", row.to.agent)).ok();
        let which = HandoffRef::InRun(row.run, row.no);
        let command = |handoff: HandoffNo| Command::TimeOut { handoff, reason };
        match caller.on_handoff(&which, command).await {
            Ok(_) => numbers.push(row.number),
            Err(EngineError::Refused { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(numbers)
}

/// A page of the open and paused runs after a number: of one story, or of all.
async fn open_runs(
    app: &RequestScope,
    story: Option<&StoryKey>,
    after: u64,
) -> Result<Vec<RunRow>, EngineError> {
    let statuses = vec![RunStatus::Open, RunStatus::Paused];
    let story = story.cloned();
    let filter = RunFilter { statuses, story, after, limit: PAGE, ..RunFilter::default() };
    app.read().runs(&filter).await
}

async fn answer(
    app: &RequestScope,
    story: &StoryKey,
    timed_out: Vec<u64>,
) -> Result<PipelineRunState, ApiProblem> {
    let run = app.read().run(&RunRef::LatestOf(story.clone())).await?;
    let state = run_state(app, Some(&run), None).await?;
    Ok(PipelineRunState { timed_out: Some(timed_out), ..state })
}

/// The agents of all branches, while there are several.
pub(super) fn several_agents(run: &Run) -> Vec<String> {
    match run.fork {
        Some(_) => run.current_agents().map(ToString::to_string).collect(),
        None => Vec::new(),
    }
}

/// The pipeline API's run: the current story, the progress of all stories, and the current agent.
async fn run_state(
    app: &RequestScope,
    run: Option<&RunRow>,
    why_idle: Option<String>,
) -> Result<PipelineRunState, EngineError> {
    let counts = app.read().count_stories().await?;
    let state_of = match run {
        Some(run) => Some(agent_state(app, run).await?),
        None => None,
    };
    let mut stories = Vec::new();
    for run in open_runs(app, None, 0).await?.iter().take(MOST_STORIES) {
        stories.push(story_progress(app, run).await?);
    }
    Ok(PipelineRunState {
        success: true,
        status: run.map_or("idle", status).into(),
        current_story: run.map(|it| it.run.story.to_string()),
        run_id: run.map(|it| it.run.id.to_string()),
        agent_state: state_of,
        gate: run.and_then(gate),
        progress: PipelineProgress {
            total: counts.n_stories,
            passed: counts.n_completed,
            percentage: counts.n_completed * 100 / counts.n_stories.max(1),
        },
        next: app.read().next_ready().await.ok().map(|it| it.key.to_string()),
        stories,
        runner: app.door.runner(),
        reason: why_idle,
        timed_out: None,
        warnings: Vec::new(),
    })
}

async fn agent_state(app: &RequestScope, run: &RunRow) -> Result<PipelineAgentState, EngineError> {
    Ok(PipelineAgentState {
        current_agent: run.run.current_agent().map(ToString::to_string),
        current_agents: several_agents(&run.run),
        phase: run.run.phase(&*app.read().workflow_of(run).await?).to_owned(),
        handoff_count: run.run.n_handoffs.into(),
    })
}

async fn story_progress(
    app: &RequestScope,
    run: &RunRow,
) -> Result<PipelineStoryProgress, EngineError> {
    let (no, is_held) = match run.run.baton() {
        Baton::Held { handoff } => (Some(*handoff), true),
        Baton::Offered { handoff } => (Some(*handoff), false),
        Baton::Parked { .. } | Baton::Loose { .. } | Baton::Done => (None, false),
    };
    Ok(PipelineStoryProgress {
        story_id: run.run.story.to_string(),
        run_id: run.run.id.to_string(),
        status: status(run).into(),
        agent_state: agent_state(app, run).await?,
        handoff: no.map(HandoffNo::label),
        is_held,
        attempt: no.and_then(|it| run.run.handoff(it)).map(|it| it.attempt),
    })
}

fn gate(run: &RunRow) -> Option<PipelineGate> {
    let (handoff, gate) = run.run.gate()?;
    Some(PipelineGate {
        handoff: handoff.no.label(),
        cause: gate.cause.name().to_owned(),
        message: gate.sentence(),
        choices: gate.choices().iter().map(|it| (*it).to_owned()).collect(),
    })
}

/// The pipeline API's statuses: idle, running, paused, waiting_gate, blocked, complete.
fn status(run: &RunRow) -> &'static str {
    match (run.run.status, run.run.gate()) {
        (RunStatus::Completed, _) => "complete",
        (RunStatus::Cancelled, _) => "idle",
        (RunStatus::Paused, _) => "paused",
        (RunStatus::Open, Some((_, gate))) if gate.cause == GateCause::Blocked => "blocked",
        (RunStatus::Open, Some(_)) => "waiting_gate",
        (RunStatus::Open, None) => "running",
    }
}
