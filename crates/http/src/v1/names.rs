//! What callers write for a run or a handoff, and which one they mean.

use axum::http::StatusCode;
use baton_core::names::{AgentId, StoryKey};
use baton_core::run::{HandoffId, HandoffNo, RunId};
use baton_engine::{EngineError, In};
use baton_store::{HandoffRef, HandoffRow, RunRef, RunRow};
use uuid::Uuid;

use crate::App;
use crate::problem::Problem;

/// A run by its number, its id, or the story it is for, whose newest it is.
pub(super) async fn find_run(app: &App, name: &str) -> Result<RunRow, Problem> {
    let store = app.engine.store();
    let find = async |which| store.run(&which).await.map_err(EngineError::from);
    if let Ok(number) = name.parse()
        && let Some(row) = find(RunRef::Number(number)).await?
    {
        return Ok(row);
    }
    if let Ok(id) = Uuid::parse_str(name)
        && let Some(row) = find(RunRef::Id(RunId(id))).await?
    {
        return Ok(row);
    }
    let newest = match StoryKey::parse(name) {
        Ok(story) => find(RunRef::LatestOf(story)).await?,
        Err(_) => None,
    };
    newest.ok_or_else(|| EngineError::NoSuchRun { which: name.to_owned() }.into())
}

/// A handoff by its number, its id, or its label within a run, as in `12/HO-001`.
pub(super) async fn handoff_ref(
    app: &App,
    name: &str,
    run: Option<&str>,
) -> Result<HandoffRef, Problem> {
    let everywhere = match (name.parse(), Uuid::parse_str(name)) {
        (Ok(number), _) => Some(HandoffRef::Number(number)),
        (Err(_), Ok(id)) => Some(HandoffRef::Id(HandoffId(id))),
        (Err(_), Err(_)) => None,
    };
    if let Some(which) = everywhere {
        // Whoever says the run too means it.
        if let Some(run) = run {
            let within = In::Run(RunRef::Id(find_run(app, run).await?.run.id));
            app.engine.handoff_in(&within, &which).await?;
        }
        return Ok(which);
    }
    let (run, label) = match name.rsplit_once('/') {
        Some((run, label)) => (Some(run), label),
        None => (run, name),
    };
    match (HandoffNo::parse_label(label), run) {
        (Some(no), Some(run)) => Ok(HandoffRef::InRun(find_run(app, run).await?.run.id, no)),
        (Some(_), None) => {
            let message = format!(
                "`{label}` is a label within a run; say which with `run`, or as `RUN/{label}`"
            );
            Err(Problem::malformed("which_run", message))
        }
        (None, _) => Err(EngineError::NoSuchHandoff { which: name.to_owned() }.into()),
    }
}

pub(super) async fn find_handoff(
    app: &App,
    name: &str,
    run: Option<&str>,
) -> Result<HandoffRow, Problem> {
    let which = handoff_ref(app, name, run).await?;
    Ok(app.engine.handoff(&which).await?)
}

/// An agent that somebody has described, or one of the two that are always there.
pub(super) fn known_agent(app: &App, name: &str) -> Result<AgentId, Problem> {
    let agent = AgentId::parse(name)?;
    if app.engine.catalog().knows(&agent) {
        return Ok(agent);
    }
    let known: Vec<&str> = app.engine.catalog().agents().iter().map(|it| it.id.as_str()).collect();
    let message = format!("there is no agent `{agent}`; there are {}", known.join(", "));
    Err(Problem::malformed("unknown_agent", message))
}

pub(super) fn not_found(code: &'static str, message: String) -> Problem {
    Problem::new(StatusCode::NOT_FOUND, code, message)
}
