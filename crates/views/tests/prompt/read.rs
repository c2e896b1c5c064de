//! Reads a prompt as its reader would: by what the prompt says about itself, not by our code.

use baton_core::document::Node;
use baton_wire::json;

/// What others wrote, block by block, and everything that stands around the blocks.
pub(crate) struct Read {
    pub(crate) data: Vec<String>,
    pub(crate) rest: String,
}

pub(crate) fn read(prompt: &str) -> Read {
    let (_, behind) = prompt.split_once("begins with `<<<DATA ").unwrap();
    let (word, _) = behind.split_once('`').unwrap();
    let (opening, closing) = (format!("<<<DATA {word} "), format!("DATA {word}>>>"));
    let mut read = Read { data: Vec::new(), rest: String::new() };
    let mut lines = prompt.split('\n');
    while let Some(line) = lines.next() {
        read.rest.push_str(line);
        read.rest.push('\n');
        if !line.starts_with(&opening) {
            continue;
        }
        let mut block = Vec::new();
        for line in lines.by_ref() {
            if line == closing {
                break;
            }
            block.push(line.strip_prefix("| ").expect("every line of data is marked"));
        }
        read.data.push(unmarked(&block.join("\n")));
        read.rest.push_str(&format!("...\n{closing}\n"));
    }
    read
}

fn unmarked(text: &str) -> String {
    let mut parts = text.split('⟦');
    let mut text = parts.next().unwrap().to_owned();
    for part in parts {
        let (name, rest) = part.strip_prefix("U+").unwrap().split_once('⟧').unwrap();
        text.push(char::from_u32(u32::from_str_radix(name, 16).unwrap()).unwrap());
        text.push_str(rest);
    }
    text
}

/// Every command of a prompt that reads something, with what it reads.
pub(crate) fn commands(prompt: &str) -> Vec<(String, String)> {
    let command = |it: &str| {
        let (line, rest) = it.split_once(" <<'BATON'\n")?;
        let (body, _) = rest.split_once("\nBATON\n")?;
        Some((line.to_owned(), quoted(body)))
    };
    prompt.split("```sh\n").skip(1).filter_map(command).collect()
}

/// Every block that a prompt asks to be printed.
pub(crate) fn blocks(prompt: &str) -> Vec<Node> {
    let block = |it: &str| json::parse(&quoted(it.split_once("\n```").unwrap().0)).unwrap();
    prompt.split("```baton\n").skip(1).map(block).collect()
}

/// A body with every mark in quotes, as skeletons have it: JSON that can be read before it is filled in.
pub(crate) fn quoted(body: &str) -> String {
    if !body.starts_with('{') {
        return body.to_owned();
    }
    let line = |line: &str| {
        let (before, value) = match line.split_once("\": <") {
            Some((key, rest)) => (format!("{key}\": "), rest),
            None if line.trim_start().starts_with('<') => {
                let (blanks, rest) = line.split_once('<').unwrap();
                (blanks.to_owned(), rest)
            }
            None => return line.to_owned(),
        };
        let (inside, after) = value.rsplit_once('>').unwrap();
        let at = head_end(inside);
        format!("{before}\"<{}, without quotes{}>\"{after}", &inside[..at], &inside[at..])
    };
    body.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Where the colon of a mark is: the first one that is not between backticks.
fn head_end(inside: &str) -> usize {
    let mut is_quoted = false;
    for (at, it) in inside.char_indices() {
        is_quoted ^= it == '`';
        if !is_quoted && inside[at..].starts_with(": ") {
            return at;
        }
    }
    panic!("{inside}")
}
