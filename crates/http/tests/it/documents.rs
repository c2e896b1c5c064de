//! A client reads what the server writes, by the same types.

use baton_api::{
    CommandAnswer, EventDocument, GateDocument, HandoffDetail, HandoffSummary, InboxItemDocument,
    Page, ProblemDocument, ProjectStatus, PromptDocument, RunDocument, StoryDocument, StoryStatus,
};
use baton_core::run::{Ended, HandoffState, RunStatus, State};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::world::{GATED, PIPELINE, world};

/// Reads a document and writes it again: nothing is lost, and what is unknown is no trouble.
#[track_caller]
fn same<T: Serialize + DeserializeOwned>(text: &str) -> T {
    let read: T = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let written: Value = serde_json::to_value(&read).unwrap();
    let mut original: Value = serde_json::from_str(text).unwrap();
    assert_eq!(written, original);
    original.as_object_mut().unwrap().insert("fromTheFuture".to_owned(), Value::Bool(true));
    let newer: T = serde_json::from_str(&original.to_string()).unwrap();
    assert_eq!(serde_json::to_value(&newer).unwrap(), written);
    read
}

#[tokio::test]
async fn every_document_that_is_written_can_be_read() {
    let world = world().await;
    world.started("s1", GATED).await;
    let story: StoryDocument = same(&world.get("/api/v1/stories/s1").await.text);
    assert_eq!(story.status, StoryStatus::UnderWay);
    same::<Page<StoryDocument>>(&world.get("/api/v1/stories").await.text);
    let rehearsed = world.post("/api/v1/handoffs/1/accept?dryRun=true", "").await.text;
    assert!(matches!(same(&rehearsed), CommandAnswer::Rehearsed(_)), "{rehearsed}");
    let told = world.post("/api/v1/handoffs/1/accept", r#"{"leaseSeconds":9}"#).await.text;
    let CommandAnswer::Done(done) = same(&told) else { panic!("{told}") };
    assert_eq!((done.fence, done.lease_seconds), (Some(1), Some(9)));
    assert_eq!(done.run.current_handoff.as_deref(), Some("HO-001"));
    let specs = r#"{"outcome":"success","profile":"lenient",
        "package":{"n":1.50,"big":12345678901234567890,"context":{"summary":"3 epics"}}}"#;
    world.post("/api/v1/handoffs/1/complete", specs).await.is(200);
    let run: RunDocument = same(&world.get("/api/v1/runs/s1").await.text);
    assert_eq!((run.status, run.current_agent.as_deref()), (RunStatus::Open.into(), Some("human")));
    same::<Page<RunDocument>>(&world.get("/api/v1/runs").await.text);
    same::<Page<HandoffSummary>>(&world.get("/api/v1/handoffs").await.text);
    same::<Page<EventDocument>>(&world.get("/api/v1/runs/s1/events").await.text);
    let inbox: Page<InboxItemDocument> = same(&world.get("/api/v1/inbox").await.text);
    assert_eq!(inbox.items[0].choices[0].command, "baton approve 1/HO-002");
    let status: ProjectStatus = same(&world.get("/api/v1/status").await.text);
    assert_eq!(status.waits_for_you[0].handoff.as_deref(), Some("HO-002"));
    assert_eq!(
        status.waits_for_you[0].command,
        "baton answer 1/HO-002 CHOICE (approve, reject, question, abort), or baton modify 1/HO-002 --payload JSON"
    );
    // The digits of numbers do not go through a float on the way.
    let text = world.get("/api/v1/handoffs/2").await.text;
    let detail: HandoffDetail = serde_json::from_str(&text).unwrap();
    assert_eq!(detail.handoff.row.state, HandoffState::Open(State::Pending).into());
    let package = detail.handoff.package.as_ref().unwrap().get();
    assert!(package.contains("1.50") && package.contains("12345678901234567890"), "{package}");
    assert!(matches!(detail.beside.question, Some(GateDocument::Open(_))), "{text}");
    assert!(serde_json::to_string(&detail).unwrap().contains("1.50"));
    world.post("/api/v1/inbox/2/answer", r#"{"answer":"approve"}"#).await.is(200);
    let answered: HandoffDetail = same(&world.get("/api/v1/handoffs/1%2FHO-001").await.text);
    assert_eq!(answered.handoff.row.state, HandoffState::Ended(Ended::Completed).into());
}

#[tokio::test]
async fn a_no_can_be_read_with_what_would_pass() {
    let world = world().await;
    world.started("s1", PIPELINE).await;
    world.post("/api/v1/handoffs/1/accept", "").await.is(200);
    let refused = world.post("/api/v1/handoffs/1/complete", r#"{"outcome":"success"}"#).await;
    let problem: ProblemDocument = same(&refused.text);
    assert_eq!((problem.status.as_u16(), problem.code.as_ref()), (422, "contract"));
    assert!(problem.problems.iter().any(|it| it.path == "plan"), "{problem:?}");
    assert!(problem.skeleton.is_some());
    same::<ProblemDocument>(&world.get("/api/v1/runs/s9").await.text);
}

#[tokio::test]
async fn who_asks_is_on_the_record() {
    let world = world().await;
    world.post("/api/v1/stories", r#"{"key":"s1"}"#).await.is(201);
    let start = |name: &'static str| {
        let headers = [("baton-as", name)];
        let world = &world;
        async move { world.post_with("/api/v1/runs", &headers, r#"{"story":"s1"}"#).await }
    };
    for bad in ["", " ", "a\u{202e}b"] {
        start(bad).await.refuses(400, "bad_name");
    }
    start("Zoë").await.is(201);
    let run: RunDocument = same(&world.get("/api/v1/runs/s1").await.text);
    assert_eq!(run.owner, "Zoë");
    // A key is a caller's own.
    let key = |name: &'static str| {
        let headers = [("baton-as", name), ("idempotency-key", "k")];
        let world = &world;
        async move { world.post_with("/api/v1/runs/s1/pause", &headers, "{}").await }
    };
    key("ada").await.is(200);
    assert_eq!(key("ada").await.is(200)["isRepeat"], true);
    key("eve").await.refuses(409, "paused");
}

#[tokio::test]
async fn a_prompt_comes_with_its_hashes_where_json_is_asked_for() {
    let world = world().await;
    world.started("s1", PIPELINE).await;
    let json = [("accept", "application/json")];
    let get = async |path: &str| world.client.send("GET", path, &json, "").await;
    let prompt: PromptDocument =
        same(&get("/api/v1/handoffs/1/prompt?url=http://here:1").await.text);
    assert!(prompt.text.starts_with("DASHBOARD_URL = http://here:1\n"), "{}", prompt.text);
    assert_eq!(prompt.hash.len(), 64);
    get("/api/v1/handoffs/1/prompt?url=here").await.refuses(400, "bad_url");
    let plain = world.get("/api/v1/handoffs/1/prompt").await;
    assert!(plain.text.starts_with("DASHBOARD_URL = http://127.0.0.1:"), "{}", plain.text);
}

#[tokio::test]
async fn an_acknowledgement_may_be_yaml_and_words_with_a_colon_are_words() {
    let world = world().await;
    world.started("s1", PIPELINE).await;
    let asks = r#"{"acknowledgement":"acknowledgment:\n  action: request_clarification\n  questions: [Why?]\n"}"#;
    let told = world.post("/api/v1/handoffs/1/accept", asks).await.is(200);
    assert_eq!(told["question"]["reason"], "Why?", "{told}");
    world.post("/api/v1/handoffs/2/answer", r#"{"answer":"So"}"#).await.is(200);
    let words = r#"{"acknowledgement":"action: I start at once"}"#;
    let told = world.post("/api/v1/handoffs/1/accept", words).await.is(200);
    assert_eq!(told["handoff"]["acknowledgement"], "action: I start at once");
}

#[tokio::test]
async fn every_answer_says_which_baton_it_is_from() {
    let world = world().await;
    for path in ["/", "/healthz", "/api/v1/status", "/api/v1/nothing", "/api/handoffs"] {
        let version = world.get(path).await.header("baton-version").map(str::to_owned);
        assert_eq!(version.as_deref(), Some(env!("CARGO_PKG_VERSION")), "{path}");
    }
    let foreign = world.client.send("GET", "/", &[("host", "evil.example")], "").await;
    assert_eq!(foreign.status, 421);
    assert!(foreign.header("baton-version").is_some(), "a client can tell who says no");
}
