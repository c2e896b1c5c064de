//! Preconditions as RFC 9110 has them, and bodies that are encoded in a way that is not read.

use serde_json::json;

use crate::world::*;

#[tokio::test]
async fn a_list_of_tags_matches_by_any_of_them_and_a_weak_tag_by_none() {
    let world = world().await;
    world.started("s-1", PIPELINE).await;
    let version = world.get("/api/v1/runs/1").await.is(200)["version"].clone();
    let pause = async |tags: &str| {
        world.post_with("/api/v1/runs/1/pause?dryRun=true", &[("if-match", tags)], "{}").await
    };
    for tags in [
        format!("\"999\", \"{version}\""),
        format!("\"{version}\",\"x\""),
        format!("W/\"{version}\", \"{version}\""),
        format!("\"{version}-xml\""),
        "*".to_owned(),
    ] {
        pause(&tags).await.is(200);
    }
    for tags in [format!("W/\"{version}\""), "\"x\"".to_owned(), "\"998\", \"999\"".to_owned()] {
        pause(&tags).await.refuses(412, "outdated");
    }
    let late = pause("\"998\", \"999\"").await.refuses(412, "outdated");
    let sentence = format!("the run is at version {version}, not at 998 or 999; read it again");
    assert_eq!(late["detail"], sentence);
    for bad in ["12", "\"12", "12, \"13\""] {
        pause(bad).await.refuses(400, "bad_version");
    }
}

#[tokio::test]
async fn a_story_is_put_only_where_its_preconditions_hold() {
    let world = world().await;
    let put = async |key: &str, name: &str, tags: &str, title: &str| {
        let body = json!({ "title": title }).to_string();
        let path = format!("/api/v1/stories/{key}");
        world.client.send("PUT", &path, &[JSON, (name, tags)], &body).await
    };
    put("s-1", "if-match", "*", "One").await.refuses(412, "outdated");
    let made = put("s-1", "if-none-match", "*", "One").await;
    made.is(201);
    put("s-1", "if-none-match", "*", "Two").await.refuses(412, "outdated");
    let tag = made.header("etag").unwrap();
    put("s-1", "if-none-match", tag, "Two").await.refuses(412, "outdated");
    put("s-1", "if-none-match", "\"1\"", "Two").await.is(200);
    put("s-1", "if-match", tag, "Three").await.refuses(412, "outdated");
    put("s-1", "if-match", "*", "Three").await.is(200);
    assert_eq!(world.get("/api/v1/stories/s-1").await.is(200)["title"], "Three");
}

#[tokio::test]
async fn a_write_that_cannot_evaluate_a_precondition_refuses_it() {
    let world = world().await;
    world.started("s-1", PIPELINE).await;
    for (path, body, header) in [
        ("/api/v1/stories", r#"{"key":"s-2"}"#, "if-match"),
        ("/api/v1/stories", r#"{"key":"s-2"}"#, "if-none-match"),
        ("/api/v1/handoffs/1/accept", "{}", "if-none-match"),
        ("/api/v1/handoffs/1/heartbeat", r#"{"fence":1}"#, "if-match"),
        ("/api/handoffs", r#"{"action":"accept","handoffId":1}"#, "if-match"),
        ("/api/run", r#"{"action":"stop"}"#, "if-match"),
    ] {
        let refused = world.post_with(path, &[(header, "\"1\"")], body).await;
        refused.refuses(412, "precondition_unsupported");
    }
    world.get("/api/v1/stories/s-2").await.refuses(404, "no_such_story");
    let run = world.get("/api/v1/runs/1").await.is(200);
    assert_eq!((&run["status"], &run["baton"]), (&json!("open"), &json!("offered")));
}

/// Whatever the description calls conditional is, and nothing else has an `ETag`.
#[tokio::test]
async fn a_read_that_the_client_has_already_is_not_sent_again() {
    let world = world().await;
    world.started("s-1", PIPELINE).await;
    for path in [
        "/api/v1/runs/1",
        "/api/v1/workflows/1",
        "/api/v1/workflows/1/status",
        "/api/v1/handoffs/1",
        "/api/v1/handoffs/1/package",
        "/api/v1/stories/s-1",
    ] {
        let read =
            async |tags: &str| world.client.send("GET", path, &[("if-none-match", tags)], "").await;
        let first = world.get(path).await;
        let tag = first.header("etag").unwrap_or_else(|| panic!("{path} has no tag"));
        for tags in [tag, &format!("W/{tag}"), &format!("\"x\", {tag}"), "*"] {
            let again = read(tags).await;
            assert_eq!((again.status, again.text.as_str()), (304, ""), "{path} {tags}");
            assert_eq!(again.header("etag"), Some(tag));
        }
        for tags in ["\"x\"", "nonsense"] {
            assert_eq!(read(tags).await.status, 200, "{path} {tags}");
        }
        world.post("/api/v1/runs/1/pause", "{}").await.is(200);
        let is_changed = !path.ends_with("/package");
        assert_eq!(read(tag).await.status == 200, is_changed, "{path}");
        world.post("/api/v1/runs/1/resume", "{}").await.is(200);
    }
}

#[tokio::test]
async fn each_format_has_a_tag_of_its_own() {
    let world = world().await;
    world.started("s-1", PIPELINE).await;
    for path in ["/api/v1/handoffs/1", "/api/v1/handoffs/1/package"] {
        let mut tags = Vec::new();
        for accept in ["application/json", "application/xml", "application/yaml", "text/markdown"] {
            let read = world.client.send("GET", path, &[("accept", accept)], "").await;
            tags.push(read.header("etag").unwrap().to_owned());
            let other = [("accept", accept), ("if-none-match", tags[0].as_str())];
            let known = world.client.send("GET", path, &other, "").await.status == 304;
            assert_eq!(known, accept == "application/json", "{path} {accept}");
        }
        tags.sort();
        tags.dedup();
        assert_eq!(tags.len(), 4, "{tags:?}");
    }
}

#[tokio::test]
async fn a_body_is_read_as_it_arrives_and_as_utf_8() {
    let world = world().await;
    for (headers, status) in [
        (&[("content-encoding", "gzip")][..], 415),
        (&[("content-encoding", "identity")], 201),
        (&[("content-type", "application/json; charset=utf-16")], 415),
        (&[("content-type", "application/json;charset=\"UTF-8\"")], 201),
        (&[("content-type", "application/json; charset=us-ascii")], 201),
    ] {
        let body = format!(r#"{{"key":"{}"}}"#, headers[0].1.replace('"', "'"));
        let reply = world.client.send("POST", "/api/v1/stories", headers, &body).await;
        assert_eq!(reply.status, status, "{headers:?}: {}", reply.text);
        if status == 415 {
            reply.refuses(415, "content_type");
        }
    }
}
