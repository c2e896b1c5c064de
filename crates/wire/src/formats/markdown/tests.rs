use expect_test::expect;

use super::*;

#[track_caller]
fn check_round_trip(markdown: &str, as_json: &str) {
    let tree = decode(markdown).unwrap();
    assert_eq!(json::print(&tree), as_json);
    assert_eq!(encode(&tree), markdown);
}

#[test]
fn prose_stands_beside_the_metadata_and_comes_back() {
    check_round_trip("## Metadata\n\n```json\n{\n  \"a\": 1\n}\n```\n", r#"{"a":1}"#);
    check_round_trip(
        "# Report\n\nDone.\n\n## Metadata\n\n```json\n{\n  \"a\": 1\n}\n```\n",
        r###"{"#markdown":{"before":"# Report\n\nDone.\n\n"},"a":1}"###,
    );
    check_round_trip(
        "x\r\n~~~~ json\r\n{\r\n  \"a\": 1\r\n}\r\n~~~~\r\nBye",
        r###"{"#markdown":{"before":"x\r\n","open":"~~~~ json\r\n","close":"~~~~\r\n","after":"Bye"},"a":1}"###,
    );
    check_round_trip(
        "```json\n[]\n```",
        r###"{"#markdown":{"open":"```json\n","close":"```","document":[]}}"###,
    );
    // A fence in a list item, and front matter.
    check_round_trip(
        "1. Done\n\n   ```json\n   {\n     \"a\": 1\n   }\n   ```\n\nBye\n",
        r###"{"#markdown":{"before":"1. Done\n\n","open":"   ```json\n","close":"   ```\n","after":"\nBye\n"},"a":1}"###,
    );
    check_round_trip(
        "---\nfrom: analyst\nsteps:\n  - 1\n---\n\n# Done\n",
        r###"{"#markdown":{"open":"---\n","close":"---\n","after":"\n# Done\n"},"from":"analyst","steps":[1]}"###,
    );
    check_round_trip("## Metadata\n\n````json\n{\n  \"a\": \"```\"\n}\n````\n", r#"{"a":"```"}"#);
}

#[test]
fn a_tree_without_prose_is_the_block_alone() {
    let tree = json::parse(r#"{"status":"complete","files":[]}"#).unwrap();
    expect![[r#"
        ## Metadata

        ```json
        {
          "status": "complete",
          "files": []
        }
        ```
    "#]]
    .assert_eq(&encode(&tree));
}

#[test]
fn a_member_of_the_sender_that_looks_like_prose_comes_back() {
    for as_json in [
        r###"{"#markdown":5}"###,
        r###"{"#markdown":{}}"###,
        r###"{"#markdown":{"before":""},"a":1}"###,
        r###"{"#markdown":{"before":"x"}}"###,
        r###"{"#markdown":{"before":"x","more":"y"}}"###,
        r###"{"#markdown":{"after":"x","before":"y"}}"###,
        r###"{"#markdown":{"before":"```\nnever closed"},"a":1}"###,
        r###"{"#markdown":{"before":"## Metadata\n\n","open":"```json\n"},"a":1}"###,
        r###"{"#markdown":{"open":"no fence\n"},"a":1}"###,
        r###"{"#markdown":{"after":"## Metadata\n```json\n1\n```\n"},"a":1}"###,
        r###"{"#markdown":{"before":"x","document":{"a":1}}}"###,
        r###"{"#markdown":{"document":[]}}"###,
        r###"{"#markdown":{"document":{"#markdown":{"before":"x\n"},"a":1}}}"###,
        r###"{"#markdown":{"document":{"#markdown":{"document":{"#markdown":{"before":"x\n"}}}}}}"###,
        r###"{"#markdown":{"before":"x\n","document":{"#markdown":1}}}"###,
        r###"{"a":1,"#markdown":{"before":"x\n"}}"###,
    ] {
        let tree = json::parse(as_json).unwrap();
        let printed = encode(&tree);
        assert_eq!(
            decode(&printed).map(|it| json::print(&it)).as_deref(),
            Ok(as_json),
            "{printed}"
        );
    }
}

#[test]
fn without_metadata_nothing_is_guessed() {
    let texts = [
        "# Report\n\nAll done.\n",
        "# Report\n\n## Metadata\n\n```json\n{\n  \"skills\": [...]\n}\n```\n",
        "## Metadata\n```json\n{\"a\":1\n",
        "## Metadata\n```json\n{\"a\":1,\"a\":2}\n```\n",
    ];
    let told = |text: &str| {
        let error = decode(text).unwrap_err();
        assert_eq!(error.code(), "no_metadata");
        format!("{error}\n")
    };
    expect![[r#"
        line 4, column 1: there is no metadata: end the text with a `## Metadata` heading and a fenced `json` block under it, or begin it with front matter
        line 7, column 14: the metadata block is not JSON: found `.` where a value should stand
        line 4, column 1: the metadata block is not JSON: the text ends where `,` or `}` should follow
        line 3, column 8: the metadata block is not JSON: the key `a` stands here a second time
    "#]].assert_eq(&texts.map(told).concat());
}
