//! How the time of every pattern grows, in a released build and at full size.

use anyhow::Result;
use baton_core::document::Node;
use baton_core::lint::{self, Facts};
use baton_hostile::{Growth, Pattern, PatternTarget, growth, patterns};
use baton_wire::extract::extract;
use baton_wire::formats::{self, Format};

use super::word;

/// How many of the steepest are shown.
const N_SHOWN: usize = 5;

pub(super) fn check() -> Result<bool> {
    let mut all: Vec<(Pattern, Growth)> = patterns().into_iter().map(|it| (it, grow(it))).collect();
    all.sort_by(|(_, a), (_, b)| b.ratio().total_cmp(&a.ratio()));
    let is_kept = all.iter().all(|(_, it)| it.is_linear());
    println!("{} patterns, read and linted: {}\n", all.len(), word(is_kept));
    println!("| the steepest | bytes | time | twice as many | times |");
    println!("|---|---|---|---|---|");
    for (pattern, growth) in all.iter().take(N_SHOWN) {
        let Growth { n_bytes, four, eight } = growth;
        println!(
            "| {:?} {} | {} | {four:.1?} | {eight:.1?} | {:.2} |",
            pattern.target,
            pattern.name,
            4 * n_bytes,
            growth.ratio()
        );
    }
    Ok(is_kept)
}

fn grow(pattern: Pattern) -> Growth {
    let text = |n_bytes| pattern.text(n_bytes);
    let read = |format: Format| {
        move |text: &String| {
            let document = formats::decode(format, text).ok()?;
            Some(lint::findings(&document, &Facts::default()).len())
        }
    };
    match pattern.target {
        PatternTarget::Json => growth(text, read(Format::Json)),
        PatternTarget::Xml => growth(text, read(Format::Xml)),
        PatternTarget::Yaml => growth(text, read(Format::Yaml)),
        PatternTarget::Markdown => growth(text, read(Format::Markdown)),
        PatternTarget::Output => growth(text, |it| extract(it).len()),
        PatternTarget::Text => {
            let document = |n_bytes| Node::map([("summary", Node::text(text(n_bytes)))]);
            growth(document, |it| lint::findings(it, &Facts::default()).len())
        }
    }
}
