//! No text costs a reader, a rule or a printer more than its size: every pattern that
//! `baton-hostile` knows, by the processor's time for twice as many bytes.

use baton_core::acknowledgement::Acknowledgement;
use baton_core::canonical;
use baton_core::document::Node;
use baton_core::lint::{self, Facts, LintSubject, Settings};
use baton_core::view::View;
use baton_hostile::{Pattern, PatternTarget, Steep, patterns_for};
use baton_wire::extract::extract;
use baton_wire::formats::{self, Format};
use baton_wire::{agent_file, builtin, project_file, story_file, workflow_file};

/// A document that is made of a pattern: read, looked at by everything there is, and printed.
fn check_document(pattern: Pattern, format: Format, steep: &mut Steep) {
    let name = |stage: &str| format!("{} {}: {stage}", format.name(), pattern.name);
    let text = |n_bytes| pattern.text(n_bytes);
    steep.look(&name("read"), text, |text| formats::decode(format, text));
    if formats::decode(format, &text(4096)).is_err() {
        return;
    }
    let document = |n_bytes| formats::decode(format, &text(n_bytes)).unwrap_or(Node::Null);
    steep.look(&name("printed"), document, |it| formats::encode(it, format));
    // A tree does not know what it was read from, so once is enough for the rest.
    if format == Format::Json {
        check_node(&name(""), document, steep);
    }
}

fn check_node(name: &str, document: impl Fn(usize) -> Node, steep: &mut Steep) {
    steep.look(&format!("{name}lint"), &document, judged);
    steep.look(&format!("{name}understood"), &document, understood);
    steep.look(&format!("{name}printed"), &document, printed);
}

fn judged(document: &Node) -> lint::LintReport {
    let (facts, settings) = (Facts::default(), Settings::default());
    let contract = builtin::contract_of(document);
    lint::lint(&LintSubject { document, contract, facts: &facts, settings: &settings, file: None })
}

fn understood(document: &Node) -> (View, String, Vec<String>, bool) {
    let is_read = Acknowledgement::read(document, "").is_ok();
    (View::of(document), canonical::text(document), lint::paths(document), is_read)
}

fn printed(document: &Node) -> [String; 4] {
    Format::ALL.map(|it| formats::encode(document, it))
}

/// A text in every place that some rule looks at.
fn around(text: &str) -> Node {
    let list = || Node::List(vec![Node::text(text)]);
    Node::map([
        ("summary", Node::text(text)),
        ("reason", Node::text(text)),
        ("artifacts", list()),
        ("questions", list()),
        ("changes", Node::Map(vec![(text.to_owned(), Node::text(text))])),
    ])
}

const N_PLACES: usize = 6;

#[track_caller]
fn check_all(target: PatternTarget, check: impl Fn(Pattern, &mut Steep)) {
    let mut steep = Steep::default();
    patterns_for(target).into_iter().for_each(|it| check(it, &mut steep));
    steep.assert_none();
}

#[test]
fn json_is_linear() {
    check_all(PatternTarget::Json, |it, steep| check_document(it, Format::Json, steep));
}

#[test]
fn xml_is_linear() {
    check_all(PatternTarget::Xml, |it, steep| check_document(it, Format::Xml, steep));
}

#[test]
fn yaml_is_linear() {
    check_all(PatternTarget::Yaml, |it, steep| check_document(it, Format::Yaml, steep));
}

#[test]
fn markdown_is_linear() {
    check_all(PatternTarget::Markdown, |it, steep| check_document(it, Format::Markdown, steep));
}

#[test]
fn what_an_agent_prints_is_searched_in_linear_time() {
    check_all(PatternTarget::Output, |it, steep| {
        steep.look(&format!("output {}", it.name), |n| it.text(n), |text| extract(text));
    });
}

#[test]
fn every_rule_and_printer_is_linear_in_a_text() {
    check_all(PatternTarget::Text, |it, steep| {
        let document = |n_bytes: usize| around(&it.text(n_bytes / N_PLACES));
        check_node(&format!("text {}: ", it.name), document, steep);
    });
}

#[test]
fn taking_secrets_out_of_a_text_is_linear() {
    check_all(PatternTarget::Text, |it, steep| {
        steep.look(
            &format!("text {}: redacted", it.name),
            |n| it.text(n),
            |text| lint::redacted(text),
        );
    });
}

#[test]
fn the_files_of_a_project_are_read_in_linear_time() {
    check_all(PatternTarget::Yaml, |it, steep| {
        steep.look(
            &format!("yaml {}: files", it.name),
            |n| it.text(n / 2),
            |text| (story_file::parse(text).is_ok(), workflow_file::parse(text).is_ok()),
        );
    });
    check_all(PatternTarget::Text, |it, steep| {
        steep.look(
            &format!("text {}: files", it.name),
            |n| it.text(n / 4),
            |text| {
                let agent = format!("---\nname: a\ndescription: b\n---\n{text}");
                (agent_file::parse(&agent).is_ok(), project_file::parse(text).is_ok())
            },
        );
    });
}
