//! Agent files: Markdown, with YAML front matter that describes the agent; the body is the prompt. A
//! file without front matter is a prompt alone: `plain.rs` says what the agent is then.

use baton_core::agent::Agent;
use baton_core::names::AgentId;
use baton_core::outcome::Outcome;

use crate::fields::{FieldAt, Fields};
use crate::file_problem::{FileProblem, Problems};
use crate::located::yaml;
use crate::position::TextPosition;
use crate::shown::shown;
use crate::suggest::did_you_mean;
use crate::workflow_file::as_title;

mod plain;

pub const MOST_BYTES: usize = 256 * 1024;
const LEAST_PROMPT_CHARS: usize = 10;
const MOST_PROMPT_CHARS: usize = 40_000;

pub(crate) const KEYS: &[&str] = &[
    "name",
    "title",
    "description",
    "tools",
    "tool",
    "model",
    "color",
    "avatar",
    "capabilities",
    "accepts",
    "produces",
];
pub(crate) const COLORS: &[&str] =
    &["red", "blue", "green", "yellow", "purple", "orange", "pink", "cyan"];

/// An agent, and the other settings in its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentFile {
    pub agent: Agent,
    /// The tools the agent may use, where the file limits them.
    pub tools: Option<Vec<String>>,
    /// The command or program that does the agent's work where there is one: `/setup-environment`.
    pub tool: Option<String>,
    pub model: Option<String>,
    /// The contracts the agent can work from. Empty: it does not say.
    pub accepts: Vec<String>,
    /// The contracts of its results, by outcome. Empty: it does not say.
    pub produces: Vec<(Outcome, Vec<String>)>,
    /// The line of each top-level key, from 1.
    pub lines: Vec<(String, usize)>,
}

impl AgentFile {
    /// The line of a top-level key; where there is none, the first line.
    pub fn line_of(&self, key: &str) -> usize {
        self.lines.iter().find(|(it, _)| it == key).map_or(1, |(_, line)| *line)
    }
}

/// Reads a text with front matter, of at most [`MOST_BYTES`].
pub fn parse(text: &str) -> Result<AgentFile, Vec<FileProblem>> {
    Problems::collect(|it| {
        if text.len() > MOST_BYTES || split(text).is_some() {
            return read(text, FileName::Any, it);
        }
        it.add(TextPosition::START, "", "no_front_matter", NO_FRONT_MATTER);
        None
    })
}

/// Reads the file `NAME.md`: the agent has to have that name. Without front matter the whole text is
/// the prompt.
pub fn parse_file(name: &str, text: &str) -> Result<AgentFile, Vec<FileProblem>> {
    Problems::collect(|it| match split(text) {
        None if text.len() <= MOST_BYTES => plain::read(name, text, it),
        Some(_) | None => read(text, FileName::Is(name), it),
    })
}

/// Whether a Markdown file in a folder of agents is one. A text of another kind, such as a
/// `README.md`, has no front matter and a name that is not an agent's.
pub fn is_agent_file(name: &str, text: &str) -> bool {
    let is_upper = name.chars().any(char::is_uppercase) && !name.chars().any(char::is_lowercase);
    let is_page = is_upper || name.eq_ignore_ascii_case("readme");
    !is_page || plain::first_line(text).is_some_and(|(_, it)| is_fence(it))
}

/// What is known of the file's name.
#[derive(Clone, Copy)]
pub(crate) enum FileName<'a> {
    Any,
    /// Without its extension.
    Is(&'a str),
}

const NO_FRONT_MATTER: &str = "must start with its front matter between two lines of `---`";

fn read(text: &str, file: FileName<'_>, problems: &mut Problems) -> Option<AgentFile> {
    if text.len() > MOST_BYTES {
        let message = format!("the file has {} bytes; the most is {MOST_BYTES}", text.len());
        problems.add(TextPosition::START, "", "too_large", message);
        return None;
    }
    let (front_matter, body) = split(text)?;
    let prompt = prompt(text, body, problems);
    // The empty line replaces the first `---`, so that line numbers match the file.
    let root = yaml::read(&format!("\n{front_matter}"), MOST_BYTES + 1, problems)?;
    let fields = Fields::open(&FieldAt::root(&root), KEYS, problems)?;
    let id = fields.required("name", problems).and_then(|it| agent_id(&it, file, problems));
    let title = fields.get("title").and_then(|it| it.line(problems));
    let description = fields.required("description", problems).and_then(|it| it.prose(problems));
    let tools = fields.get("tools").map(|it| it.words(problems));
    let tool = fields.get("tool").and_then(|it| it.line(problems));
    let model = fields.get("model").and_then(|it| it.line(problems));
    let color = fields.get("color").and_then(|it| color(&it, problems));
    let avatar = fields.get("avatar").and_then(|it| it.line(problems));
    let capabilities = fields.get("capabilities").map(|it| it.words(problems));
    let accepts = fields.get("accepts").map(|it| it.words(problems));
    let produces = fields.get("produces").map(|it| produces(&it, problems));
    let id = id?;
    let agent = Agent {
        name: title.unwrap_or_else(|| as_title(id.as_str())),
        id,
        description: description?,
        capabilities: capabilities.unwrap_or_default(),
        avatar,
        color,
        prompt: prompt?,
    };
    let accepts = accepts.unwrap_or_default();
    let lines = fields.keys().map(|it| (it.key.clone(), it.key_at.line)).collect();
    Some(AgentFile {
        agent,
        tools,
        tool,
        model,
        accepts,
        produces: produces.unwrap_or_default(),
        lines,
    })
}

fn is_fence(line: &str) -> bool {
    line.trim_end() == "---"
}

/// The front matter and the body, without the lines of `---` around the former.
fn split(text: &str) -> Option<(&str, &str)> {
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    let mut lines = text.split_inclusive('\n');
    let first = lines.next()?;
    if !is_fence(first) {
        return None;
    }
    let mut at = first.len();
    for line in lines {
        if is_fence(line) {
            return Some((&text[first.len()..at], &text[at + line.len()..]));
        }
        at += line.len();
    }
    None
}

fn prompt(text: &str, body: &str, problems: &mut Problems) -> Option<String> {
    let at = TextPosition::of(text, text.len() - body.len());
    if let Some(offset) = body.find('\0') {
        let at = TextPosition::of(text, text.len() - body.len() + offset);
        problems.add(at, "prompt", "nul", "the character U+0000 is refused everywhere");
        return None;
    }
    let prompt = body.trim();
    let n_chars = prompt.chars().count();
    if !(LEAST_PROMPT_CHARS..=MOST_PROMPT_CHARS).contains(&n_chars) {
        let message = format!(
            "the prompt has {n_chars} characters; it needs {LEAST_PROMPT_CHARS} to \
             {MOST_PROMPT_CHARS}"
        );
        problems.add(at, "prompt", "wrong_length", message);
        return None;
    }
    Some(prompt.to_owned())
}

fn agent_id(field: &FieldAt<'_>, file: FileName<'_>, problems: &mut Problems) -> Option<AgentId> {
    let id = field.parsed(AgentId::parse, problems)?;
    if let FileName::Is(name) = file {
        same_name(field, name, id.as_str(), "md", problems);
    }
    if id.is_human() || id.is_orchestrator() {
        let message = format!("`{id}` is reserved; give the agent another name");
        field.problem("reserved_agent", message, problems);
        return None;
    }
    Some(id)
}

/// A file must be named after its contents: two names for one thing would hide one of them.
pub(crate) fn same_name(
    field: &FieldAt<'_>,
    file: &str,
    name: &str,
    ending: &str,
    problems: &mut Problems,
) {
    if file != name {
        let file = shown(file);
        let message = format!(
            "is `{name}`, but the file is `{file}.{ending}`; write `name: {file}`, or rename the \
             file to `{name}.{ending}`"
        );
        field.problem("misnamed", message, problems);
    }
}

fn color(field: &FieldAt<'_>, problems: &mut Problems) -> Option<String> {
    let color = field.line(problems)?;
    let is_hex = color
        .strip_prefix('#')
        .is_some_and(|it| it.len() == 6 && it.bytes().all(|it| it.is_ascii_hexdigit()));
    if is_hex || COLORS.contains(&color.as_str()) {
        return Some(color);
    }
    let hint = did_you_mean(&color, COLORS);
    let message = format!("`{}` is not a colour; {hint} (or `#1a2b3c`)", shown(&color));
    field.problem("wrong_value", message, problems);
    None
}

fn produces(field: &FieldAt<'_>, problems: &mut Problems) -> Vec<(Outcome, Vec<String>)> {
    let mut produces = Vec::new();
    for (member, field) in field.entries(problems) {
        match Outcome::CLAIMABLE.into_iter().find(|it| it.name() == member.key) {
            Some(outcome) => produces.push((outcome, field.words(problems))),
            None => {
                let hint = did_you_mean(&member.key, &Outcome::CLAIMABLE.map(Outcome::name));
                let message = format!("is not an outcome; {hint}");
                problems.add(member.key_at, field.path, "unknown_outcome", message);
            }
        }
    }
    produces
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check_bad(text: &str, expected: &Expect) {
        let lines: Vec<String> = parse(text).unwrap_err().iter().map(ToString::to_string).collect();
        expected.assert_eq(&lines.join("\n"));
    }

    const FULL: &str = "\
---
name: code-reviewer
title: The Reviewer
description: Reviews code
tools: Read, Grep
tool: /review
model: some-model
color: '#1A2b3c'
avatar: 👁️
capabilities: [review, testing]
accepts: implementation
produces:
  success: [approval]
  failure: feedback
---

# Reviewer

Review the change.
";

    #[test]
    fn every_key_is_read() {
        let words = |words: &[&str]| words.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        let expected = AgentFile {
            agent: Agent {
                id: AgentId::parse("code-reviewer").unwrap(),
                name: "The Reviewer".to_owned(),
                description: "Reviews code".to_owned(),
                capabilities: words(&["review", "testing"]),
                avatar: Some("👁️".to_owned()),
                color: Some("#1A2b3c".to_owned()),
                prompt: "# Reviewer\n\nReview the change.".to_owned(),
            },
            tools: Some(words(&["Read", "Grep"])),
            tool: Some("/review".to_owned()),
            model: Some("some-model".to_owned()),
            accepts: words(&["implementation"]),
            produces: vec![
                (Outcome::Success, words(&["approval"])),
                (Outcome::Failure, words(&["feedback"])),
            ],
            lines: [
                ("name", 2),
                ("title", 3),
                ("description", 4),
                ("tools", 5),
                ("tool", 6),
                ("model", 7),
                ("color", 8),
                ("avatar", 9),
                ("capabilities", 10),
                ("accepts", 11),
                ("produces", 12),
            ]
            .map(|(key, line)| (key.to_owned(), line))
            .to_vec(),
        };
        assert_eq!(parse(FULL), Ok(expected.clone()));
        assert_eq!(parse(&format!("\u{FEFF}{}", FULL.replace("---\n", "--- \r\n"))), Ok(expected));
    }

    #[test]
    fn a_name_and_a_description_will_do() {
        let file =
            parse("---\nname: code-reviewer\ndescription: d\n---\nReview the change.").unwrap();
        assert_eq!(file.agent.name, "Code reviewer");
        assert_eq!((file.tools, file.produces), (None, vec![]));
    }

    #[test]
    fn all_problems_come_at_once_with_their_lines() {
        check_bad(
            "---\nname: human\ndescripton: d\ncolor: blu\ntools: {}\nproduces:\n  succes: x\n---\nshort\n",
            &expect![[r#"
                line 2, column 1: description: is missing [missing]
                line 2, column 7: name: `human` is reserved; give the agent another name [reserved_agent]
                line 3, column 1: descripton: is not a key here; did you mean `description`? [unknown_key]
                line 4, column 8: color: `blu` is not a colour; did you mean `blue`? (or `#1a2b3c`) [wrong_value]
                line 5, column 8: tools: is a map, not a list or text with commas [wrong_type]
                line 7, column 3: produces.succes: is not an outcome; did you mean `success`? [unknown_outcome]
                line 9, column 1: prompt: the prompt has 5 characters; it needs 10 to 40000 [wrong_length]"#]],
        );
        check_bad(
            "---\nname: a\ndescription: d\n---\nlong enough\0\n",
            &expect!["line 5, column 12: prompt: the character U+0000 is refused everywhere [nul]"],
        );
        check_bad(
            "---\nname: a\ndescription: [d\n---\nlong enough to be one\n",
            &expect!["line 3, column 14: is not YAML: unclosed bracket '[' [yaml_syntax]"],
        );
        check_bad(
            "---\n---\nlong enough to be one\n",
            &expect!["line 1, column 1: is empty, not a map [wrong_type]"],
        );
    }

    #[test]
    fn without_front_matter_it_is_no_agent_file() {
        for text in ["", "# Title\n", "---\nname: a\n", "----\nname: a\n----\n"] {
            let problems = parse(text).unwrap_err();
            assert_eq!(problems[0].problem.rule, "no_front_matter", "{text:?}");
        }
    }

    #[test]
    fn a_prompt_has_a_least_and_a_most_length() {
        let file = |prompt: &str| format!("---\nname: a\ndescription: d\n---\n{prompt}\n");
        for (n_chars, is_good) in [(9, false), (10, true), (40_000, true), (40_001, false)] {
            assert_eq!(parse(&file(&"é".repeat(n_chars))).is_ok(), is_good, "{n_chars}");
        }
        assert!(parse(&file(&"x".repeat(MOST_BYTES))).is_err());
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "(---\n|name: a\n|[a-z]: |\n|\r|\\[|é|\0|&a|\u{FEFF}){0,20}") {
            let _ = parse(&text);
        }
    }
}
