//! Looks up the run or handoff that a caller names; the engine resolves the names.

use axum::http::StatusCode;
use baton_api::WordSet;
use baton_core::names::{AgentId, StoryKey};
use baton_core::outcome::Outcome;
use baton_store::{HandoffRef, HandoffRow, RunRow};

use crate::App;
use crate::problem::ApiProblem;

/// Finds a run by any of its names.
pub(super) async fn find_run(app: &App, name: &str) -> Result<RunRow, ApiProblem> {
    Ok(app.engine.run_named(name).await?)
}

/// An optional story key.
pub(super) async fn story_key(
    app: &App,
    name: Option<&str>,
) -> Result<Option<StoryKey>, ApiProblem> {
    match name {
        Some(name) => Ok(Some(app.engine.story_key(name).await?)),
        None => Ok(None),
    }
}

/// Finds a handoff by any of its names, as in `12/HO-001`; a label alone belongs to `run`.
pub(super) async fn handoff_ref(
    app: &App,
    name: &str,
    run: Option<&str>,
) -> Result<HandoffRef, ApiProblem> {
    let run = match run {
        Some(run) => Some(find_run(app, run).await?.run.id),
        None => None,
    };
    Ok(app.engine.handoff_named(name, run).await?)
}

pub(super) async fn find_handoff(
    app: &App,
    name: &str,
    run: Option<&str>,
) -> Result<HandoffRow, ApiProblem> {
    let which = handoff_ref(app, name, run).await?;
    Ok(app.engine.handoff(&which).await?)
}

/// An agent that is defined in a file, or one of the two built-in ones.
pub(super) fn known_agent(app: &App, name: &str) -> Result<AgentId, ApiProblem> {
    let agent = AgentId::parse(name)?;
    if app.engine.catalog().knows(&agent) {
        return Ok(agent);
    }
    let known: Vec<&str> = app.engine.catalog().agents().iter().map(|it| it.id.as_str()).collect();
    let message = format!("there is no agent `{agent}`; there are {}", known.join(", "));
    Err(ApiProblem::malformed("unknown_agent", message))
}

pub(super) fn not_found(code: &'static str, message: String) -> ApiProblem {
    ApiProblem::new(StatusCode::NOT_FOUND, code, message)
}

/// The values of a comma-separated list.
pub(super) fn words<T: WordSet>(name: &str, list: Option<&str>) -> Result<Vec<T>, ApiProblem> {
    let read = |word: &str| {
        T::from_word(word).ok_or_else(|| {
            let known: Vec<&str> = T::ALL.iter().map(|it| it.word()).collect();
            let message = format!("`{name}` has no `{word}`; it has {}", known.join(", "));
            ApiProblem::malformed("unknown_word", message)
        })
    };
    list.into_iter().flat_map(|it| it.split(',')).map(read).collect()
}

pub(super) fn outcome(word: &str) -> Result<Outcome, ApiProblem> {
    Outcome::parse(word).ok_or_else(|| {
        let known: Vec<&str> = Outcome::CLAIMABLE.iter().map(|it| it.name()).collect();
        let message = format!("there is no outcome `{word}`; there are {}", known.join(", "));
        ApiProblem::malformed("unknown_outcome", message)
    })
}
