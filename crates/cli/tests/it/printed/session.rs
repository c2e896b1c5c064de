//! Commands typed into one bash, and what they print.

use std::fmt::Write as _;
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use super::page::{Block, TypedCommand};
use super::project_root;

/// The usual port of a server, as the pages print it.
const PORT: &str = "4180";
/// Longer than all commands of a page take.
const MOST_SECONDS: &str = "300";
/// Waits until a file has so many lines: for what runs in the background.
const WAIT_FOR_LINES: &str = r#"
wait_for_lines() {
  for ((n = 0; n < 1500; n++)); do
    if (($(wc -l <"$1") >= $2)); then return; fi
    sleep 0.02
  done
}
"#;

/// What is in the background ends, the newest first: a client does not see its server go.
const STOP: &str = r#"
for job in $(jobs -p | tac); do
  kill "$job"
  wait "$job"
done
exit 0
"#;

pub(super) struct Session<'a> {
    page: &'a str,
    blocks: Vec<&'a Block>,
    port: String,
}

/// A command, and what it printed.
pub(super) struct Printed<'a> {
    pub(super) command: &'a TypedCommand,
    pub(super) actual: String,
    code: i32,
}

impl<'a> Session<'a> {
    pub(super) fn new(page: &'a str, blocks: Vec<&'a Block>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port().to_string();
        Self { page, blocks, port }
    }

    pub(super) fn run(&self) -> Vec<Printed<'a>> {
        let commands: Vec<&TypedCommand> = self.run_blocks().flat_map(|it| &it.commands).collect();
        if commands.is_empty() {
            return Vec::new();
        }
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let (home, outputs) = (root.join("ada"), root.join("outputs"));
        let shop = home.join("shop");
        std::fs::create_dir_all(&shop).unwrap();
        std::fs::create_dir_all(&outputs).unwrap();
        copy(&project_root().join("examples"), &shop.join("examples"));
        let script = root.join("script.sh");
        std::fs::write(&script, self.script(&outputs)).unwrap();
        let baton = Path::new(env!("CARGO_BIN_EXE_baton")).parent().unwrap();
        let path = std::env::var("PATH").unwrap();
        let ended = Command::new("timeout")
            .args([MOST_SECONDS, "bash"])
            .arg(&script)
            .current_dir(&shop)
            .env("PATH", format!("{}:{path}", baton.display()))
            .envs([("HOME", home.to_str().unwrap()), ("USER", "ada"), ("TZ", "UTC")])
            .envs([("NO_COLOR", "1"), ("COLUMNS", "100")])
            .env_remove("BATON_URL")
            .output()
            .unwrap();
        assert!(ended.status.success(), "{}: {ended:?}", self.page);
        let shown_home = (home.to_str().unwrap().to_owned(), "/home/ada".to_owned());
        let shown_port = (format!(":{}", self.port), format!(":{PORT}"));
        let printed = |(n, command): (usize, &'a TypedCommand)| {
            let actual = std::fs::read_to_string(outputs.join(format!("{n}.out"))).unwrap();
            let code = std::fs::read_to_string(outputs.join(format!("{n}.code"))).unwrap();
            let actual = actual.replace(&shown_home.0, &shown_home.1);
            let actual = actual.replace(&shown_port.0, &shown_port.1);
            Printed { command, actual, code: code.trim().parse().unwrap() }
        };
        commands.into_iter().enumerate().map(printed).collect()
    }

    fn run_blocks(&self) -> impl Iterator<Item = &'a Block> + use<'a, '_> {
        self.blocks.iter().copied().filter(|it| it.not_run.is_none())
    }

    /// All commands in one shell, the output of each in a file of its own.
    fn script(&self, outputs: &Path) -> String {
        let outputs = outputs.display();
        let mut script = format!("exec </dev/null\n{WAIT_FOR_LINES}");
        let mut n = 0;
        for block in self.run_blocks() {
            if let Some((name, text)) = &block.file {
                let _ = writeln!(script, "mkdir -p \"$(dirname '{name}')\"");
                let _ = write!(script, "cat >'{name}' <<'END OF FILE'\n{text}END OF FILE\n");
            }
            for command in &block.commands {
                let text = self.with_port(&command.text);
                let _ = writeln!(script, "{{ {text}\n}} >{outputs}/{n}.out 2>&1");
                let _ = writeln!(script, "echo $? >{outputs}/{n}.code");
                let is_in_background =
                    text.split(" #").next().is_some_and(|it| it.trim_end().ends_with('&'));
                if is_in_background {
                    let n_lines = command.printed.iter().filter(|it| *it != "...").count().max(1);
                    let _ = writeln!(script, "wait_for_lines {outputs}/{n}.out {n_lines}");
                }
                n += 1;
            }
        }
        script + STOP
    }

    fn with_port(&self, command: &str) -> String {
        let listen = format!("baton serve --listen 127.0.0.1:{}", self.port);
        let is_listening = command.contains("--listen");
        let command = command.replace(PORT, &self.port);
        if is_listening { command } else { command.replace("baton serve", &listen) }
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

impl Printed<'_> {
    /// None where the page is right.
    pub(super) fn why_wrong(&self) -> Option<String> {
        let printed: Vec<&str> = self.command.printed.iter().map(String::as_str).collect();
        let is_refused = printed.iter().any(|it| it.starts_with("error"));
        match (is_refused, self.code) {
            (true, 0) => return Some("it succeeds, and the page says that it fails".to_owned()),
            (false, 0) | (true, _) => {}
            (false, code) => return Some(format!("it fails with exit code {code}")),
        }
        let is_same = printed.is_empty() || matches(&printed, &self.actual);
        (!is_same).then(|| "it prints something else than the page".to_owned())
    }
}

pub(super) fn matches(expected: &[&str], actual: &str) -> bool {
    let actual: Vec<String> = actual.trim_end().lines().map(normalized).collect();
    let actual: Vec<&str> = actual.iter().map(String::as_str).collect();
    let expected: Vec<String> = expected.iter().map(|it| normalized(it)).collect();
    let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
    lines_match(&expected, &actual)
}

fn lines_match(expected: &[&str], actual: &[&str]) -> bool {
    match (expected, actual) {
        ([], actual) => actual.is_empty(),
        (["..." | "…", rest @ ..], actual) => {
            (0..=actual.len()).any(|n_skipped| lines_match(rest, &actual[n_skipped..]))
        }
        ([line, rest @ ..], [first, others @ ..]) => {
            line_matches(line, first) && lines_match(rest, others)
        }
        ([_, ..], []) => false,
    }
}

fn line_matches(expected: &str, actual: &str) -> bool {
    let expected = expected.replace("...", "…");
    let actual = actual.replace("...", "…");
    let mut parts = expected.split('…');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = actual.strip_prefix(first) else { return false };
    let mut is_whole = true;
    let mut last = "";
    for part in parts {
        is_whole = false;
        last = part;
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    if is_whole { rest.is_empty() } else { last.is_empty() || actual.ends_with(last) }
}

/// A line with times, dates, ids and hashes as their kinds.
fn normalized(line: &str) -> String {
    let is_word = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | ':' | '.');
    let mut text = String::new();
    let mut rest = line.trim_end();
    while let Some(begin) = rest.find(is_word) {
        let word = &rest[begin..];
        let end = word.find(|it| !is_word(it)).unwrap_or(word.len());
        let (word, after) = word.split_at(end);
        text.push_str(&rest[..begin]);
        text.push_str(kind_of(word).unwrap_or(word));
        rest = after;
    }
    text += rest;
    while let Some((before, after)) = text.split_once(" ago") {
        let words = before.rsplitn(3, ' ').nth(2).unwrap_or_default();
        text = format!("{words} <age>{after}");
    }
    aligned_anew(&text)
}

/// Columns are as wide as their longest cell, which may be a time.
fn aligned_anew(line: &str) -> String {
    let text = line.trim_start();
    let mut aligned = line[..line.len() - text.len()].to_owned();
    let cells = text.split("  ").map(str::trim).filter(|it| !it.is_empty());
    aligned.push_str(&cells.collect::<Vec<_>>().join("  "));
    aligned
}

fn kind_of(word: &str) -> Option<&'static str> {
    let shape: String =
        word.chars().map(|it| if it.is_ascii_hexdigit() { 'x' } else { it }).collect();
    let digits: String =
        word.chars().map(|it| if it.is_ascii_digit() { '0' } else { it }).collect();
    match (shape.as_str(), digits.as_str()) {
        ("xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx", _) => Some("<id>"),
        (_, "00:00:00" | "00:00") => Some("<time>"),
        (_, "0000-00-00") => Some("<date>"),
        (_, digits) if digits.starts_with("0000-00-00T00:00:00") => Some("<moment>"),
        (shape, _) if shape.len() >= 16 && shape.chars().all(|it| it == 'x') => Some("<hash>"),
        _ => None,
    }
}
