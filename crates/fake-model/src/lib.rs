//! A model API on loopback that plays a script, so that real coding agents can be tested without a
//! network: the messages of Anthropic, the responses of OpenAI and the contents of Google, as far as Claude
//! Code, Codex and Gemini CLI use them. Only for tests.
#![expect(clippy::expect_used, reason = "a test ends where its model cannot be started")]

mod anthropic;
mod google;
mod openai;

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};
use tokio::sync::oneshot;

/// What a model does next.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelStep {
    /// Uses the tool whose name ends so.
    Tool { name: String, input: Value },
    /// Says this, and is done.
    Text(String),
    /// The provider refuses the request; its limit ends at this second of the Unix epoch.
    RateLimited { resets_at: i64 },
    /// Does not answer for a minute.
    Silence,
}

/// A conversation, as far as a script needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptedConversation {
    /// Everything that the user and the program have said, in order.
    pub text: String,
    /// Answers of tools so far: how far the script has come.
    pub n_results: usize,
    /// The newest of them.
    pub last_result: String,
    /// The credential that was sent.
    pub key: String,
}

/// Decides from the conversation alone, so that agents may work side by side.
type Script = dyn Fn(&ScriptedConversation) -> ModelStep + Send + Sync;

/// A server that stops when it is dropped.
pub struct FakeModel {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<ScriptedConversation>>>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

struct ModelState {
    script: Box<Script>,
    seen: Arc<Mutex<Vec<ScriptedConversation>>>,
}

impl FakeModel {
    /// # Panics
    ///
    /// Where no port of loopback is free.
    pub fn start(
        script: impl Fn(&ScriptedConversation) -> ModelStep + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = listener.local_addr().expect("an address");
        listener.set_nonblocking(true).expect("a listener for tokio");
        let seen = Arc::new(Mutex::new(Vec::new()));
        let state = Arc::new(ModelState { script: Box::new(script), seen: seen.clone() });
        let (stop, stopped) = oneshot::channel::<()>();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("a runtime").block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
                let routes = Router::new().fallback(answer).with_state(state);
                let serving = axum::serve(listener, routes);
                // Connections that agents keep open are not waited for.
                tokio::select! {
                    _ = serving => {}
                    _ = stopped => {}
                }
            });
        });
        Self { address, seen, stop: Some(stop), thread: Some(thread) }
    }

    /// For `ANTHROPIC_BASE_URL` and `GOOGLE_GEMINI_BASE_URL`; with `/v1` for an OpenAI provider.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The conversations of all requests so far.
    pub fn seen(&self) -> Vec<ScriptedConversation> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for FakeModel {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

async fn answer(
    State(state): State<Arc<ModelState>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let Ok(request) = serde_json::from_slice::<Value>(&body) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let key = ["x-api-key", "x-goog-api-key", "authorization"];
    let key = key.iter().find_map(|it| headers.get(*it)).and_then(|it| it.to_str().ok());
    let Some(api) = ModelApi::of(uri.path()) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let tools = api.tools(&request);
    let mut conversation = api.conversation(&request);
    conversation.key = key.unwrap_or_default().to_owned();
    // Without tools a program asks for something of its own: a title, say.
    let step = if tools.is_empty() {
        ModelStep::Text("A title".to_owned())
    } else {
        state.seen.lock().unwrap_or_else(PoisonError::into_inner).push(conversation.clone());
        (state.script)(&conversation)
    };
    let n = conversation.n_results;
    match (step, api) {
        (ModelStep::RateLimited { resets_at }, api) => rate_limited(api, resets_at),
        (ModelStep::Silence, _) => {
            tokio::time::sleep(Duration::from_secs(60)).await;
            StatusCode::SERVICE_UNAVAILABLE.into_response()
        }
        (step @ (ModelStep::Text(_) | ModelStep::Tool { .. }), ModelApi::Anthropic) => {
            events(&anthropic::events(&request, n, &tools, &step))
        }
        (step @ (ModelStep::Text(_) | ModelStep::Tool { .. }), ModelApi::OpenAi) => {
            events(&openai::events(n, &tools, &step))
        }
        (step @ (ModelStep::Text(_) | ModelStep::Tool { .. }), ModelApi::GoogleStream) => {
            events(&[google::response(n, &tools, &step)])
        }
        (step @ (ModelStep::Text(_) | ModelStep::Tool { .. }), ModelApi::Google) => {
            json_body(StatusCode::OK, &google::response(n, &tools, &step))
        }
    }
}

/// Whose requests are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ModelApi {
    Anthropic,
    OpenAi,
    Google,
    /// The same, as events.
    GoogleStream,
}

impl ModelApi {
    fn of(path: &str) -> Option<Self> {
        let ends = [
            ("/messages", Self::Anthropic),
            ("/responses", Self::OpenAi),
            (":generateContent", Self::Google),
            (":streamGenerateContent", Self::GoogleStream),
        ];
        ends.into_iter().find(|(end, _)| path.ends_with(end)).map(|it| it.1)
    }

    fn tools(self, request: &Value) -> Vec<String> {
        match self {
            Self::Anthropic => anthropic::tools(request),
            Self::OpenAi => openai::tools(request),
            Self::Google | Self::GoogleStream => google::tools(request),
        }
    }

    fn conversation(self, request: &Value) -> ScriptedConversation {
        match self {
            Self::Anthropic => anthropic::conversation(request),
            Self::OpenAi => openai::conversation(request),
            Self::Google | Self::GoogleStream => google::conversation(request),
        }
    }
}

/// Server-sent events, each named by its type where it has one.
fn events(events: &[Value]) -> Response {
    let mut body = String::new();
    for event in events {
        if let Some(name) = event["type"].as_str() {
            body += &format!("event: {name}\n");
        }
        body += &format!("data: {event}\n\n");
    }
    ([(header::CONTENT_TYPE, "text/event-stream")], body).into_response()
}

fn rate_limited(api: ModelApi, resets_at: i64) -> Response {
    let body = match api {
        ModelApi::Anthropic => json!({"type": "error", "error": {"type": "rate_limit_error",
            "message": "This request would exceed your account's rate limit."}}),
        ModelApi::OpenAi => json!({"error": {"type": "usage_limit_reached",
            "message": "The usage limit has been reached", "plan_type": "plus",
            "resets_at": resets_at}}),
        ModelApi::Google | ModelApi::GoogleStream => google::rate_limited(resets_at),
    };
    let mut response = json_body(StatusCode::TOO_MANY_REQUESTS, &body);
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("3600"));
    response
}

fn json_body(status: StatusCode, body: &Value) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], body.to_string()).into_response()
}

/// The tool whose name ends so, as the program calls it.
fn tool_named<'a>(tools: &'a [String], name: &'a str) -> &'a str {
    tools.iter().find(|it| it.ends_with(name)).map_or(name, String::as_str)
}
