use baton_wire::formats::{Format, decode};

use super::*;

fn packages(texts: &[&str]) -> Vec<Node> {
    let read = |it: &&str| {
        let format = if it.starts_with('<') { Format::Xml } else { Format::Json };
        decode(format, it).unwrap()
    };
    texts.iter().map(read).collect()
}

#[test]
fn commits_are_counted_once_each_and_counts_are_added_where_none_are_listed() {
    let two = r#"<handoff><from>a</from><commits><commit sha="abc123">one</commit><commit sha="def456">two</commit></commits></handoff>"#;
    let three = "<handoff><from>b</from><commits_added>3</commits_added></handoff>";
    for (texts, expected) in [
        (vec![], None),
        (vec!["{}", r#"{"commits":[]}"#], None),
        (vec![two], Some(2)),
        (vec![two, two], Some(2)),
        (vec![two, three, three], Some(8)),
        (vec![r#"{"commits":["ABC123 again","fff"]}"#, two], Some(3)),
        (vec![r#"{"commits":[{"sha":"a"},{"hash":"b"}],"commits_added":7}"#], Some(2)),
        (vec![r#"{"commits":4}"#, r#"{"commits_added":"many"}"#], Some(4)),
        (vec![r#"{"commits_added":0}"#], Some(0)),
        (vec![r#"{"commits_added":18446744073709551615}"#, three], Some(u64::MAX)),
        (vec!["<handoff><from>a</from><commits><commit sha='x'/></commits></handoff>"], Some(1)),
    ] {
        assert_eq!(n_commits(&packages(&texts)), expected, "{texts:?}");
    }
}

#[test]
fn the_newest_package_that_says_it_has_the_word() {
    let said = ReportedResults::of(&packages(&[
        r#"{"summary":"first","tests_added":24,"coverage":"96%"}"#,
        "<handoff><from>v</from><validation_summary><coverage>94%</coverage></validation_summary></handoff>",
        r#"{"tests_added":true,"summary":" "}"#,
    ]));
    assert_eq!(said.summary.as_deref(), Some("first"));
    assert_eq!(said.tests_added.as_deref(), Some("24"));
    assert_eq!(said.coverage.as_deref(), Some("94%"));
}

#[test]
fn actions_are_read_from_a_list_and_from_elements() {
    for text in [
        r#"{"actions_taken":["Issue closed","Branch deleted"," "]}"#,
        "<workflow-complete><actions_taken><action>Issue closed</action><action>Branch deleted</action></actions_taken></workflow-complete>",
    ] {
        assert_eq!(
            ReportedResults::of(&packages(&[text])).actions,
            ["Issue closed", "Branch deleted"]
        );
    }
}

/// `issue_number issue_url pr_number pr_url`, a dash for a missing value.
#[track_caller]
fn check_subject(story: &str, pr_url: Option<&str>, package: &str, expected: &str) {
    let subject = ReportedResults::of(&packages(&[package])).subject(story, pr_url);
    let parts = [subject.issue_number, subject.issue_url, subject.pr_number, subject.pr_url];
    let shown: Vec<&str> = parts.iter().map(|it| it.as_deref().unwrap_or("-")).collect();
    assert_eq!(shown.join(" "), expected, "{story} {pr_url:?} {package}");
}

#[test]
fn which_issue_and_which_pull_request_it_was() {
    let (issue, pull) = ("https://github.com/o/r/issues/123", "https://github.com/o/r/pull/456");
    check_subject("o/r#123", None, "{}", &format!("123 {issue} - -"));
    check_subject("o/r#123", Some(pull), "{}", &format!("123 {issue} 456 {pull}"));
    check_subject("STORY-1", None, "{}", "- - - -");
    for odd in ["o/r#", "#1", "o/r/s#1", "o r/s#1", "o/r#1x", "o/r#99999999999999999999"] {
        check_subject(odd, None, "{}", "- - - -");
    }
    let url = r#"{"issue_url":"https://git.example/o/r/-/issues/7","pr_url":"https://git.example/o/r/-/merge_requests/8"}"#;
    check_subject(
        "STORY-1",
        None,
        url,
        "7 https://git.example/o/r/-/issues/7 8 https://git.example/o/r/-/merge_requests/8",
    );
    // A package's data about another issue is not mixed with the story's.
    check_subject("o/r#123", Some(pull), r#"{"issue_number":9,"pr_number":10}"#, "9 - 10 -");
    check_subject(
        "o/r#123",
        Some(pull),
        r#"{"issue_number":123,"pr_number":"456"}"#,
        &format!("123 {issue} 456 {pull}"),
    );
}

#[test]
fn branch_and_commits_are_those_that_packages_name() {
    let texts = [
        r#"{"story_id":"s","branch":"feat/story-s"}"#,
        r#"{"commits":["abc1234 first","def5678"],"branch":"feat/x"}"#,
        r#"{"commits":["abc1234"],"summary":"s"}"#,
    ];
    let said = ReportedResults::of(&packages(&texts));
    assert_eq!(said.commits, ["abc1234", "def5678"]);
    assert_eq!(said.branch.as_deref(), Some("feat/x"));
    assert_eq!(ReportedResults::of(&packages(&texts[..1])).branch, None);
}
