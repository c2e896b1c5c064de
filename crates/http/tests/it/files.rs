//! Files that runners send back: kept under their hash, and seen from anywhere.

use baton_core::hash::Hash;
use baton_http::{RunnerKey, ServerLimits};
use serde_json::{Value, json};

use crate::world::*;

impl World {
    async fn claims_work(&self, body: Value) -> Reply {
        let bearer = bearer();
        self.post_with("/api/v1/claims", &[("authorization", &bearer)], &body.to_string()).await
    }

    /// The first handoff, held by a runner under a lease of 20 seconds.
    async fn held(&self) -> Value {
        self.started("s1", PIPELINE).await;
        self.claims_work(json!({ "agents": ["analyst"] })).await.is(200)
    }

    async fn put_file(&self, query: &str, bytes: &str) -> Reply {
        self.put_file_as(&bearer(), query, bytes).await
    }

    async fn put_file_as(&self, bearer: &str, query: &str, bytes: &str) -> Reply {
        let path = format!("/api/v1/handoffs/1/files/{}?{query}", Hash::of(bytes.as_bytes()));
        let headers = [("authorization", bearer), ("content-type", "application/octet-stream")];
        self.client.send("PUT", &path, &headers, bytes).await
    }

    async fn notice(&self, body: &Value) -> Reply {
        let bearer = bearer();
        let headers = [("authorization", bearer.as_str())];
        self.post_with("/api/v1/handoffs/1/files", &headers, &body.to_string()).await
    }

    async fn files(&self) -> Value {
        self.get("/api/v1/handoffs/1/files").await.is(200)["items"].take()
    }
}

fn bearer() -> String {
    format!("Bearer {}", RunnerKey::new(SECRET).credential())
}

#[tokio::test]
async fn a_file_is_kept_under_its_hash_and_comes_back_byte_for_byte_as_an_attachment() {
    let world = world().await;
    world.held().await;
    let page = "<script>alert(1)</script>\n";
    let kept = world.put_file("fence=1&kind=artifact&name=out%2Freport.html", page).await.is(200);
    let hash = Hash::of(page.as_bytes()).to_string();
    assert_eq!((&kept["sha256"], &kept["bytes"]), (&json!(hash), &json!(26)));
    assert_eq!((&kept["name"], &kept["by"]), (&json!("out/report.html"), &json!("baton:runner")));
    let got = world.get(&format!("/api/v1/handoffs/1/files/{hash}")).await;
    assert_eq!((got.status, got.text.as_str()), (200, page));
    for expected in [
        "content-type: text/plain; charset=utf-8",
        "content-disposition: attachment; filename=\"report.html\"",
        "x-content-type-options: nosniff",
        "default-src 'none'; sandbox",
    ] {
        assert!(got.head.to_lowercase().contains(expected), "{expected}: {}", got.head);
    }
    world.put_file("fence=1&kind=artifact&name=a.bin", "a\0b").await.is(200);
    let binary = format!("/api/v1/handoffs/1/files/{}", Hash::of(b"a\0b"));
    let binary = world.get(&binary).await;
    assert_eq!(binary.text, "a\0b");
    assert!(binary.head.to_lowercase().contains("content-type: application/octet-stream"));
    let names = texts(&json!({ "items": world.files().await }), "name");
    assert_eq!(names, ["out/report.html", "a.bin"]);
}

#[tokio::test]
async fn sending_a_file_again_changes_nothing_and_its_bytes_are_stored_once() {
    let world = world().await;
    world.held().await;
    let query = "fence=1&kind=artifact&name=a.txt";
    world.put_file(query, "hello").await.is(200);
    let before = world.events("s1").await;
    world.put_file(query, "hello").await.is(200);
    assert_eq!(world.events("s1").await, before);
    let hash = Hash::of(b"hello").to_string();
    let known = json!({ "fence": 1, "kind": "artifact", "name": "b.txt", "sha256": hash });
    let kept = world.notice(&known).await.is(200);
    assert_eq!(kept["bytes"], 5, "they were there");
    let other = json!({ "fence": 1, "kind": "log", "name": "c.txt", "sha256": "ab".repeat(32) });
    world.notice(&other).await.refuses(404, "no_such_file");
    let why = "left out: it is large";
    let left_out = json!({ "fence": 1, "kind": "artifact", "name": "d.bin", "note": why });
    world.notice(&left_out).await.is(200);
    let files = world.files().await;
    assert_eq!(files[2]["isLeftOut"], true);
    assert_eq!((&files[2]["sha256"], &files[2]["note"]), (&Value::Null, &json!(why)));
    let silent = json!({ "fence": 1, "kind": "artifact", "name": "e.bin" });
    world.notice(&silent).await.refuses(400, "missing_field");
}

#[tokio::test]
async fn bytes_that_are_not_what_their_address_says_are_refused() {
    let world = world().await;
    world.held().await;
    let bearer = bearer();
    let path = format!("/api/v1/handoffs/1/files/{}?fence=1&kind=log&name=a", "ab".repeat(32));
    let headers = [("authorization", bearer.as_str())];
    let sent = world.client.send("PUT", &path, &headers, "hello").await;
    sent.refuses(400, "hash_mismatch");
    let large = "x".repeat((2 << 20) + 1);
    world.put_file("fence=1&kind=log&name=a", &large).await.refuses(413, "too_large");
    let secret = format!("it is {}", RunnerKey::new(SECRET).credential());
    world.put_file("fence=1&kind=log&name=a", &secret).await.refuses(400, "credential_in_text");
    let two_lines = world.put_file("fence=1&kind=log&name=a%0Ab", "x").await;
    two_lines.refuses(400, "wrong_type");
    assert_eq!(world.files().await, json!([]));
}

#[tokio::test]
async fn only_a_runner_and_the_attempt_itself_send_files() {
    let world = world().await;
    let claim = world.held().await;
    world.started("s2", PIPELINE).await;
    let query = "fence=1&kind=log&name=a";
    world.put_file_as("Basic x", query, "x").await.refuses(403, "not_a_runner");
    let token = format!("Bearer {}", claim["token"].as_str().unwrap());
    world.put_file_as(&token, query, "x").await.is(200);
    let other = format!("/api/v1/handoffs/2/files/{}?{query}", Hash::of(b"x"));
    let sent = world.client.send("PUT", &other, &[("authorization", &token)], "x").await;
    sent.refuses(403, "other_attempt");
}

#[tokio::test]
async fn a_runner_that_lost_the_work_is_refused_and_one_that_handed_on_is_not() {
    let world = world().await;
    world.held().await;
    let lost = json!({ "fence": 1, "reason": "not heard of" });
    let bearer = bearer();
    let headers = [("authorization", bearer.as_str())];
    world.post_with("/api/v1/handoffs/1/lost", &headers, &lost.to_string()).await.is(200);
    let late = world.put_file("fence=1&kind=log&name=output.txt", "late").await;
    late.refuses(409, "stale_fence");
    let notice = json!({ "fence": 1, "kind": "log", "name": "a", "note": "left out: late" });
    world.notice(&notice).await.refuses(409, "stale_fence");

    world.started("s2", PIPELINE).await;
    let second = world.claims_work(json!({ "agents": ["analyst"] })).await.is(200);
    let number = second["handoff"]["number"].as_u64().unwrap();
    let token = format!("Bearer {}", second["token"].as_str().unwrap());
    let done = json!({ "outcome": "success", "package": { "plan": ["x"] }, "profile": "lenient" });
    let path = format!("/api/v1/handoffs/{number}/complete");
    world.post_with(&path, &[("authorization", &token)], &done.to_string()).await.is(200);
    let hash = Hash::of(b"log");
    let path = format!("/api/v1/handoffs/{number}/files/{hash}?fence=1&kind=log&name=output.txt");
    world.client.send("PUT", &path, &headers, "log").await.is(200);
    let unknown = path.replace("fence=1", "fence=2");
    world.client.send("PUT", &unknown, &headers, "log").await.refuses(409, "stale_fence");
}

#[tokio::test]
async fn an_attempt_has_a_limit_of_files() {
    let world = world().await;
    world.held().await;
    for n in 0..50 {
        let notice =
            json!({ "fence": 1, "kind": "artifact", "name": n.to_string(), "note": "large" });
        world.notice(&notice).await.is(200);
    }
    world.put_file("fence=1&kind=log&name=a", "x").await.refuses(422, "files_full");
}

#[tokio::test]
async fn a_redacted_file_is_gone_with_its_name() {
    let world = world().await;
    world.held().await;
    let query = "fence=1&kind=artifact&name=customers.csv";
    world.put_file(query, "ada,secret").await.is(200);
    let hash = Hash::of(b"ada,secret").to_string();
    let asked = json!({ "files": [hash], "reason": "it names a customer" });
    let done = world.post("/api/v1/runs/1/redactions", &asked.to_string()).await.is(200);
    assert_eq!(done["redacted"].as_array().unwrap().len(), 2, "{done}");
    let files = world.files().await;
    assert_eq!((&files[0]["name"], &files[0]["sha256"]), (&json!("[redacted]"), &Value::Null));
    let got = world.get(&format!("/api/v1/handoffs/1/files/{hash}")).await;
    got.refuses(404, "no_such_file");
    let unknown = json!({ "files": ["ab".repeat(32)], "reason": "x" });
    let refused = world.post("/api/v1/runs/1/redactions", &unknown.to_string()).await;
    refused.refuses(404, "no_such_file");
}

#[tokio::test]
async fn files_are_seen_by_the_next_server_on_the_same_data() {
    let world = world().await;
    world.held().await;
    world.put_file("fence=1&kind=diff&name=changes.diff", "+hello\n").await.is(200);
    let place = world.stop().await;
    let world = world_at(place, ServerLimits::default()).await;
    let hash = Hash::of(b"+hello\n");
    let got = world.get(&format!("/api/v1/handoffs/1/files/{hash}")).await;
    assert_eq!(got.text, "+hello\n");
}

#[tokio::test]
async fn work_is_claimed_by_what_agents_can_do() {
    let world = world().await;
    world.started("s1", PIPELINE).await;
    let agents = world.get("/api/v1/agents").await.is(200);
    let analyst = agents["items"].as_array().unwrap().iter();
    let analyst = analyst.clone().find(|it| it["agentId"] == "analyst").unwrap().clone();
    let capability = analyst["capabilities"][0].as_str().unwrap().to_owned();
    let none = json!({ "agents": ["reviewer"], "capabilities": [capability] });
    assert_eq!(world.claims_work(none).await.status, 204, "the reviewer does not have it");
    let mistyped = json!({ "capabilities": [format!("{capability}x")] });
    let refused = world.claims_work(mistyped).await;
    let detail = refused.text.clone();
    refused.refuses(400, "unknown_capability");
    assert!(detail.contains(&format!("did you mean `{capability}`?")), "{detail}");
    world.claims_work(json!({})).await.refuses(400, "missing_field");
    let claim = world.claims_work(json!({ "capabilities": [capability] })).await.is(200);
    assert_eq!(claim["agent"], "analyst");
}
