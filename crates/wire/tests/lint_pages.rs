//! What the page of a rule shows as bad trips that rule, and what it shows as good trips nothing.
#![expect(clippy::unwrap_used, reason = "a test that cannot read its files has failed")]
#![expect(clippy::disallowed_methods, reason = "tests make and read files of their own")]

use std::path::Path;

use baton_core::document::Node;
use baton_core::lint::{self, Facts, FileFact, LintRule, LintSubject, Settings, Severity};
use baton_wire::formats::{self, Format};

fn page(rule: LintRule) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/lint");
    std::fs::read_to_string(folder.join(format!("{rule}.md"))).unwrap()
}

/// The fenced block below a heading.
fn example(page: &str, heading: &str) -> Node {
    let (_, below) = page.split_once(&format!("\n## {heading}\n")).unwrap();
    let (_, block) = below.split_once("```").unwrap();
    let (language, rest) = block.split_once('\n').unwrap();
    let text = rest.split("\n```").next().unwrap();
    formats::decode(Format::parse(language).unwrap(), text).unwrap()
}

/// What the pages say is on the disk.
fn facts() -> Facts {
    let there = FileFact::File { n_lines: Some(10), sha256: Some("0".repeat(64)) };
    let files =
        [("docs/gone.md".to_owned(), FileFact::Missing), ("docs/there.md".to_owned(), there)];
    Facts { files: files.into(), ..Facts::default() }
}

#[test]
fn the_examples_of_every_page_do_what_it_says() {
    for rule in LintRule::ALL {
        let page = page(rule);
        assert!(page.contains(&format!("\nSeverity: {}.\n", rule.severity().name())), "{rule}");
        let found = |document: &Node| {
            let (facts, settings) = (facts(), Settings::default());
            let subject = LintSubject {
                document,
                contract: None,
                facts: &facts,
                settings: &settings,
                file: None,
            };
            lint::lint(&subject).findings
        };
        let bad = found(&example(&page, "Bad"));
        assert!(bad.iter().any(|it| it.rule == Some(rule)), "{rule}: {bad:?}");
        let good = found(&example(&page, "Good"));
        let is_told = |it: &&lint::Finding| it.severity > Severity::Info || it.rule == Some(rule);
        assert_eq!(good.iter().filter(is_told).count(), 0, "{rule}: {good:?}");
    }
}
