//! What the receiver of a handoff is told, as plain text.

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_TYPE, HOST};
use axum::response::{IntoResponse as _, Response};
use baton_engine::{DashboardUrl, Face, Prompt, PromptOptions};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use super::document::refused;
use crate::App;
use crate::openapi::ReadProblems;
use crate::params::{Named, Params};
use crate::problem::{Document, Problem};
use crate::v1::names::handoff_ref;

/// So that whoever sends the prompt on can say later which it was.
const HASH: &str = "x-baton-prompt-hash";

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(in crate::v1) struct PromptQuery {
    /// The run that a label such as `HO-001` is of: its id, its number or its story's key.
    run: Option<String>,
    /// How many tokens it may have, at four characters each; the least important is left out first.
    budget: Option<u32>,
    /// How the agent speaks to Baton.
    #[serde(default)]
    #[param(inline, default = "curl")]
    face: FaceWord,
}

#[derive(Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = Face)]
enum FaceWord {
    #[default]
    Curl,
    Cli,
    Block,
}

impl From<FaceWord> for Face {
    fn from(word: FaceWord) -> Self {
        match word {
            FaceWord::Curl => Self::Curl,
            FaceWord::Cli => Self::Cli,
            FaceWord::Block => Self::Block,
        }
    }
}

/// What the receiver of a handoff is told: who it is, its task, the package, how to hand on.
#[utoipa::path(get, path = "/api/v1/handoffs/{handoff}/prompt", operation_id = "getPrompt",
    tag = "handoffs",
    params(("handoff" = String, Path, description = "Its id, its number, or `RUN/HO-001`"),
        PromptQuery),
    responses(
        (status = 200, description = "The prompt", body = String, content_type = "text/plain",
            headers(("x-baton-prompt-hash" = String, description = "The SHA-256 of the prompt"))),
        (status = 409, description = "The handoff is finished", body = Document,
            content_type = "application/problem+json"),
        (status = 422, description = "It is for a person, or the agent's own prompt cannot be filled in",
            body = Document, content_type = "application/problem+json"),
        ReadProblems))]
pub(in crate::v1) async fn prompt(
    State(app): State<Arc<App>>,
    Named(name): Named,
    Params(query): Params<PromptQuery>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let which = handoff_ref(&app, &name, query.run.as_deref()).await?;
    let options = PromptOptions {
        dashboard_url: own_url(&headers)?,
        token: None,
        budget_tokens: query.budget,
        face: query.face.into(),
    };
    match app.engine.prompt(&which, &options).await {
        Ok(Prompt { text, hash, .. }) => {
            let plain = (CONTENT_TYPE.as_str(), "text/plain; charset=utf-8".to_owned());
            Ok(([plain, (HASH, hash.to_string())], text).into_response())
        }
        Err(error) => Err(refused(&app, error).await),
    }
}

/// By the name that the caller used, which the guard has let in.
fn own_url(headers: &HeaderMap) -> Result<DashboardUrl, Problem> {
    let host = headers.get(HOST).and_then(|it| it.to_str().ok()).unwrap_or_default();
    DashboardUrl::parse(&format!("http://{host}"))
        .map_err(|error| Problem::malformed("bad_host", error.to_string()))
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::body::Body;
    use axum::http::{Request, StatusCode};
    use baton_core::hash::Hash;
    use baton_core::names::{Principal, StoryKey};
    use baton_core::registry::Agents;
    use baton_core::story::Story;
    use baton_engine::{Caller, Catalog, Engine, Entry, StartRun, SystemClock};
    use baton_store::MemoryStore;
    use baton_wire::{agent_file, builtin, workflow_file};
    use http_body_util::BodyExt as _;
    use tower::ServiceExt as _;

    use super::*;
    use crate::guard::Origins;

    /// A server whose story `a/b#1` is with the analyst as handoff 1.
    async fn server() -> Router {
        let (_, text) = builtin::workflows()[0];
        let workflow = Arc::new(workflow_file::parse(text).unwrap());
        let entry = Entry { workflow, text: text.to_owned() };
        let agents = builtin::agents().iter().map(|(_, it)| agent_file::parse(it).unwrap().agent);
        let catalog = Catalog::new([entry], Agents::new(agents), None);
        let store = Arc::new(MemoryStore::default());
        let engine = Engine::open(store, Arc::new(SystemClock), catalog).await.unwrap();
        let story = StoryKey::parse("a/b#1").unwrap();
        engine.add_story(&Story::named(story.clone())).await.unwrap();
        let start = StartRun { story, workflow: None, to: None, package: None, reason: None };
        engine.start(&Caller::new(Principal::parse("ada").unwrap()), start).await.unwrap();
        let address = "127.0.0.1:4180".parse().unwrap();
        let engine = Arc::new(engine);
        let live = Arc::new(crate::events::Live::new(engine.clone()));
        crate::router(engine, Origins::new(address, &[]), live)
    }

    async fn send(server: &Router, request: Request<Body>) -> (StatusCode, HeaderMap, String) {
        let response = server.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        (parts.status, parts.headers, String::from_utf8(body.into()).unwrap())
    }

    async fn get(server: &Router, path: &str) -> (StatusCode, HeaderMap, String) {
        let request = Request::get(path).header(HOST, "localhost:4180").body(Body::empty());
        send(server, request.unwrap()).await
    }

    /// Sends what the first command of a prompt with this in it would send.
    async fn does(server: &Router, prompt: &str, part: &str) -> StatusCode {
        let mut commands = prompt.split("```sh\n").skip(1);
        let command = commands.find(|it| it.contains(part)).unwrap();
        let (line, rest) = command.split_once(" <<'BATON'\n").unwrap();
        let (body, _) = rest.split_once("\nBATON\n").unwrap();
        let path = line.split(' ').find_map(|it| it.strip_prefix("http://localhost:4180"));
        let request = Request::post(path.unwrap())
            .header(HOST, "localhost:4180")
            .header(CONTENT_TYPE, "application/json")
            .body(Body::from(body.to_owned()));
        send(server, request.unwrap()).await.0
    }

    #[tokio::test]
    async fn a_prompt_is_plain_text_with_the_name_that_was_called() {
        let (status, headers, text) = get(&server().await, "/api/v1/handoffs/1/prompt").await;
        assert_eq!(status, StatusCode::OK, "{text}");
        assert_eq!(headers[CONTENT_TYPE], "text/plain; charset=utf-8");
        assert_eq!(headers[HASH], Hash::of(text.as_bytes()).to_string());
        assert!(text.starts_with("DASHBOARD_URL = http://localhost:4180\nSTORY_ID = a/b#1\n"));
        assert!(text.contains("curl -sS -X POST http://localhost:4180/api/handoffs"), "{text}");
    }

    #[tokio::test]
    async fn a_prompt_is_found_by_every_name_of_its_handoff() {
        let server = server().await;
        for name in ["1", "1%2FHO-001", "a%2Fb%231%2FHO-001"] {
            let (status, _, text) = get(&server, &format!("/api/v1/handoffs/{name}/prompt")).await;
            assert_eq!(status, StatusCode::OK, "{name}: {text}");
        }
        let (status, _, _) = get(&server, "/api/v1/handoffs/HO-001/prompt?run=1").await;
        assert_eq!(status, StatusCode::OK);
        let nobody = "00000000-0000-7000-8000-000000000000";
        for name in ["9", "1%2FHO-009", "1%2Fx", "7%2FHO-001", nobody] {
            let (status, _, text) = get(&server, &format!("/api/v1/handoffs/{name}/prompt")).await;
            assert_eq!(status, StatusCode::NOT_FOUND, "{name}: {text}");
        }
    }

    #[tokio::test]
    async fn a_face_and_a_budget_may_be_asked_for() {
        let server = server().await;
        let (_, _, text) = get(&server, "/api/v1/handoffs/1/prompt?face=block").await;
        assert!(
            text.contains("```baton\n") && !text.contains("-X POST http://localhost"),
            "{text}"
        );
        let (_, _, text) = get(&server, "/api/v1/handoffs/1/prompt?budget=1").await;
        assert!(text.contains("[CUT HERE for length"), "{text}");
        for query in ["face=fax", "budget=-1", "budget=many", "colour=red"] {
            let (status, _, text) =
                get(&server, &format!("/api/v1/handoffs/1/prompt?{query}")).await;
            assert_eq!(status, StatusCode::BAD_REQUEST, "{query}: {text}");
        }
    }

    #[tokio::test]
    async fn what_the_curl_lines_send_is_taken() {
        let server = server().await;
        let (_, _, prompt) = get(&server, "/api/v1/handoffs/1/prompt").await;
        assert_eq!(does(&server, &prompt, "\"action\": \"accept\"").await, StatusCode::OK);
        assert_eq!(does(&server, &prompt, "\"toAgent\": \"implementer\"").await, StatusCode::OK);
        let (_, _, prompt) = get(&server, "/api/v1/handoffs/2/prompt").await;
        assert_eq!(does(&server, &prompt, "/clarify").await, StatusCode::OK);
        let (_, _, question) = get(&server, "/api/v1/handoffs/3/prompt").await;
        assert_eq!(does(&server, &question, "/answer").await, StatusCode::OK);
        assert_eq!(does(&server, &prompt, "\"action\": \"accept\"").await, StatusCode::OK);
        let human = "\"kind\": \"escalation\"";
        assert_eq!(does(&server, &prompt, human).await, StatusCode::OK);
        assert_eq!(does(&server, &prompt, "\"action\": \"reject\"").await, StatusCode::OK);
        let (status, _, text) = get(&server, "/api/v1/handoffs/2/prompt").await;
        assert_eq!(status, StatusCode::CONFLICT, "{text}");
        assert!(text.contains("\"code\":\"finished\""), "{text}");
    }
}
