//! Looks up the run or handoff that a caller names; the engine resolves the names.

use axum::http::StatusCode;
use baton_core::names::{AgentId, StoryKey, WorkflowName};
use baton_core::run::{Run, RunId};
use baton_store::{HandoffRef, HandoffRow, RunRow};

use crate::problem::ApiProblem;
use crate::scope::RequestScope;

/// Finds a run by any of its names.
pub(crate) async fn find_run(app: &RequestScope, name: &str) -> Result<RunRow, ApiProblem> {
    Ok(app.read().run_named(name).await?)
}

/// The id of a run that a request may name.
pub(crate) async fn run_id(
    app: &RequestScope,
    name: Option<&str>,
) -> Result<Option<RunId>, ApiProblem> {
    match name {
        Some(name) => Ok(Some(find_run(app, name).await?.run.id)),
        None => Ok(None),
    }
}

/// An optional story key.
pub(crate) async fn story_key(
    app: &RequestScope,
    name: Option<&str>,
) -> Result<Option<StoryKey>, ApiProblem> {
    match name {
        Some(name) => Ok(Some(app.read().story_key(name).await?)),
        None => Ok(None),
    }
}

/// The key of a story that has to exist, or that the caller wants to be created: a mistyped key must
/// not create one.
pub(crate) async fn typed_story(
    app: &RequestScope,
    name: &str,
    unknown: UnknownStory,
) -> Result<StoryKey, ApiProblem> {
    let key = app.read().story_key(name).await?;
    match unknown {
        UnknownStory::Created => Ok(key),
        UnknownStory::Refused => Ok(app.read().story(&key).await?.story.key),
    }
}

/// What becomes of a story that does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnknownStory {
    Refused,
    Created,
}

impl From<bool> for UnknownStory {
    /// The `newStory` of a request.
    fn from(new_story: bool) -> Self {
        if new_story { Self::Created } else { Self::Refused }
    }
}

/// Finds a handoff by any of its names, as in `12/HO-001`; a label alone belongs to `run`.
pub(crate) async fn handoff_ref(
    app: &RequestScope,
    name: &str,
    run: Option<&str>,
) -> Result<HandoffRef, ApiProblem> {
    Ok(app.read().handoff_named(name, run_id(app, run).await?).await?)
}

pub(crate) async fn find_handoff(
    app: &RequestScope,
    name: &str,
    run: Option<&str>,
) -> Result<HandoffRow, ApiProblem> {
    let which = handoff_ref(app, name, run).await?;
    Ok(app.read().handoff(&which).await?)
}

/// The agent that a request names, if it names one.
pub(crate) fn by(app: &RequestScope, name: Option<&str>) -> Result<Option<AgentId>, ApiProblem> {
    name.map(|it| known_agent(app, it)).transpose()
}

/// The same, for a command on a run.
pub(crate) fn by_in(
    app: &RequestScope,
    run: &Run,
    name: Option<&str>,
) -> Result<Option<AgentId>, ApiProblem> {
    name.map(|it| known_agent_of(app, it, Some(&run.workflow))).transpose()
}

/// An agent that is defined in a file, or one of the two built-in ones.
pub(crate) fn known_agent(app: &RequestScope, name: &str) -> Result<AgentId, ApiProblem> {
    known_agent_of(app, name, None)
}

/// The same, for a run of that workflow: others are named where this one is not known.
pub(crate) fn known_agent_of(
    app: &RequestScope,
    name: &str,
    workflow: Option<&WorkflowName>,
) -> Result<AgentId, ApiProblem> {
    let agent = AgentId::parse(name)?;
    if app.read().catalog().knows(&agent) {
        return Ok(agent);
    }
    // Its file may be newer than what was last read.
    let catalog = app.read().fresh_catalog();
    if catalog.knows(&agent) {
        return Ok(agent);
    }
    let hint = catalog.hint_for_agent(agent.as_str(), workflow);
    let message = format!("there is no agent `{agent}`; {hint}");
    Err(ApiProblem::malformed("unknown_agent", message))
}

pub(crate) fn not_found(code: &'static str, message: String) -> ApiProblem {
    ApiProblem::new(StatusCode::NOT_FOUND, code, message)
}
