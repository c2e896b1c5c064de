//! Stories: added once, shown, written over.

use serde_json::json;

use crate::world::*;

#[tokio::test]
async fn a_story_is_added_and_shown() {
    let world = world().await;
    world.put("/api/v1/stories/s-0", r#"{"title":"Before it"}"#).await.is(201);
    let body = r#"{"key":"owner/repo#1 ü","title":"Sign in","acceptance":["it works"],
        "dependsOn":["s-0"],"priority":3,"branch":"feat/x"}"#;
    let made = world.post("/api/v1/stories", body).await;
    let story = made.is(201);
    assert_eq!(made.header("location"), Some("/api/v1/stories/owner%2Frepo%231%20%C3%BC"));
    let expected = json!({
        "key": "owner/repo#1 ü", "title": "Sign in", "description": "",
        "acceptance": ["it works"], "dependsOn": ["s-0"], "priority": 3,
        "branch": "feat/x", "prUrl": null, "status": "waiting", "runId": null, "run": null,
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

#[tokio::test]
async fn a_story_that_was_written_over_meanwhile_is_not_written_over() {
    let world = world().await;
    let made = world.put("/api/v1/stories/s-1", r#"{"title":"One"}"#).await;
    let first = made.header("etag").unwrap().to_owned();
    let put = async |etag: &str, body: &str| {
        let headers = [JSON, ("if-match", etag)];
        world.client.send("PUT", "/api/v1/stories/s-1", &headers, body).await
    };
    let second = put(&first, r#"{"title":"Two"}"#).await;
    assert_eq!(second.is(200)["title"], "Two");
    put(&first, r#"{"title":"Three"}"#).await.refuses(412, "outdated");
    put("\"1\"", r#"{"title":"Three"}"#).await.refuses(412, "outdated");
    let read = world.get("/api/v1/stories/s-1").await;
    assert_eq!(read.header("etag"), second.header("etag"));
    assert_eq!(read.is(200)["title"], "Two");
    put(read.header("etag").unwrap(), r#"{"title":"Three"}"#).await.is(200);
    let headers = [JSON, ("if-match", first.as_str())];
    let absent = world.client.send("PUT", "/api/v1/stories/s-2", &headers, r#"{"title":"x"}"#);
    absent.await.refuses(412, "outdated");
}

#[tokio::test]
async fn a_story_has_bounds_and_every_field_that_breaks_one_is_named() {
    let world = world().await;
    let body = json!({
        "key": "s-1", "title": "x".repeat(501), "description": "x".repeat(65_537),
        "acceptance": ["ok", "x".repeat(16_385)], "dependsOn": vec!["a"; 101],
        "branch": "x".repeat(251), "prUrl": format!("https://{}", "x".repeat(2000)),
    });
    let problem = world.post("/api/v1/stories", &body.to_string()).await;
    let problem = problem.refuses(422, "story_too_large");
    let broken: Vec<String> = problem["problems"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| format!("{} {}", it["path"].as_str().unwrap(), it["rule"].as_str().unwrap()))
        .collect();
    assert_eq!(
        broken,
        [
            "title too_long",
            "description too_long",
            "branch too_long",
            "pr_url too_long",
            "acceptance[1] too_long",
            "depends_on too_many",
        ]
    );
    let mut put = body;
    put.as_object_mut().unwrap().remove("key");
    world.put("/api/v1/stories/s-1", &put.to_string()).await.refuses(422, "story_too_large");
    world.get("/api/v1/stories/s-1").await.refuses(404, "no_such_story");
}

#[tokio::test]
async fn a_page_of_large_stories_is_shorter_and_the_next_goes_on() {
    let world = world().await;
    let text = "x".repeat(60_000);
    for n in 0..150 {
        let body = json!({"title": "t", "description": text});
        world.put(&format!("/api/v1/stories/s-{n:03}"), &body.to_string()).await.is(201);
    }
    let mut keys = Vec::new();
    let mut path = "/api/v1/stories?limit=500".to_owned();
    loop {
        let reply = world.get(&path).await;
        assert!(reply.text.len() < 9_000_000, "{}", reply.text.len());
        let page = reply.is(200);
        keys.extend(texts(&page, "key"));
        let Some(next) = page["next"].as_str() else { break };
        path = format!("/api/v1/stories?limit=500&after={next}");
    }
    let expected: Vec<String> = (0..150).map(|it| format!("s-{it:03}")).collect();
    assert_eq!(keys, expected);
}

#[tokio::test]
async fn a_story_that_is_put_twice_with_a_key_is_put_once_and_gets_the_same_answer() {
    let world = world().await;
    let put = async |key: &str, body: &str| {
        let headers = [JSON, ("idempotency-key", key)];
        world.client.send("PUT", "/api/v1/stories/s-1", &headers, body).await
    };
    let same = |one: &Reply, other: &Reply| {
        assert_eq!((one.status, &one.text), (other.status, &other.text));
        assert_eq!(one.header("etag"), other.header("etag"));
        assert_eq!(one.header("location"), other.header("location"));
    };
    let made = put("k-1", r#"{"title":"One"}"#).await;
    made.is(201);
    let second = put("k-2", r#"{"title":"Two"}"#).await;
    assert_eq!(second.is(200)["status"], "waiting");
    world.post("/api/v1/runs", r#"{"story":"s-1"}"#).await.is(201);
    same(&made, &put("k-1", r#"{"title":"One"}"#).await);
    same(&second, &put("k-2", r#"{"title":"Two"}"#).await);
    let now = world.get("/api/v1/stories/s-1").await.is(200);
    assert_eq!((&now["title"], &now["status"]), (&json!("Two"), &json!("under_way")));
    put("k-2", r#"{"title":"Three"}"#).await.refuses(422, "key_reused");
}

#[tokio::test]
async fn a_story_that_is_added_twice_with_a_key_gets_the_same_answer() {
    let world = world().await;
    let add = async || {
        world.post_with("/api/v1/stories", &[("idempotency-key", "k")], r#"{"key":"s-1"}"#).await
    };
    let first = add().await;
    first.is(201);
    world.put("/api/v1/stories/s-1", r#"{"title":"New"}"#).await.is(200);
    world.post("/api/v1/runs", r#"{"story":"s-1"}"#).await.is(201);
    let again = add().await;
    assert_eq!((again.status, &again.text), (201, &first.text));
    assert_eq!(again.header("etag"), first.header("etag"));
}
