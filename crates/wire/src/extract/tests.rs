mod one_rule;

use expect_test::expect;

use super::*;
use crate::json;

const XML: &str = "<handoff>\n  <from>a</from>\n  <to>b</to>\n</handoff>";
const YAML: &str = "handoff:\n  from:\n    agent: a\n\n  to:\n    agent: b\n";
const JSON: &str = "{\n  \"status\": \"complete\",\n  \"phase\": \"testing\"\n}";

/// The findings, one per line: the format and the document, or its problem.
fn told(output: &str) -> String {
    let line = |it: Found| match it.document {
        Ok(document) => format!("{}: {}\n", it.format.name(), json::print(&document)),
        Err(error) => format!("{}: {error}\n", it.format.name()),
    };
    extract(output).into_iter().map(line).collect()
}

#[track_caller]
fn check_one(output: &str, format: Format, piece: &str) {
    let found = extract_one(output).unwrap_or_else(|it| panic!("{it}: {output}"));
    assert_eq!((found.format, &output[found.span]), (format, piece), "{output}");
}

#[test]
fn a_handoff_is_found_in_every_form_and_place() {
    for (output, format, piece) in [
        (XML.to_owned(), Format::Xml, XML),
        (format!("I am done.\n\n{XML}\n\nBye!"), Format::Xml, XML),
        (format!("Here it is: {XML} (that was it)"), Format::Xml, XML),
        (format!("I print a <handoff> now.\n{XML}\n"), Format::Xml, XML),
        (format!("A `<handoff>...</handoff>` follows.\n```xml\n{XML}\n```\n"), Format::Xml, XML),
        (format!("```\n{XML}\n```"), Format::Xml, XML),
        (format!("First <handoff>, as told.\n{XML}\nThat was </handoff>."), Format::Xml, XML),
        (format!("{{ not JSON: {XML} }}"), Format::Xml, XML),
        (YAML.to_owned(), Format::Yaml, YAML),
        (format!("Done.\n\n{YAML}\nBye"), Format::Yaml, YAML),
        (format!("```yaml\n{YAML}```\n"), Format::Yaml, YAML),
        (format!("````markdown\n# x\n```yaml\n{YAML}```\n````\n"), Format::Yaml, YAML),
        (JSON.to_owned(), Format::Json, JSON),
        (format!("Done.\n{JSON}\nBye {{}}"), Format::Json, JSON),
        (format!("{{\"type\":\"log\"}}\n{JSON}\n{{\"type\":\"end\"}}\n"), Format::Json, JSON),
        (format!("```\nstray\n{JSON}"), Format::Json, JSON),
        (format!("He said \"hi\nand left.\n{JSON}\n"), Format::Json, JSON),
    ] {
        check_one(&output, format, piece);
    }
    check_one(&format!("```json\n{JSON}\n```\n"), Format::Json, &format!("{JSON}\n"));
    let envelope = "{\"action\":\"reject\",\"handoffId\":1}";
    check_one(&format!("x\n{envelope}\ny"), Format::Json, envelope);
    check_one("```baton\n{\"a\":1}\n```\n", Format::Json, "{\"a\":1}\n");
    let metadata = "## Metadata\n\n```json\n{\"a\": 1}\n```\n";
    check_one(&format!("# Report\n\n{metadata}\nBye"), Format::Markdown, metadata);
}

#[test]
fn a_tag_in_a_comment_or_in_plain_text_ends_nothing() {
    let with = |inner: &str| format!("<handoff>\n  <from>a</from>\n  {inner}\n</handoff>");
    for inner in [
        "<note><![CDATA[ends with </handoff>, as told]]></note>",
        "<!-- not yet: </handoff> -->",
        "<note><![CDATA[<handoff><!-- </handoff>]]></note>",
        "<!-- <![CDATA[ --><note>b</note><!-- ]]> </handoff> -->",
    ] {
        let whole = with(inner);
        check_one(&format!("Done.\n{whole}\nBye"), Format::Xml, &whole);
    }
    // Outside of an element they are no more than characters; neither is one that never ends.
    check_one(&format!("I write <!-- here\n{XML}\n-->"), Format::Xml, XML);
    check_one(&format!("<![CDATA[{XML}]]>"), Format::Xml, XML);
    check_one(&format!("First <handoff>, <!-- and <![CDATA[.\n{XML}\n"), Format::Xml, XML);
}

#[test]
fn many_comments_that_never_end_are_searched_once() {
    let n = 200_000;
    let output = format!("<handoff>{}{}\n{XML}", "<!--".repeat(n), "<![CDATA[".repeat(n));
    check_one(&output, Format::Xml, XML);
}

#[test]
fn colours_are_looked_through() {
    let output = "\u{1B}[2mworking\u{1B}[0m\r\n\u{1B}[32m<handoff>\u{1B}[0m\r\n  <from>a</from>\u{1B}[K\r\n</handoff>\u{1B}[0m\r\n";
    let found = extract_one(output).unwrap();
    assert_eq!(json::print(&found.document.unwrap()), r#"{"handoff":{"from":"a"}}"#);
    assert!(output[found.span.clone()].starts_with("<handoff>"), "{:?}", &output[found.span]);
}

#[test]
fn the_newest_is_the_last() {
    let output = format!("{XML}\n\n{YAML}\ntext\n\n{JSON}\n\n{}", XML.replace(">a<", ">c<"));
    expect![[r#"
        xml: {"handoff":{"from":"a","to":"b"}}
        yaml: {"handoff":{"from":{"agent":"a"},"to":{"agent":"b"}}}
        json: {"status":"complete","phase":"testing"}
        xml: {"handoff":{"from":"c","to":"b"}}
    "#]]
    .assert_eq(&told(&output));
}

#[test]
fn a_broken_one_at_the_end_is_told_and_not_passed_over() {
    let outputs = [
        format!("{XML}\n\n<handoff>\n  <from>a & b</from>\n</handoff>\n"),
        format!("{XML}\n\nonce more:\n<handoff>\n  <from>a</from>\n  <to>cut o"),
        format!("{JSON}\n\n```yaml\nhandoff:\n  from: a: b\n```\n"),
        format!("{JSON}\n\nhandoff:\n  from: &x a\n"),
        format!("{YAML}\n\n```json\n{{\"handoff\": {{\"context\": [...]}}}}\n```\n"),
        format!("{YAML}\n\n{{\n  \"output_type\": \"implementation\",\n  \"status\": \"comp"),
        format!("{XML}\n\n## Metadata\n\n```json\n{{'a': 1}}\n```\n"),
        format!("{XML}\n\n```baton\n{{\"action\": \"create\",}}\n```\n"),
    ];
    let told: String =
        outputs.iter().map(|it| format!("{}\n", extract_one(it).unwrap_err())).collect();
    expect![[r#"
        the last handoff in the output cannot be read: line 7, column 11: is not XML: `&` must be written as `&amp;`
        the last handoff in the output cannot be read: line 9, column 3: is not XML: `<to>` is never closed
        the last handoff in the output cannot be read: line 8, column 10: is not YAML: mapping values are not allowed in this context
        the last handoff in the output cannot be read: line 7, column 12: anchors are not read; leave the `&name` out
        the last handoff in the output cannot be read: line 10, column 26: found `.` where a value should stand
        the last handoff in the output cannot be read: line 11, column 18: the text ends where `"` should follow
        the last handoff in the output cannot be read: line 9, column 2: the metadata block is not JSON: found `'` where a key in double quotes or `}` should stand
        the last handoff in the output cannot be read: line 7, column 21: found `}` where a key in double quotes should stand
    "#]].assert_eq(&told);
}

#[test]
fn what_is_no_handoff_is_not_taken_for_one() {
    for output in [
        "",
        "All done, nothing to hand over.",
        "I would print a <handoff> element, and then </handoff>.",
        "handoff: see below",
        "handoff:\n\nNothing.",
        "The <handoff> above says it all.",
        "{\"type\":\"result\",\"status\":\"ok\"}",
        "```json\n{\"name\": \"package\", \"version\": \"1.0.0\"}\n```\n",
        "```json\n{broken\n```\n",
        "```yaml\nservices:\n  web: {}\n```\n",
        "```rust\nlet x = \"<handoff><from>a</from></handoff>\";\n```\n",
        "fn main() {\n}\n",
    ] {
        assert_eq!(extract(output), [], "{output}");
        assert!(matches!(extract_one(output), Err(ExtractError::Nothing { .. })), "{output}");
    }
}

#[test]
fn a_handoff_that_another_one_quotes_is_a_part_of_it() {
    let quoting = [
        "{\"status\":\"complete\",\"phase\":\"x\",\"context\":\"<handoff><from>a</from></handoff>\"}".to_owned(),
        format!("handoff:\n  from:\n    agent: a\n  context:\n    summary: |\n      {}\n", XML.replace('\n', "")),
        "<handoff>\n<from>a</from><to>b</to><data>\nhandoff:\n  from:\n    agent: c\n</data></handoff>".to_owned(),
    ];
    for output in quoting {
        let found = extract(&output);
        assert_eq!(found.len(), 1, "{output}");
        assert_eq!(output[found[0].span.clone()].trim(), output.trim());
    }
}

/// Each took hours if every beginning were followed to the end of the text.
#[test]
fn the_time_grows_with_the_size_alone() {
    for piece in [
        "{\n",
        "{\"a\":\n",
        "<handoff>",
        "<handoff>\n<a>\n",
        "</handoff ",
        "<handoff>x</handoff>",
        "<handoff><a></handoff>",
        "handoff:\n",
        "handoff:\n  a\n",
        "```json\n{\n",
        "```\n",
        "~~~\n```\n",
        "\u{1B}[",
        "\u{1B}]",
        "## Metadata\n",
        "## Metadata\n```json\n{}\n```\n",
        "\"\n{",
    ] {
        let output = piece.repeat(500_000 / piece.len());
        let _ = extract(&output);
    }
}

/// A text as a JSON string.
fn quoted(text: &str) -> String {
    json::print(&Node::text(text))
}

/// The newest handoff, as its sender wrote it.
#[track_caller]
fn check_unwrapped(output: &str, format: Format, text: &str) {
    let found = extract_one(output).unwrap_or_else(|it| panic!("{it}: {output}"));
    assert_eq!((found.format, found.text(output)), (format, text), "{output}");
}

#[test]
fn what_agent_programs_print_around_an_answer_is_taken_off() {
    let answer = format!("I am done.\n\n{XML}\n\nBye!");
    let text = quoted(&answer);
    let older = quoted("<handoff>\n  <from>x</from>\n  <to>y</to>\n</handoff>");
    for output in [
        // claude -p --output-format json
        format!(
            r#"{{"type":"result","subtype":"success","is_error":false,"result":{text},"session_id":"1"}}"#
        ),
        // claude -p --output-format stream-json --verbose
        [
            r#"{"type":"system","subtype":"init","tools":["Read"]}"#.to_owned(),
            format!(r#"{{"type":"assistant","message":{{"content":[{{"type":"text","text":{text}}}]}}}}"#),
            format!(
                r#"{{"type":"user","message":{{"content":[{{"type":"tool_result","content":{older}}}]}}}}"#
            ),
            r#"{"type":"result","subtype":"success","result":"see above"}"#.to_owned(),
        ]
        .join("\n"),
        // codex exec --json
        [
            r#"{"type":"thread.started","thread_id":"1"}"#.to_owned(),
            format!(
                r#"{{"type":"item.completed","item":{{"id":"item_0","type":"command_execution","aggregated_output":{older},"output":{older}}}}}"#
            ),
            format!(
                r#"{{"type":"item.completed","item":{{"id":"item_1","type":"agent_message","text":{text}}}}}"#
            ),
            r#"{"type":"turn.completed","usage":{"input_tokens":1}}"#.to_owned(),
        ]
        .join("\n"),
        // gemini -o json, a result of CAO, opencode
        format!("{{\n  \"response\": {text},\n  \"stats\": {{}}\n}}\n"),
        format!(r#"{{"success":true,"message":"done","output":{text},"terminal_id":"1"}}"#),
        format!(r#"{{"type":"text","part":{{"type":"text","text":{text}}}}}"#),
        // Several messages in one list, and JSON in JSON.
        format!(r#"[{{"type":"assistant","content":{text}}},{{"type":"system","text":{older}}}]"#),
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"content":[{{"type":"text","text":{}}}]}}}}"#,
            quoted(&format!(r#"{{"output":{text}}}"#))
        ),
        format!("```json\n{{\"result\":{text}}}\n```\n"),
    ] {
        check_unwrapped(&output, Format::Xml, XML);
    }
}

#[test]
fn every_format_is_found_in_a_json_string() {
    let wrapped = |text: &str| format!(r#"{{"type":"result","result":{}}}"#, quoted(text));
    check_unwrapped(&wrapped(&format!("```json\n{JSON}\n```")), Format::Json, &format!("{JSON}\n"));
    check_unwrapped(&wrapped(&format!("Done:\n```yaml\n{YAML}```")), Format::Yaml, YAML);
    check_unwrapped(&wrapped(YAML), Format::Yaml, YAML);
    let metadata = "## Metadata\n\n```json\n{\"a\": 1}\n```\n";
    check_unwrapped(&wrapped(&format!("# Report\n\n{metadata}")), Format::Markdown, metadata);
    let attributes = "<handoff><to>b</to><commit sha=\"abc\">x &amp; y</commit></handoff>";
    check_unwrapped(&wrapped(attributes), Format::Xml, attributes);
    let coloured = format!("\u{1B}[1mDone\u{1B}[0m\n{XML}");
    check_unwrapped(&wrapped(&coloured), Format::Xml, XML);
    let object = r#"{"type":"result","result":"ok","structured_output":{"status":"complete","phase":"testing"}}"#;
    check_unwrapped(object, Format::Json, JSON);
    let broken = wrapped("<handoff>\n  <from>a</from>\n");
    assert!(extract_one(&broken).is_err(), "{broken}");
    // A number that no program would cut, and an answer longer than any package.
    let long = format!("{}\n{XML}", "x".repeat(crate::json::MOST_BYTES));
    check_unwrapped(&wrapped(&long), Format::Xml, XML);
}

#[test]
fn quotes_and_list_items_are_searched_and_comments_are_not() {
    let indented = |text: &str, by: &str| text.replace('\n', &format!("\n{by}"));
    check_unwrapped(&format!("> {}\n", indented(XML, "> ")), Format::Xml, XML);
    let fenced = format!("```yaml\n{YAML}```");
    check_unwrapped(
        &format!("As asked:\n\n> {}\n\nBye", indented(&fenced, "> ")),
        Format::Yaml,
        YAML,
    );
    check_unwrapped(
        &format!("1. Done:\n\n   {}\n2. Bye\n", indented(&fenced, "   ")),
        Format::Yaml,
        YAML,
    );
    check_unwrapped(&format!("- {}\n", indented(&fenced, "  ")), Format::Yaml, YAML);
    check_unwrapped(&format!("> > {}\n", indented(XML, "> > ")), Format::Xml, XML);
    for hidden in [
        format!("<!--\n{XML}\n-->\n"),
        format!("<!-- for example\n```json\n{JSON}\n```\n-->\nBye"),
        format!("<!--\n{JSON}\n-->"),
        format!("<!--\n{YAML}-->"),
    ] {
        assert_eq!(told(&hidden), "", "{hidden}");
    }
    check_one(&format!("<!-- the handoff -->\n{XML}"), Format::Xml, XML);
    check_one(&format!("<!-- never closed\n{XML}"), Format::Xml, XML);
    let with_comment = "<handoff>\n  <from>a</from>\n<!-- ```\n-->\n  <to>b</to>\n</handoff>";
    check_one(with_comment, Format::Xml, with_comment);
}

#[test]
fn a_file_with_front_matter_is_a_handoff_with_its_prose() {
    let file =
        "---\nfrom: analyst\nto: implementer\nstatus: completed\n---\n\n# The plan\n\n3 steps.\n";
    check_one(file, Format::Markdown, file);
    check_one(&format!("Here it is:\n\n{file}"), Format::Markdown, file);
    assert_eq!(told("---\ntitle: A page\n---\n# Text\n"), "");
    assert_eq!(told("One\n---\nTwo\n---\nThree\n"), "");
    check_one(&format!("{file}\n{XML}"), Format::Xml, XML);
    check_unwrapped(&format!("```markdown\n{file}```\n"), Format::Markdown, file);
}

#[test]
fn the_handoffs_of_other_systems_are_found() {
    for piece in [
        r#"{"from_agent":"analyst","to_agent":"implementer","status":"completed"}"#,
        r#"{"fromAgent":"analyst","toAgent":"implementer","payload":{}}"#,
        r#"{"handoff":{"from_agent":"analyst","to_agent":"implementer"}}"#,
        r#"{"message_type":"HandoffOffer","sender":"a","payload":{"target_participant":"b"}}"#,
        r#"{"type":"function_call","name":"transfer_to_reviewer","arguments":"{}"}"#,
    ] {
        check_one(&format!("Done.\n{piece}\nBye"), Format::Json, piece);
    }
    let call = r#"{"id":"c1","type":"function","function":{"name":"transfer_to_reviewer","arguments":"{}"}}"#;
    let chat = format!(
        r#"{{"choices":[{{"message":{{"role":"assistant","content":null,"tool_calls":[{call}]}}}}]}}"#
    );
    assert!(extract_one(&chat).is_ok(), "{chat}");
    for other in [
        r#"{"from":"2024-01-01","to":"2024-02-01","status":"completed"}"#,
        r#"{"type":"log","message":"all is well"}"#,
    ] {
        assert_eq!(told(other), "", "{other}");
    }
}
