//! Files of stories, in YAML or JSON: a list of them, or the key `stories` with that list.

use std::collections::HashSet;

use baton_core::names::StoryKey;
use baton_core::problem::Problem;
use baton_core::story::Story;

use crate::fields::{FieldAt, Fields};
use crate::file_problem::{FileProblem, Problems};
use crate::json::{self, JsonError};
use crate::located::{LocatedValue, yaml};
use crate::shown::shown;

pub const MOST_BYTES: usize = 1024 * 1024;

const TOP_KEYS: &[&str] = &["stories"];
const KEYS: &[&str] = &[
    "key",
    "id",
    "title",
    "description",
    "acceptance",
    "depends_on",
    "priority",
    "branch",
    "pr_url",
];

/// A greater priority is a typo, and no JSON reader would keep it exactly.
const MOST_PRIORITY: i64 = 1_000_000_000;

/// Reads a file of at most [`MOST_BYTES`]. JSON is YAML, so one reader serves both.
pub fn parse(text: &str) -> Result<Vec<Story>, Vec<FileProblem>> {
    Problems::collect(|it| read(text, it))
}

/// As [`parse`], for a file whose name says that it is JSON: what is wrong with it is said of JSON.
pub fn parse_json(text: &str) -> Result<Vec<Story>, Vec<FileProblem>> {
    parse(text).map_err(|problems| {
        let is_readable = problems.iter().all(|it| it.problem.rule != yaml::SYNTAX);
        match json::parse(text) {
            Err(error) if !is_readable => {
                let JsonError { line, column, fault } = error;
                let problem = Problem::new("", fault.code(), format!("is not JSON: {fault}"));
                vec![FileProblem { line, column, problem }]
            }
            Ok(_) | Err(_) => problems,
        }
    })
}

fn read(text: &str, problems: &mut Problems) -> Option<Vec<Story>> {
    let root = yaml::read(text, MOST_BYTES, problems)?;
    let root = FieldAt::root(&root);
    let list = if let LocatedValue::Map(_) = root.node.value {
        Fields::open(&root, TOP_KEYS, problems)?.required("stories", problems)?
    } else {
        root
    };
    let mut seen = HashSet::new();
    let mut stories = Vec::new();
    for item in list.list(problems) {
        let Some(story) = story(&item, problems) else { continue };
        if !seen.insert(story.key.clone()) {
            let message = format!("there is a story `{}` above already", shown(story.key.as_str()));
            item.problem("duplicate_story", message, problems);
        }
        stories.push(story);
    }
    Some(stories)
}

/// Numbers that were probably written with a comma between brackets, which makes two items of each.
pub fn split_numbers(stories: &[Story]) -> Vec<String> {
    let ends_in_digit = |it: &str| it.ends_with(|c: char| c.is_ascii_digit());
    let begins_with_thousands = |it: &str| it.chars().take_while(char::is_ascii_digit).count() == 3;
    let mut warnings = Vec::new();
    for story in stories {
        for pair in story.acceptance.windows(2) {
            let [before, after] = pair else { continue };
            if ends_in_digit(before) && begins_with_thousands(after) {
                warnings.push(format!(
                    "story `{}`: `{}` and `{}` are two criteria; if the comma belongs to a number, quote the text",
                    shown(story.key.as_str()),
                    shown(before),
                    shown(after)
                ));
            }
        }
    }
    warnings
}

fn story(field: &FieldAt<'_>, problems: &mut Problems) -> Option<Story> {
    let fields = Fields::open(field, KEYS, problems)?;
    let key = match fields.one_of(&["key", "id"], problems) {
        Some(it) => it.parsed(StoryKey::typed, problems),
        None => {
            fields.required("key", problems);
            None
        }
    };
    let title = fields.get("title").and_then(|it| it.line(problems));
    let description = fields.get("description").and_then(|it| it.prose(problems));
    let acceptance = fields.get("acceptance").map(|it| lines(&it, problems));
    let depends_on = fields.get("depends_on").map(|it| keys(&it, problems));
    let priority = fields
        .get("priority")
        .and_then(|it| it.whole_number(-MOST_PRIORITY..=MOST_PRIORITY, problems));
    let branch = fields.get("branch").and_then(|it| it.line(problems));
    let pr_url = fields.get("pr_url").and_then(|it| url(&it, problems));
    let story = Story::named(key?);
    let depends_on = depends_on.unwrap_or_default();
    if depends_on.contains(&story.key) {
        field.problem("depends_on_itself", "depends on itself and would never be ready", problems);
    }
    let story = Story {
        title: title.unwrap_or(story.title),
        description: description.unwrap_or_default(),
        acceptance: acceptance.unwrap_or_default(),
        depends_on,
        priority: priority.unwrap_or_default(),
        branch,
        pr_url,
        key: story.key,
    };
    for problem in story.problems() {
        let message = format!("{}: {}", problem.path, problem.message);
        field.problem("story_too_large", message, problems);
    }
    Some(story)
}

/// A criterion may have several lines, so it is prose.
fn lines(field: &FieldAt<'_>, problems: &mut Problems) -> Vec<String> {
    field.items().iter().filter_map(|it| it.prose(problems)).collect()
}

fn keys(field: &FieldAt<'_>, problems: &mut Problems) -> Vec<StoryKey> {
    field.items().iter().filter_map(|it| it.parsed(StoryKey::typed, problems)).collect()
}

/// The address is shown as a link, so it must be safe to follow.
fn url(field: &FieldAt<'_>, problems: &mut Problems) -> Option<String> {
    let url = field.line(problems)?;
    if !url.starts_with("https://") && !url.starts_with("http://") {
        let message = format!("`{}` does not start with `https://` or `http://`", shown(&url));
        field.problem("bad_url", message, problems);
        return None;
    }
    Some(url)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_number_that_a_comma_splits_is_warned_about() {
        let text = "- { key: a, acceptance: [An order over 5,000 EUR is refused, 14 days] }\n\
                    - { key: b, acceptance: [\"Over 5,000 EUR\", Step 1, Step 2, 2000 more] }\n";
        expect!["story `a`: `An order over 5` and `000 EUR is refused` are two criteria; if the comma belongs to a number, quote the text"]
            .assert_eq(&split_numbers(&parse(text).unwrap()).join("\n"));
    }

    #[test]
    fn a_file_of_json_is_not_called_yaml() {
        let said = |it: Vec<FileProblem>| {
            it.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
        };
        let broken = parse_json("[{\"key\": \"a\" \"b\"}]").unwrap_err();
        expect![[
            "line 1, column 14: is not JSON: found `\"` where `,` or `}` should stand [json_syntax]"
        ]]
        .assert_eq(&said(broken));
        let wrong = parse_json("[{\"kez\": \"a\"}]").unwrap_err();
        assert!(said(wrong).contains("did you mean `key`"));
        assert_eq!(parse_json("[{\"key\": \"a\"}]"), parse("- key: a"));
    }

    #[track_caller]
    fn check_bad(text: &str, expected: &Expect) {
        let lines: Vec<String> = parse(text).unwrap_err().iter().map(ToString::to_string).collect();
        expected.assert_eq(&lines.join("\n"));
    }

    fn key(key: &str) -> StoryKey {
        StoryKey::parse(key).unwrap()
    }

    const YAML: &str = "\
stories:
  - key: v0.1:1.1.1
    title: Log in
    description: |
      As a user
      I log in.
    acceptance:
      - It works
      - It is fast
    depends_on: [1.10, 'owner/repo#7']
    priority: 5
    branch: feat/log-in
    pr_url: https://example.com/pr/1
  - id: 1.10
";

    #[test]
    fn yaml_and_json_say_the_same() {
        let expected = vec![
            Story {
                title: "Log in".to_owned(),
                description: "As a user\nI log in.".to_owned(),
                acceptance: vec!["It works".to_owned(), "It is fast".to_owned()],
                depends_on: vec![key("1.10"), key("owner/repo#7")],
                priority: 5,
                branch: Some("feat/log-in".to_owned()),
                pr_url: Some("https://example.com/pr/1".to_owned()),
                ..Story::named(key("v0.1:1.1.1"))
            },
            // Not 1.1: a key keeps the text it was written with.
            Story::named(key("1.10")),
        ];
        assert_eq!(parse(YAML), Ok(expected.clone()));
        let node = yaml::parse(YAML, MOST_BYTES).unwrap().to_node();
        assert_eq!(parse(&crate::json::print(&node)), Ok(expected.clone()));
        assert_eq!(parse(&crate::json::print_pretty(node.at("stories").unwrap())), Ok(expected));
        assert_eq!(parse("[]"), Ok(vec![]));
    }

    #[test]
    fn all_problems_come_at_once_with_their_lines() {
        check_bad(
            "\
- key: a
  id: b
  tilte: x
- title: no key
- { key: a, depends_on: a, priority: high }
- { key: ' ', pr_url: 'javascript:alert(1)', acceptance: { a: b } }
- text
",
            &expect![[r#"
                line 2, column 7: [0].id: cannot stand beside `key` [not_both]
                line 3, column 3: [0].tilte: is not a key here; did you mean `title`? [unknown_key]
                line 4, column 3: [1].key: is missing [missing]
                line 5, column 3: [2]: depends on itself and would never be ready [depends_on_itself]
                line 5, column 3: [2]: there is a story `a` above already [duplicate_story]
                line 5, column 38: [2].priority: must be a whole number from -1000000000 to 1000000000 [wrong_number]
                line 6, column 10: [3].key: a story key cannot be empty [bad_name]
                line 6, column 23: [3].pr_url: `javascript:alert(1)` does not start with `https://` or `http://` [bad_url]
                line 6, column 58: [3].acceptance: is a map, not text [wrong_type]
                line 7, column 3: [4]: is text, not a map [wrong_type]"#]],
        );
        check_bad("", &expect!["line 1, column 1: is empty, not a list [wrong_type]"]);
        check_bad(
            "storys: []\n",
            &expect![[r#"
            line 1, column 1: storys: is not a key here; did you mean `stories`? [unknown_key]
            line 1, column 1: stories: is missing [missing]"#]],
        );
        check_bad(
            "{\"stories\": [{\"key\": 1,}, {\"key\": \"a\", \"key\": \"b\"}]}",
            &expect![
                "line 1, column 40: key: stands here a second time; keep one of them [duplicate_key]"
            ],
        );
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "(- |stories:|\n  |key: |id: a|\\{|\\}|\\[|\\]|,|\"a\"|: |1|é|\n){0,24}") {
            let _ = parse(&text);
        }
    }
}
