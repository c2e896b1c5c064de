use baton_core::document::Node;
use expect_test::{Expect, expect};

use super::*;
use crate::formats::MOST_DEPTH;
use crate::json;

#[track_caller]
fn check_read(xml: &str, as_json: &str) {
    match decode(xml) {
        Ok(node) => assert_eq!(json::print(&node), as_json, "{xml}"),
        Err(error) => panic!("{error}: {xml}"),
    }
}

#[track_caller]
fn check_print(as_json: &str, xml: &str) {
    let node = json::parse(as_json).unwrap();
    let printed = encode(&node);
    assert_eq!(printed.trim_end(), xml);
    assert_eq!(decode(&printed), Ok(node), "{xml}");
}

#[track_caller]
fn check_refused(texts: &[&str], expected: &Expect) {
    let told = |text: &&str| {
        let error = decode(text).unwrap_err();
        format!("{}: {error}\n", error.code())
    };
    expected.assert_eq(&texts.iter().map(told).collect::<String>());
}

#[test]
fn elements_are_members_and_repeated_ones_a_list() {
    for (xml, as_json) in [
        ("<handoff><from>a</from><to>b</to></handoff>", r#"{"handoff":{"from":"a","to":"b"}}"#),
        ("<r><q>1</q><q>2</q></r>", r#"{"r":{"q":["1","2"]}}"#),
        ("<r><q>1</q></r>", r#"{"r":{"q":"1"}}"#),
        (r#"<c sha="abc">feat</c>"#, r##"{"c":{"@sha":"abc","#text":"feat"}}"##),
        (r#"<c sha="abc"/>"#, r#"{"c":{"@sha":"abc"}}"#),
        ("<a/>", r#"{"a":""}"#),
        ("<a>\n  <!-- nothing -->\n</a>", r#"{"a":""}"#),
        ("<a>x<!-- c -->y</a>", r#"{"a":"xy"}"#),
        ("<a>\n one\n two\n</a>", r#"{"a":"\n one\n two\n"}"#),
        ("<a>1 &lt; 2 &amp;&#x20AC;</a>", r#"{"a":"1 < 2 &€"}"#),
        ("<a><![CDATA[<b> & ]]></a>", r#"{"a":"<b> & "}"#),
        ("<a>\r\n\rx&#13;</a>", r#"{"a":"\n\nx\r"}"#),
        ("<a b='1\n2&#10;3'/>", r#"{"a":{"@b":"1 2\n3"}}"#),
        ("<x:a xmlns:x='u'><x:b/></x:a>", r#"{"x:a":{"@xmlns:x":"u","x:b":""}}"#),
        ("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<a/>\n<!-- end -->\n", r#"{"a":""}"#),
        ("<document><a>1</a><b>2</b></document>", r#"{"a":"1","b":"2"}"#),
        ("<document><a>1</a></document>", r#"{"document":{"a":"1"}}"#),
    ] {
        check_read(xml, as_json);
    }
}

#[test]
fn what_takes_turns_is_told_by_a_member_and_comes_back() {
    for (xml, as_json) in [
        (
            "<r><a>1</a><b>2</b><a>3</a></r>",
            r##"{"r":{"a":["1","3"],"b":"2","#order":["a","b","a"]}}"##,
        ),
        (
            "<p>Use <b>this</b> and <b>that</b>.</p>",
            r##"{"p":{"#text":["Use "," and ","."],"b":["this","that"],"#order":["#text","b","#text","b","#text"]}}"##,
        ),
        ("<p>Use <b>this</b></p>", r##"{"p":{"#text":"Use ","b":"this"}}"##),
        ("<p><b>this</b> it is</p>", r##"{"p":{"b":"this","#text":" it is"}}"##),
    ] {
        check_read(xml, as_json);
        let flat: String = encode(&decode(xml).unwrap()).lines().map(str::trim_start).collect();
        assert_eq!(flat, xml);
    }
}

#[test]
fn what_xml_has_no_words_for_stands_in_reserved_attributes() {
    for (as_json, xml) in [
        (r#"{"a":{"b":1.0}}"#, "<a>\n  <b baton-type=\"number\">1.0</b>\n</a>"),
        (r#"{"a":{"b":true}}"#, "<a>\n  <b baton-type=\"boolean\">true</b>\n</a>"),
        (r#"{"a":{"b":null}}"#, "<a>\n  <b baton-type=\"null\"/>\n</a>"),
        (r#"{"a":{"b":[]}}"#, "<a>\n  <b baton-type=\"list\"/>\n</a>"),
        (r#"{"a":{"b":{}}}"#, "<a>\n  <b baton-type=\"map\"/>\n</a>"),
        (r#"{"a":{"b":["x"]}}"#, "<a>\n  <b baton-list=\"one\">x</b>\n</a>"),
        (r#"{"a":{"b":["x","y"]}}"#, "<a>\n  <b>x</b>\n  <b>y</b>\n</a>"),
        (
            r#"{"a":{"b":[["x"],"y"]}}"#,
            "<a>\n  <b baton-type=\"list\">\n    <item baton-type=\"list\">\n      <item>x</item>\n    </item>\n    <item>y</item>\n  </b>\n</a>",
        ),
        (r#"{"a":{"b c":"x"}}"#, "<a>\n  <member baton-key=\"b c\">x</member>\n</a>"),
        (r#"{"a":{"":"x"}}"#, "<a>\n  <member baton-key=\"\">x</member>\n</a>"),
        (r#"{"a":{"npm:test":"x"}}"#, "<a>\n  <member baton-key=\"npm:test\">x</member>\n</a>"),
        (r#"{"a":" "}"#, "<a>&#32;</a>"),
        (r#"{"a":" x\r\n"}"#, "<a> x&#13;\n</a>"),
        (r#"{"a":"x\u0001\\y"}"#, r#"<a baton-escaped="true">x\u0001\\y</a>"#),
        (r#"{"a":"x\\y"}"#, r"<a>x\y</a>"),
        (
            r#"{"a":1,"b":"x"}"#,
            "<document>\n  <a baton-type=\"number\">1</a>\n  <b>x</b>\n</document>",
        ),
        (
            r#"["x"]"#,
            "<document baton-root=\"value\" baton-type=\"list\">\n  <item>x</item>\n</document>",
        ),
        (r#""x""#, "<document baton-root=\"value\">x</document>"),
        ("{}", "<document baton-root=\"value\" baton-type=\"map\"/>"),
        (r#"{"a b":"x"}"#, "<document baton-key=\"a b\">x</document>"),
    ] {
        check_print(as_json, xml);
    }
}

#[test]
fn a_key_of_the_sender_that_looks_reserved_comes_back() {
    for as_json in [
        r##"{"a":{"#order":5}}"##,
        r##"{"a":{"b":"1","#order":["b"]}}"##,
        r##"{"a":{"b":["1","2"],"c":"","#order":["b","b","c"]}}"##,
        r##"{"a":{"b":["1","2"],"c":"","#order":["c","b","b"]}}"##,
        r##"{"a":{"b":["1","2"],"c":"","#order":["b","c","b","b"]}}"##,
        r##"{"a":{"b":["1","2"],"#order":["b","c","b"],"c":""}}"##,
        r##"{"a":{"#text":["x","y"],"c":"","#order":["#text","#text","c"]}}"##,
        r##"{"a":{"#text":["x",""],"c":"","#order":["#text","c","#text"]}}"##,
        r##"{"a":{"#text":["x","y","z"],"c":"","#order":["#text","#text","c","#text"]}}"##,
        r##"{"a":{"#text":""}}"##,
        r##"{"a":{"#text":"x"}}"##,
        r##"{"a":{"#text":["x"]}}"##,
        r##"{"a":{"#text":" ","b":"y"}}"##,
        r##"{"a":{"#text":null,"b":"y"}}"##,
        r##"{"a":{"#text":"\u0001","b":"y"}}"##,
        r##"{"a":{"@b":1}}"##,
        r##"{"a":{"b":"x","@b":"y"}}"##,
        r##"{"a":{"@b c":"y"}}"##,
        r##"{"a":{"@b":"\u0001"}}"##,
        r##"{"a":{"@baton-type":"number"}}"##,
        r##"{"a":{"@xmlns:x":""}}"##,
        r##"{"a":{"@x:y":"z"}}"##,
        r##"{"a":{"@xmlns:xsi":"http://www.w3.org/2001/XMLSchema-instance","@xsi:type":"b"}}"##,
        r##"{"a":{"@xmlns:x":"no uri","x:b":""}}"##,
        r##"{"a":{"@xmlns:x":"u","@x:y":"z","x:b":{"x:c":""}}}"##,
        r##"{"document":{"a":"1","b":"2"}}"##,
        r##"{"document":{"a":"1"}}"##,
        r##"{"document":["a","b"]}"##,
        r##"{"a":["b","c"]}"##,
        r##"{"a":["b"]}"##,
        r##"{"@a":"b"}"##,
        r##"{"#text":"b"}"##,
        r##"{"@a":"b","#text":"c"}"##,
        r##"{"baton-type":"x","member":{"item":["y"]}}"##,
        r##"{"a\u0001\\b":{"\n":"x"}}"##,
    ] {
        let node = json::parse(as_json).unwrap();
        let printed = encode(&node);
        assert_eq!(
            decode(&printed).map(|it| json::print(&it)).as_deref(),
            Ok(as_json),
            "{printed}"
        );
    }
}

#[test]
fn what_is_not_well_formed_is_told_with_its_place() {
    check_refused(
        &[
            "",
            "just text",
            "<a>\n<b></a>",
            "<a>",
            "<a/><b/>",
            "<a/>x",
            "</a>",
            "<a b=1/>",
            "<a b/>",
            "<a b='<'/>",
            "<1a/>",
            "<a>]]></a>",
            "<a>\u{1}</a>",
            "<a>a & b</a>",
            "<a><!-- -- --></a>",
            "<a b='1' b='2'/>",
            "<a b='1'c='2'/>",
            "<a b='1' c\u{FEFF}='2'/>",
            " <?xml version='1.0'?><a/>",
            "<?xml version='1.0' version='1.0'?><a/>",
            "<?xml version='1.0' standalone=yes?><a/>",
            "<a/><![CDATA[]]>",
            "<![CDATA[]]><a/>",
            "<a/>&#32;",
            "<a><!-- \u{C} --></a>",
            "<!-- \u{FFFF} --><a/>",
        ],
        &expect![[r#"
            xml_syntax: line 1, column 1: is not XML: there is no element
            xml_syntax: line 1, column 1: is not XML: text stands before the root element
            xml_syntax: line 2, column 4: is not XML: expected `</b>`, but `</a>` was found
            xml_syntax: line 1, column 1: is not XML: `<a>` is never closed
            xml_syntax: line 1, column 5: is not XML: a second root element starts here; a document has one
            xml_syntax: line 1, column 5: is not XML: text stands after the end of the root element
            xml_syntax: line 1, column 1: is not XML: close tag `</a>` does not match any open tag
            xml_syntax: line 1, column 6: is not XML: the value of an attribute stands in quotes
            xml_syntax: line 1, column 5: is not XML: an attribute needs `=` and a value in quotes
            xml_syntax: line 1, column 1: is not XML: `<` in an attribute must be written as `&lt;`
            xml_syntax: line 1, column 1: is not XML: `1a` is not the name of an element
            xml_syntax: line 1, column 4: is not XML: `]]>` must be written as `]]&gt;`
            xml_syntax: line 1, column 4: is not XML: U+0001 is a character that XML may not hold
            xml_syntax: line 1, column 6: is not XML: `&` must be written as `&amp;`
            xml_syntax: line 1, column 9: is not XML: forbidden string `--` was found in a comment
            document_duplicate: line 1, column 1: the attribute `b` stands here a second time
            xml_syntax: line 1, column 1: is not XML: a blank has to stand between two attributes
            xml_syntax: line 1, column 1: is not XML: `cU+FEFF` is not the name of an attribute
            xml_syntax: line 1, column 2: is not XML: `<?xml` may only stand at the very beginning
            xml_syntax: line 1, column 1: is not XML: the declaration has `version`, then `encoding`, then `standalone`, each at most once and with its value in quotes, and nothing else
            xml_syntax: line 1, column 1: is not XML: the declaration has `version`, then `encoding`, then `standalone`, each at most once and with its value in quotes, and nothing else
            xml_syntax: line 1, column 5: is not XML: a CDATA section stands after the end of the root element
            xml_syntax: line 1, column 1: is not XML: a CDATA section stands before the root element
            xml_syntax: line 1, column 5: is not XML: a reference stands after the end of the root element
            xml_syntax: line 1, column 4: is not XML: U+000C is a character that XML may not hold
            xml_syntax: line 1, column 1: is not XML: U+FFFF is a character that XML may not hold
        "#]],
    );
}

#[test]
fn what_is_dangerous_or_reserved_is_told_with_its_place() {
    check_refused(
        &[
            "<a>&#0;</a>",
            "<a>&nbsp;</a>",
            "<a b='&x;'/>",
            "<!DOCTYPE a [<!ENTITY x \"y\">]><a>&x;</a>",
            "<a><?php ?></a>",
            "<?xml version='1.1'?><a/>",
            "<?xml version='1.0' encoding='latin1'?><a/>",
            "<a baton-foo='1'/>",
            "<a baton-type='number'>x</a>",
            "<a baton-type='list'><b/></a>",
            "<a baton-type='null' x='1'/>",
            "<a><b baton-root='value'/></a>",
            "<a x='1'><member baton-key='@x'/></a>",
        ],
        &expect![[r#"
            xml_refused: line 1, column 4: `&#0;` is not read: the number is not that of a character which XML may hold
            xml_refused: line 1, column 4: `&nbsp;` is not read: only `&lt;`, `&gt;`, `&amp;`, `&apos;`, `&quot;` and numbers are read
            xml_refused: line 1, column 1: `&x;` is not read: only `&lt;`, `&gt;`, `&amp;`, `&apos;`, `&quot;` and numbers are read
            xml_refused: line 1, column 1: document types and entities are not read; leave `<!DOCTYPE` out
            xml_refused: line 1, column 4: processing instructions are not read; leave it out
            xml_refused: line 1, column 1: only XML 1.0 is read
            xml_refused: line 1, column 1: only UTF-8 is read
            xml_reserved: line 1, column 1: the attribute `baton-foo` is reserved, and `1` not what it may say
            xml_reserved: line 1, column 1: `x` is not of the type number
            xml_reserved: line 1, column 22: a reserved attribute stands where we never write it
            xml_reserved: line 1, column 1: a scalar holds text alone
            xml_reserved: line 1, column 4: a reserved attribute stands where we never write it
            document_duplicate: line 1, column 1: the key `@x` stands here a second time
        "#]],
    );
}

#[test]
fn depth_has_a_bound_and_no_stack_is_lost_to_it() {
    let nested = |depth: usize| format!("{}{}", "<a>".repeat(depth), "</a>".repeat(depth));
    assert!(decode(&nested(MOST_DEPTH)).is_ok());
    assert_eq!(decode(&nested(MOST_DEPTH + 1)).unwrap_err().code(), "document_too_deep");
    assert_eq!(decode(&"<a>".repeat(100_000)).unwrap_err().code(), "document_too_deep");
    let mut node = Node::text("x");
    for _ in 0..MOST_DEPTH {
        node = Node::List(vec![node]);
    }
    assert_eq!(decode(&encode(&node)), Ok(node));
}

/// Each took minutes if attributes, texts or keys were compared pairwise.
#[test]
fn the_time_grows_with_the_size_alone() {
    let attributes: String = (0..60_000).map(|it| format!(" a{it}='x'")).collect();
    assert!(decode(&format!("<a{attributes}/>")).is_ok());
    let elements: String = (0..60_000).map(|it| format!("<a{it}/>")).collect();
    assert!(decode(&format!("<a>{elements}</a>")).is_ok());
    let prefixes: String = (0..20_000).map(|it| format!(" xmlns:p{it}='u'")).collect();
    let named = decode(&format!("<a{prefixes}>{}</a>", "<b/>".repeat(60_000))).unwrap();
    assert_eq!(decode(&encode(&named)), Ok(named));
    let turns = decode(&format!("<a>{}</a>", "<b/>t<c/>".repeat(60_000))).unwrap();
    assert_eq!(decode(&encode(&turns)), Ok(turns));
}
