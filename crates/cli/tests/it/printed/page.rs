//! A page of Markdown as blocks of commands.

use std::path::{Path, PathBuf};

use super::session::Printed;

pub(super) struct Page {
    pub(super) path: String,
    file: PathBuf,
    pub(super) blocks: Vec<Block>,
}

#[derive(Default)]
pub(super) struct Block {
    pub(super) not_run: Option<String>,
    pub(super) is_new_project: bool,
    /// A file that the page shows, with its text.
    pub(super) file: Option<(String, String)>,
    pub(super) commands: Vec<TypedCommand>,
}

pub(super) struct TypedCommand {
    pub(super) text: String,
    /// What the page says that it prints; none where the page leaves that open.
    pub(super) printed: Vec<String>,
    /// Its line in the page, from 1.
    pub(super) line: usize,
    /// The lines of the page that `printed` takes: the first, and the one behind the last.
    range: (usize, usize),
    indent: usize,
}

impl Page {
    pub(super) fn read(root: &Path, path: String) -> Self {
        let file = root.join(&path);
        let text = std::fs::read_to_string(&file).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let mut blocks = Vec::new();
        let mut marked = Block::default();
        let mut at = 0;
        while at < lines.len() {
            let line = lines[at];
            let mark = line.trim().strip_prefix("<!-- ").and_then(|it| it.strip_suffix(" -->"));
            let fence = line.trim_start().chars().take_while(|it| *it == '`').count();
            if let Some(mark) = mark {
                marked.note(mark);
                at += 1;
            } else if fence >= 3 {
                let indent = line.len() - line.trim_start().len();
                let language = line.trim_start().trim_start_matches('`').trim();
                let is_end = |it: &&str| it.trim() == "`".repeat(fence);
                let n_lines = lines[at + 1..].iter().take_while(|it| !is_end(it)).count();
                let body: Vec<&str> = lines[at + 1..at + 1 + n_lines]
                    .iter()
                    .map(|it| it.get(indent..).unwrap_or_default())
                    .collect();
                let mut block = std::mem::take(&mut marked);
                match (&mut block.file, language) {
                    (Some((name, text)), _) => {
                        let above = lines[at.saturating_sub(4)..at].iter();
                        let mut visible = above.filter(|it| !it.contains("<!--"));
                        assert!(
                            visible.any(|it| it.contains(&format!("`{name}`"))),
                            "{path}:{}: a reader is not told to write this to `{name}`",
                            at + 1
                        );
                        *text = body.join("\n") + "\n";
                    }
                    (None, "console") => block.commands = console(&body, at + 1, indent),
                    (None, "sh") => block.commands = script(&body, at + 1),
                    (None, _) => {}
                }
                if !block.commands.is_empty() || block.file.is_some() {
                    blocks.push(block);
                }
                at += n_lines + 2;
            } else {
                at += 1;
            }
        }
        Self { path, file, blocks }
    }

    /// Puts what the commands print in the place of what the page says.
    pub(super) fn write_again(&self, printed: &[Printed<'_>]) {
        let text = std::fs::read_to_string(&self.file).unwrap();
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        for it in printed.iter().rev().filter(|it| !it.command.printed.is_empty()) {
            let (begin, end) = it.command.range;
            let indent = " ".repeat(it.command.indent);
            let fresh = it.actual.lines().map(|it| format!("{indent}{it}").trim_end().to_owned());
            lines.splice(begin..end, fresh.collect::<Vec<_>>());
        }
        std::fs::write(&self.file, lines.join("\n") + "\n").unwrap();
    }
}

impl Block {
    fn note(&mut self, mark: &str) {
        if let Some(why) = mark.strip_prefix("not run: ") {
            self.not_run = Some(why.to_owned());
        } else if mark == "new project" {
            self.is_new_project = true;
        } else if let Some(name) = mark.strip_prefix("file: ") {
            self.file = Some((name.to_owned(), String::new()));
        }
    }
}

/// Lines with a prompt are commands, those below are printed by them.
fn console(body: &[&str], first: usize, indent: usize) -> Vec<TypedCommand> {
    let mut commands: Vec<TypedCommand> = Vec::new();
    let mut is_continued = false;
    for (n, line) in body.iter().enumerate() {
        let at = first + n;
        if is_continued {
            let command = commands.last_mut().unwrap();
            command.text = format!("{}\n{line}", command.text);
            command.range = (at + 1, at + 1);
        } else if let Some(text) = line.strip_prefix("$ ") {
            commands.push(TypedCommand {
                text: text.to_owned(),
                printed: Vec::new(),
                line: at + 1,
                range: (at + 1, at + 1),
                indent,
            });
        } else {
            let Some(command) = commands.last_mut() else {
                panic!("a console block begins with a command: {line}");
            };
            command.printed.push((*line).to_owned());
            command.range.1 = at + 1;
            continue;
        }
        is_continued = line.ends_with('\\');
    }
    commands
}

/// Every line is a command.
fn script(body: &[&str], first: usize) -> Vec<TypedCommand> {
    let mut commands: Vec<TypedCommand> = Vec::new();
    let mut is_continued = false;
    for (n, line) in body.iter().enumerate() {
        if is_continued {
            let command = commands.last_mut().unwrap();
            command.text = format!("{}\n{line}", command.text);
        } else if !line.trim().is_empty() && !line.trim_start().starts_with('#') {
            let at = first + n + 1;
            let text = (*line).to_owned();
            commands.push(TypedCommand {
                text,
                printed: Vec::new(),
                line: at,
                range: (at, at),
                indent: 0,
            });
        }
        is_continued = line.ends_with('\\');
    }
    commands
}
