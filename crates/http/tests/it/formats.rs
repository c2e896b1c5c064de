//! Whole documents, in every format: sent, taken up, and given back.

use crate::world::*;

const XML: (&str, &str) = ("content-type", "application/xml");
const YAML: (&str, &str) = ("content-type", "application/yaml");
const MARKDOWN: (&str, &str) = ("content-type", "text/markdown; charset=utf-8");

const PLAN: &str = "<handoff><from>analyst</from><to>implementer</to><story_id>s-1</story_id>\
     <plan><step n=\"1\">Look</step><step n=\"2\">Write</step></plan></handoff>";

async fn send(world: &World, path: &str, kind: (&str, &str), body: &str) -> Reply {
    world.client.send("POST", path, &[kind], body).await
}

#[tokio::test]
async fn a_document_of_any_format_is_a_handoff() {
    let yaml = "handoff:\n  from: {agent: analyst}\n  to: {agent: implementer, reason: Planned}\n  \
                context: {summary: A plan in two steps}\n  plan: [Look, Write]\n";
    let metadata = r#"{"agent":"analyst","output_type":"plan","feature_directory":"out/s-1",
        "status":"complete","plan":["Look"],"handoff":{"next_agent":"implementer","context":"c"}}"#;
    let markdown = format!("# Plan\n\nLook first.\n\n## Metadata\n\n```json\n{metadata}\n```\n");
    for path in ["/api/v1/handoffs", "/api/v1/documents"] {
        for (kind, query, body) in [
            (XML, "?profile=lenient", PLAN),
            (YAML, "?profile=lenient&story=s-1&newStory=true", yaml),
            (MARKDOWN, "?profile=lenient", &markdown),
        ] {
            let world = world().await;
            let made = send(&world, &format!("{path}{query}"), kind, body).await;
            let told = made.is(201);
            assert_eq!(told["handoff"]["toAgent"], "implementer", "{told}");
            assert_eq!(told["handoff"]["story"], "s-1");
            let number = told["handoff"]["number"].to_string();
            // To the letter, in the sender's own format.
            let package = world.get(&format!("/api/v1/handoffs/{number}/package")).await;
            assert_eq!((package.status, package.text.as_str()), (200, body));
            let sent = kind.1.split(';').next();
            let given = package.header("content-type").and_then(|it| it.split(';').next());
            assert_eq!(given, sent);
        }
    }
}

#[tokio::test]
async fn a_document_without_a_type_is_known_by_its_first_characters() {
    let world = world().await;
    let path = "/api/v1/documents?profile=lenient";
    let form = ("content-type", "application/x-www-form-urlencoded");
    send(&world, path, form, PLAN).await.is(201);
    let json =
        r#"{"handoff":{"from":"implementer","to":"reviewer","story_id":"s-2","summary":"s"}}"#;
    send(&world, path, JSON, json).await.is(201);
}

#[tokio::test]
async fn a_package_is_given_in_the_format_that_is_asked_for() {
    let world = world().await;
    let made = send(&world, "/api/v1/documents?profile=lenient", XML, PLAN).await.is(201);
    let path = format!("/api/v1/handoffs/{}/package", made["handoff"]["number"]);
    let json = r##"{
  "handoff": {
    "from": "analyst",
    "to": "implementer",
    "story_id": "s-1",
    "plan": {
      "step": [
        {
          "@n": "1",
          "#text": "Look"
        },
        {
          "@n": "2",
          "#text": "Write"
        }
      ]
    }
  }
}
"##;
    let yaml = r##"handoff:
  from: analyst
  to: implementer
  story_id: s-1
  plan:
    step:
      - "@n": "1"
        "#text": Look
      - "@n": "2"
        "#text": Write
"##;
    for (accept, expected) in
        [("application/xml", PLAN), ("application/json", json), ("application/yaml", yaml)]
    {
        let package = world.client.send("GET", &path, &[("accept", accept)], "").await;
        assert_eq!((package.status, package.text.as_str()), (200, expected), "{accept}");
        assert_eq!(package.header("content-type"), Some(accept));
        assert_eq!(package.header("vary"), Some("accept"));
    }
    let refused = world.client.send("GET", &path, &[("accept", "image/png")], "").await;
    let problem = refused.refuses(406, "not_acceptable");
    assert!(problem["detail"].as_str().unwrap().contains("application/xml"), "{problem}");
}

#[tokio::test]
async fn a_handoff_is_a_document_in_every_format() {
    let world = world().await;
    world.started("s-1", PIPELINE).await;
    for (accept, begin, shows) in [
        ("application/yaml", "handoff:\n  id: HO-001\n", "\n    state: pending\n"),
        ("application/xml", "<handoff>\n  <id>HO-001</id>\n", "<state>pending</state>"),
        ("text/markdown", "## Metadata\n\n```json\n", "\"state\": \"pending\""),
        ("application/json", "{\"number\":1,", "\"can\":["),
    ] {
        let shown = world.client.send("GET", "/api/v1/handoffs/1", &[("accept", accept)], "").await;
        assert_eq!(shown.status, 200, "{}", shown.text);
        assert!(shown.text.starts_with(begin) && shown.text.contains(shows), "{}", shown.text);
        assert!(shown.header("content-type").unwrap().starts_with(accept));
        assert!(shown.header("etag").is_some());
    }
}

#[tokio::test]
async fn an_xml_handoff_is_told_in_its_own_form() {
    let world = world().await;
    let printed = include_str!("../../../wire/tests/fixtures/xml/issue-manager-to-prep-agent.xml");
    send(&world, "/api/v1/documents?profile=lenient", XML, printed).await.is(201);
    let xml = [("accept", "application/xml")];
    let shown = world.client.send("GET", "/api/v1/handoffs/1", &xml, "").await;
    assert_eq!(shown.status, 200, "{}", shown.text);
    // Every line of the document, in its order, and what Baton knows beside it.
    let mut rest = shown.text.as_str();
    for line in printed.lines().take(printed.lines().count() - 1) {
        let at = rest.find(line).unwrap_or_else(|| panic!("{line} is missing: {}", shown.text));
        rest = &rest[at + line.len()..];
    }
    assert!(rest.contains("<baton>") && rest.contains("<state>pending</state>"), "{rest}");
}

#[tokio::test]
async fn an_acknowledgement_in_any_format_takes_a_handoff_up() {
    let yaml = "acknowledgment:\n  received: true\n  from: orchestrator\n  understood:\n    task: \
                Plan it\n    constraints: none\n  questions: []\n  starting: true\n";
    let xml = "<acknowledgment><received>true</received><understood><task>Plan it</task>\
               </understood><starting>true</starting></acknowledgment>";
    for (kind, body) in [(YAML, yaml), (XML, xml)] {
        let world = world().await;
        world.started("s-1", PIPELINE).await;
        let told = send(&world, "/api/v1/handoffs/1/accept", kind, body).await.is(200);
        assert_eq!(told["handoff"]["state"], "accepted", "{told}");
        assert_eq!(told["handoff"]["acknowledgement"], body);
        // Baton's part of the YAML handoff's checklist, and the receiver's.
        let shown = world.get("/api/v1/handoffs/1").await.is(200);
        let verdict = |check: &str| {
            let found =
                shown["evidence"].as_array().unwrap().iter().find(|it| it["check"] == check);
            found.map(|it| it["verdict"].as_str().unwrap().to_owned())
        };
        assert_eq!(verdict("received-artifacts").as_deref(), Some("passed"), "{shown}");
        let says_constraints = body.contains("constraints");
        assert_eq!(verdict("received-constraints").is_some(), says_constraints, "{shown}");
    }
    let world = world().await;
    world.started("s-1", PIPELINE).await;
    let refused = send(&world, "/api/v1/handoffs/1/accept", XML, PLAN).await;
    refused.refuses(400, "bad_acknowledgement");
    let told = send(&world, "/api/v1/documents?run=1", YAML, yaml).await.is(200);
    assert_eq!(told["run"]["baton"], "held", "{told}");
}

#[tokio::test]
async fn how_it_goes_is_noted_and_moves_nothing() {
    let world = world().await;
    world.started("s-1", PIPELINE).await;
    let note = "<handoff><from>analyst</from><to>implementer</to><status>pending</status>\
                <summary>Half of it is planned</summary></handoff>";
    let told = send(&world, "/api/v1/documents?run=1", XML, note).await.is(202);
    assert_eq!(told["run"]["baton"], "offered");
    let events = world.events("1").await;
    assert_eq!(events["items"].as_array().unwrap().last().unwrap()["name"], "message.posted");
}

#[tokio::test]
async fn what_cannot_be_read_or_is_not_clear_is_refused_with_its_place() {
    let world = world().await;
    world.started("s-1", PIPELINE).await;
    world.started("s-2", PIPELINE).await;
    let path = "/api/v1/documents";
    let entity = "<!DOCTYPE x [<!ENTITY e \"x\">]><handoff>&e;</handoff>";
    let no_run = "handoff: {from: {agent: analyst}, to: {agent: implementer}}";
    for (kind, body, status, code) in [
        (XML, "<handoff><from>a</from>", 400, "xml_syntax"),
        (XML, entity, 400, "xml_refused"),
        (YAML, "a: &x [*x]", 400, "yaml_refused"),
        (YAML, "a: 1\na: 2", 400, "document_duplicate"),
        (MARKDOWN, "# Nothing\n", 422, "no_metadata"),
        (("content-type", "text/plain"), "x", 415, "content_type"),
        (YAML, no_run, 422, "run_unknown"),
        (YAML, "handoff: {to: {agent: implementer}, story_id: s-9}", 422, "sender_unknown"),
        (YAML, "plan: x", 400, "bad_document"),
    ] {
        let problem = send(&world, path, kind, body).await.refuses(status, code);
        let detail = problem["detail"].as_str().unwrap();
        let has_place = detail.starts_with("line ");
        assert!(has_place || status != 400 || code == "bad_document", "{detail}");
        assert!(code != "run_unknown" || detail.contains("1 (s-1), 2 (s-2)"), "{detail}");
    }
    let large = format!("a: {}", "x".repeat(1024 * 1024));
    send(&world, path, YAML, &large).await.refuses(413, "document_too_large");
}

#[tokio::test]
async fn a_document_is_rehearsed_and_sent_twice_like_anything_else() {
    let world = world().await;
    let path = "/api/v1/documents?profile=lenient";
    let told = send(&world, &format!("{path}&dryRun=true"), XML, PLAN).await.is(200);
    assert_eq!(told["dryRun"], true);
    let headers = [XML, ("idempotency-key", "k-1")];
    for is_repeat in [false, true] {
        let told = world.client.send("POST", path, &headers, PLAN).await.is(201);
        assert_eq!(told["isRepeat"], is_repeat);
    }
    let other = PLAN.replace("Look", "Think");
    world.client.send("POST", path, &headers, &other).await.refuses(422, "key_reused");
}

#[tokio::test]
async fn every_schema_is_served_by_its_name() {
    let world = world().await;
    let listed = world.get("/schemas").await.is(200);
    let names = listed["schemas"].as_array().unwrap();
    assert!(names.len() >= 10, "{listed}");
    for name in names {
        let name = name.as_str().unwrap();
        for path in [format!("/schemas/{name}"), format!("/schemas/{name}.schema.json")] {
            let schema = world.get(&path).await;
            assert_eq!(schema.header("content-type"), Some("application/schema+json"));
            let schema = schema.is(200);
            assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema", "{path}");
        }
    }
    world.get("/schemas/nothing").await.refuses(404, "no_such_schema");
}

#[tokio::test]
async fn what_a_sender_believes_of_its_run_is_compared_with_it() {
    let world = world().await;
    world.started("s-1", PIPELINE).await;
    world.post("/api/v1/handoffs/1/accept", "{}").await.is(200);
    let document = |state: &str| {
        format!(
            "handoff:\n  from: {{agent: analyst}}\n  to: {{agent: implementer}}\n  plan: [Look]\n  \
             workflow_state: {state}\n"
        )
    };
    let path = "/api/v1/documents?run=1&profile=lenient&dryRun=true";
    for (state, is_stale) in [
        ("{name: story-pipeline, completed_steps: [analyze]}", false),
        ("{name: story-pipeline, completed_steps: [analyze, review]}", true),
        ("{name: another}", true),
    ] {
        let told = send(&world, path, YAML, &document(state)).await.is(200);
        let warnings = told["warnings"].to_string();
        assert_eq!(warnings.contains("stale_workflow_state"), is_stale, "{state}: {warnings}");
    }
}

const PROSE: &str =
    "# The plan\n\nLook first.\n\n## Metadata\n\n```json\n{\"plan\": [\"Look\"]}\n```\n";

#[tokio::test]
async fn a_package_in_markdown_is_as_good_as_json_in_every_command() {
    let world = world().await;
    world.started("s1", PIPELINE).await;
    world.post("/api/v1/handoffs/1/accept", "").await.is(200);
    let text = serde_json::to_string(PROSE).unwrap();
    let body = format!(r#"{{"outcome":"success","profile":"lenient","package":{text}}}"#);
    let told = world.post("/api/v1/handoffs/1/complete", &body).await.is(200);
    assert_eq!(told["handoff"]["toAgent"], "implementer", "{told}");
    let package = world.get("/api/v1/handoffs/2/package").await;
    assert_eq!((package.status, package.text.as_str()), (200, PROSE));
    assert_eq!(package.header("content-type"), Some("text/markdown; charset=utf-8"));
    // As a body of its own, which says how the step ended.
    world.post("/api/v1/handoffs/2/accept", "").await.is(200);
    let block = r#"{"status":"complete","agent":"implementer","summary":"Added 3 routes","build_passes":true}"#;
    let report = format!("# Done\n\n## Metadata (JSON)\n\n```json\n{block}\n```\n");
    let path = "/api/v1/handoffs/2/complete?profile=lenient";
    let told = send(&world, path, MARKDOWN, &report).await.is(201);
    assert_eq!(told["handoff"]["fromAgent"], "implementer", "{told}");
    // A text that is no document stays a text.
    world.started("s2", PIPELINE).await;
    let plain = r#"{"outcome":"success","profile":"lenient","package":"note: all is well"}"#;
    world.post("/api/v1/handoffs/4/accept", "").await.is(200);
    let refused = world.post("/api/v1/handoffs/4/complete", plain).await;
    refused.refuses(422, "contract");
}

/// What a body says about its own fate does not matter: the route decides where it goes.
#[tokio::test]
async fn a_part_of_the_work_is_delegated_returned_and_escalated_in_markdown() {
    let world = world().await;
    world.started("s1", PIPELINE).await;
    world.post("/api/v1/handoffs/1/accept", "").await.is(200);
    let path = "/api/v1/handoffs/1/delegate?to=reviewer&profile=lenient";
    let told = send(&world, path, MARKDOWN, PROSE).await.is(201);
    assert_eq!(told["handoff"]["kind"], "delegation", "{told}");
    assert_eq!(told["handoff"]["fromAgent"], "analyst", "{told}");
    assert_eq!(told["handoff"]["toAgent"], "reviewer", "{told}");
    let package = world.get("/api/v1/handoffs/2/package").await;
    assert_eq!((package.status, package.text.as_str()), (200, PROSE));
    world.post("/api/v1/handoffs/2/accept", "").await.is(200);
    // The specialist asks a person first; its report reads like progress, and goes all the same.
    let asks = "status: in_progress\nsummary: Which of the two tables is the right one?\n";
    let told =
        send(&world, "/api/v1/handoffs/2/escalate?profile=lenient", YAML, asks).await.is(201);
    assert_eq!(told["handoff"]["kind"], "escalation", "{told}");
    assert_eq!(told["handoff"]["toAgent"], "human", "{told}");
    let gate = told["handoff"]["number"].as_u64().unwrap();
    let answer = r#"{"answer":"answer","comment":"The second"}"#;
    world.post(&format!("/api/v1/inbox/{gate}/answer"), answer).await.is(200);
    let block = r#"{"status":"complete","agent":"reviewer","summary":"The second table fits"}"#;
    let report = format!("# Done\n\n## Metadata\n\n```json\n{block}\n```\n");
    let path = "/api/v1/handoffs/2/return?profile=lenient";
    let told = send(&world, path, MARKDOWN, &report).await.is(201);
    assert_eq!(told["handoff"]["kind"], "return", "{told}");
    assert_eq!(told["handoff"]["toAgent"], "analyst", "{told}");
    let part = world.get("/api/v1/handoffs/2").await.is(200);
    assert_eq!(part["outcome"], "success", "{part}");
    // Where the specialist has no name, there is nothing to guess.
    world.started("s2", PIPELINE).await;
    let first = world.get("/api/v1/handoffs?run=2").await.is(200)["items"][0]["number"].clone();
    world.post(&format!("/api/v1/handoffs/{first}/accept"), "").await.is(200);
    let path = format!("/api/v1/handoffs/{first}/delegate?profile=lenient");
    for body in [PROSE, report.as_str()] {
        let refused = send(&world, &path, MARKDOWN, body).await;
        assert!(refused.status >= 400, "{}", refused.text);
        assert!(refused.text.contains("names no receiver"), "{}", refused.text);
    }
}

#[tokio::test]
async fn an_acknowledgement_is_judged_alike_in_every_form() {
    let world = world().await;
    world.started("s1", PIPELINE).await;
    let bare = r#"{"understood":{"task":"Plan it"}}"#;
    let rooted = format!(r#"{{"acknowledgment":{bare}}}"#);
    let yaml = "acknowledgment:\n  understood: {task: Plan it}\n";
    let quoted = serde_json::to_string(yaml).unwrap();
    for acknowledgement in [bare, &rooted, &quoted] {
        let body = format!(r#"{{"acknowledgement":{acknowledgement}}}"#);
        let refused = world.post("/api/v1/handoffs/1/accept", &body).await;
        refused.refuses(400, "bad_acknowledgement");
        let body = format!(r#"{{"action":"accept","handoffId":1,"payload":{acknowledgement}}}"#);
        world.post("/api/handoffs", &body).await.refuses(400, "bad_acknowledgement");
    }
    for path in ["/api/v1/handoffs/1/accept", "/api/v1/documents?run=s1"] {
        send(&world, path, YAML, yaml).await.refuses(400, "bad_document");
    }
    let whole = bare.replace("{\"understood", "{\"received\":true,\"understood");
    send(&world, "/api/v1/documents?run=s1", JSON, &whole).await.is(200);
}
