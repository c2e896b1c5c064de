//! The one way from a request to the engine: through its caller. No handler can reach the engine, or
//! make a caller, in any other way, so that permissions have one place.

use std::ops::Deref;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, Uri};
use baton_api::pipeline::PipelineRunner;
use baton_core::command::{Command, Create, LeaseTime};
use baton_core::content::ContentId;
use baton_core::hash::Hash;
use baton_core::names::{AgentId, CheckName, FreeText, Principal, StoryKey};
use baton_core::package::Package;
use baton_core::run::{HandoffNo, Run, RunId};
use baton_core::story::Story;
use baton_engine::{
    Attempt, Caller, Catalog, CommandMode, CommandResult, DataCheck, DocumentHints, Engine,
    EngineError, Key, NewFile, ReceiveResult, RetentionPass, RunTarget, SavedStory, SentFileResult,
    StartRun, StartingPoint,
};
use baton_store::{
    CheckpointRow, DroppedText, HandoffRef, StoreError, StoreLock, Version, WriteFault,
};
use baton_views::Views;
use jiff::{SignedDuration, Timestamp};
use tokio::sync::watch;

use crate::App;
use crate::credential::{Credential, RunnerKey, credential};
use crate::masked::{check_names, masked};
use crate::problem::ApiProblem;

/// The engine, for requests that have a caller.
pub(crate) struct Door {
    engine: Arc<Engine>,
    runner_key: Option<RunnerKey>,
}

/// Who sends a request: reads and commands are carried out as this caller.
#[derive(Clone)]
pub(crate) struct RequestCaller {
    engine: Arc<Engine>,
    caller: Caller,
    is_runner: bool,
}

/// The server as one caller sees it. Handlers take this and not [`App`].
#[derive(Clone)]
pub(crate) struct RequestScope {
    app: Arc<App>,
    caller: RequestCaller,
}

impl Door {
    pub(crate) fn new(engine: Arc<Engine>, runner_key: Option<RunnerKey>) -> Self {
        Self { engine, runner_key }
    }

    /// The caller of a request without an idempotency key.
    fn caller(&self, headers: &HeaderMap) -> Result<RequestCaller, ApiProblem> {
        let (caller, is_runner) = match credential(headers, self.runner_key.as_ref())? {
            Credential::None => (Caller::new(principal(headers)?), false),
            Credential::Runner => {
                if let Some(key) = &self.runner_key {
                    key.presence().hear();
                }
                (Caller::of_baton("baton:runner"), true)
            }
            Credential::Attempt(attempt) => {
                let principal = Principal::parse(&format!("agent:{}", attempt.agent))?;
                (Caller { attempt: Some(attempt), ..Caller::new(principal) }, false)
            }
        };
        Ok(RequestCaller { engine: self.engine.clone(), caller, is_runner })
    }

    /// The caller of a request, with its idempotency key. `route` is the scope of the key, and
    /// `request` everything that has to be the same when the request is sent again.
    pub(crate) fn keyed_caller(
        &self,
        headers: &HeaderMap,
        route: &str,
        request: &str,
    ) -> Result<RequestCaller, ApiProblem> {
        let mut caller = self.caller(headers)?;
        let scope = key_scope(&caller.caller.principal, route);
        caller.caller.key = match headers.get("idempotency-key").map(|it| it.to_str()) {
            None => None,
            Some(Ok(key)) if is_key(key) => {
                let request = Hash::of(request.as_bytes());
                Some(Key { scope, key: key.to_owned(), request })
            }
            Some(_) => {
                let message = "`Idempotency-Key` has 1 to 200 plain characters";
                return Err(ApiProblem::malformed("bad_key", message));
            }
        };
        Ok(caller)
    }

    /// A text that came in, with a mark in the place of each credential of this server.
    pub(crate) fn without_credentials(&self, text: String) -> Result<String, ApiProblem> {
        match &self.runner_key {
            Some(key) => masked(key, text),
            None => Ok(text),
        }
    }

    /// Refuses a credential in the place of a name: an address or a header that is stored.
    pub(crate) fn check_names(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), ApiProblem> {
        match &self.runner_key {
            Some(key) => check_names(key, uri, headers),
            None => Ok(()),
        }
    }

    // Probes have no caller: they show nothing of the work.

    pub(crate) async fn check_readable(&self) -> Result<(), StoreError> {
        self.engine.check_readable().await
    }

    pub(crate) fn write_fault(&self) -> Option<WriteFault> {
        self.engine.write_fault()
    }

    pub(crate) fn data_check(&self) -> DataCheck {
        self.engine.data_check()
    }

    /// The files of the project, for the names of those that are left out.
    pub(crate) fn fresh_catalog(&self) -> Arc<Catalog> {
        self.engine.fresh_catalog()
    }
}

impl Door {
    /// A runner asks for the work of these agents.
    pub(crate) fn hear_claim(&self, agents: &[AgentId]) {
        if let Some(key) = &self.runner_key {
            key.presence().hear_claim(agents);
        }
    }

    /// What is known of runners.
    pub(crate) fn runner(&self) -> PipelineRunner {
        self.runner_key.as_ref().map(|it| it.presence().document()).unwrap_or_default()
    }

    /// The token of the attempt that a claim begins; `None` where there are no credentials.
    pub(crate) fn attempt_token(&self, attempt: &Attempt) -> Option<String> {
        self.runner_key.as_ref().map(|it| it.attempt_token(attempt))
    }
}

fn is_key(key: &str) -> bool {
    !key.trim().is_empty() && key.len() <= 200 && key.bytes().all(|it| (b' '..=b'~').contains(&it))
}

/// The name in `Baton-As`, else the local user. A name, not a credential: it is trusted because
/// only this machine can send requests.
fn principal(headers: &HeaderMap) -> Result<Principal, ApiProblem> {
    let Some(name) = headers.get("baton-as") else { return Ok(Principal::parse("local")?) };
    // Names are UTF-8, which header values may contain although HTTP does not define it.
    let name = std::str::from_utf8(name.as_bytes())
        .map_err(|_| ApiProblem::malformed("bad_name", "`Baton-As` is not UTF-8 text"))?;
    Ok(Principal::typed(name)?)
}

impl RequestCaller {
    #[must_use]
    pub(crate) fn with(self, mode: CommandMode, expected: Option<Vec<Version>>) -> Self {
        Self { caller: Caller { mode, expected, ..self.caller }, ..self }
    }

    /// As [`Caller::without_key`].
    #[must_use]
    pub(crate) fn without_key(&self) -> Self {
        Self { caller: self.caller.without_key(), ..self.clone() }
    }

    pub(crate) fn principal(&self) -> &Principal {
        &self.caller.principal
    }

    /// The agent that the caller speaks as: that of its attempt, else the one that its name names.
    pub(crate) fn agent(&self) -> Option<AgentId> {
        self.engine.agent_of(&self.caller)
    }

    /// Puts questions of a run again that were not answered in time, or gives them up.
    pub(crate) async fn lapse_asks(&self, run: &Run) -> Result<(), EngineError> {
        self.engine.lapse_asks(run).await
    }

    pub(crate) fn mode(&self) -> CommandMode {
        self.caller.mode
    }

    /// Refuses what is not about the handoff of an attempt.
    pub(crate) fn check_no_attempt(&self, command: &'static str) -> Result<(), EngineError> {
        match &self.caller.attempt {
            Some(attempt) => {
                let agent = attempt.agent.clone();
                Err(EngineError::OtherAttempt { agent, handoff: None, command })
            }
            None => Ok(()),
        }
    }

    /// Refuses everyone but a runner.
    pub(crate) fn check_runner(&self) -> Result<(), ApiProblem> {
        if self.is_runner {
            return Ok(());
        }
        let message = "only a runner claims work, with the credential in `runner.key` of the server's \
                       data; an agent or a person accepts a handoff";
        Err(ApiProblem::new(StatusCode::FORBIDDEN, "not_a_runner", message))
    }

    /// Refuses everyone but a runner and the agent of an attempt.
    pub(crate) fn check_runner_or_attempt(&self) -> Result<(), ApiProblem> {
        if self.caller.attempt.is_some() { Ok(()) } else { self.check_runner() }
    }

    pub(crate) async fn claim(
        &self,
        agents: &[AgentId],
        lease: LeaseTime,
    ) -> Result<Option<CommandResult>, EngineError> {
        self.engine.claim(&self.caller, agents, lease).await
    }

    pub(crate) async fn claim_checks(
        &self,
        can_run: &[CheckName],
        lease: LeaseTime,
    ) -> Result<Option<CommandResult>, EngineError> {
        self.engine.claim_checks(&self.caller, can_run, lease).await
    }

    /// Changes with every commit.
    pub(crate) fn news(&self) -> watch::Receiver<()> {
        self.engine.news()
    }

    /// Held while a story is compared and written, so that no other process comes in between.
    pub(crate) async fn lock_story(&self, key: &StoryKey) -> Result<StoreLock, EngineError> {
        self.engine.lock_story(key).await
    }

    pub(crate) async fn retain(
        &self,
        kept: SignedDuration,
        after: u64,
    ) -> Result<RetentionPass, EngineError> {
        self.engine.retain(&self.caller.without_key(), kept, after).await
    }

    pub(crate) async fn dropped_texts(&self, run: RunId) -> Result<Vec<DroppedText>, EngineError> {
        self.engine.dropped_texts(run).await
    }

    pub(crate) async fn redactable(
        &self,
        run: RunId,
        texts: &[ContentId],
    ) -> Result<Vec<ContentId>, EngineError> {
        self.engine.redactable(run, texts).await
    }

    pub(crate) async fn redact(
        &self,
        run: RunId,
        texts: &[ContentId],
        reason: &FreeText,
    ) -> Result<CommandResult, EngineError> {
        self.engine.redact(&self.caller, run, texts, reason).await
    }

    pub(crate) async fn checkpoint(&self) -> Result<CheckpointRow, EngineError> {
        self.engine.checkpoint().await
    }

    pub(crate) async fn start(&self, start: StartRun) -> Result<CommandResult, EngineError> {
        self.engine.start(&self.caller, start).await
    }

    pub(crate) async fn start_at(
        &self,
        start: StartRun,
        at: StartingPoint,
    ) -> Result<CommandResult, EngineError> {
        self.engine.start_at(&self.caller, start, at).await
    }

    pub(crate) async fn start_next(
        &self,
        start: impl FnOnce(StoryKey) -> StartRun,
    ) -> Result<CommandResult, EngineError> {
        self.engine.start_next(&self.caller, start).await
    }

    pub(crate) async fn create(
        &self,
        within: RunTarget,
        create: Create,
    ) -> Result<CommandResult, EngineError> {
        self.engine.create(&self.caller, within, create).await
    }

    pub(crate) async fn on_handoff(
        &self,
        which: &HandoffRef,
        command: impl FnOnce(HandoffNo) -> Command,
    ) -> Result<CommandResult, EngineError> {
        self.engine.on_handoff(&self.caller, which, command).await
    }

    pub(crate) async fn on_run(
        &self,
        run: RunId,
        command: Command,
    ) -> Result<CommandResult, EngineError> {
        self.engine.on_run(&self.caller, run, command).await
    }

    pub(crate) async fn receive(
        &self,
        package: Package,
        hints: &DocumentHints,
    ) -> Result<ReceiveResult, EngineError> {
        self.engine.receive(&self.caller, package, hints).await
    }

    pub(crate) async fn send_file(
        &self,
        which: &HandoffRef,
        file: NewFile,
    ) -> Result<SentFileResult, EngineError> {
        self.engine.send_file(&self.caller, which, file).await
    }

    pub(crate) async fn heartbeat(
        &self,
        which: &HandoffRef,
        fence: u32,
    ) -> Result<Timestamp, EngineError> {
        self.engine.heartbeat(&self.caller, which, fence).await
    }

    pub(crate) async fn add_story(&self, story: &Story) -> Result<bool, EngineError> {
        self.engine.add_story(&self.caller, story).await
    }

    pub(crate) async fn save_story(&self, story: &Story) -> Result<SavedStory, EngineError> {
        self.engine.save_story(&self.caller, story).await
    }

    pub(crate) async fn saved_before(
        &self,
        story: &Story,
    ) -> Result<Option<SavedStory>, EngineError> {
        self.engine.saved_before(&self.caller, story).await
    }
}

impl RequestScope {
    pub(crate) fn caller(&self) -> &RequestCaller {
        &self.caller
    }

    /// The scope of this caller's idempotency keys at a route.
    pub(crate) fn key_scope(&self, route: &str) -> String {
        key_scope(&self.caller.caller.principal, route)
    }

    pub(crate) fn read(&self) -> Views<'_> {
        Views::new(&self.caller.engine, &self.caller.caller)
    }
}

fn key_scope(principal: &Principal, route: &str) -> String {
    format!("http:{principal}:{route}")
}

impl Deref for RequestScope {
    type Target = App;

    fn deref(&self) -> &App {
        &self.app
    }
}

impl FromRequestParts<Arc<App>> for RequestScope {
    type Rejection = ApiProblem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, ApiProblem> {
        Ok(Self { caller: app.door.caller(&parts.headers)?, app: app.clone() })
    }
}
