//! Carries out a request of the pipeline API that comes as a document: the block that a prompt
//! tells an agent to print, taken by every face that takes documents.

use baton_core::acknowledgement::Acknowledgement;
use baton_core::command::{Accept, Clarify, Command, Create, Reject, Reply, Way};
use baton_core::document::Node;
use baton_core::document::request::{PipelineRequest, RequestAction};
use baton_core::names::{AgentId, FreeText, NameError, Reason, WorkflowName};
use baton_core::outcome::Outcome as StepOutcome;
use baton_core::package::{Format, Package};
use baton_core::problem::Problem;
use baton_core::workflow::Mode;
use baton_store::HandoffRef;
use baton_wire::json;

use crate::commands::nothing;
use crate::{Caller, CommandResult, DocumentHints, Engine, EngineError, RunTarget};

impl Engine {
    pub(crate) async fn carry_out_request(
        &self,
        caller: &Caller,
        request: PipelineRequest<'_>,
        hints: &DocumentHints,
    ) -> Result<CommandResult, EngineError> {
        if request.unknown_member().is_some() {
            let known = request.action.members().join(", ");
            let why = format!("a request to {} has only {known}", request.action.name());
            return Err(EngineError::BadDocument { why });
        }
        if request.action == RequestAction::Create {
            return self.create_by_request(caller, request, hints).await;
        }
        let which = match &hints.handoff {
            Some(which) => which.clone(),
            None => HandoffRef::Number(number(request, "handoffId")?),
        };
        let by = match &hints.agent {
            Some(agent) => Some(agent.clone()),
            None => request.text("agent").map(|it| agent("agent", it)).transpose()?,
        };
        let command = self.command(request, by, hints)?;
        self.on_handoff(caller, &which, command).await
    }

    fn command(
        &self,
        request: PipelineRequest<'_>,
        by: Option<AgentId>,
        hints: &DocumentHints,
    ) -> Result<impl FnOnce(baton_core::run::HandoffNo) -> Command + use<>, EngineError> {
        let fence = hints.fence;
        let words = |key: &str| FreeText::parse(said(request, key)?).map_err(bad);
        Ok(match request.action {
            RequestAction::Accept => {
                let (acknowledgement, lease) = (acknowledgement(request)?, hints.lease);
                Box::new(move |handoff| {
                    Command::Accept(Accept { handoff, by, acknowledgement, lease })
                }) as Box<dyn FnOnce(_) -> _ + Send>
            }
            RequestAction::Reject => {
                let reason = Reason::parse(said(request, "reason")?).map_err(bad)?;
                Box::new(move |handoff| Command::Reject(Reject { handoff, by, reason, fence }))
            }
            RequestAction::Clarify => {
                let question = words("question")?;
                Box::new(move |handoff| Command::Clarify(Clarify { handoff, by, question, fence }))
            }
            RequestAction::Answer => {
                let answer = words("answer")?;
                Box::new(move |handoff| Command::Reply(Reply { handoff, by, answer, fence }))
            }
            RequestAction::Create => unreachable!("a create is on a run, not on a handoff"),
        })
    }

    async fn create_by_request(
        &self,
        caller: &Caller,
        request: PipelineRequest<'_>,
        hints: &DocumentHints,
    ) -> Result<CommandResult, EngineError> {
        let within = self.run_of(request, hints).await?;
        let from = match (request.text("fromAgent"), &hints.agent) {
            (Some(name), _) => agent("fromAgent", name)?,
            (None, Some(agent)) => agent.clone(),
            (None, None) => return Err(EngineError::SenderUnknown),
        };
        let to = match (&hints.to, request.text("toAgent")) {
            (Some(to), _) => to.clone(),
            (None, Some(name)) => agent("toAgent", name)?,
            (None, None) => return Err(missing("toAgent")),
        };
        let supersedes = match request.text("supersedes") {
            Some(_) => {
                let which = HandoffRef::Number(number(request, "supersedes")?);
                Some(self.handoff_in(&within, &which).await?)
            }
            None => None,
        };
        let hands_on = match (&hints.handoff, request.text("handoff")) {
            (Some(which), _) => Some(self.handoff_in(&within, which).await?),
            (None, Some(_)) => {
                let which = HandoffRef::Number(number(request, "handoff")?);
                Some(self.handoff_in(&within, &which).await?)
            }
            (None, None) => None,
        };
        let token = self.token_within(&within, hints, hands_on).await?;
        let create = Create {
            from,
            to,
            package: request.payload().map_or_else(nothing, package),
            outcome: request.text("outcome").map(outcome).transpose()?,
            reason: request.text("reason").map(Reason::parse).transpose().map_err(bad)?,
            supersedes,
            hands_on,
            way: request.text("kind").map(way).transpose()?,
            token,
            profile: hints.profile,
        };
        self.create(caller, within, create).await
    }

    /// The caller's run, else that of the story in the request.
    async fn run_of(
        &self,
        request: PipelineRequest<'_>,
        hints: &DocumentHints,
    ) -> Result<RunTarget, EngineError> {
        if let Some(run) = &hints.run {
            return Ok(RunTarget::Run(run.clone()));
        }
        let workflow = match (&hints.workflow, request.text("workflow")) {
            (Some(name), _) => Some(name.clone()),
            (None, name) => name.map(WorkflowName::parse).transpose().map_err(bad)?,
        };
        let key = match (&hints.story, request.text("storyId")) {
            (Some(key), _) => key.clone(),
            (None, Some(key)) => {
                let key = self.story_key(key).await?;
                let sender = request.text("fromAgent").and_then(|it| AgentId::parse(it).ok());
                self.refuse_slip(&key, sender.as_ref(), hints).await?;
                key
            }
            (None, None) => return Err(missing("storyId")),
        };
        let mode = match (hints.mode, request.text("mode")) {
            (Some(mode), _) => Some(mode),
            (None, word) => word.map(mode_of).transpose()?,
        };
        Ok(RunTarget::Story { key, workflow, mode })
    }
}

/// The payload alone: what goes around it is the request's.
fn package(payload: &Node) -> Package {
    Package::new(Format::Json, json::print(payload), payload.clone())
}

fn acknowledgement(request: PipelineRequest<'_>) -> Result<Option<Acknowledgement>, EngineError> {
    let Some(payload) = request.payload() else { return Ok(None) };
    if let Some(words) = payload.as_text() {
        return Ok(Some(Acknowledgement::words(words)));
    }
    let read = Acknowledgement::read(payload, json::print(payload));
    read.map(Some).map_err(|problems| {
        let problems: Vec<String> = problems.iter().map(Problem::sentence).collect();
        EngineError::BadDocument { why: problems.join("; ") }
    })
}

fn number(request: PipelineRequest<'_>, key: &str) -> Result<u64, EngineError> {
    let number = request.text(key).and_then(|it| it.parse().ok());
    number.ok_or_else(|| EngineError::BadDocument { why: format!("`{key}` is not a number") })
}

fn said<'a>(request: PipelineRequest<'a>, key: &str) -> Result<&'a str, EngineError> {
    request.text(key).ok_or_else(|| missing(key))
}

fn agent(key: &str, name: &str) -> Result<AgentId, EngineError> {
    AgentId::parse(name)
        .map_err(|error| EngineError::BadDocument { why: format!("`{key}`: {error}") })
}

fn outcome(word: &str) -> Result<StepOutcome, EngineError> {
    StepOutcome::parse(word).ok_or_else(|| {
        let known = StepOutcome::CLAIMABLE.map(StepOutcome::name).join(", ");
        EngineError::BadDocument { why: format!("`outcome` is one of {known}") }
    })
}

fn way(word: &str) -> Result<Way, EngineError> {
    Way::ALL.into_iter().find(|it| it.name() == word).ok_or_else(|| {
        let known = Way::ALL.map(Way::name).join(", ");
        EngineError::BadDocument { why: format!("`kind` is one of {known}") }
    })
}

fn mode_of(word: &str) -> Result<Mode, EngineError> {
    Mode::ALL.into_iter().find(|it| it.name() == word).ok_or_else(|| {
        let known = Mode::ALL.map(Mode::name).join(", ");
        EngineError::BadDocument { why: format!("`mode` is one of {known}") }
    })
}

fn missing(key: &str) -> EngineError {
    EngineError::BadDocument { why: format!("`{key}` is missing") }
}

fn bad(error: NameError) -> EngineError {
    EngineError::BadDocument { why: error.to_string() }
}
