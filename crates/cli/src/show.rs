//! How answers look: tables for people, JSON for programs.

mod events;
mod graph;
mod handoffs;
mod runs;
mod stories;
mod style;
mod table;
mod time;
mod workflow_graph;
mod workflows;

use baton_core::document::Node;
use baton_wire::json;

pub(crate) use events::Telling;
pub(crate) use graph::mermaid;
pub(crate) use handoffs::{handoff_page, handoffs_table};
pub(crate) use runs::{runs_table, whereabouts};
pub(crate) use stories::{stories_table, story_page};
pub(crate) use style::{bad, bold, dim, good, mark, warn};
pub(crate) use table::{fields, table};
pub(crate) use time::{Times, ago};
pub(crate) use workflow_graph::{graph_json, graph_page, refused_rejects};
pub(crate) use workflows::{agent_json, workflow_json, workflow_page};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Table,
    Json,
}

/// Prints an answer. Text that comes from others is shown with its invisible characters visible.
pub(crate) fn answer(text: &str) {
    answer_text(&format!("{}\n", text.trim_end_matches('\n')));
}

/// Prints a text to the letter.
pub(crate) fn answer_text(text: &str) {
    use std::io::Write as _;
    let mut stdout = anstream::stdout().lock();
    let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    match written.map_err(|error| (error.kind(), error)) {
        Ok(()) => {}
        // Whoever listened has heard enough. What was done is done, and on disk.
        Err((std::io::ErrorKind::BrokenPipe, _)) => std::process::exit(0),
        Err((_, error)) => {
            note(&format!("error: the answer cannot be written: {error}"));
            std::process::exit(5);
        }
    }
}

/// The API's own answer.
pub(crate) fn answer_document(document: &str) {
    answer(&pretty(document));
}

/// JSON for people: one member a line. What is nested too deep for that stays as it is.
pub(crate) fn pretty(document: &str) -> String {
    let read = json::parse_within(document, usize::MAX);
    read.map_or_else(|_| document.to_owned(), |it| json::print_pretty(&it))
}

pub(crate) fn answer_json(node: &Node) {
    answer(&json::print_pretty(node));
}

/// `1 run`, `2 runs`.
pub(crate) fn counted(n: u64, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

/// Says something that is not the answer.
pub(crate) fn note(text: &str) {
    anstream::eprintln!("{text}");
}

pub(crate) fn error_line(message: &str, code: &str) {
    anstream::eprintln!(
        "{} {} {}",
        style::bad("error:"),
        visible(message),
        dim(&format!("[{code}]"))
    );
}

pub(crate) fn problem_lines(problems: &[String]) {
    for problem in problems {
        anstream::eprintln!("  {} {}", style::bad("-"), visible(problem));
    }
}

/// Text of others on a terminal: control and bidi characters could hide or forge what is shown.
pub(crate) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for it in text.chars() {
        match it {
            '\n' | '\t' => shown.push(it),
            it if baton_core::names::is_invisible(it) => {
                shown.push_str(&format!("\\u{{{:x}}}", it as u32));
            }
            it => shown.push(it),
        }
    }
    shown
}

/// One line of at most `most` characters.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = visible(&line);
    if line.chars().count() <= most {
        return line;
    }
    let cut: String = line.chars().take(most.saturating_sub(1)).collect();
    format!("{cut}…")
}

#[cfg(test)]
mod tests {
    use baton_hostile::{Steep, Target, patterns_for};

    use super::*;

    #[test]
    fn text_of_others_cannot_play_tricks_on_a_terminal() {
        assert_eq!(visible("a\u{1b}[2Jb"), "a\\u{1b}[2Jb");
        assert_eq!(visible("\u{202e}gpj"), "\\u{202e}gpj");
        assert_eq!(visible("line\n\ttab"), "line\n\ttab");
    }

    #[test]
    fn a_long_text_is_cut_to_a_line() {
        assert_eq!(shortened("one\n two  three", 20), "one two three");
        assert_eq!(shortened("one two three", 8), "one two…");
    }

    #[test]
    fn making_characters_visible_is_linear() {
        let mut steep = Steep::default();
        for pattern in patterns_for(Target::Text) {
            steep.look(pattern.name, |n| pattern.text(n), |text| visible(text));
        }
        steep.assert_none();
    }
}
