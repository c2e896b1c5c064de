//! Properties of all formats together: whatever one prints comes back, through any chain of them.

use baton_core::document::Number;
use proptest::prelude::*;

use super::*;

fn any_text() -> impl Strategy<Value = String> {
    let odd = prop::sample::select(vec![
        "#text",
        "#order",
        "#markdown",
        "@a",
        "@baton-type",
        "baton-key",
        "document",
        "member",
        "item",
        "before",
        "handoff",
        "<<",
        "yes",
        "null",
        "1",
        " ",
        "\n",
        "\r\n",
        "a\n b\n",
        "\u{1}",
        "\u{FFFE}",
        "a: b",
        "```",
        "```json\n{}\n```\n",
        "## Metadata\n",
        "xmlns",
        "@xmlns:x",
        "x:y",
        "",
        "\\u0001",
    ]);
    prop_oneof![
        3 => "[a-c]{1,3}",
        2 => odd.prop_map(str::to_owned),
        2 => any::<String>().prop_map(|it| it.replace('\0', "")),
        1 => "[ \t\r\n#:\\-a'\"<&\u{85}\u{2028}\u{FEFF}]{0,8}",
    ]
}

fn any_number() -> impl Strategy<Value = Node> {
    "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,5})?([eE][+-]?[0-9]{1,3})?"
        .prop_map(|it| Node::Number(Number::parse(&it).unwrap()))
}

fn any_map(inner: impl Strategy<Value = Node>) -> impl Strategy<Value = Node> {
    prop::collection::vec((any_text(), inner), 0..6).prop_map(|mut members| {
        let mut seen = std::collections::HashSet::new();
        members.retain(|(key, _)| seen.insert(key.clone()));
        Node::Map(members)
    })
}

pub(super) fn any_node() -> impl Strategy<Value = Node> {
    let leaf = prop_oneof![
        Just(Node::Null),
        any::<bool>().prop_map(Node::Bool),
        any_number(),
        any_text().prop_map(Node::Text),
    ];
    leaf.prop_recursive(6, 48, 6, |inner| {
        prop_oneof![prop::collection::vec(inner.clone(), 0..5).prop_map(Node::List), any_map(inner)]
    })
}

fn any_format() -> impl Strategy<Value = Format> {
    prop::sample::select(Format::ALL.to_vec())
}

#[track_caller]
fn check_round_trip(node: &Node, format: Format) -> Result<(), TestCaseError> {
    let text = encode(node, format);
    prop_assert_eq!(decode(format, &text), Ok(node.clone()), "{}", text);
    Ok(())
}

#[test]
fn a_document_of_the_greatest_depth_comes_back_and_one_more_does_not() {
    let list = |it: Node| Node::List(vec![it]);
    let map = |it: Node| Node::map([("a", it)]);
    let two = |it: Node| Node::map([("a", it), ("b", Node::Null)]);
    let attribute = |it: Node| Node::map([("@a", Node::text("x")), ("b", it)]);
    let shapes: [&dyn Fn(Node, usize) -> Node; 6] = [
        &|it, _| list(it),
        &|it, _| map(it),
        &|it, _| two(it),
        &|it, _| attribute(it),
        &|it, level| if level % 2 == 0 { list(it) } else { map(it) },
        &|it, level| if level % 2 == 0 { two(it) } else { list(it) },
    ];
    for shape in shapes {
        let deepest = (0..MOST_DEPTH).fold(Node::text("x"), shape);
        let deeper = (0..=MOST_DEPTH).fold(Node::text("x"), shape);
        for format in Format::ALL {
            let text = encode(&deepest, format);
            assert_eq!(decode(format, &text).as_ref(), Ok(&deepest), "{text}");
            assert!(decode(format, &encode(&deeper, format)).is_err());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn every_format_gives_back_what_it_was_given(node in any_node()) {
        for format in Format::ALL {
            check_round_trip(&node, format)?;
        }
    }

    #[test]
    fn every_chain_of_formats_gives_back_what_it_was_given(
        node in any_node(),
        chain in prop::collection::vec(any_format(), 1..=5),
    ) {
        let mut current = node.clone();
        for format in chain {
            current = decode(format, &encode(&current, format)).map_err(|it| TestCaseError::fail(it.to_string()))?;
        }
        prop_assert_eq!(current, node);
    }

    #[test]
    fn no_text_makes_a_reader_panic(text in any::<String>()) {
        for format in Format::ALL {
            let _ = decode(format, &text);
        }
    }
}
