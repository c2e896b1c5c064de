//! `docs/formats.md` shows documents in two formats, one below the other: they are the same.

use baton_wire::formats::{self, Format};
use baton_wire::json;

/// The fenced blocks of the page with their languages.
fn blocks(page: &str) -> Vec<(String, String)> {
    let mut blocks = Vec::new();
    let mut open: Option<(&str, String, String)> = None;
    for line in page.lines() {
        match &mut open {
            Some((fence, _, _)) if line == *fence => {
                blocks.extend(open.take().map(|(_, language, text)| (language, text)));
            }
            Some((_, _, text)) => text.push_str(&format!("{line}\n")),
            None if line.starts_with("```") => {
                let language = line.trim_start_matches('`');
                let fence = &line[..line.len() - language.len()];
                open = Some((fence, language.to_owned(), String::new()));
            }
            None => {}
        }
    }
    blocks
}

#[test]
fn what_the_page_shows_as_the_same_is_the_same() {
    let page = include_str!("../../../../docs/formats.md");
    let blocks = blocks(page);
    assert_eq!(blocks.len() % 2, 0, "every example has two forms");
    assert!(blocks.len() >= 8);
    for pair in blocks.chunks(2) {
        let read = |(language, text): &(String, String)| {
            let format = Format::parse(language).unwrap();
            formats::decode(format, text).unwrap_or_else(|it| panic!("{it}: {text}"))
        };
        let [one, other] = [read(&pair[0]), read(&pair[1])].map(|it| json::print(&it));
        assert_eq!(one, other);
    }
}
