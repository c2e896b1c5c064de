//! Texts that are meant to do harm: each is refused with a reason, before much work is done.

use baton_core::document::Node;
use baton_wire::extract::extract;
use baton_wire::formats::{self, Format};
use baton_wire::json::{self, MOST_BYTES};
use expect_test::expect;

fn refused(format: Format, bytes: &[u8]) -> String {
    match formats::decode_bytes(format, bytes) {
        Ok(_) => format!("{}: accepted\n", format.name()),
        Err(error) => format!("{}: {} [{}]\n", format.name(), error, error.code()),
    }
}

fn all_refused(cases: &[(Format, &str)]) -> String {
    cases.iter().map(|(format, text)| refused(*format, text.as_bytes())).collect()
}

/// Each entity, anchor or alias stands for ten of the one before.
fn laughs(line: impl Fn(usize) -> String) -> String {
    (1..10).map(line).collect()
}

#[test]
fn nothing_is_expanded() {
    let entity =
        |it: usize| format!("<!ENTITY l{it} \"{}\">\n", format!("&l{};", it - 1).repeat(10));
    let xml = format!("<!DOCTYPE a [<!ENTITY l0 \"ha\">\n{}]><a>&l9;</a>", laughs(entity));
    let anchor = |it: usize| format!("l{it}: &l{it} [{}]\n", format!("*l{},", it - 1).repeat(10));
    let yaml = format!("l0: &l0 ha\n{}", laughs(anchor));
    let table = all_refused(&[
        (Format::Xml, &xml),
        (Format::Yaml, &yaml),
        (Format::Xml, "<!DOCTYPE a SYSTEM \"http://example.com/a.dtd\"><a/>"),
        (Format::Xml, "<!DOCTYPE a [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><a>&x;</a>"),
        (Format::Xml, "<a>&x;</a>"),
        (
            Format::Xml,
            "<a xmlns:xi='http://www.w3.org/2001/XInclude'><xi:include href='x'/><?x y?></a>",
        ),
        (Format::Yaml, "a: !!python/object/apply:os.system [ls]"),
        (Format::Yaml, "a: !include /etc/passwd"),
        (Format::Yaml, "a: &a\n  b: *a\n"),
        (Format::Yaml, "base: &b {x: 1}\na:\n  <<: *b\n"),
    ]);
    expect![[r#"
        xml: line 1, column 1: document types and entities are not read; leave `<!DOCTYPE` out [xml_refused]
        yaml: line 1, column 9: anchors are not read; leave the `&name` out [yaml_refused]
        xml: line 1, column 1: document types and entities are not read; leave `<!DOCTYPE` out [xml_refused]
        xml: line 1, column 1: document types and entities are not read; leave `<!DOCTYPE` out [xml_refused]
        xml: line 1, column 4: `&x;` is not read: only `&lt;`, `&gt;`, `&amp;`, `&apos;`, `&quot;` and numbers are read [xml_refused]
        xml: line 1, column 69: processing instructions are not read; leave it out [xml_refused]
        yaml: line 1, column 36: tags are not read; leave the `!name` out [yaml_refused]
        yaml: line 1, column 13: tags are not read; leave the `!name` out [yaml_refused]
        yaml: line 2, column 3: anchors are not read; leave the `&name` out [yaml_refused]
        yaml: line 1, column 10: anchors are not read; leave the `&name` out [yaml_refused]
    "#]].assert_eq(&table);
    // Without an alias, `<<` is a key like any other: nothing is merged.
    let merged = formats::decode(Format::Yaml, "a:\n  <<: {x: 1}\n  x: 2\n").unwrap();
    assert_eq!(merged.at("a.<<.x").and_then(Node::scalar_text), Some("1"));
}

#[test]
fn depth_is_bounded_before_it_costs_anything() {
    let n = 100_000;
    let markdown = format!("## Metadata\n```json\n{}\n```\n", "[".repeat(n));
    let table = all_refused(&[
        (Format::Json, &"[".repeat(n)),
        (Format::Json, &"{\"a\":".repeat(n)),
        (Format::Xml, &"<a>".repeat(n)),
        (Format::Xml, &format!("{}{}", "<a>".repeat(n), "</a>".repeat(n))),
        (Format::Yaml, &"[".repeat(n)),
        (Format::Yaml, &"{a: ".repeat(n)),
        (Format::Yaml, &"- ".repeat(n)),
        (Format::Yaml, &"? ".repeat(n)),
        (Format::Markdown, &markdown),
    ]);
    expect![[r#"
        json: line 1, column 65: lists and maps are nested more than 64 deep [json_too_deep]
        json: line 1, column 321: lists and maps are nested more than 64 deep [json_too_deep]
        xml: line 1, column 199: lists and maps are nested more than 64 deep [document_too_deep]
        xml: line 1, column 199: lists and maps are nested more than 64 deep [document_too_deep]
        yaml: line 1, column 66: lists and maps are nested more than 64 deep [document_too_deep]
        yaml: line 1, column 261: lists and maps are nested more than 64 deep [document_too_deep]
        yaml: line 1, column 129: lists and maps are nested more than 64 deep [document_too_deep]
        yaml: line 1, column 3: a key has to be text, not a list or a map [yaml_refused]
        markdown: line 3, column 65: the metadata block is not JSON: lists and maps are nested more than 64 deep [no_metadata]
    "#]].assert_eq(&table);
}

#[test]
fn size_is_judged_before_anything_else() {
    let spaces = vec![b' '; 100_000_000];
    let broken = vec![0xFF; MOST_BYTES + 1];
    for format in Format::ALL {
        for bytes in [&spaces, &broken] {
            let error = formats::decode_bytes(format, bytes).unwrap_err();
            assert!(error.code().ends_with("_too_large"), "{error}");
        }
    }
}

#[test]
fn what_two_readers_would_understand_differently_is_refused() {
    let metadata = |json: &str| format!("## Metadata\n\n```json\n{json}\n```\n");
    let table = all_refused(&[
        (Format::Json, "{\"a\":1,\"a\":2}"),
        (Format::Yaml, "a: 1\na: 2\n"),
        (Format::Yaml, "{a: 1, 'a': 2}"),
        (Format::Xml, "<a b='1' b='2'/>"),
        (Format::Markdown, &metadata("{\"a\":1,\"a\":2}")),
        (Format::Yaml, "a: 1\n---\nb: 2\n"),
        (Format::Json, "{\"a\":1}{\"b\":2}"),
        (Format::Xml, "<a/><a/>"),
        (Format::Json, "{\"a\":NaN}"),
        (Format::Xml, "<a>\u{1}</a>"),
        (Format::Xml, "<a b='\u{FFFF}'/>"),
        (Format::Xml, "<a>&#1;</a>"),
        (Format::Json, "[\"\\u0000\"]"),
        (Format::Yaml, "a: \"\\0\""),
        (Format::Xml, "<a>\0</a>"),
        (Format::Markdown, "\0"),
    ]);
    expect![[r#"
        json: line 1, column 8: the key `a` stands here a second time [json_duplicate_key]
        yaml: line 2, column 1: the key `a` stands here a second time [document_duplicate]
        yaml: line 1, column 8: the key `a` stands here a second time [document_duplicate]
        xml: line 1, column 1: the attribute `b` stands here a second time [document_duplicate]
        markdown: line 4, column 8: the metadata block is not JSON: the key `a` stands here a second time [no_metadata]
        yaml: line 2, column 1: a second document starts here; a file holds one [yaml_refused]
        json: line 1, column 8: found `{` where the end should stand [json_syntax]
        xml: line 1, column 5: is not XML: a second root element starts here; a document has one [xml_syntax]
        json: line 1, column 6: found `NaN` where a value should stand [json_syntax]
        xml: line 1, column 4: is not XML: U+0001 is a character that XML may not hold [xml_syntax]
        xml: line 1, column 1: is not XML: U+FFFF is a character that XML may not hold [xml_syntax]
        xml: line 1, column 4: `&#1;` is not read: the number is not that of a character which XML may hold [xml_refused]
        json: line 1, column 3: the character U+0000 is refused everywhere [json_nul]
        yaml: line 1, column 4: the character U+0000 is refused everywhere [document_nul]
        xml: line 1, column 4: the character U+0000 is refused everywhere [document_nul]
        markdown: line 1, column 1: the character U+0000 is refused everywhere [document_nul]
    "#]].assert_eq(&table);
}

#[test]
fn bytes_that_are_no_text_are_refused_where_they_stand() {
    let table: String = Format::ALL.map(|it| refused(it, b"ab\n\xC3\xA9\xFF\xFE")).concat();
    expect![[r#"
        json: line 2, column 2: the bytes here are not UTF-8 [not_utf8]
        xml: line 2, column 2: the bytes here are not UTF-8 [not_utf8]
        yaml: line 2, column 2: the bytes here are not UTF-8 [not_utf8]
        markdown: line 2, column 2: the bytes here are not UTF-8 [not_utf8]
    "#]]
    .assert_eq(&table);
}

#[test]
fn numbers_of_any_size_are_kept_and_not_computed() {
    let huge = "9".repeat(100_000);
    for text in [huge.as_str(), "1e999999999999", "-0.0e-0"] {
        for format in [Format::Json, Format::Yaml] {
            let document = formats::decode(format, text).unwrap();
            assert_eq!(document.scalar_text(), Some(text));
            assert_eq!(
                formats::decode(Format::Xml, &formats::encode(&document, Format::Xml)),
                Ok(document)
            );
        }
    }
}

#[test]
fn output_full_of_hostile_blocks_is_searched_all_the_same() {
    let block = format!("```xml\n{}</handoff>\n```\n", "<handoff>".repeat(100));
    let output = format!("{}\n<handoff><from>a</from></handoff>\n", block.repeat(200));
    let last = extract(&output).pop().unwrap();
    assert_eq!(last.document.unwrap().at("handoff.from"), Some(&Node::text("a")));
}

/// `[[[…[1,1,1,…]…]]]`, and the same of maps and of texts with many lines.
fn nested(depth: usize, n_bytes: usize) -> Vec<Node> {
    let numbers = Node::List(vec![Node::Number(1.into()); n_bytes / 2]);
    let lines = Node::text("a\n".repeat(n_bytes / 2));
    let members = (0..n_bytes / 8).map(|it| (format!("k{it}"), Node::Bool(true))).collect();
    let wrap = |inner: Node| {
        (0..depth).fold(inner, |inner, it| {
            if it % 2 == 0 { Node::List(vec![inner]) } else { Node::map([("k", inner)]) }
        })
    };
    [numbers, lines, Node::Map(members)].map(wrap).to_vec()
}

#[test]
fn a_deep_document_is_not_printed_many_times_as_large() {
    for depth in [0, 5, 13, 14, 15, 30, 60] {
        for document in nested(depth, 20_000) {
            let n_bytes = json::print(&document).len();
            for format in Format::ALL {
                let text = formats::encode(&document, format);
                // XML says of every number what it is; the rest is at most this many blanks a line.
                let most = if format == Format::Xml { 32 } else { 17 };
                assert!(text.len() < most * n_bytes, "{} {depth}: {}", format.name(), text.len());
                assert_eq!(formats::decode_within(format, &text, usize::MAX), Ok(document.clone()));
            }
        }
    }
}

#[test]
fn what_is_nested_deeper_than_it_is_indented_comes_back_the_same() {
    let odd = Node::Map(vec![
        ("plain".to_owned(), Node::text("it's: #1, [a] {b}")),
        (String::new(), Node::text("")),
        ("k".repeat(300), Node::List(vec![Node::Null, Node::text("a\n\tb\u{202E}\u{7}\"")])),
        ("? a: [".to_owned(), Node::Map(Vec::new())),
        ("l".to_owned(), Node::List(vec![Node::List(Vec::new()), Node::text("null")])),
    ]);
    for depth in 0..50 {
        let document = (0..depth).fold(odd.clone(), |inner, it| {
            if it % 3 == 0 { Node::List(vec![inner]) } else { Node::map([("k", inner)]) }
        });
        for format in Format::ALL {
            let text = formats::encode(&document, format);
            assert_eq!(formats::decode(format, &text).as_ref(), Ok(&document), "{depth}\n{text}");
        }
    }
}
