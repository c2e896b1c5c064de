//! `GET /api/v1/handoffs/{id}/prompt`: what the receiver of a handoff is told, as plain text.

use std::sync::Arc;

use axum::Router;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_TYPE, HOST};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use baton_core::names::StoryKey;
use baton_core::run::{HandoffId, HandoffNo, RunId};
use baton_engine::{DashboardUrl, Engine, EngineError, Face, Prompt, PromptOptions};
use baton_store::{HandoffRef, RunRef};
use serde::Deserialize;
use uuid::Uuid;

use crate::App;
use crate::problem::Problem;

/// So that whoever sends the prompt on can say later which it was.
const HASH: &str = "x-baton-prompt-hash";

pub(crate) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/api/v1/handoffs/{id}/prompt", get(by_id))
        // A label within its run, `RUN/HO-001`, has a slash of its own.
        .route("/api/v1/handoffs/{id}/{label}/prompt", get(by_label))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    /// In tokens.
    budget: Option<u32>,
    face: Option<String>,
}

type Wish = Result<Query<Asked>, QueryRejection>;

async fn by_id(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    headers: HeaderMap,
    query: Wish,
) -> Result<Response, Problem> {
    let which = find(&app.engine, &id).await?;
    answer(&app, &which, &headers, query).await
}

async fn by_label(
    State(app): State<Arc<App>>,
    Path((run, label)): Path<(String, String)>,
    headers: HeaderMap,
    query: Wish,
) -> Result<Response, Problem> {
    let which = find_in_run(&app.engine, &run, &label).await?;
    answer(&app, &which, &headers, query).await
}

async fn answer(
    app: &App,
    which: &HandoffRef,
    headers: &HeaderMap,
    query: Wish,
) -> Result<Response, Problem> {
    let asked = query.map_err(|it| Problem::malformed("bad_query", it.body_text()))?.0;
    let options = PromptOptions {
        dashboard_url: own_url(headers)?,
        token: None,
        budget_tokens: asked.budget,
        face: face(asked.face.as_deref())?,
    };
    let Prompt { text, hash, .. } = app.engine.prompt(which, &options).await?;
    let plain = (CONTENT_TYPE.as_str(), "text/plain; charset=utf-8".to_owned());
    Ok(([plain, (HASH, hash.to_string())], text).into_response())
}

/// By the name that the caller used, which the guard has let in.
fn own_url(headers: &HeaderMap) -> Result<DashboardUrl, Problem> {
    let host = headers.get(HOST).and_then(|it| it.to_str().ok()).unwrap_or_default();
    DashboardUrl::parse(&format!("http://{host}"))
        .map_err(|error| Problem::malformed("bad_host", error.to_string()))
}

fn face(name: Option<&str>) -> Result<Face, Problem> {
    let Some(name) = name else { return Ok(Face::Curl) };
    Face::parse(name)
        .ok_or_else(|| Problem::malformed("unknown_face", "`face` is one of curl, cli, block"))
}

/// A handoff by its number, its id, or its label within a run.
async fn find(engine: &Engine, name: &str) -> Result<HandoffRef, Problem> {
    if let Ok(number) = name.parse() {
        return Ok(HandoffRef::Number(number));
    }
    if let Ok(id) = Uuid::parse_str(name) {
        return Ok(HandoffRef::Id(HandoffId(id)));
    }
    match name.rsplit_once('/') {
        Some((run, label)) => find_in_run(engine, run, label).await,
        None => Err(no_such_handoff(name)),
    }
}

/// The run by its number, its id or its story.
async fn find_in_run(engine: &Engine, run: &str, label: &str) -> Result<HandoffRef, Problem> {
    let no_such = || no_such_handoff(&format!("{run}/{label}"));
    let no = HandoffNo::parse_label(label).ok_or_else(no_such)?;
    let which = match (run.parse(), Uuid::parse_str(run), StoryKey::parse(run)) {
        (Ok(number), _, _) => RunRef::Number(number),
        (_, Ok(id), _) => RunRef::Id(RunId(id)),
        (_, _, Ok(story)) => RunRef::LatestOf(story),
        (Err(_), Err(_), Err(_)) => return Err(no_such()),
    };
    Ok(HandoffRef::InRun(engine.run(&which).await?.run.id, no))
}

fn no_such_handoff(which: &str) -> Problem {
    EngineError::NoSuchHandoff { which: which.to_owned() }.into()
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::http::{Request, StatusCode};
    use baton_core::hash::Hash;
    use baton_core::names::Principal;
    use baton_core::registry::Agents;
    use baton_core::story::Story;
    use baton_engine::{Caller, Catalog, Entry, StartRun, SystemClock};
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
        crate::router(Arc::new(engine), Origins::new(address, &[]))
    }

    async fn get(path: &str) -> (StatusCode, HeaderMap, String) {
        let request = Request::get(path).header(HOST, "localhost:4180").body(Body::empty());
        let response = server().await.oneshot(request.unwrap()).await.unwrap();
        let (parts, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        (parts.status, parts.headers, String::from_utf8(body.into()).unwrap())
    }

    #[tokio::test]
    async fn a_prompt_is_plain_text_with_the_name_that_was_called() {
        let (status, headers, text) = get("/api/v1/handoffs/1/prompt").await;
        assert_eq!(status, StatusCode::OK, "{text}");
        assert_eq!(headers[CONTENT_TYPE], "text/plain; charset=utf-8");
        assert_eq!(headers[HASH], Hash::of(text.as_bytes()).to_string());
        assert!(text.starts_with("DASHBOARD_URL = http://localhost:4180\nSTORY_ID = a/b#1\n"));
        assert!(text.contains("curl -sS -X POST http://localhost:4180/api/handoffs"), "{text}");
    }

    #[tokio::test]
    async fn a_handoff_is_found_by_every_name_it_has() {
        for name in ["1", "1/HO-001", "1%2FHO-001", "a%2Fb%231/HO-001", "a%2Fb%231%2FHO-001"] {
            let (status, _, text) = get(&format!("/api/v1/handoffs/{name}/prompt")).await;
            assert_eq!(status, StatusCode::OK, "{name}: {text}");
        }
        let nobody = "00000000-0000-7000-8000-000000000000";
        for name in ["9", "HO-001", "1/HO-009", "1/x", "7/HO-001", "none/HO-001", nobody] {
            let (status, _, text) = get(&format!("/api/v1/handoffs/{name}/prompt")).await;
            assert_eq!(status, StatusCode::NOT_FOUND, "{name}: {text}");
        }
    }

    #[tokio::test]
    async fn a_face_and_a_budget_may_be_asked_for() {
        let (_, _, text) = get("/api/v1/handoffs/1/prompt?face=block").await;
        assert!(
            text.contains("```baton\n") && !text.contains("-X POST http://localhost"),
            "{text}"
        );
        let (_, _, text) = get("/api/v1/handoffs/1/prompt?budget=1").await;
        assert!(text.contains("[CUT HERE for length"), "{text}");
        for query in ["face=fax", "budget=-1", "budget=many", "colour=red"] {
            let (status, _, text) = get(&format!("/api/v1/handoffs/1/prompt?{query}")).await;
            assert_eq!(status, StatusCode::BAD_REQUEST, "{query}: {text}");
        }
    }
}
