//! Which format an answer comes in: the caller says it in `Accept`, as simply as it can be read.

use axum::http::header::ACCEPT;
use axum::http::{HeaderMap, StatusCode};
use baton_core::package::Format;

use crate::problem::Problem;

/// The offered format that the caller likes best; the first one where it does not say.
///
/// Among equals what the caller names first wins, and a name wins over a star.
pub(crate) fn format(headers: &HeaderMap, offered: &[Format]) -> Result<Format, Problem> {
    let said = headers.get_all(ACCEPT).iter().filter_map(|it| it.to_str().ok());
    let said: Vec<&str> =
        said.flat_map(|it| it.split(',')).map(str::trim).filter(|it| !it.is_empty()).collect();
    let Some(first) = offered.first().filter(|_| said.is_empty()) else {
        return best(&said, offered).ok_or_else(|| not_offered(offered));
    };
    Ok(*first)
}

fn best(said: &[&str], offered: &[Format]) -> Option<Format> {
    let wishes: Vec<Wish<'_>> = said.iter().map(|it| Wish::of(it)).collect();
    // What is named, with a weight of nothing too, no star speaks for.
    let is_named = |format: Format| wishes.iter().any(|it| it.names(format));
    let mut best: Option<(u32, Format)> = None;
    for wish in &wishes {
        let format = match wish.format {
            Some(format) => Some(format).filter(|it| offered.contains(it)),
            None => offered.iter().copied().find(|it| wish.covers(*it) && !is_named(*it)),
        };
        let Some(format) = format.filter(|_| wish.weight > 0) else { continue };
        if best.is_none_or(|(weight, _)| wish.weight > weight) {
            best = Some((wish.weight, format));
        }
    }
    best.map(|(_, format)| format)
}

/// One part of the header.
struct Wish<'a> {
    range: &'a str,
    /// None for a star.
    format: Option<Format>,
    /// In thousandths.
    weight: u32,
}

impl<'a> Wish<'a> {
    fn of(text: &'a str) -> Self {
        let (range, parameters) = text.split_once(';').unwrap_or((text, ""));
        let range = range.trim();
        let weight = parameters.split(';').find_map(|it| {
            let (name, value) = it.split_once('=')?;
            name.trim().eq_ignore_ascii_case("q").then(|| weight(value.trim()))
        });
        Self { range, format: Format::of_media_type(range), weight: weight.unwrap_or(1000) }
    }

    fn names(&self, format: Format) -> bool {
        self.format == Some(format)
    }

    /// True for `*/*`, and for a star behind the format's own type.
    fn covers(&self, format: Format) -> bool {
        let of = format.media_type().split_once('/').map(|(of, _)| of);
        self.range == "*/*" || self.range.strip_suffix("/*").is_some_and(|it| Some(it) == of)
    }
}

/// From 0 to 1, three digits at most; what is not that asks for nothing.
fn weight(text: &str) -> u32 {
    let is_one =
        text.strip_prefix('1').is_some_and(|it| matches!(it, "" | "." | ".0" | ".00" | ".000"));
    if is_one {
        return 1000;
    }
    let Some(digits) = text.strip_prefix("0.") else { return 0 };
    if digits.len() > 3 || !digits.bytes().all(|it| it.is_ascii_digit()) {
        return 0;
    }
    format!("{digits:0<3}").parse().unwrap_or(0)
}

fn not_offered(offered: &[Format]) -> Problem {
    let names: Vec<&str> = offered.iter().map(|it| it.media_type()).collect();
    let message = format!("it can be had as {}; name one of them in `Accept`", names.join(", "));
    Problem::new(StatusCode::NOT_ACCEPTABLE, "not_acceptable", message)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OFFERED: [Format; 3] = [Format::Json, Format::Xml, Format::Yaml];

    #[test]
    fn the_caller_gets_what_it_likes_best() {
        for (accept, expected) in [
            ("", Some(Format::Json)),
            ("*/*", Some(Format::Json)),
            ("application/*", Some(Format::Json)),
            ("application/xml", Some(Format::Xml)),
            ("text/xml", Some(Format::Xml)),
            ("Application/YAML; charset=utf-8", Some(Format::Yaml)),
            ("application/xml, application/yaml", Some(Format::Xml)),
            ("application/xml;q=0.5, application/yaml;q=0.51", Some(Format::Yaml)),
            ("application/xml;q=0.5,*/*;q=0.1", Some(Format::Xml)),
            ("text/html, application/yaml;q=0.3", Some(Format::Yaml)),
            ("application/json;q=0, */*", Some(Format::Xml)),
            ("*/*;q=0.1, application/json;q=0", Some(Format::Xml)),
            ("application/xml; q=1.000", Some(Format::Xml)),
            ("text/html", None),
            ("text/markdown", None),
            ("text/*", None),
            ("application/xml;q=0", None),
            ("application/xml;q=2", None),
            ("application/xml;q=0.12345", None),
            ("application/xml;q=-1", None),
            ("*/*;q=0", None),
            ("nonsense", None),
            (";;;,,,", None),
        ] {
            let mut headers = HeaderMap::new();
            if !accept.is_empty() {
                headers.insert(ACCEPT, accept.parse().unwrap());
            }
            assert_eq!(format(&headers, &OFFERED).ok(), expected, "{accept}");
        }
    }
}
