//! Stories: added once, shown, written over.

use serde_json::json;

use crate::world::*;

#[tokio::test]
async fn a_story_is_added_and_shown() {
    let world = world().await;
    let body = r#"{"key":"owner/repo#1 ü","title":"Sign in","acceptance":["it works"],
        "dependsOn":["s-0"],"priority":3,"branch":"feat/x"}"#;
    let made = world.post("/api/v1/stories", body).await;
    let story = made.is(201);
    assert_eq!(made.header("location"), Some("/api/v1/stories/owner%2Frepo%231%20%C3%BC"));
    let expected = json!({
        "key": "owner/repo#1 ü", "title": "Sign in", "description": "",
        "acceptance": ["it works"], "dependsOn": ["s-0"], "priority": 3,
        "branch": "feat/x", "prUrl": null, "status": "waiting", "run": null,
        "createdAt": "2025-06-15T15:06:40Z",
    });
    assert_eq!(story, expected);
    assert_eq!(world.get(made.header("location").unwrap()).await.is(200), expected);
    world.post("/api/v1/stories", body).await.refuses(409, "story_exists");
}

#[tokio::test]
async fn a_story_that_is_not_there_is_not_found() {
    let world = world().await;
    world.get("/api/v1/stories/s-9").await.refuses(404, "no_such_story");
    world.get("/api/v1/stories/%20").await.refuses(400, "bad_name");
    world.get("/api/v1/stories/%FF").await.refuses(400, "bad_path");
}

#[tokio::test]
async fn a_story_is_written_over() {
    let world = world().await;
    let made = world.put("/api/v1/stories/s-1", r#"{"title":"One"}"#).await;
    assert_eq!(made.is(201)["title"], "One");
    let over = world.put("/api/v1/stories/s-1", r#"{"title":"Two","priority":7}"#).await;
    let over = over.is(200);
    assert_eq!((&over["title"], &over["priority"]), (&json!("Two"), &json!(7)));
    // To send nothing is not to wipe it.
    world.put("/api/v1/stories/s-1", "").await.refuses(400, "missing_field");
    let problem = world.put("/api/v1/stories/s-1", r#"{"title":"x","key":"s-2"}"#).await;
    let problem = problem.refuses(400, "unknown_field");
    assert!(problem["detail"].as_str().unwrap().contains("dependsOn"), "{problem}");
}

#[tokio::test]
async fn stories_are_listed_page_by_page() {
    let world = world().await;
    for key in ["c", "a", "b"] {
        world.post("/api/v1/stories", &format!(r#"{{"key":"{key}"}}"#)).await.is(201);
    }
    let first = world.get("/api/v1/stories?limit=2").await.is(200);
    assert_eq!((texts(&first, "key"), &first["next"]), (vec!["a".into(), "b".into()], &json!("b")));
    let second = world.get("/api/v1/stories?limit=2&after=b").await.is(200);
    assert_eq!((texts(&second, "key"), &second["next"]), (vec!["c".into()], &json!(null)));
    for bad in ["limit=0", "limit=501", "limit=x", "after=", "what=1", "limit=1&limit=2"] {
        assert_eq!(world.get(&format!("/api/v1/stories?{bad}")).await.status, 400, "{bad}");
    }
}

#[tokio::test]
async fn a_key_adds_a_story_once() {
    let world = world().await;
    let key = [("idempotency-key", "k-1")];
    let add = async |body: &str| world.post_with("/api/v1/stories", &key, body).await;
    let first = add(r#"{"key":"s-1"}"#).await;
    let again = add(r#"{"key":"s-1"}"#).await;
    assert_eq!(first.is(201), again.is(201));
    add(r#"{"key":"s-2"}"#).await.refuses(422, "key_reused");
    world.get("/api/v1/stories/s-2").await.refuses(404, "no_such_story");
}

#[tokio::test]
async fn a_rehearsal_adds_nothing() {
    let world = world().await;
    let would = world.post("/api/v1/stories?dryRun=true", r#"{"key":"s-1"}"#).await.is(200);
    assert_eq!(would["key"], "s-1");
    world.put("/api/v1/stories/s-1?dryRun=true", r#"{"title":"x"}"#).await.is(200);
    world.get("/api/v1/stories/s-1").await.refuses(404, "no_such_story");
    world.post("/api/v1/stories", r#"{"key":"s-1"}"#).await.is(201);
    let exists = world.post("/api/v1/stories?dryRun=true", r#"{"key":"s-1"}"#).await;
    exists.refuses(409, "story_exists");
    let would = world.put("/api/v1/stories/s-1?dryRun=true", r#"{"title":"New"}"#).await.is(200);
    assert_eq!(would["title"], "New");
    assert_eq!(world.get("/api/v1/stories/s-1").await.is(200)["title"], "s-1");
}
