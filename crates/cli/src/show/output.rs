//! Where output goes. What others wrote goes through a pipe byte for byte; on a terminal nothing of it
//! is a control character.

use std::fmt::Write as _;
use std::io::{ErrorKind, IsTerminal, Write};

use baton_core::document::Node;
use baton_core::invisible;
use baton_wire::json;
use serde::Serialize;

use super::{dim, pasted, style, visible};

/// Prints an answer in Baton's words. Its colours are for terminals only; what it quotes of others
/// has been made visible.
pub(crate) fn answer(text: &str) {
    let text = format!("{}\n", text.trim_end_matches('\n'));
    let mut stdout = anstream::stdout().lock();
    ended(stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()));
}

/// Prints a text that others wrote, verbatim.
pub(crate) fn answer_text(text: &str) {
    print(text, VerbatimKind::Text);
}

/// Prints a file that others wrote: byte for byte into a pipe.
pub(crate) fn answer_bytes(bytes: &[u8]) {
    let mut stdout = std::io::stdout().lock();
    if stdout.is_terminal() {
        drop(stdout);
        return answer_lines(&String::from_utf8_lossy(bytes));
    }
    ended(stdout.write_all(bytes).and_then(|()| stdout.flush()));
}

/// As [`answer_text`], with a line feed at the end where there is none.
pub(crate) fn answer_lines(text: &str) {
    print(&ended_line(text), VerbatimKind::Text);
}

/// Prints the API's own answer.
pub(crate) fn answer_document(document: &str) {
    print(&ended_line(&pretty(document)), VerbatimKind::Json);
}

/// Prints one JSON document on one line.
pub(crate) fn answer_json_line(document: &str) {
    print(&ended_line(document), VerbatimKind::Json);
}

/// Prints an answer of the API's that was made here.
pub(crate) fn answer_as<T: Serialize>(document: &T) {
    match serde_json::to_string(document) {
        Ok(text) => answer_document(&text),
        Err(error) => unreachable!("our own types always encode: {error}"),
    }
}

pub(crate) fn answer_json(node: &Node) {
    print(&ended_line(&json::print_pretty(node)), VerbatimKind::Json);
}

/// JSON for people: one member per line. Too deeply nested JSON is printed unchanged.
pub(crate) fn pretty(document: &str) -> String {
    let read = json::parse_within(document, usize::MAX);
    read.map_or_else(|_| document.to_owned(), |it| json::print_pretty(&it))
}

/// Prints a message that is not part of the answer.
pub(crate) fn note(text: &str) {
    anstream::eprintln!("{}", pasted(text));
}

/// Prints a text with others' words beside a message, verbatim.
pub(crate) fn note_text(text: &str) {
    complain(text, VerbatimKind::Text);
}

/// Prints the document of a failure.
pub(crate) fn note_json(document: &str) {
    complain(document, VerbatimKind::Json);
}

pub(crate) fn error_line(message: &str, code: &str) {
    let message = visible(&pasted(message));
    anstream::eprintln!("{} {message} {}", style::bad("error:"), dim(&format!("[{code}]")));
}

pub(crate) fn problem_lines(problems: &[String]) {
    for problem in problems {
        anstream::eprintln!("  {} {}", style::bad("-"), visible(problem));
    }
}

pub(crate) fn hint_line(hint: &str) {
    anstream::eprintln!("{} {}", style::warn("hint:"), visible(&pasted(hint)));
}

/// Asks a person at a terminal; the answer is no unless it is yes. `None` where there is no terminal.
pub(crate) fn confirmed(question: &str) -> Option<bool> {
    let answer = typed_line(&format!("{question} [y/N]"))?;
    Some(matches!(answer.to_lowercase().as_str(), "y" | "yes"))
}

/// Asks a person at a terminal for a line; it is empty where nothing was typed. `None` where there is no
/// terminal.
pub(crate) fn typed_line(question: &str) -> Option<String> {
    if !(std::io::stdin().is_terminal() && std::io::stderr().is_terminal()) {
        return None;
    }
    anstream::eprint!("{} ", visible(question));
    let mut line = String::new();
    let read = std::io::stdin().read_line(&mut line);
    Some(if read.is_ok() { line.trim().to_owned() } else { String::new() })
}

/// What a verbatim text is: it decides how a control character is spelled on a terminal.
#[derive(Debug, Clone, Copy)]
enum VerbatimKind {
    Text,
    Json,
}

fn print(text: &str, written: VerbatimKind) {
    let mut stdout = std::io::stdout().lock();
    let text = shown_on(&stdout, text, written);
    ended(stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()));
}

fn complain(text: &str, written: VerbatimKind) {
    let mut stderr = std::io::stderr().lock();
    let text = ended_line(&shown_on(&stderr, text, written));
    // There is no other place to report that this one is closed.
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}

fn shown_on(stream: &impl IsTerminal, text: &str, written: VerbatimKind) -> String {
    match (stream.is_terminal(), written) {
        (false, _) => text.to_owned(),
        (true, VerbatimKind::Text) => on_terminal(text),
        (true, VerbatimKind::Json) => json_on_terminal(text),
    }
}

/// Only line feeds and tabs are left as they are. A Windows line end is a line end.
fn on_terminal(text: &str) -> String {
    invisible::spelled(&text.replace("\r\n", "\n"), |it| format!("\\u{{{:x}}}", it as u32))
}

/// Still the same document: escapes stand for what would be invisible.
fn json_on_terminal(document: &str) -> String {
    invisible::spelled(document, |it| {
        let mut units = [0; 2];
        let mut escaped = String::new();
        for unit in it.encode_utf16(&mut units) {
            // Writing to a string cannot fail.
            let _ = write!(escaped, "\\u{unit:04x}");
        }
        escaped
    })
}

fn ended_line(text: &str) -> String {
    format!("{}\n", text.trim_end_matches('\n'))
}

fn ended(written: std::io::Result<()>) {
    match written.map_err(|error| (error.kind(), error)) {
        Ok(()) => {}
        // The reader closed the pipe. The command is done, and on disk.
        Err((ErrorKind::BrokenPipe, _)) => std::process::exit(0),
        Err((_, error)) => {
            note(&format!("error: the answer cannot be written: {error}"));
            std::process::exit(5);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_gets_no_control_characters() {
        let text = "a\u{1b}[31m\tred\u{7f}\r\nb\rc\u{9b}0m\u{202e}\n";
        assert_eq!(on_terminal(text), "a\\u{1b}[31m\tred\\u{7f}\nb\\u{d}c\\u{9b}0m\\u{202e}\n");
    }

    #[test]
    fn json_on_a_terminal_is_the_same_document() {
        let document = "{\n\t\"k\": \"a\u{7f}\u{202e}b\u{e0001}\"\n}\n";
        let shown = json_on_terminal(document);
        assert_eq!(shown, "{\n\t\"k\": \"a\\u007f\\u202eb\\udb40\\udc01\"\n}\n");
        assert_eq!(json::parse(&shown).unwrap(), json::parse(document).unwrap());
    }
}
