//! The requests that a runner sends, each with its types.

mod counting;
mod files;

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use baton_api::{
    AgentProfile, CheckClaim, CheckClaimRequest, CheckReport, Claim, ClaimRequest, GateDocument,
    GivenBack, HandoffDetail, Heartbeat, LostAttempt, NewMessage, Page, PermissionRequest,
    ProblemDocument, PromptDocument, RunDocument, StoryDocument, StoryText, UsageReport,
    WithdrawnPermission,
};
use baton_core::agent::AgentInterface;
use baton_core::budget::Usage;
use baton_core::hash::Hash;
use baton_core::package::Format;
use baton_core::run::Wait;
use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{Method, Request, StatusCode};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::percent::encoded;
use crate::record::{AttemptKey, AttemptRetry};
use crate::transport::ApiTransport;

pub(crate) struct Client {
    pub(crate) transport: Arc<dyn ApiTransport>,
    credential: String,
    /// Of this client alone: the keys of its claims begin with it.
    name: String,
    n_claims: AtomicU64,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum ApiFailure {
    #[error("{}", .0.detail)]
    Refused(Box<ProblemDocument>),
    #[error("{0}")]
    Unreachable(String),
}

/// How often, and for how long at most, a request is sent again while the server does not answer.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_millis(250);
const PATIENCE: Duration = Duration::from_secs(300);
const MOST_HEARTBEAT: Duration = Duration::from_secs(2);
/// A claim whose answer was lost is asked for again within this time, by the same name.
const CLAIM_PATIENCE: Duration = Duration::from_secs(5);

/// A question for permission has at most 10,000 characters.
const MOST_QUESTION: usize = 9_000;

/// How the reason begins with which an attempt ends that left no result.
pub(crate) const FAILURE: &str = "failure: ";

struct ApiRequest<'a> {
    method: Method,
    path: String,
    media_type: &'static str,
    body: Bytes,
    bearer: &'a str,
    key: Option<String>,
}

impl Client {
    pub(crate) fn new(transport: Arc<dyn ApiTransport>, credential: String) -> Self {
        // The standard library's own source of chance is enough for a name.
        let chance = || RandomState::new().build_hasher().finish();
        let name = format!("{:016x}{:016x}", chance(), chance());
        Self { transport, credential, name, n_claims: AtomicU64::new(0) }
    }

    /// The next work for these agents; `None` if none came within the time. Where the server took it for us
    /// and its answer was lost, the same work is answered again.
    pub(crate) async fn claim(
        &self,
        (agents, capabilities): (&[String], &[String]),
        lease_seconds: u32,
        wait_seconds: u32,
    ) -> Result<Option<Claim>, ApiFailure> {
        let asked = ClaimRequest {
            agents: agents.to_vec(),
            capabilities: capabilities.to_vec(),
            lease_seconds: Some(lease_seconds),
            wait_seconds: Some(wait_seconds),
        };
        let n = self.n_claims.fetch_add(1, Ordering::Relaxed);
        let key = Some(format!("claim-{}-{n}", self.name));
        let request = ApiRequest { key, ..self.post("/claims".to_owned(), &asked) };
        let (status, body) = self.insist_for(&request, CLAIM_PATIENCE).await?;
        match status {
            StatusCode::NO_CONTENT => Ok(None),
            _ => read(&body).map(Some),
        }
    }

    /// The next work whose checks this runner can run; `None` if none came within the time.
    pub(crate) async fn claim_checks(
        &self,
        checks: &[String],
        lease_seconds: u32,
        wait_seconds: u32,
    ) -> Result<Option<CheckClaim>, ApiFailure> {
        let asked = CheckClaimRequest {
            checks: checks.to_vec(),
            lease_seconds: Some(lease_seconds),
            wait_seconds: Some(wait_seconds),
        };
        let (status, body) = self.send(&self.post("/claims/checks".to_owned(), &asked)).await?;
        match status {
            StatusCode::NO_CONTENT => Ok(None),
            _ => read(&body).map(Some),
        }
    }

    /// What came of the checks. Sent again, it is answered and does nothing.
    pub(crate) async fn report_checks(
        &self,
        key: &AttemptKey,
        report: &CheckReport,
    ) -> Result<(), ApiFailure> {
        let path = format!("/handoffs/{}/checks", key.handoff);
        let request = self.keyed(self.post(path, report), key, "checks");
        self.insist(&request).await.map(|_| ())
    }

    pub(crate) async fn heartbeat(&self, key: &AttemptKey) -> Result<(), ApiFailure> {
        let path = format!("/handoffs/{}/heartbeat", key.handoff);
        let request = self.post(path, &Heartbeat { fence: key.fence });
        // A server that hangs keeps nothing else waiting.
        match tokio::time::timeout(MOST_HEARTBEAT, self.send(&request)).await {
            Ok(answered) => answered.map(|_| ()),
            Err(_) => Err(ApiFailure::Unreachable("it did not answer a heartbeat".to_owned())),
        }
    }

    pub(crate) async fn prompt(
        &self,
        key: &AttemptKey,
        url: &str,
        interface: AgentInterface,
    ) -> Result<PromptDocument, ApiFailure> {
        let handoff = key.handoff;
        let (url, face) = (encoded(url), interface.name());
        let path = format!("/handoffs/{handoff}/prompt?withToken=true&url={url}&face={face}");
        let (_, body) = self.insist(&self.get(path)).await?;
        read(&body)
    }

    /// Sends a document that an agent wrote, as that agent. True if it moved the work.
    pub(crate) async fn document(
        &self,
        key: &AttemptKey,
        format: Format,
        text: &str,
        name: &str,
    ) -> Result<bool, ApiFailure> {
        let request = ApiRequest {
            method: Method::POST,
            path: "/documents".to_owned(),
            media_type: media_type(format),
            body: Bytes::from(text.to_owned()),
            bearer: &key.token,
            key: Some(key.idempotency_key(name)),
        };
        let (status, body) = self.insist(&request).await?;
        // Work that waits for its checks is handed on, too.
        let is_parked = || read::<MovedRun>(&body).is_ok_and(|it| it.is_on_checks());
        Ok(status != StatusCode::ACCEPTED || is_parked())
    }

    /// The attempt ends without a result of the agent's own: the work is tried again, and then asked of
    /// a person.
    pub(crate) async fn lose(
        &self,
        key: &AttemptKey,
        reason: &str,
        output: Option<Hash>,
        retry: AttemptRetry,
    ) -> Result<(), ApiFailure> {
        let (retry_at, ask) = match retry {
            AttemptRetry::AsUsual => (None, false),
            AttemptRetry::At(at) => (Some(at), false),
            AttemptRetry::AskFirst => (None, true),
        };
        let lost = LostAttempt {
            fence: key.fence,
            reason: reason.chars().take(1000).collect(),
            output: output.map(|it| it.to_string()),
            retry_at,
            ask,
        };
        let path = format!("/handoffs/{}/lost", key.handoff);
        let request = self.keyed(self.post(path, &lost), key, "lost");
        self.insist(&request).await.map(|_| ())
    }

    /// Asks a person for permission. The gate that holds the question.
    pub(crate) async fn ask_permission(
        &self,
        key: &AttemptKey,
        n: usize,
        question: &str,
    ) -> Result<uuid::Uuid, ApiFailure> {
        let asked = PermissionRequest {
            fence: key.fence,
            question: question.chars().take(MOST_QUESTION).collect(),
        };
        let path = format!("/handoffs/{}/permissions", key.handoff);
        let request = self.keyed(self.post(path, &asked), key, &format!("permission-{n}"));
        let (_, body) = self.insist(&request).await?;
        read::<AskedGate>(&body).map(|it| it.handoff.id)
    }

    /// What a person has answered; `None` as long as the question is open.
    pub(crate) async fn permission(
        &self,
        gate: uuid::Uuid,
    ) -> Result<Option<PermissionAnswer>, ApiFailure> {
        let (_, body) = self.send(&self.get(format!("/handoffs/{gate}"))).await?;
        let gate: HandoffDetail = read(&body)?;
        if gate.handoff.row.ended_at.is_none() {
            return Ok(None);
        }
        let answer = match &gate.beside.question {
            Some(GateDocument::Answered(answered)) => answered.answer.as_str(),
            // It ended without an answer.
            Some(GateDocument::Open(_)) | None => "",
        };
        Ok(Some(match answer {
            "approve" => PermissionAnswer::Once,
            "continue" => PermissionAnswer::Kind,
            _ => PermissionAnswer::Deny,
        }))
    }

    pub(crate) async fn withdraw_permission(&self, gate: uuid::Uuid) -> Result<(), ApiFailure> {
        let path = format!("/handoffs/{gate}/withdraw");
        self.send(&self.post(path, &WithdrawnPermission {})).await.map(|_| ())
    }

    /// What a program used. Sent again under the same name, it counts once.
    pub(crate) async fn usage(
        &self,
        key: &AttemptKey,
        executor: &str,
        usage: &Usage,
        name: &str,
    ) -> Result<(), ApiFailure> {
        let report = UsageReport {
            fence: key.fence,
            executor: Some(executor.to_owned()),
            input_tokens: usage.input_tokens,
            cached_tokens: usage.cached_tokens,
            output_tokens: usage.output_tokens,
            micro_usd: usage.micro_usd,
            work_ms: usage.work_ms,
        };
        let path = format!("/handoffs/{}/usage", key.handoff);
        let request = self.keyed(self.post(path, &report), key, name);
        self.insist(&request).await.map(|_| ())
    }

    pub(crate) async fn release(&self, key: &AttemptKey, reason: &str) -> Result<(), ApiFailure> {
        let back =
            GivenBack { reason: Some(reason.to_owned()), agent: None, fence: Some(key.fence) };
        let path = format!("/handoffs/{}/release", key.handoff);
        let request = self.keyed(self.post(path, &back), key, "release");
        self.insist(&request).await.map(|_| ())
    }

    /// Says something on the run: as the agent, or as the runner itself.
    pub(crate) async fn say(
        &self,
        run: uuid::Uuid,
        agent: Option<&str>,
        text: String,
    ) -> Result<(), ApiFailure> {
        let message = NewMessage { text, agent: agent.map(str::to_owned) };
        self.send(&self.post(format!("/runs/{run}/messages"), &message)).await.map(|_| ())
    }

    pub(crate) async fn story(&self, key: &str) -> Result<StoryDocument, ApiFailure> {
        let (_, body) = self.insist(&self.get(format!("/stories/{}", encoded(key)))).await?;
        read(&body)
    }

    /// Records the branch that a story's work is on.
    pub(crate) async fn set_branch(
        &self,
        story: &StoryDocument,
        branch: Option<&str>,
    ) -> Result<(), ApiFailure> {
        let text = StoryText {
            title: story.title.clone(),
            description: story.description.clone(),
            acceptance: story.acceptance.clone(),
            depends_on: story.depends_on.clone(),
            priority: story.priority,
            branch: branch.map(str::to_owned),
            pr_url: story.pr_url.clone(),
        };
        let request = self.post(format!("/stories/{}", encoded(&story.key)), &text);
        let request = ApiRequest { method: Method::PUT, ..request };
        self.insist(&request).await.map(|_| ())
    }

    /// A command on a handoff, as the agent whose token this client has.
    pub(crate) async fn command_as_agent(
        &self,
        handoff: &str,
        verb: &str,
        body: String,
    ) -> Result<(), ApiFailure> {
        let path = format!("/handoffs/{}/{verb}", encoded(handoff));
        let request = ApiRequest { method: Method::POST, body: body.into(), ..self.get(path) };
        self.send(&request).await.map(|_| ())
    }

    /// Every agent of the project.
    pub(crate) async fn agents(&self) -> Result<Vec<String>, ApiFailure> {
        let (_, body) = self.insist(&self.get("/agents".to_owned())).await?;
        let page: Page<AgentProfile> = read(&body)?;
        Ok(page.items.into_iter().map(|it| it.attribution.agent_id).collect())
    }

    pub(crate) async fn open_runs(&self) -> Result<Vec<RunDocument>, ApiFailure> {
        let (_, body) = self.insist(&self.get("/runs?status=open&limit=500".to_owned())).await?;
        let page: Page<RunDocument> = read(&body)?;
        Ok(page.items)
    }

    fn get(&self, path: String) -> ApiRequest<'_> {
        ApiRequest {
            method: Method::GET,
            path,
            media_type: "application/json",
            body: Bytes::new(),
            bearer: &self.credential,
            key: None,
        }
    }

    fn post(&self, path: String, body: &impl Serialize) -> ApiRequest<'_> {
        let body = match serde_json::to_string(body) {
            Ok(body) => body,
            Err(error) => unreachable!("our own types always encode: {error}"),
        };
        ApiRequest { method: Method::POST, body: body.into(), ..self.get(path) }
    }

    fn keyed<'a>(&self, request: ApiRequest<'a>, key: &AttemptKey, name: &str) -> ApiRequest<'a> {
        ApiRequest { key: Some(key.idempotency_key(name)), ..request }
    }

    /// Sends a request that may be sent twice until the server answers.
    async fn insist(&self, request: &ApiRequest<'_>) -> Result<(StatusCode, Bytes), ApiFailure> {
        self.insist_for(request, PATIENCE).await
    }

    async fn insist_for(
        &self,
        request: &ApiRequest<'_>,
        patience: Duration,
    ) -> Result<(StatusCode, Bytes), ApiFailure> {
        let mut failing_since = None;
        let mut pause = FIRST_PAUSE;
        loop {
            let answered = self.send(request).await;
            let Err(ApiFailure::Unreachable(why)) = &answered else { return answered };
            let since = failing_since.get_or_insert_with(tokio::time::Instant::now);
            if since.elapsed() >= patience {
                return answered;
            }
            tracing::debug!(why, "the server does not answer; trying again");
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    async fn send(&self, request: &ApiRequest<'_>) -> Result<(StatusCode, Bytes), ApiFailure> {
        let mut built = Request::builder()
            .method(request.method.clone())
            .uri(format!("/api/v1{}", request.path))
            .header(AUTHORIZATION, format!("Bearer {}", request.bearer))
            .header(ACCEPT, "application/json")
            .header(CONTENT_TYPE, request.media_type);
        if let Some(key) = &request.key {
            built = built.header("idempotency-key", key);
        }
        let built = built
            .body(request.body.clone())
            .map_err(|error| ApiFailure::Unreachable(error.to_string()))?;
        let response = self.transport.send(built).await;
        let response = response.map_err(|error| ApiFailure::Unreachable(error.to_string()))?;
        let (parts, body) = response.into_parts();
        if parts.status.is_success() {
            return Ok((parts.status, body));
        }
        match serde_json::from_slice::<ProblemDocument>(&body) {
            // It is starting, stopping or cannot write: as good as not there.
            Ok(problem) if parts.status.is_server_error() => {
                Err(ApiFailure::Unreachable(problem.detail))
            }
            Ok(problem) => Err(ApiFailure::Refused(Box::new(problem))),
            Err(_) => Err(ApiFailure::Unreachable(format!("it answered {}", parts.status))),
        }
    }
}

/// A person's answer to a question for permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PermissionAnswer {
    Once,
    /// This kind of tool, until the attempt ends.
    Kind,
    Deny,
}

/// Of the answer to a question for permission, the gate that holds it.
#[derive(Deserialize)]
struct AskedGate {
    handoff: GateId,
}

#[derive(Deserialize)]
struct GateId {
    id: uuid::Uuid,
}

/// Of the answer to a command, where the run is then.
#[derive(Deserialize)]
struct MovedRun {
    run: ParkedRun,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ParkedRun {
    parked_on: Option<String>,
}

impl MovedRun {
    fn is_on_checks(&self) -> bool {
        self.run.parked_on.as_deref() == Some(Wait::Checks.name())
    }
}

impl ApiFailure {
    pub(crate) fn code(&self) -> Option<&str> {
        match self {
            Self::Refused(problem) => Some(&problem.code),
            Self::Unreachable(_) => None,
        }
    }
}

fn read<T: DeserializeOwned>(body: &Bytes) -> Result<T, ApiFailure> {
    serde_json::from_slice(body)
        .map_err(|error| ApiFailure::Unreachable(format!("its answer cannot be read: {error}")))
}

fn media_type(format: Format) -> &'static str {
    match format {
        Format::Json => "application/json",
        Format::Xml => "application/xml",
        Format::Yaml => "application/yaml",
        Format::Markdown => "text/markdown",
    }
}
