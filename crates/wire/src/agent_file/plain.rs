//! Agent files without front matter: the whole text is the prompt. The name is the file's, and the
//! description is the first heading, or the first sentence where the heading repeats the name.

use baton_core::agent::Agent;
use baton_core::names::AgentId;

use super::{AgentFile, KEYS, NO_FRONT_MATTER, is_fence, prompt};
use crate::file_problem::Problems;
use crate::position::TextPosition;
use crate::shown::shown;
use crate::workflow_file::as_title;

const MOST_DESCRIPTION_CHARS: usize = 300;

pub(super) fn read(name: &str, text: &str, problems: &mut Problems) -> Option<AgentFile> {
    if let Some((at, message)) = broken_front_matter(text) {
        problems.add(at, "", "no_front_matter", message);
        return None;
    }
    let id = match AgentId::parse(name) {
        Ok(id) if !id.is_human() && !id.is_orchestrator() => Some(id),
        Ok(id) => {
            let message = format!("`{id}` is reserved; give the file another name");
            problems.add(TextPosition::START, "", "reserved_agent", message);
            None
        }
        Err(error) => {
            let message =
                format!("the file's name `{}` is the agent's: {error}; rename it", shown(name));
            problems.add(TextPosition::START, "", "bad_name", message);
            None
        }
    };
    let prompt = prompt(text, text.strip_prefix('\u{FEFF}').unwrap_or(text), problems);
    let (id, prompt) = (id?, prompt?);
    let title = as_title(id.as_str());
    let agent = Agent {
        description: description(&title, &prompt),
        name: title,
        id,
        capabilities: Vec::new(),
        avatar: None,
        color: None,
        prompt,
    };
    let (accepts, produces, lines) = (Vec::new(), Vec::new(), Vec::new());
    Some(AgentFile { agent, tools: None, tool: None, model: None, accepts, produces, lines })
}

/// The first line with something on it, and its number from 1.
pub(super) fn first_line(text: &str) -> Option<(usize, &str)> {
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    let mut lines = text.lines().enumerate().filter(|(_, it)| !it.trim().is_empty());
    lines.next().map(|(index, line)| (index + 1, line))
}

/// Front matter that was meant, but lacks a line of `---` or does not begin on the first line.
fn broken_front_matter(text: &str) -> Option<(TextPosition, String)> {
    let (line, first) = first_line(text)?;
    let at = TextPosition { line, column: 1 };
    if is_fence(first) {
        let message = match line {
            1 => "the front matter has no end: add a line `---` below it".to_owned(),
            _ => "the front matter must begin on the first line: remove what is above".to_owned(),
        };
        return Some((at, message));
    }
    let key = first.split_once(':').map(|(key, _)| key.trim());
    key.filter(|it| KEYS.contains(it)).map(|_| {
        let message = format!("{NO_FRONT_MATTER}: add a line `---` at the top");
        (at, message)
    })
}

/// One line for people: what the agent is for.
fn description(title: &str, prompt: &str) -> String {
    let lines = || prompt.lines().map(str::trim);
    let heading = lines().find_map(|it| it.strip_prefix('#'));
    let heading = heading.map(|it| it.trim_matches(['#', ' ']).to_owned());
    let heading = heading.filter(|it| !it.is_empty());
    if let Some(heading) = heading.as_ref().filter(|it| !is_name(it, title)) {
        return shortened(heading);
    }
    match first_sentence(prompt).or(heading) {
        Some(text) => shortened(&text),
        None => title.to_owned(),
    }
}

/// `Code Reviewer Agent` says no more than `code-reviewer`.
fn is_name(heading: &str, title: &str) -> bool {
    let words = |text: &str| {
        let text = text.to_lowercase();
        let words = text.split(|it: char| !it.is_alphanumeric()).map(str::to_owned);
        words.filter(|it| !it.is_empty() && it != "agent" && it != "the").collect::<Vec<_>>()
    };
    words(heading) == words(title)
}

/// Of the first paragraph that is neither a heading nor a quote, a list, a table or code.
fn first_sentence(prompt: &str) -> Option<String> {
    let is_prose =
        |it: &&str| !it.is_empty() && !it.starts_with(['#', '>', '-', '*', '`', '|', '<']);
    let mut lines = prompt.lines().map(str::trim).skip_while(|it| !is_prose(it));
    let mut paragraph = String::new();
    for line in lines.by_ref().take_while(is_prose) {
        paragraph += line;
        paragraph.push(' ');
    }
    let paragraph = paragraph.trim();
    let end = paragraph.find(". ").map_or(paragraph.len(), |it| it + 1);
    (!paragraph.is_empty()).then(|| paragraph[..end].to_owned())
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(MOST_DESCRIPTION_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{is_agent_file, parse_file};

    #[track_caller]
    fn check_description(text: &str, expected: &str) {
        let file = parse_file("code-reviewer", text).unwrap();
        assert_eq!(file.agent.id.as_str(), "code-reviewer");
        assert_eq!(file.agent.name, "Code reviewer");
        assert_eq!(file.agent.prompt, text.trim());
        assert_eq!(file.agent.description, expected);
    }

    #[track_caller]
    fn check_bad(name: &str, text: &str, expected: &str) {
        let problems = parse_file(name, text).unwrap_err();
        let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(lines.join("\n"), expected);
    }

    #[test]
    fn a_text_without_front_matter_is_the_prompt_of_the_agent_that_the_file_is_named_after() {
        check_description("# Reviews every change\n\nLook closely.\n", "Reviews every change");
        check_description(
            "# Code Reviewer Agent\n\n> **Context:** x\n\nYou review\nchanges. Always.\n",
            "You review changes.",
        );
        check_description("# Code reviewer\n- one\n- two\n", "Code reviewer");
        check_description("Look at version 1.2 closely", "Look at version 1.2 closely");
        check_description("- one thing\n- another\n", "Code reviewer");
        check_description(
            "Note: this begins like no key of ours\n",
            "Note: this begins like no key of ours",
        );
    }

    #[test]
    fn front_matter_that_lacks_a_line_is_not_taken_for_a_prompt() {
        check_bad(
            "coder",
            "name: coder\ndescription: d\n---\nWrite the code.\n",
            "line 1, column 1: must start with its front matter between two lines of `---`: add a line `---` at the top [no_front_matter]",
        );
        check_bad(
            "coder",
            "\n---\nname: coder\n---\nWrite the code.\n",
            "line 2, column 1: the front matter must begin on the first line: remove what is above [no_front_matter]",
        );
        check_bad(
            "coder",
            "---\nname: coder\nWrite the code.\n",
            "line 1, column 1: the front matter has no end: add a line `---` below it [no_front_matter]",
        );
    }

    #[test]
    fn the_name_of_the_file_is_checked_like_a_name_in_it() {
        let text = "---\nname: codr\ndescription: d\n---\nWrite the code.\n";
        check_bad(
            "coder",
            text,
            "line 2, column 7: name: is `codr`, but the file is `coder.md`; write `name: coder`, or rename the file to `codr.md` [misnamed]",
        );
        let error = parse_file("My Coder", "Write the code.").unwrap_err();
        assert_eq!(error[0].problem.rule, "bad_name");
        assert_eq!(
            parse_file("human", "Write the code.").unwrap_err()[0].problem.rule,
            "reserved_agent"
        );
        assert_eq!(parse_file("coder", "short").unwrap_err()[0].problem.rule, "wrong_length");
    }

    #[test]
    fn a_readme_is_no_agent_unless_it_begins_like_one() {
        for name in ["README", "readme", "Readme", "CHANGELOG", "AGENTS"] {
            assert!(!is_agent_file(name, "# Our agents\n"), "{name}");
            assert!(is_agent_file(name, "---\nname: a\n"), "{name}");
        }
        for name in ["coder", "Coder", "my coder", "read-me"] {
            assert!(is_agent_file(name, "# A text\n"), "{name}");
        }
    }
}
