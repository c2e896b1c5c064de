//! Output: tables for people, JSON for programs.

mod events;
mod graph;
mod handoffs;
mod messages;
mod pasted;
mod runs;
mod stories;
mod style;
mod table;
mod text;
mod time;
mod workflow_graph;
mod workflows;

use baton_core::document::Node;
use baton_wire::json;
use serde::Serialize;

pub(crate) use events::Telling;
pub(crate) use graph::{mermaid, picture};
pub(crate) use handoffs::{handoff_page, handoffs_table};
pub(crate) use messages::messages;
pub(crate) use pasted::{pasted, remember_place};
pub(crate) use runs::{passed_gates_table, runs_table, whereabouts};
pub(crate) use stories::{stories_table, story_page};
pub(crate) use style::{bad, bold, dim, good, mark, warn};
pub(crate) use table::{fields, table};
pub(crate) use text::{block, one_line, shortened, visible};
pub(crate) use time::{TimeFormat, ago};
pub(crate) use workflow_graph::{graph_json, graph_page, refused_rejects};
pub(crate) use workflows::{asks, workflow_page};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutputFormat {
    Table,
    Json,
}

/// Prints an answer. Invisible characters in foreign text are made visible.
pub(crate) fn answer(text: &str) {
    answer_text(&format!("{}\n", text.trim_end_matches('\n')));
}

/// Prints a text verbatim.
pub(crate) fn answer_text(text: &str) {
    use std::io::Write as _;
    let mut stdout = anstream::stdout().lock();
    let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    match written.map_err(|error| (error.kind(), error)) {
        Ok(()) => {}
        // The reader closed the pipe. The command is done, and on disk.
        Err((std::io::ErrorKind::BrokenPipe, _)) => std::process::exit(0),
        Err((_, error)) => {
            note(&format!("error: the answer cannot be written: {error}"));
            std::process::exit(5);
        }
    }
}

/// Prints the API's own answer.
pub(crate) fn answer_document(document: &str) {
    answer(&pretty(document));
}

/// JSON for people: one member per line. Too deeply nested JSON is printed unchanged.
pub(crate) fn pretty(document: &str) -> String {
    let read = json::parse_within(document, usize::MAX);
    read.map_or_else(|_| document.to_owned(), |it| json::print_pretty(&it))
}

/// Prints an answer of the API's that was made here.
pub(crate) fn answer_as<T: Serialize>(document: &T) {
    match serde_json::to_string(document) {
        Ok(text) => answer_document(&text),
        Err(error) => unreachable!("our own types always encode: {error}"),
    }
}

pub(crate) fn answer_json(node: &Node) {
    answer(&json::print_pretty(node));
}

/// `1 run`, `2 runs`.
pub(crate) fn counted(n: u64, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

/// Prints a message that is not part of the answer.
pub(crate) fn note(text: &str) {
    anstream::eprintln!("{}", pasted(text));
}

pub(crate) fn error_line(message: &str, code: &str) {
    anstream::eprintln!(
        "{} {} {}",
        style::bad("error:"),
        visible(&pasted(message)),
        dim(&format!("[{code}]"))
    );
}

pub(crate) fn problem_lines(problems: &[String]) {
    for problem in problems {
        anstream::eprintln!("  {} {}", style::bad("-"), visible(problem));
    }
}
