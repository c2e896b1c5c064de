use expect_test::{Expect, expect};

use super::*;
use crate::formats::MOST_DEPTH;
use crate::json;

#[track_caller]
fn check_print(as_json: &str, expected: &Expect) {
    let node = json::parse(as_json).unwrap();
    let printed = encode(&node);
    assert_eq!(decode(&printed), Ok(node), "{printed}");
    expected.assert_eq(&printed);
}

#[test]
fn a_document_looks_as_the_yaml_handoff_writes_it() {
    check_print(
        r#"{"handoff":{"id":"HO-2024-001","from":{"agent":"specification","step":2},"to":{"agent":"human","step":null},"context":{"summary":"Did this.\nAnd that.\n","decisions":[{"id":"D-001","decision":"JWT: yes"},{"id":"no"}],"files":[],"more":{},"lists":[["a","b"],[],[{"c":[1]}]]}}}"#,
        &expect![[r#"
            handoff:
              id: HO-2024-001
              from:
                agent: specification
                step: 2
              to:
                agent: human
                step: null
              context:
                summary: |
                  Did this.
                  And that.
                decisions:
                  - id: D-001
                    decision: "JWT: yes"
                  - id: "no"
                files: []
                more: {}
                lists:
                  - - a
                    - b
                  - []
                  - - c:
                        - 1
        "#]],
    );
}

#[test]
fn odd_texts_and_keys_come_back() {
    for text in [
        "",
        " ",
        "\n",
        "\n\n",
        " a\n b",
        "a\n  b\n",
        "a\n\nb\n\n",
        "a\n ",
        "\ta\nb",
        "a\n\tb",
        "a\r\nb",
        "---\na\n...\n",
        "# a\nb",
        "- a\n- b",
        "a: b\nc",
        "\u{85}",
        "\u{FEFF}",
        "\u{2028}x\n",
        "'",
        "\"",
        "\\",
        "a\n\u{1}",
        "\u{10FFFF}",
        "\u{FFFF}",
        "é\n日本\n",
    ] {
        for node in [
            Node::text(text),
            Node::map([("k", Node::text(text))]),
            Node::List(vec![Node::text(text), Node::text("z")]),
            Node::List(vec![Node::List(vec![
                Node::map([("k", Node::text(text))]),
                Node::text(text),
            ])]),
            Node::Map(vec![(text.to_owned(), Node::map([("x", Node::Null)]))]),
        ] {
            let printed = encode(&node);
            assert_eq!(decode(&printed), Ok(node), "{printed}");
        }
    }
    let long =
        Node::Map(vec![("k".repeat(5000), Node::List(vec![Node::map([("a", Node::Null)])]))]);
    let long = Node::Map(vec![("é ".repeat(700), long.clone()), ("b".to_owned(), long)]);
    assert_eq!(decode(&encode(&long)), Ok(long));
}

#[test]
fn what_is_not_read_is_told_with_its_place() {
    let texts = [
        "a: [1",
        "a: 1\nb: 2\na: 3",
        "a: &x 1\nb: *x",
        "a: !!python/object:os.system x",
        "a: 1\n---\nb: 2",
        "? [a]\n: b",
        "a: 1\n: b\n",
        "? \n: b",
        "%YAML 1.2\n---\na: 1",
        "a: \"\\0\"",
        "a: x\0",
    ];
    let told = |text: &str| {
        let error = decode(text).unwrap_err();
        format!("{}: {error}\n", error.code())
    };
    expect![[r#"
        yaml_syntax: line 1, column 4: is not YAML: unclosed bracket '['
        document_duplicate: line 3, column 1: the key `a` stands here a second time
        yaml_refused: line 1, column 7: anchors are not read; leave the `&name` out
        yaml_refused: line 1, column 30: tags are not read; leave the `!name` out
        yaml_refused: line 2, column 1: a second document starts here; a file holds one
        yaml_refused: line 1, column 3: a key has to be text, not a list or a map
        yaml_refused: line 2, column 1: a key is missing before the `:`
        yaml_refused: line 2, column 1: a key is missing before the `:`
        yaml_refused: line 1, column 1: directives are not read; leave the line with `%` out
        document_nul: line 1, column 4: the character U+0000 is refused everywhere
        document_nul: line 1, column 5: the character U+0000 is refused everywhere
    "#]]
    .assert_eq(&texts.map(told).concat());
}

#[test]
fn an_empty_key_is_one_and_a_missing_key_is_none() {
    for (yaml, as_json) in [
        ("\"\": a", r#"{"":"a"}"#),
        ("'': a", r#"{"":"a"}"#),
        ("~: a", r#"{"~":"a"}"#),
        ("{'': a, ~: b}", r#"{"":"a","~":"b"}"#),
        ("? a", r#"{"a":null}"#),
        ("{a, b: }", r#"{"a":null,"b":null}"#),
    ] {
        assert_eq!(decode(yaml).map(|it| json::print(&it)).as_deref(), Ok(as_json), "{yaml}");
    }
    for yaml in [": a", "? \n: a", "{: a}", "[: a]", "- : a"] {
        assert!(decode(yaml).is_err(), "{yaml}");
    }
}

#[test]
fn depth_has_a_bound() {
    let mut lists = Node::text("x");
    let mut maps = Node::text("x");
    for _ in 0..MOST_DEPTH {
        lists = Node::List(vec![lists]);
        maps = Node::map([("a", maps)]);
    }
    for node in [lists, maps] {
        let printed = encode(&node);
        assert_eq!(decode(&printed), Ok(node.clone()), "{printed}");
        assert_eq!(
            decode(&encode(&Node::List(vec![node]))).unwrap_err().code(),
            "document_too_deep"
        );
    }
    assert!(decode(&"[".repeat(100_000)).is_err());
    assert!(decode(&"- ".repeat(100_000)).is_err());
    assert!(decode(&"{a: ".repeat(100_000)).is_err());
}
