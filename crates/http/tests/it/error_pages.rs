//! The sample messages on the pages of `docs/errors` are those that the code prints. Each page has one `text` block,
//! and this test renders its lines: from values of the error types, and from responses of a server. After a
//! message has changed, `UPDATE_EXPECT=1` writes the pages anew.

mod values;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::world::{PIPELINE, SECRET, World, world};

/// The lines of each page, by code.
pub(super) type Samples = BTreeMap<String, Vec<String>>;

/// Codes that only the command line has: its own tests know their messages.
const OF_THE_CLI: &[&str] = &[
    "bad_database_url",
    "bad_file",
    "broken",
    "conflict",
    "database_newer",
    "database_refused",
    "database_unsuitable",
    "interrupted",
    "not_found",
    "other_project",
    "untrusted",
    "usage",
];

/// Codes that need a slow client, a full server, a gate or a bug; tests of these situations have them.
const OF_OTHER_TESTS: &[&str] = &[
    "archive_failing",
    "broken_off",
    "bug",
    "busy",
    "too_slow",
    "too_slow_body",
    "two_lengths",
    "unknown_response",
];

#[tokio::test]
async fn every_page_shows_the_message_that_the_code_prints() {
    let mut samples = values::samples();
    for (code, message) in responses().await {
        samples.entry(code).or_default().push(message);
    }
    let mut problems = Vec::new();
    for (code, path) in pages() {
        if OF_THE_CLI.contains(&code.as_str()) || OF_OTHER_TESTS.contains(&code.as_str()) {
            continue;
        }
        let Some(lines) = samples.remove(&code) else {
            problems.push(format!("no value and no request of this test has the code `{code}`"));
            continue;
        };
        let page = std::fs::read_to_string(&path).unwrap();
        let expected = with_sample(&page, &lines);
        if page == expected {
            continue;
        }
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            std::fs::write(&path, expected).unwrap();
        } else {
            let sample = lines.join("\n");
            problems.push(format!("the sample of {code}.md has to be:\n{sample}"));
        }
    }
    problems.extend(samples.keys().map(|it| format!("there is no page for `{it}`")));
    assert!(problems.is_empty(), "{}\nUPDATE_EXPECT=1 writes the samples", problems.join("\n"));
}

fn pages() -> Vec<(String, PathBuf)> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/errors");
    let paths = std::fs::read_dir(dir).unwrap().map(|it| it.unwrap().path());
    let mut pages: Vec<(String, PathBuf)> = paths
        .map(|it| (it.file_stem().unwrap().to_str().unwrap().to_owned(), it))
        .filter(|(code, _)| code != "README")
        .collect();
    pages.sort();
    pages
}

/// The page with these lines in its `text` block.
fn with_sample(page: &str, lines: &[String]) -> String {
    let (before, rest) = page.split_once("\n```text\n").expect("a page has a `text` block");
    let (_, after) = rest.split_once("```\n").expect("a block ends");
    format!("{before}\n```text\n{}\n```\n{after}", lines.join("\n"))
}

/// One request for each code that only a server has. The first handoff is for the analyst.
async fn responses() -> Vec<(String, String)> {
    let world = world().await;
    world.started("login", PIPELINE).await;
    let question = r#"{"question":"Which tests?"}"#;
    world.post("/api/v1/handoffs/1/clarify", question).await.is(200);
    let (mut samples, mut wrong) = (Vec::new(), Vec::new());
    for (code, method, path, headers, body) in REQUESTS {
        let json = [("content-type", "application/json")];
        let own = headers.iter().any(|(name, _)| *name == "content-type");
        let headers: Vec<_> = json.iter().filter(|_| !own).chain(headers.iter()).copied().collect();
        let reply = world.client.send_bytes(method, path, &headers, body).await;
        let problem: serde_json::Value = serde_json::from_str(&reply.text).unwrap_or_default();
        if problem["code"] != *code {
            wrong.push(format!("{code}: {method} {path}: {problem}"));
        }
        samples
            .push(((*code).to_owned(), problem["detail"].as_str().unwrap_or_default().to_owned()));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    samples.push(too_large(&world).await);
    samples.push(credential_in_text(&world).await);
    samples
}

async fn too_large(world: &World) -> (String, String) {
    let story = format!(r#"{{"key":"large","description":"{}"}}"#, "x".repeat(9 << 20));
    let problem = world.post("/api/v1/stories", &story).await.refuses(413, "too_large");
    ("too_large".to_owned(), problem["detail"].as_str().unwrap().to_owned())
}

async fn credential_in_text(world: &World) -> (String, String) {
    let credential = baton_http::RunnerKey::new(SECRET).credential();
    let story = format!(r#"{{"key":"s","description":"{}"}}"#, credential.replace('-', r"\u002d"));
    let problem = world.post("/api/v1/stories", &story).await.refuses(400, "credential_in_text");
    ("credential_in_text".to_owned(), problem["detail"].as_str().unwrap().to_owned())
}

type RequestSample = (
    &'static str,
    &'static str,
    &'static str,
    &'static [(&'static str, &'static str)],
    &'static [u8],
);

/// The credential that [`SECRET`] makes.
const RUNNER: &str =
    "Bearer baton-runner.0707070707070707070707070707070707070707070707070707070707070707";

const REQUESTS: &[RequestSample] = &[
    (
        "bad_acknowledgement",
        "POST",
        "/api/handoffs",
        &[],
        br#"{"action":"accept","handoffId":1,"payload":{"received":false}}"#,
    ),
    ("bad_host", "GET", "/api/v1/runs", &[("host", "localhost"), ("Host", "localhost")], b""),
    ("bad_key", "POST", "/api/v1/handoffs/1/accept", &[("idempotency-key", " ")], b"{}"),
    ("bad_path", "GET", "/api/v1/stories/caf%E9", &[], b""),
    (
        "bad_text",
        "POST",
        "/api/handoffs",
        &[],
        br#"{"action":"reject","handoffId":1,"reason":" "}"#,
    ),
    ("bad_query", "POST", "/api/v1/archive/rebuild?dryRun=true", &[], b""),
    ("bad_token", "GET", "/api/v1/runs", &[("authorization", "Bearer mine")], b""),
    ("bad_token", "GET", "/api/v1/runs", &[("authorization", "Bearer ")], b""),
    ("not_a_runner", "POST", "/api/v1/claims", &[], br#"{"agents":["analyst"]}"#),
    (
        "unknown_capability",
        "POST",
        "/api/v1/claims",
        &[("authorization", RUNNER)],
        br#"{"capabilities":["tecnical-specs"]}"#,
    ),
    (
        "hash_mismatch",
        "PUT",
        "/api/v1/handoffs/1/files/2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824?fence=1&kind=log&name=output.txt",
        &[("authorization", RUNNER)],
        b"Hello",
    ),
    (
        "no_such_file",
        "GET",
        "/api/v1/handoffs/2/files/2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
        &[],
        b"",
    ),
    ("bad_url", "GET", "/api/v1/handoffs/1/prompt?url=localhost", &[], b""),
    ("bad_version", "POST", "/api/v1/handoffs/1/accept", &[("if-match", "12")], b"{}"),
    ("content_type", "POST", "/api/v1/handoffs/1/accept", &[("content-type", "text/csv")], b"{}"),
    ("foreign_host", "GET", "/api/v1/runs", &[("host", "baton.example")], b""),
    ("foreign_origin", "GET", "/api/v1/runs", &[("origin", "https://example.org")], b""),
    ("missing_field", "POST", "/api/v1/stories", &[], b"{}"),
    (
        "no_gate",
        "POST",
        "/api/run",
        &[],
        br#"{"action":"continue","gateResponse":{"response":"merge"}}"#,
    ),
    ("no_package", "GET", "/api/v1/handoffs/2/package", &[], b""),
    ("no_such_context", "GET", "/api/v1/runs/login/context/api-design", &[], b""),
    ("no_such_decision", "GET", "/api/v1/runs/login/decisions/9", &[], b""),
    ("no_such_question", "GET", "/api/v1/runs/login/questions/3", &[], b""),
    (
        "no_such_text",
        "POST",
        "/api/v1/runs/login/redactions",
        &[],
        br#"{"texts":["2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"],"reason":"a name"}"#,
    ),
    ("no_such_error", "GET", "/errors/no_such_cod", &[], b""),
    ("no_such_method", "DELETE", "/api/v1/runs", &[], b""),
    ("no_such_page", "GET", "/api/v1/run", &[], b""),
    ("no_such_schema", "GET", "/schemas/story.xsd", &[], b""),
    ("not_acceptable", "GET", "/api/v1/handoffs/1", &[("accept", "image/png")], b""),
    ("not_an_object", "POST", "/api/handoffs", &[], b"[]"),
    ("not_utf8", "POST", "/api/handoffs", &[], b"{\"action\":\"\xe9\"}"),
    ("other_server", "GET", "/api/v1/runs", &[("baton-instance", "gone")], b""),
    (
        "precondition_unsupported",
        "POST",
        "/api/v1/stories",
        &[("if-match", "\"12\"")],
        br#"{"key":"new"}"#,
    ),
    ("story_exists", "POST", "/api/v1/stories", &[], br#"{"key":"login"}"#),
    ("twice", "GET", "/api/handoffs?storyId=login&storyId=logout", &[], b""),
    ("unknown_action", "POST", "/api/handoffs", &[], br#"{"action":"take"}"#),
    ("unknown_field", "POST", "/api/v1/stories", &[], br#"{"key":"a","tittle":"A"}"#),
    (
        "unknown_kind",
        "POST",
        "/api/handoffs",
        &[],
        br#"{"action":"create","storyId":"login","fromAgent":"analyst","toAgent":"reviewer","kind":"sideways"}"#,
    ),
    ("unknown_outcome", "POST", "/api/v1/handoffs/1/complete", &[], br#"{"outcome":"done"}"#),
    ("unknown_word", "GET", "/api/v1/handoffs?state=open", &[], b""),
    ("wrong_type", "GET", "/api/v1/runs?limit=many", &[], b""),
];
