//! The OpenAPI document as an HTML page: every operation with its parameters, its body and its
//! responses, and every schema. No script, and every text is escaped.

use serde_json::Value;
use utoipa::openapi::OpenApi;

use crate::page::{Html, fixed_page};

pub(crate) fn render(document: &OpenApi) -> String {
    let document = match serde_json::to_value(document) {
        Ok(document) => document,
        Err(error) => unreachable!("our own description always encodes: {error}"),
    };
    let mut html = Html::default();
    html.raw("<section class=\"run api\"><h2>The API</h2><p>The whole of it, for programs: ");
    html.raw("<a href=\"/openapi.json\">openapi.json</a>. Errors are ");
    html.raw("<code>application/problem+json</code> (RFC 9457) with a <code>code</code>, which ");
    html.raw("<a href=\"/errors\">has a page</a>.</p><nav aria-label=\"Parts\"><ul>");
    let tags = document["tags"].as_array().map(Vec::as_slice).unwrap_or_default();
    for tag in tags {
        html.raw("<li><a href=\"#").attribute(text(&tag["name"])).raw("\">");
        html.text(text(&tag["name"])).raw("</a></li>");
    }
    html.raw("<li><a href=\"#schemas\">schemas</a></li></ul></nav></section>");
    for tag in tags {
        section(&mut html, &document, tag);
    }
    html.raw("<section class=\"run api\" id=\"schemas\"><h2>Schemas</h2>");
    for (name, schema) in members(&document["components"]["schemas"]) {
        html.raw("<details id=\"schema-").attribute(name).raw("\"><summary><code>").text(name);
        html.raw("</code></summary>");
        about(&mut html, schema);
        shape(&mut html, schema);
        html.raw("</details>");
    }
    html.raw("</section>");
    fixed_page("API", html)
}

/// The operations of one tag.
fn section(html: &mut Html, document: &Value, tag: &Value) {
    let name = text(&tag["name"]);
    html.raw("<section class=\"run api\" id=\"").attribute(name).raw("\"><h2>");
    html.text(text(&tag["description"])).raw("</h2>");
    for (path, item) in members(&document["paths"]) {
        for (method, operation) in members(item) {
            let tags = operation["tags"].as_array().map(Vec::as_slice).unwrap_or_default();
            if tags.iter().any(|it| it == name) {
                show(html, document, (&method.to_uppercase(), path), operation);
            }
        }
    }
    html.raw("</section>");
}

fn show(html: &mut Html, document: &Value, (method, path): (&str, &str), operation: &Value) {
    html.raw("<details id=\"").attribute(text(&operation["operationId"]));
    html.raw("\"><summary><code>").text(method).raw(" ").text(path);
    html.raw("</code> <span>");
    html.with_code(text(&operation["summary"]));
    html.raw("</span></summary>");
    about(html, operation);
    let parameters = operation["parameters"].as_array().map(Vec::as_slice).unwrap_or_default();
    if !parameters.is_empty() {
        html.raw("<h3>Parameters</h3><dl class=\"fields\">");
    }
    for it in parameters {
        html.raw("<div><dt><code>").text(text(&it["name"])).raw("</code> <span class=\"meta\">");
        html.text(text(&it["in"]));
        html.raw(if it["required"] == true { ", required" } else { "" }).raw("</span></dt><dd>");
        html.with_code(text(&it["description"]));
        html.raw("</dd></div>");
    }
    if !parameters.is_empty() {
        html.raw("</dl>");
    }
    for (kind, content) in members(&operation["requestBody"]["content"]) {
        html.raw("<h3>Body <span class=\"meta\">").text(kind).raw("</span></h3>");
        shape(html, resolved(document, &content["schema"]));
    }
    html.raw("<h3>Responses</h3><dl class=\"fields\">");
    for (status, response) in members(&operation["responses"]) {
        html.raw("<div><dt><code>").text(status).raw("</code></dt><dd>");
        html.with_code(text(&response["description"]));
        for (kind, content) in members(&response["content"]) {
            html.raw(" <span class=\"meta\">").text(kind).raw(" ");
            kind_of(html, &content["schema"]);
            html.raw("</span>");
        }
        html.raw("</dd></div>");
    }
    html.raw("</dl></details>");
}

fn about(html: &mut Html, described: &Value) {
    let words = text(&described["description"]);
    if !words.is_empty() {
        html.raw("<p>");
        html.with_code(words);
        html.raw("</p>");
    }
}

/// The members of an object, or what else the schema is.
fn shape(html: &mut Html, schema: &Value) {
    let required = schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
    let fields = members(&schema["properties"]);
    if fields.is_empty() {
        html.raw("<p>");
        kind_of(html, schema);
        html.raw("</p>");
        return;
    }
    html.raw("<dl class=\"fields\">");
    for (name, field) in fields {
        html.raw("<div><dt><code>").text(name).raw("</code> <span class=\"meta\">");
        kind_of(html, field);
        html.raw(if required.iter().any(|it| it == name) { ", required" } else { "" });
        html.raw("</span></dt><dd>");
        html.with_code(text(&field["description"]));
        html.raw("</dd></div>");
    }
    html.raw("</dl>");
}

/// The type of a value, in one line: a link where it is a schema of its own.
fn kind_of(html: &mut Html, schema: &Value) {
    if let Some(name) = schema["$ref"].as_str().and_then(|it| it.rsplit('/').next()) {
        html.raw("<a href=\"#schema-").attribute(name).raw("\">").text(name).raw("</a>");
        return;
    }
    let all = ["oneOf", "anyOf", "allOf"].iter().find_map(|it| schema[*it].as_array());
    if let Some(all) = all {
        for (n, it) in all.iter().enumerate() {
            html.raw(if n > 0 { " or " } else { "" });
            kind_of(html, it);
        }
        return;
    }
    if let Some(words) = schema["enum"].as_array() {
        let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
        html.text(&words.join(" | "));
        return;
    }
    let kinds: Vec<&str> = match &schema["type"] {
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        kind => kind.as_str().into_iter().collect(),
    };
    match kinds.as_slice() {
        [] => html.raw("any JSON"),
        kinds => html.text(&kinds.join(" or ")),
    };
    if kinds.contains(&"array") {
        html.raw(" of ");
        kind_of(html, &schema["items"]);
    }
}

/// The schema that a body refers to: a body that may be left out is that schema or null.
fn resolved<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    let options = schema["oneOf"].as_array().map(Vec::as_slice).unwrap_or_default();
    let schema = options.iter().find(|it| it["$ref"].is_string()).unwrap_or(schema);
    let name = schema["$ref"].as_str().and_then(|it| it.rsplit('/').next());
    name.map_or(schema, |it| &document["components"]["schemas"][it])
}

fn members(value: &Value) -> Vec<(&str, &Value)> {
    let members = value.as_object().into_iter().flatten();
    members.map(|(key, value)| (key.as_str(), value)).collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
