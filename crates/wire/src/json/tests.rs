use baton_core::document::Number;
use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;

#[track_caller]
fn check_good(text: &str, expected: &Node) {
    assert_eq!(parse(text).as_ref(), Ok(expected), "{text}");
}

#[track_caller]
fn check_bad(text: &str, expected: &Expect) {
    expected.assert_eq(&parse(text).unwrap_err().to_string());
}

fn number(text: &str) -> Node {
    Node::Number(Number::parse(text).unwrap())
}

#[test]
fn every_kind_of_value_is_read() {
    for (text, expected) in [
        ("null", Node::Null),
        (" true\r\n", Node::Bool(true)),
        ("\tfalse", Node::Bool(false)),
        ("-0.10E+5", number("-0.10E+5")),
        ("\"\"", Node::text("")),
        ("[]", Node::List(vec![])),
        ("[ ]", Node::List(vec![])),
        ("{ }", Node::Map(vec![])),
        (
            "[1,[2],{}]",
            Node::List(vec![number("1"), Node::List(vec![number("2")]), Node::Map(vec![])]),
        ),
        (
            "{\"b\":1,\"a\":{\"c\":[]}}",
            Node::map([("b", number("1")), ("a", Node::map([("c", Node::List(vec![]))]))]),
        ),
    ] {
        check_good(text, &expected);
    }
}

#[test]
fn a_number_keeps_its_text_whatever_its_size() {
    for text in ["1.0", "1e400", "123456789012345678901234567890", "-0", "1E-9"] {
        check_good(text, &number(text));
        assert_eq!(print(&number(text)), text);
    }
}

#[test]
fn escapes_are_read() {
    for (text, expected) in [
        (r#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"),
        (r#""\u00e9\uD83D\ude80é🚀""#, "é🚀é🚀"),
        (r#""\uFFFF""#, "\u{FFFF}"),
        ("\"\u{7F}\u{2028}\"", "\u{7F}\u{2028}"),
    ] {
        check_good(text, &Node::text(expected));
    }
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    for (text, expected) in [
        ("", expect!["line 1, column 1: the text ends where a value should follow"]),
        ("{\n  \"a\": tru\n}", expect!["line 2, column 8: found `tru` where a value should stand"]),
        ("[1,]", expect!["line 1, column 4: found `]` where a value should stand"]),
        ("[1 2]", expect!["line 1, column 4: found `2` where `,` or `]` should stand"]),
        ("{\"a\" 1}", expect!["line 1, column 6: found `1` where `:` should stand"]),
        (
            "{a:1}",
            expect!["line 1, column 2: found `a` where a key in double quotes or `}` should stand"],
        ),
        (
            "{\"a\":1,}",
            expect!["line 1, column 8: found `}` where a key in double quotes should stand"],
        ),
        ("{\"a\":1", expect!["line 1, column 7: the text ends where `,` or `}` should follow"]),
        ("nullx", expect!["line 1, column 5: found `x` where the end should stand"]),
        ("1 // no", expect!["line 1, column 3: found `/` where the end should stand"]),
        ("\u{FEFF}1", expect!["line 1, column 1: found `U+FEFF` where a value should stand"]),
        ("01", expect!["line 1, column 1: `01` is not a number"]),
        ("[-]", expect!["line 1, column 2: `-` is not a number"]),
        ("NaN", expect!["line 1, column 1: found `NaN` where a value should stand"]),
        ("\"ab", expect![[r#"line 1, column 4: the text ends where `"` should follow"#]]),
        (
            "\"a\nb\"",
            expect![
                "line 1, column 3: the control character U+000A must be written as an escape inside text"
            ],
        ),
        (
            r#""\x""#,
            expect![[
                r#"line 1, column 2: `\x` is not an escape; use one of `\"`, `\\`, `\/`, `\b`, `\f`, `\n`, `\r`, `\t`, `\uXXXX`"#
            ]],
        ),
        (
            r#""\u+123""#,
            expect![[
                r#"line 1, column 2: `\u+123` is not an escape; use one of `\"`, `\\`, `\/`, `\b`, `\f`, `\n`, `\r`, `\t`, `\uXXXX`"#
            ]],
        ),
        (
            r#""\ud800""#,
            expect![[
                r#"line 1, column 2: `\uD800` is half of a surrogate pair without its other half"#
            ]],
        ),
        (
            r#""\udc00\ud800""#,
            expect![[
                r#"line 1, column 2: `\uDC00` is half of a surrogate pair without its other half"#
            ]],
        ),
        (
            r#""\ud800\u0041""#,
            expect![[
                r#"line 1, column 2: `\uD800` is half of a surrogate pair without its other half"#
            ]],
        ),
        (r#"["\u0000"]"#, expect!["line 1, column 3: the character U+0000 is refused everywhere"]),
        ("[1]\0", expect!["line 1, column 4: the character U+0000 is refused everywhere"]),
        (
            "{\"a\":1,\n\"\\u0061\":2}",
            expect!["line 2, column 1: the key `a` stands here a second time"],
        ),
    ] {
        check_bad(text, &expected);
    }
}

#[test]
fn unfinished_escapes_are_errors_wherever_they_stop() {
    let whole = r#""\ud83d\ude80é""#;
    for (end, _) in whole.char_indices() {
        assert!(parse(&whole[..end]).is_err(), "{}", &whole[..end]);
    }
}

#[test]
fn depth_has_a_bound_and_no_stack_is_lost_to_it() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(parse(&nested(MOST_DEPTH)).is_ok());
    assert_eq!(parse(&nested(MOST_DEPTH + 1)).unwrap_err().fault, JsonFault::TooDeep);
    assert_eq!(parse(&"[".repeat(MOST_BYTES)).unwrap_err().fault, JsonFault::TooDeep);
    assert_eq!(parse(&"{\"a\":".repeat(1000)).unwrap_err().fault, JsonFault::TooDeep);
}

/// Each took minutes if the reader did its work per escape, per key or per level more than once.
#[test]
fn the_time_grows_with_the_size_alone() {
    for piece in [r"\uD83D\uDE80", r"\n", "é"] {
        let text = format!("\"{}\"", piece.repeat((MOST_BYTES - 2) / piece.len()));
        assert!(parse(&text).is_ok());
    }
    let text = format!("[{}1]", "[],".repeat(MOST_BYTES / 3 - 2));
    assert!(parse(&text).is_ok());
}

#[test]
fn size_has_a_bound() {
    let text = |n_bytes: usize| format!("\"{}\"", "x".repeat(n_bytes - 2));
    assert!(parse(&text(MOST_BYTES)).is_ok());
    let error = parse(&text(MOST_BYTES + 1)).unwrap_err();
    assert_eq!(error.code(), "json_too_large");
    assert!(parse_within(&text(MOST_BYTES + 1), 2 * MOST_BYTES).is_ok());
}

#[test]
fn a_duplicate_is_found_in_a_small_and_in_a_huge_map() {
    for n_keys in [2, 8, 9, 60_000] {
        let members: Vec<String> = (0..n_keys).map(|it| format!("\"k{it}\":0")).collect();
        assert!(parse(&format!("{{{}}}", members.join(","))).is_ok());
        let error = parse(&format!("{{{},\"k1\":1}}", members.join(","))).unwrap_err();
        assert_eq!(error.fault, JsonFault::DuplicateKey { key: "k1".to_owned() });
    }
}

#[test]
fn printing_escapes_what_must_be_escaped_and_nothing_else() {
    let node = Node::text("\"\\/\u{8}\u{C}\n\r\t\u{1}\u{7F}é🚀");
    assert_eq!(print(&node), "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\u{7F}é🚀\"");
}

#[test]
fn the_pretty_form_is_indented_by_two() {
    let document = parse(r#"{"b":[1.0,[],{"c":null}],"a":{}}"#).unwrap();
    expect![[r#"
        {
          "b": [
            1.0,
            [],
            {
              "c": null
            }
          ],
          "a": {}
        }"#]]
    .assert_eq(&print_pretty(&document));
}

#[test]
fn a_document_of_any_depth_can_be_printed() {
    let mut node = Node::Null;
    for _ in 0..2_000 {
        node = Node::List(vec![node]);
    }
    assert_eq!(print(&node).len(), 4_004);
}

fn any_text() -> impl Strategy<Value = String> {
    any::<String>().prop_map(|it| it.replace('\0', ""))
}

fn any_number() -> impl Strategy<Value = Node> {
    prop_oneof![
        any::<i64>().prop_map(|it| it.to_string()),
        any::<f64>().prop_filter("finite", |it| it.is_finite()).prop_map(|it| format!("{it:e}")),
        "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,5})?([eE][+-]?[0-9]{1,3})?",
    ]
    .prop_map(|it| number(&it))
}

fn any_node() -> impl Strategy<Value = Node> {
    let leaf = prop_oneof![
        Just(Node::Null),
        any::<bool>().prop_map(Node::Bool),
        any_number(),
        any_text().prop_map(Node::Text),
    ];
    leaf.prop_recursive(6, 64, 12, |inner| {
        let members = prop::collection::vec((any_text(), inner.clone()), 0..12);
        prop_oneof![
            prop::collection::vec(inner, 0..12).prop_map(Node::List),
            members.prop_map(|mut members| {
                let mut seen = std::collections::HashSet::new();
                members.retain(|(key, _)| seen.insert(key.clone()));
                Node::Map(members)
            }),
        ]
    })
}

/// What `serde_json` would parse, or `None` where a number is too large for it.
fn as_serde(node: &Node) -> Option<serde_json::Value> {
    Some(match node {
        Node::Null => serde_json::Value::Null,
        Node::Bool(it) => serde_json::Value::Bool(*it),
        Node::Number(it) => serde_json::from_str(it.as_str()).ok()?,
        Node::Text(it) => serde_json::Value::String(it.clone()),
        Node::List(nodes) => nodes.iter().map(as_serde).collect::<Option<Vec<_>>>()?.into(),
        Node::Map(members) => {
            let pairs = members.iter().map(|(key, it)| Some((key.clone(), as_serde(it)?)));
            serde_json::Value::Object(pairs.collect::<Option<_>>()?)
        }
    })
}

/// Both readers agree, except where this one is documented to differ.
fn check_agreement(text: &str) -> Result<(), TestCaseError> {
    match (parse(text), serde_json::from_str::<serde_json::Value>(text)) {
        (Ok(ours), Ok(theirs)) => prop_assert_eq!(as_serde(&ours), Some(theirs)),
        (Ok(ours), Err(error)) => prop_assert_eq!(as_serde(&ours), None, "{}", error),
        (Err(error), Ok(_)) => prop_assert!(
            matches!(
                error.fault,
                JsonFault::DuplicateKey { .. } | JsonFault::Nul | JsonFault::TooDeep
            ),
            "{error} in {text}"
        ),
        (Err(_), Err(_)) => {}
    }
    Ok(())
}

proptest! {
    #[test]
    fn what_is_printed_reads_back_the_same(node in any_node()) {
        prop_assert_eq!(parse(&print(&node)), Ok(node.clone()));
        prop_assert_eq!(parse(&print_pretty(&node)), Ok(node));
    }

    #[test]
    fn any_text_is_judged_as_serde_json_judges_it(text in any::<String>()) {
        check_agreement(&text)?;
    }

    #[test]
    fn text_made_of_the_pieces_of_json_is_judged_as_serde_json_judges_it(
        text in "([\\[\\]{}:,\"\\\\ \n\0]|true|null|-|[0-9]|e|\\.|\\\\u|d8|\"a\":|\\[1|\"\\\\u[0-9a-fA-F]{4}\"){0,16}"
    ) {
        check_agreement(&text)?;
    }

    #[test]
    fn damaged_json_is_judged_as_serde_json_judges_it(
        node in any_node(),
        at in any::<prop::sample::Index>(),
        cut in 0usize..4,
        piece in "[\\[\\]{}:,\"\\\\0-9eE.+\\- a-u\n]{0,3}",
    ) {
        let mut chars: Vec<char> = print(&node).chars().collect();
        let start = at.index(chars.len());
        let end = chars.len().min(start + cut);
        chars.splice(start..end, piece.chars());
        check_agreement(&chars.into_iter().collect::<String>())?;
    }
}
