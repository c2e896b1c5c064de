//! Which story, run or handoff a name means: one thing, or nothing.

use serde_json::json;

use crate::world::*;

/// Story 2 is under way as run 1, story 1 as run 2.
async fn crossed() -> World {
    let world = world().await;
    world.started("2", PIPELINE).await;
    world.started("1", PIPELINE).await;
    world
}

#[tokio::test]
async fn a_number_that_is_a_storys_key_too_is_refused_everywhere() {
    let world = crossed().await;
    for path in [
        "runs/2",
        "runs/2/events",
        "runs/2/decisions",
        "runs/2/completion",
        "handoffs?run=2",
        "metrics?run=2",
        "blockers?run=2",
        "events?run=2",
        "handoffs/2%2FHO-001",
        "handoffs/HO-001?run=2",
        "handoffs/HO-001/prompt?run=2",
    ] {
        let problem = world.get(&format!("/api/v1/{path}")).await.refuses(409, "ambiguous_name");
        let expected =
            "`2` means both run 2 (of story `1`) and story `2`; say `run:2` or `story:2`";
        assert_eq!(problem["detail"], expected, "{path}");
    }
    world.get("/api/events?run=2").await.refuses(409, "ambiguous_name");
    let before = world.events("run:2").await;
    for verb in ["pause", "cancel", "cleanup"] {
        let path = format!("/api/v1/runs/2/{verb}");
        world.post(&path, "{}").await.refuses(409, "ambiguous_name");
    }
    let create = r#"{"run":"2","fromAgent":"analyst","toAgent":"implementer","package":{}}"#;
    world.post("/api/v1/handoffs", create).await.refuses(409, "ambiguous_name");
    world.post("/api/v1/handoffs/2%2FHO-001/accept", "{}").await.refuses(409, "ambiguous_name");
    assert_eq!(world.events("run:2").await, before, "nothing was done");
}

#[tokio::test]
async fn the_spellings_that_say_what_they_are_of_work_everywhere() {
    let world = crossed().await;
    let id = world.get("/api/v1/runs/run:2").await.is(200)["id"].clone();
    let id = id.as_str().unwrap();
    for (name, story) in
        [("run:2", "1"), ("story:1", "1"), ("run:1", "2"), ("story:2", "2"), (id, "1")]
    {
        let get = async |path: String| world.get(&format!("/api/v1/{path}")).await.is(200);
        assert_eq!(get(format!("runs/{name}")).await["story"], story);
        let listed = get(format!("handoffs?run={name}")).await;
        assert_eq!(texts(&listed, "story"), [story]);
        for path in [
            format!("handoffs/{name}%2FHO-001"),
            format!("handoffs/HO-001?run={name}"),
            format!("handoffs/handoff:{name}%2FHO-001"),
        ] {
            assert_eq!(get(path).await["story"], story);
        }
    }
    // Where only a story can be meant, its key is enough.
    for name in ["2", "story:2"] {
        let listed = world.get(&format!("/api/v1/handoffs?story={name}")).await.is(200);
        assert_eq!(texts(&listed, "story"), ["2"]);
        assert_eq!(world.get(&format!("/api/v1/stories/{name}")).await.is(200)["key"], "2");
        let seen = world.get(&format!("/api/handoffs?storyId={name}")).await.is(200);
        assert_eq!(seen["handoffs"][0]["story_id"], "2");
    }
    assert_eq!(world.get("/api/v1/handoffs/handoff:2").await.is(200)["number"], 2);
    world.get("/api/v1/handoffs/handoff:2?run=story:2").await.refuses(404, "no_such_handoff");
    world
        .get("/api/v1/handoffs/story:1%2FHO-001?run=story:2")
        .await
        .refuses(404, "no_such_handoff");
    world.post("/api/v1/runs/story:2/cancel", "{}").await.is(200);
    assert_eq!(world.get("/api/v1/runs/run:1").await.is(200)["status"], "cancelled");
    assert_eq!(world.get("/api/v1/runs/run:2").await.is(200)["status"], "open");
}

/// What a name meant may come to be refused, but never to mean something else.
#[tokio::test]
async fn what_comes_later_does_not_change_what_a_name_means() {
    let world = world().await;
    world.started("2", PIPELINE).await;
    assert_eq!(world.get("/api/v1/runs/2").await.is(200)["story"], "2", "there is no run 2 yet");
    world.started("a", PIPELINE).await;
    world.get("/api/v1/runs/2").await.refuses(409, "ambiguous_name");

    assert_eq!(world.get("/api/v1/runs/1").await.is(200)["story"], "2", "there is no story 1 yet");
    // That it has no run does not make its name the run's.
    world.post("/api/v1/stories", r#"{"key":"1"}"#).await.is(201);
    world.get("/api/v1/runs/1").await.refuses(409, "ambiguous_name");

    // Of a story whose run has its own number there is nothing to confuse, until it has another.
    world.started("3", PIPELINE).await;
    assert_eq!(world.get("/api/v1/runs/3").await.is(200)["story"], "3");
    world.post("/api/v1/runs/3/cancel", "{}").await.is(200);
    world.post("/api/v1/runs", r#"{"story":"3"}"#).await.is(201);
    world.get("/api/v1/runs/3").await.refuses(409, "ambiguous_name");
}

#[tokio::test]
async fn a_key_that_looks_like_another_kind_of_name_confuses_nothing() {
    let world = world().await;
    world.started("s-1", PIPELINE).await;
    let id = world.get("/api/v1/runs/1").await.is(200)["id"].as_str().unwrap().to_owned();
    // An id means what has it, whatever a story is called.
    world.started(&id, PIPELINE).await;
    assert_eq!(world.get(&format!("/api/v1/runs/{id}")).await.is(200)["story"], "s-1");
    assert_eq!(world.get(&format!("/api/v1/runs/story:{id}")).await.is(200)["story"], id);
    world.started("HO-001", PIPELINE).await;
    assert_eq!(world.get("/api/v1/runs/HO-001").await.is(200)["number"], 3);
    world.get("/api/v1/handoffs/HO-001").await.refuses(400, "which_run");
    assert_eq!(world.get("/api/v1/handoffs/HO-001%2FHO-001").await.is(200)["number"], 3);
    for key in ["run:1", "story:s-1", "handoff:1"] {
        let body = json!({"key": key}).to_string();
        match key {
            // It says which story is meant.
            "story:s-1" => world.post("/api/v1/stories", &body).await.refuses(409, "story_exists"),
            _ => world.post("/api/v1/stories", &body).await.refuses(400, "bad_name"),
        };
        let create = json!({"action": "create", "storyId": key, "fromAgent": "analyst",
            "toAgent": "implementer", "payload": {}});
        let created = world.post("/api/handoffs", &create.to_string()).await;
        assert_ne!(created.json()["code"], "internal", "{}", created.text);
    }
    let listed = world.get("/api/v1/stories").await.is(200);
    assert_eq!(texts(&listed, "key"), [id.as_str(), "HO-001", "s-1"]);
}

#[tokio::test]
async fn every_spelling_of_a_key_finds_one_story() {
    let world = world().await;
    world.post("/api/v1/stories", "{\"key\":\" cafe\u{301}\u{a0}\"}").await.is(201);
    for spelling in ["caf%C3%A9", "cafe%CC%81", "%20caf%C3%A9", "story:cafe%CC%81"] {
        let found = world.get(&format!("/api/v1/stories/{spelling}")).await.is(200);
        assert_eq!(found["key"], "caf\u{e9}", "{spelling}");
    }
    let create = |key: &str| {
        json!({"action": "create", "storyId": key, "fromAgent": "orchestrator",
            "toAgent": "analyst", "payload": {"story_id": key, "branch": "feat/cafe"}})
        .to_string()
    };
    world.post("/api/handoffs", &create("cafe\u{301}")).await.is(200);
    world.post("/api/handoffs", &create("\u{a0}café")).await.refuses(409, "duplicate");
    for hidden in ["a\u{fe0f}", "a\u{e0151}", "\u{3164}", "a\u{2800}b", "a\u{ad}b", "a\u{200d}b"] {
        let body = json!({"key": hidden}).to_string();
        world.post("/api/v1/stories", &body).await.refuses(400, "bad_name");
        world.post("/api/handoffs", &create(hidden)).await.refuses(400, "bad_name");
    }
    let listed = world.get("/api/v1/stories").await.is(200);
    assert_eq!(listed["items"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_story_that_looks_like_another_is_not_made_without_a_word() {
    let world = world().await;
    let added = world.post("/api/v1/stories", r#"{"key":"login"}"#).await.is(201);
    assert_eq!(added.get("warnings"), None);
    let expected = "`lοgin` (lU+03BFgin) is a new story, and looks like `login`";
    let added = world.post("/api/v1/stories?dryRun=true", r#"{"key":"lοgin"}"#).await.is(200);
    assert_eq!(added["warnings"], json!([expected]));
    let added = world.post("/api/v1/stories", r#"{"key":"lοgin"}"#).await.is(201);
    assert_eq!(added["warnings"], json!([expected]));
    let put = world.put("/api/v1/stories/LOGIN", r#"{"title":"x"}"#).await.is(201);
    assert_eq!(
        put["warnings"][0],
        "`LOGIN` is a new story, and looks like `login`, `lοgin` (lU+03BFgin)"
    );
    // It is there now: nothing new is made.
    assert_eq!(
        world.put("/api/v1/stories/LOGIN", r#"{"title":"y"}"#).await.is(200).get("warnings"),
        None
    );

    let create = r#"{"action":"create","storyId":"Login","fromAgent":"orchestrator",
        "toAgent":"analyst","payload":{"story_id":"Login","branch":"feat/login"}}"#;
    let key = [("idempotency-key", "k-1")];
    for _ in 0..2 {
        let made = world.post_with("/api/handoffs", &key, create).await.is(200);
        let warning = made["warnings"][0].as_str().unwrap();
        assert!(warning.starts_with("story: `Login` is a new story"), "{warning}");
        assert!(warning.ends_with("[look_alike]"), "{warning}");
    }
    let start = r#"{"story":"l0gin","newStory":true}"#;
    let started = world.post("/api/v1/runs", start).await.is(201);
    let warning = started["warnings"][0].as_str().unwrap();
    assert!(warning.contains("`l0gin` is a new story"), "{warning}");
}

#[tokio::test]
async fn what_baton_says_to_type_means_what_it_is_about() {
    let world = world().await;
    world.started("a", GATED).await;
    world.post("/api/v1/stories", r#"{"key":"1"}"#).await.is(201);
    world.post("/api/v1/runs/a/pause", "{}").await.is(200);
    world.post("/api/v1/runs/a/resume", "{}").await.is(200);
    world.post("/api/v1/handoffs/1/cancel", "{}").await.is(200);
    let inbox = world.get("/api/v1/inbox").await.is(200);
    let choices = inbox["items"][0]["choices"].as_array().unwrap();
    assert!(choices.iter().any(|it| it["command"] == "baton run cancel run:1"), "{choices:?}");
}
