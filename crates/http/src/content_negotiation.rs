//! Content negotiation: picks one of the offered formats by `Accept`.

use axum::http::header::ACCEPT;
use axum::http::{HeaderMap, StatusCode};
use baton_core::package::Format;

use crate::problem::ApiProblem;

/// The best of `offered` by `Accept`; without the header, and among equals, the first.
pub(crate) fn wanted(headers: &HeaderMap, offered: &[Format]) -> Result<Format, ApiProblem> {
    let said: Vec<&str> =
        headers.get_all(ACCEPT).iter().filter_map(|it| it.to_str().ok()).collect();
    let ranges: Vec<MediaRange<'_>> =
        said.iter().flat_map(|it| it.split(',')).filter_map(MediaRange::read).collect();
    let mut best: Option<(u16, Format)> = None;
    for &format in offered {
        let weight = if ranges.is_empty() { 1000 } else { weight(&ranges, format) };
        if weight > best.map_or(0, |(weight, _)| weight) {
            best = Some((weight, format));
        }
    }
    best.map(|(_, format)| format).ok_or_else(|| not_acceptable(offered))
}

/// One media range of `Accept`: `application/*;q=0.5`.
struct MediaRange<'a> {
    kind: &'a str,
    /// In thousandths, the precision of the header.
    weight: u16,
}

impl<'a> MediaRange<'a> {
    fn read(text: &'a str) -> Option<Self> {
        let mut parts = text.split(';').map(str::trim);
        let kind = parts.next().filter(|it| !it.is_empty())?;
        let said = parts.find_map(|it| it.strip_prefix("q=").or_else(|| it.strip_prefix("Q=")));
        let weight = match said.map(str::parse::<f64>) {
            None => 1000,
            // An invalid number counts as 0: not wanted.
            Some(Err(_)) => 0,
            Some(Ok(weight)) => (weight.clamp(0.0, 1.0) * 1000.0) as u16,
        };
        Some(Self { kind, weight })
    }

    /// How specifically the range names a format; none if it does not match.
    fn closeness(&self, format: Format) -> Option<u8> {
        let family = format.media_type().split('/').next().unwrap_or_default();
        match self.kind.split_once('/') {
            Some(("*", "*")) => Some(0),
            Some((kind, "*")) if kind.eq_ignore_ascii_case(family) => Some(1),
            Some(_) | None => (Format::of_media_type(self.kind) == Some(format)).then_some(2),
        }
    }
}

/// The most specific range that matches a format decides its weight.
fn weight(ranges: &[MediaRange<'_>], format: Format) -> u16 {
    let close = |it: &MediaRange<'_>| it.closeness(format).map(|close| (close, it.weight));
    ranges.iter().filter_map(close).max_by_key(|(close, _)| *close).map_or(0, |(_, weight)| weight)
}

fn not_acceptable(offered: &[Format]) -> ApiProblem {
    let kinds: Vec<&str> = offered.iter().map(|it| it.media_type()).collect();
    let message = format!("this can be had as {}", kinds.join(", "));
    ApiProblem::new(StatusCode::NOT_ACCEPTABLE, "not_acceptable", message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_that_there_is_and_that_is_wanted() {
        use Format::{Json, Markdown, Xml, Yaml};
        let all = [Json, Xml, Yaml, Markdown];
        for (said, offered, expected) in [
            ("", &all[..], Some(Json)),
            ("*/*", &all, Some(Json)),
            ("*/*", &[Yaml, Json], Some(Yaml)),
            ("application/xml", &all, Some(Xml)),
            ("text/xml; charset=utf-8", &all, Some(Xml)),
            ("application/json;q=0.1, application/yaml", &all, Some(Yaml)),
            ("text/*", &all, Some(Markdown)),
            ("*/*;q=0.5, application/json;q=0", &all, Some(Xml)),
            ("text/html, application/xhtml+xml, application/xml;q=0.9, */*;q=0.8", &all, Some(Xml)),
            ("image/png", &all, None),
            ("application/json;q=0", &all, None),
            ("application/json;q=x", &all, None),
            (",,", &all, Some(Json)),
        ] {
            let mut headers = HeaderMap::new();
            if !said.is_empty() {
                headers.insert(ACCEPT, said.parse().unwrap());
            }
            assert_eq!(wanted(&headers, offered).ok(), expected, "{said}");
        }
    }
}
