//! The description: what it says is there, and what is there it says.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::world::*;

const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

#[tokio::test]
async fn every_route_that_is_described_is_there_and_no_other_method_is() {
    let world = world().await;
    let document = world.get("/openapi.json").await.is(200);
    for (path, item) in document["paths"].as_object().unwrap() {
        // A stream has no end that could be waited for; for a run that is not there it never begins.
        let is_stream = !item["get"]["responses"]["200"]["content"]["text/event-stream"].is_null();
        let query = if is_stream { "?run=0" } else { "" };
        let address = path.replace(['{', '}'], "x") + query;
        for method in METHODS {
            let reply = world.client.send(&method.to_uppercase(), &address, &[JSON], "{}").await;
            let is_described = item.get(method).is_some();
            assert_eq!(reply.status != 405, is_described, "{method} {path}: {}", reply.text);
            let is_page = reply.status == 404 && reply.json()["code"] == "no_such_page";
            assert!(!is_page, "{method} {path}");
            if is_described {
                let status = reply.status.to_string();
                let answer = &item[method]["responses"][&status];
                assert!(!answer.is_null(), "{method} {path} answers {status}, which is not said");
            }
        }
    }
}

#[tokio::test]
async fn the_description_is_whole() {
    let world = world().await;
    let document = world.get("/openapi.json").await.is(200);
    assert_eq!(document["openapi"], "3.1.0");
    let mut ids = BTreeSet::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for method in METHODS.iter().filter(|it| item.get(**it).is_some()) {
            let operation = &item[*method];
            assert!(ids.insert(operation["operationId"].to_string()), "{method} {path}");
            for part in ["summary", "description"] {
                assert!(operation[part].is_string(), "{method} {path} has no {part}");
            }
            for (status, answer) in operation["responses"].as_object().unwrap() {
                assert!(answer["description"].is_string(), "{method} {path} {status}");
            }
            check_parameters(&operation["parameters"], &format!("{method} {path}"));
            check_body(&document, &operation["requestBody"], &format!("{method} {path}"));
            let of_writes: &[&str] = if *method == "get" { &[] } else { &["412", "415"] };
            for status in ["403", "421"].iter().chain(of_writes) {
                let answer =
                    &operation["responses"][*status]["content"]["application/problem+json"];
                assert!(answer.is_object(), "{method} {path} says nothing of {status}");
            }
        }
    }
    let schemas = document["components"]["schemas"].as_object().unwrap();
    for name in references(&document) {
        let name = name.strip_prefix("#/components/schemas/").unwrap();
        assert!(schemas.contains_key(name), "`{name}` is named and not there");
    }
    let named: BTreeSet<String> = references(&document).into_iter().collect();
    for (name, schema) in schemas {
        let place = format!("#/components/schemas/{name}");
        assert!(named.contains(&place), "`{name}` is there and nothing names it");
        // Two whose clients know them by other members have none.
        let is_union = schema["oneOf"].is_array() && !name.starts_with("PipelineRun");
        let is_told_apart = schema["discriminator"].is_object() || name == "PipelineAgents";
        assert!(!is_union || is_told_apart, "`{name}` has nothing that tells its kinds apart");
        // An object is never null, so a part of one that could be null has no members at all.
        for part in schema["allOf"].as_array().into_iter().flatten() {
            assert!(part["oneOf"].is_null(), "a part of `{name}` may be null: {part}");
        }
    }
}

/// A value can be written for each, and no two have the same name.
fn check_parameters(parameters: &Value, operation: &str) {
    let mut names = BTreeSet::new();
    for parameter in parameters.as_array().into_iter().flatten() {
        let name = parameter["name"].as_str().unwrap();
        assert!(names.insert(name.to_lowercase()), "{operation} has `{name}` twice");
        assert!(parameter["schema"]["allOf"].is_null(), "{operation} {name}");
        let kind = &parameter["schema"]["type"];
        assert!(kind.is_string(), "{operation} {name}: {kind}");
    }
}

/// A body that may be left out is not required, none is null, and each has an example.
fn check_body(document: &Value, body: &Value, operation: &str) {
    let Some(content) = body["content"]["application/json"].as_object() else { return };
    let schema = &content["schema"];
    assert!(schema["oneOf"].is_null(), "{operation} takes a body that is null");
    let place = schema["$ref"].as_str().unwrap_or_default().trim_start_matches('#');
    let named = document.pointer(place).unwrap_or(schema);
    let kinds = named["oneOf"].as_array().map_or_else(
        || vec![named.clone()],
        |kinds| {
            let one =
                |it: &Value| document.pointer(&it["$ref"].as_str().unwrap()[1..]).unwrap().clone();
            kinds.iter().map(one).collect()
        },
    );
    let has_example = |it: &Value| it.get("example").is_some();
    let is_shown = content.contains_key("example") || kinds.iter().all(has_example);
    assert!(is_shown, "{operation} has no example");
}

/// Every `$ref` in a document.
fn references(value: &Value) -> Vec<String> {
    match value {
        Value::Object(members) => {
            let own = members.get("$ref").and_then(Value::as_str).map(str::to_owned);
            own.into_iter().chain(members.values().flat_map(references)).collect()
        }
        Value::Array(items) => items.iter().flat_map(references).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

#[tokio::test]
async fn people_can_read_it_and_come_from_anywhere() {
    let world = world().await;
    let visit = [
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-mode", "navigate"),
        ("sec-fetch-dest", "document"),
    ];
    let page = world.client.send("GET", "/api", &visit, "").await;
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    assert!(page.text.contains("<code>POST /api/v1/handoffs/{handoff}/accept</code>"));
    assert!(!page.text.contains("<script"));
    let fetched = world.client.send("GET", "/openapi.json", &visit, "").await;
    fetched.refuses(403, "foreign_origin");
}
