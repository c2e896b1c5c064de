//! What a source document prints comes back through every chain of formats.

use baton_core::document::kind::DocumentKind;
use baton_core::view::View;
use baton_wire::formats::{self, Format};
use expect_test::expect;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use crate::fixtures;

/// Every order in which the four formats can follow each other.
fn chains() -> Vec<[Format; 4]> {
    let mut chains = Vec::new();
    for a in Format::ALL {
        for b in Format::ALL {
            for c in Format::ALL {
                for d in Format::ALL {
                    let chain = [a, b, c, d];
                    if Format::ALL.iter().all(|it| chain.contains(it)) {
                        chains.push(chain);
                    }
                }
            }
        }
    }
    chains
}

#[test]
fn every_example_comes_back_through_every_chain() {
    let chains = chains();
    assert_eq!(chains.len(), 24);
    for fixture in fixtures::all() {
        let original = fixture.document();
        for chain in &chains {
            let mut document = original.clone();
            for format in chain {
                let text = formats::encode(&document, *format);
                document = formats::decode(*format, &text).unwrap();
            }
            assert_eq!(document, original, "{} through {chain:?}", fixture.name);
        }
    }
}

/// The elements, attributes and texts of a document in order, one a line: what XML means, told
/// without our own reader.
fn elements(xml: &str) -> Vec<String> {
    let mut reader = Reader::from_str(xml);
    let mut lines = Vec::new();
    let begin = |tag: &BytesStart<'_>| {
        let attributes: Vec<String> = tag
            .attributes()
            .map(|it| it.unwrap())
            .map(|it| format!(" {}={:?}", it.key.into_inner(), it.value))
            .collect();
        format!("<{}{}>", tag.name().into_inner(), attributes.concat())
    };
    loop {
        match reader.read_event().unwrap() {
            Event::Start(tag) => lines.push(begin(&tag)),
            Event::Empty(tag) => lines.extend([begin(&tag), "</>".to_owned()]),
            Event::End(_) => lines.push("</>".to_owned()),
            Event::Text(text) if text.trim().is_empty() => {}
            Event::Text(text) => lines.push(text.to_string()),
            Event::GeneralRef(name) => lines.push(format!("&{};", name.as_ref())),
            Event::Comment(_)
            | Event::CData(_)
            | Event::Decl(_)
            | Event::PI(_)
            | Event::DocType(_) => {}
            Event::Eof => return lines,
        }
    }
}

#[test]
fn the_elements_of_the_xml_handoff_come_back_in_their_order() {
    let examples = fixtures::all().into_iter().filter(|it| it.format == Format::Xml);
    for fixture in examples {
        let mut document = fixture.document();
        for format in [Format::Yaml, Format::Json, Format::Markdown, Format::Xml] {
            document = formats::decode(format, &formats::encode(&document, format)).unwrap();
        }
        let printed = formats::encode(&document, Format::Xml);
        assert_eq!(elements(&printed), elements(&fixture.text), "{}", fixture.name);
        if !fixture.text.contains("<!--") {
            assert_eq!(printed, fixture.text, "{}", fixture.name);
        }
    }
}

#[test]
fn json_examples_mean_the_same_to_another_reader() {
    for fixture in fixtures::all().iter().filter(|it| it.format == Format::Json) {
        let expected: serde_json::Value = serde_json::from_str(&fixture.text).unwrap();
        let printed = formats::encode(&fixture.document(), Format::Json);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&printed).unwrap(), expected);
    }
}

#[test]
fn markdown_examples_come_back_to_the_byte() {
    for fixture in fixtures::all().iter().filter(|it| it.format == Format::Markdown) {
        let mut document = fixture.document();
        for format in [Format::Xml, Format::Yaml, Format::Json] {
            document = formats::decode(format, &formats::encode(&document, format)).unwrap();
        }
        let printed = formats::encode(&document, Format::Markdown);
        // Only the layout of the JSON is ours.
        let words = |text: &str| text.split_whitespace().collect::<String>();
        assert_eq!(words(&printed), words(&fixture.text), "{}", fixture.name);
        let prose = |text: &str| text.split("json").next().unwrap().to_owned();
        assert_eq!(prose(&printed), prose(&fixture.text));
    }
}

#[test]
fn every_example_is_known_for_what_it_is() {
    let mut table = String::new();
    for fixture in fixtures::all() {
        let view = View::of(&fixture.document());
        let side = |it: Option<String>| it.unwrap_or_else(|| "-".to_owned());
        let claim =
            view.claim.map_or_else(|| "-".to_owned(), |it| format!("{} {:?}", it.word, it.meaning));
        let kind: DocumentKind = view.kind;
        table.push_str(&format!(
            "{}: {}, {} -> {}, {claim}\n",
            fixture.name,
            kind.name(),
            side(view.sender),
            side(view.receiver),
        ));
    }
    expect![[r#"
        metadata/architecture-to-implementation.json: metadata/phase, - -> frontend-developer, complete Ended(Success)
        metadata/architecture.md: metadata/phase, - -> frontend-developer, complete Ended(Success)
        metadata/blocked.json: metadata/agent, frontend-developer -> -, blocked Ended(Blocked)
        metadata/blocked.md: metadata/agent, frontend-developer -> -, blocked Ended(Blocked)
        metadata/fragment-artifacts.json: payload, - -> -, -
        metadata/fragment-blockers.json: payload, - -> -, -
        metadata/fragment-files-modified.json: payload, - -> -, -
        metadata/fragment-verification-architecture.json: payload, - -> -, -
        metadata/fragment-verification.json: payload, - -> -, -
        metadata/implementation-to-testing.json: metadata/phase, - -> backend-tester, complete Ended(Success)
        metadata/testing-to-complete.json: metadata/phase, - -> -, complete Ended(Success)
        pipeline/accept.json: payload, - -> -, -
        pipeline/cleanup.json: payload, - -> -, -
        pipeline/create.json: payload, analyst -> implementer, -
        pipeline/reject.json: payload, - -> -, -
        pipeline/timeout.json: payload, - -> -, -
        xml/error.xml: xml/handoff, implementer-agent -> orchestrator, failure Ended(Failure)
        xml/fixer-agent-to-reviewer-agent.xml: xml/handoff, fixer-agent -> reviewer-agent, ready-for-re-review Ended(Success)
        xml/implementer-agent-to-reviewer-agent.xml: xml/handoff, implementer-agent -> reviewer-agent, -
        xml/issue-manager-to-prep-agent.xml: xml/handoff, issue-manager -> prep-agent, -
        xml/prep-agent-to-implementer-agent.xml: xml/handoff, prep-agent -> implementer-agent, ready Ended(Success)
        xml/reviewer-agent-to-fixer-agent.xml: xml/handoff, reviewer-agent -> fixer-agent, changes_requested Ended(Failure)
        xml/reviewer-agent-to-validator-agent.xml: xml/handoff, reviewer-agent -> validator-agent, approved Ended(Success)
        xml/structure.xml: xml/handoff, source-agent-name -> target-agent-name, success|failure|blocked Unknown
        xml/validator-agent-to-closer-agent.xml: xml/handoff, validator-agent -> closer-agent, merged Ended(Success)
        xml/validator-agent-to-fixer-agent.xml: xml/handoff, validator-agent -> fixer-agent, failed Ended(Failure)
        xml/workflow-complete.xml: xml/workflow-complete, - -> -, completed Ended(Success)
        yaml/acknowledgment-partial.yaml: yaml/acknowledgment-partial, - -> -, -
        yaml/acknowledgment.yaml: yaml/acknowledgment, [source agent] -> -, -
        yaml/delegation.yaml: yaml/handoff, architecture -> security-check, -
        yaml/escalation.yaml: yaml/handoff, estimation -> human, -
        yaml/fragment-context-forbidden.yaml: payload, - -> -, -
        yaml/fragment-context-required.yaml: payload, - -> -, -
        yaml/fragment-success-criteria-bad.yaml: payload, - -> -, -
        yaml/fragment-success-criteria-good.yaml: payload, - -> -, -
        yaml/gate.yaml: yaml/gate, [current agent] -> human, -
        yaml/package.yaml: yaml/handoff, [agent-id] -> [agent-id], -
        yaml/return.yaml: yaml/handoff, security-check -> architecture, -
        yaml/sequential.yaml: yaml/handoff, specification -> architecture, -
        yaml/state-current.json: payload, - -> -, -
    "#]].assert_eq(&table);
}
