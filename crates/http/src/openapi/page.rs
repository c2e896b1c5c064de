//! The OpenAPI document as an HTML page: no script, no inline style, every text escaped.

use std::fmt::Write as _;

use utoipa::openapi::path::{Operation, Parameter, ParameterIn};
use utoipa::openapi::{OpenApi, PathItem, RefOr, Required};

pub(crate) fn render(document: &OpenApi) -> String {
    let mut page = String::new();
    page += "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
    page += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
    page += "<title>Baton: API</title>\n</head>\n<body>\n<h1>Baton: API</h1>\n";
    page += "<p>The whole of it, for programs: <a href=\"/openapi.json\">openapi.json</a>. ";
    page += "A no is a <code>application/problem+json</code> with a <code>code</code>.</p>\n";
    for tag in document.tags.iter().flatten() {
        let title = tag.description.as_deref().unwrap_or(&tag.name);
        // Writing to a string cannot fail.
        let _ = writeln!(page, "<h2 id=\"{}\">{}</h2>", escaped(&tag.name), escaped(title));
        for (path, item) in &document.paths.paths {
            for (method, operation) in operations(item) {
                let is_here = operation.tags.iter().flatten().any(|it| *it == tag.name);
                if is_here {
                    page += &section(method, path, operation);
                }
            }
        }
    }
    page += "</body>\n</html>\n";
    page
}

fn section(method: &str, path: &str, operation: &Operation) -> String {
    let mut text = format!("<h3><code>{method} {}</code></h3>\n", escaped(path));
    let about = [&operation.summary, &operation.description];
    for words in about.into_iter().flatten() {
        text += &format!("<p>{}</p>\n", escaped(words));
    }
    let parameters = operation.parameters.as_deref().unwrap_or_default();
    if !parameters.is_empty() {
        text += "<ul>\n";
    }
    for it in parameters.iter().filter_map(written_out) {
        let place = match it.parameter_in {
            ParameterIn::Query | ParameterIn::QueryString => "query",
            ParameterIn::Path => "path",
            ParameterIn::Header => "header",
            ParameterIn::Cookie => "cookie",
        };
        let must = if matches!(it.required, Required::True) { ", required" } else { "" };
        let about = it.description.as_deref().unwrap_or_default();
        text += &format!(
            "<li><code>{}</code> ({place}{must}) {}</li>\n",
            escaped(&it.name),
            escaped(about)
        );
    }
    if !parameters.is_empty() {
        text += "</ul>\n";
    }
    let statuses: Vec<String> =
        operation.responses.responses.keys().map(|it| escaped(it)).collect();
    text += &format!("<p>Answers: {}</p>\n", statuses.join(", "));
    text
}

/// None of our parameters is a reference.
fn written_out(parameter: &RefOr<Parameter>) -> Option<&Parameter> {
    match parameter {
        RefOr::T(parameter) => Some(parameter),
        RefOr::Ref(_) => None,
    }
}

/// The operations of a path, by method.
pub(crate) fn operations(item: &PathItem) -> impl Iterator<Item = (&'static str, &Operation)> {
    [
        ("GET", &item.get),
        ("POST", &item.post),
        ("PUT", &item.put),
        ("PATCH", &item.patch),
        ("DELETE", &item.delete),
    ]
    .into_iter()
    .filter_map(|(method, operation)| Some((method, operation.as_ref()?)))
}

pub(crate) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for it in text.chars() {
        match it {
            '&' => safe += "&amp;",
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '"' => safe += "&quot;",
            '\'' => safe += "&#39;",
            it => safe.push(it),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_description_becomes_markup() {
        assert_eq!(escaped("<b>\"x\" & 'y'"), "&lt;b&gt;&quot;x&quot; &amp; &#39;y&#39;");
    }
}
