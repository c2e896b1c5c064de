//! `baton completions` and what its scripts ask: `baton __complete`, the words that could stand at the
//! end of a command line. It never fails, and it changes nothing.

mod candidates;
mod position;
mod scripts;
mod words;

use std::time::Duration;

use clap_complete::Shell;

use self::candidates::OfferedWord;
use self::position::{LineEnd, position};
#[cfg(test)]
pub(crate) use self::words::split as shell_words;
use crate::args::{self, Cli};
use crate::failure::Failure;
use crate::show;

/// A shell that waits longer seems stuck.
const PATIENCE: Duration = Duration::from_millis(500);

/// The first line of an answer: complete file names instead.
const FILES: &str = ":files";
/// The first line of an answer: only what follows.
const VALUES: &str = ":values";

/// Prints the script for a shell. Those that can be asked for values while a command is typed ask.
pub(crate) fn script(shell: Shell) -> Result<(), Failure> {
    let asking =
        [(Shell::Bash, scripts::BASH), (Shell::Zsh, scripts::ZSH), (Shell::Fish, scripts::FISH)];
    if let Some((_, script)) = asking.iter().find(|(it, _)| *it == shell) {
        show::answer_lines(script);
        return Ok(());
    }
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut args::root(), "baton", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    show::answer_lines(&script);
    Ok(())
}

/// Prints what the last word could be: one candidate a line, behind a tab what it is.
pub(crate) async fn run(cli: &Cli, shell: &str, words: &[String]) {
    let words = match (shell, words) {
        ("bash", [line]) => words::typed(line),
        (_, words) => words.to_vec(),
    };
    let Some((current, before)) = words.split_last() else { return };
    let found = position(&args::root(), before, current);
    let answer = match found {
        LineEnd::Files => FILES.to_owned(),
        LineEnd::Words(words) => listed(shell, current, words),
        LineEnd::Values { role, prefix } => {
            let place = candidates::TypedProject::of(cli, before);
            let found = tokio::time::timeout(PATIENCE, candidates::of(&place, role)).await;
            let mut found = found.unwrap_or_default();
            for it in &mut found {
                it.word = format!("{prefix}{}", it.word);
            }
            listed(shell, current, found)
        }
    };
    show::answer_text(&format!("{answer}\n"));
}

/// The candidates that go on from what was typed. Bash replaces only what is behind the last colon or
/// equals sign.
fn listed(shell: &str, current: &str, found: Vec<OfferedWord>) -> String {
    let cut = match shell {
        "bash" => current.rfind([':', '=']).map_or(0, |at| at + 1),
        _ => 0,
    };
    let mut lines = vec![VALUES.to_owned()];
    for OfferedWord { word, about } in found {
        let is_plain = !word.contains(['\t', '\n', '\r', '\u{1b}']);
        if !is_plain || !word.starts_with(current) {
            continue;
        }
        let about = show::shortened(&about, 60);
        match (shell, about.as_str()) {
            ("bash", _) => lines.push(words::escaped(&word[cut..])),
            (_, "") => lines.push(word),
            (_, about) => lines.push(format!("{word}\t{about}")),
        }
    }
    lines.join("\n")
}
