//! The same document is found, or not, whatever its format.

use expect_test::expect;

use super::*;

/// A handoff with fields beside it.
const DOCUMENT: &str = r#"{"handoff":{"from":{"agent":"cook"},"to":{"agent":"taster"}},"summary":"Added soup","files_changed":["src/menu.py"]}"#;
const AS_YAML: &str = "handoff:\n  from:\n    agent: cook\n  to:\n    agent: taster\nsummary: Added soup\nfiles_changed:\n  - src/menu.py\n";

/// The document that is found, as JSON.
#[track_caller]
fn check_found(output: &str) {
    let found = extract_one(output).unwrap_or_else(|it| panic!("{it}: {output}"));
    assert_eq!(json::print(&found.document.unwrap()), DOCUMENT, "{output}");
}

#[test]
fn fields_beside_a_handoff_belong_to_it_in_every_format() {
    let document = json::parse(DOCUMENT).unwrap();
    for format in Format::ALL {
        let text = formats::encode(&document, format);
        check_found(&text);
        check_found(&format!("Done.\n\n{text}\nBye."));
        if format != Format::Markdown {
            let name = format.name();
            check_found(&format!("Done.\n```{name}\n{text}\n```\nBye."));
            check_found(&format!("Done.\n```\n{text}\n```\nBye."));
        }
    }
    check_found(DOCUMENT);
    check_found(AS_YAML);
    check_found(&AS_YAML.replace("summary:", "\nsummary:"));
    check_found(&AS_YAML.replace("  - src", "- src"));
    check_found(&format!("```baton\n{DOCUMENT}\n```\n"));
    check_found(&format!("```baton\n{AS_YAML}```\n"));
    check_found(&format!("```yaml\n# the handoff\n{AS_YAML}```\n"));
}

#[test]
fn fields_above_a_handoff_belong_to_it_too() {
    let yaml = "summary: Added soup\nhandoff:\n  from: cook\n  to: taster\n";
    for output in [
        yaml.to_owned(),
        format!("I am done.\n\n{yaml}"),
        format!("I am done.\n```yaml\n{yaml}```\n"),
        "{\"summary\":\"Added soup\",\"handoff\":{\"from\":\"cook\",\"to\":\"taster\"}}".to_owned(),
        "<document>\n  <summary>Added soup</summary>\n  <handoff><from>cook</from><to>taster</to></handoff>\n</document>\n".to_owned(),
    ] {
        let found = extract_one(&output).unwrap_or_else(|it| panic!("{it}: {output}"));
        let expected = r#"{"summary":"Added soup","handoff":{"from":"cook","to":"taster"}}"#;
        assert_eq!(json::print(&found.document.unwrap()), expected, "{output}");
    }
}

#[test]
fn sentences_around_a_bare_handoff_are_no_fields() {
    let core = "handoff:\n  from: cook\n  to: taster\n";
    let alone = r#"{"handoff":{"from":"cook","to":"taster"}}"#;
    for output in [
        format!("{core}Note: that was it.\n"),
        format!("{core}\nnote: see a: b\n"),
        format!("{core}\n- one\n- two\n"),
        format!("{core}That is all: done.\n"),
        format!("Result:\n{core}"),
        format!("plan: x\n\n{core}"),
    ] {
        let found = extract_one(&output).unwrap_or_else(|it| panic!("{it}: {output}"));
        assert_eq!(json::print(&found.document.unwrap()), alone, "{output}");
    }
}

#[test]
fn a_request_needs_its_sender_or_its_story() {
    for (output, is_found) in [
        (r#"{"action":"create","fromAgent":"cook","toAgent":"taster","payload":{}}"#, true),
        (r#"{"action":"create","storyId":"s:1","toAgent":"taster"}"#, true),
        (r#"{"action":"create","payload":{}}"#, false),
    ] {
        assert_eq!(extract_one(output).is_ok(), is_found, "{output}");
    }
    let yaml = "```yaml\naction: create\nfromAgent: cook\ntoAgent: taster\n```\n";
    assert!(extract_one(yaml).is_ok());
}

#[test]
fn answers_of_the_api_are_no_handoffs() {
    let row = r#"{"number":2,"id":"01a1","label":"HO-002","story":"s:1","fromAgent":"cook","toAgent":"taster","state":"accepted","package":{"handoff":{"from":"x","to":"y"}}}"#;
    let pipeline = r#"{"id":2,"story_id":"s:1","from_agent":"cook","to_agent":"taster","status":"accepted","payload":{"status":"complete","phase":"x"},"created_at":"2026-11-18 05:17:33"}"#;
    let skeleton = r#"{"handoff":{"from":"cook","to":"<text: who is next>"}}"#;
    for answer in [
        row.to_owned(),
        pipeline.to_owned(),
        format!(
            r#"{{"result":"committed","success":true,"isRepeat":false,"run":{{}},"handoff":{row}}}"#
        ),
        format!(r#"{{"success":true,"handoff":{pipeline}}}"#),
        format!(r#"{{"items":[{row},{row}],"next":null}}"#),
        format!(r#"{{"handoffs":[{pipeline}]}}"#),
        format!(
            r#"{{"success":false,"type":"/errors/contract","title":"x","status":422,"code":"contract","detail":"x","skeleton":{skeleton},"handoff":{row}}}"#
        ),
        format!(
            r#"{{"text":{},"hash":"a","packageHash":null,"tokens":9,"leftOut":[]}}"#,
            quoted(&format!("# Task\n\n{XML}\n"))
        ),
        r#"{"result":"committed","success":true,"isRepeat":false,"handoff":{"toAgent":"#.to_owned(),
    ] {
        let pretty = json::parse(&answer).map(|it| json::print_pretty(&it)).unwrap_or_default();
        for output in
            [answer.clone(), format!("```json\n{answer}\n```\n"), format!("$ curl x\n{pretty}\n")]
        {
            assert_eq!(told(&output), "", "{output}");
        }
        // What the agent printed before it asked still counts.
        check_unwrapped(&format!("{XML}\n{answer}\n"), Format::Xml, XML);
    }
}

#[test]
fn what_only_looks_like_a_handoff_is_named() {
    let mut told = String::new();
    for output in [
        "Done.\n{\"handoff\":{\"blockers\":[]}}\n",
        "{\"handoff\":\"taster\"}",
        "```yaml\nhandoff:\n  next: taster\n```\n",
        "Done.\n\n{\"action\":\"create\",\"payload\":{}}",
        "{\"action\":\"accept\"}",
        "{\"from\":\"cook\",\"to\":\"taster\"}",
        "{\"status\":\"complete\",\"summary\":\"Added soup\"}",
        "{\"success\":true,\"handoff\":{\"id\":1,\"story_id\":\"s\",\n\"from_agent\":\"a\",\"to_agent\":\"b\",\"created_at\":\"x\"}}",
        "Here: {\"handoff\":{\"from\":\"cook\",\"to\":\"taster\"}}",
        "x\n```python\n{\"handoff\":{\"from\":\"cook\",\"to\":\"taster\"}}\n```\n",
        "<!--\n<handoff><from>cook</from></handoff>\n-->\n",
        "All done.",
    ] {
        told += &format!("{}\n", extract_one(output).unwrap_err());
    }
    expect![[r#"
        there is no handoff in the output; a block at line 2 looks like a handoff, but its `handoff` has neither `from` nor `to`
        there is no handoff in the output; a block at line 1 looks like a handoff, but its `handoff` is no map with `from` and `to`
        there is no handoff in the output; a block at line 2 looks like a handoff, but its `handoff` has neither `from` nor `to`
        there is no handoff in the output; a block at line 3 looks like a handoff, but `create` needs `toAgent`, and `fromAgent` or `storyId`
        there is no handoff in the output; a block at line 1 looks like a handoff, but `accept` needs `handoffId`
        there is no handoff in the output; a block at line 1 looks like a handoff, but `from` and `to` alone may mean anything: put them under `handoff`, or call them `from_agent` and `to_agent`
        there is no handoff in the output; a block at line 1 looks like a handoff, but a report needs `agent`, an agent's id, and a `status` such as `complete`
        there is no handoff in the output; a block at line 1 looks like a handoff, but it is an answer of Baton's own API
        there is no handoff in the output; a block at line 1 looks like a handoff, but it is no whole document at the beginning of a line
        there is no handoff in the output; a block at line 3 looks like a handoff, but it is in a fence for `python`; use one for `baton`
        there is no handoff in the output; a block at line 2 looks like a handoff, but it is in an HTML comment
        there is no handoff in the output
    "#]]
    .assert_eq(&told);
}
