//! The documents, run as printed: every `console` and `sh` block of README.md, `docs/*.md` and
//! `docs/how-to/*.md`.
//!
//! The blocks of a page are typed into one bash, from top to bottom, in a new folder that holds a copy
//! of `examples/`. In a `console` block the lines after `$ ` are commands, and the lines below a
//! command are what it prints, stderr too:
//!
//! - nothing below a command: it has to succeed, and may print anything;
//! - a line `...` stands for any lines, and `...` or `…` within a line for any characters;
//! - times, ages (`3 s ago`), dates, ids and hashes match any other of their kind, and blanks between
//!   columns any other number of them;
//! - a command that prints a line beginning with `error` has to fail, every other to succeed;
//! - after a command in the background (`&`), the next waits until it has printed as many lines.
//!
//! In an `sh` block every line is a command. The port 4180 is replaced by a free one in commands, and
//! back in what they print; the project's folder is printed as `/home/ada/shop`.
//!
//! Comments above a block say how it is tested. None of them does what a reader, who does not see it,
//! would have to do as well: what a page needs stands in it.
//!
//! - `<!-- not run: WHY -->`: the block is not run;
//! - `<!-- new project -->`: it begins in a new folder, as the text above it says;
//! - `<!-- file: NAME -->`: above a block of any language, which is written to that file. The text
//!   above it names the file.
//!
//! `UPDATE_EXPECT=1` writes what the commands print into the pages.

mod page;
mod session;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use expect_test::expect;

use self::page::{Block, Page};
use self::session::Session;

fn project_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every page with blocks that a reader would type.
fn pages() -> Vec<Page> {
    let root = project_root();
    let mut paths = vec!["README.md".to_owned()];
    for folder in ["docs", "docs/how-to"] {
        let entries = std::fs::read_dir(root.join(folder)).unwrap();
        let names = entries.map(|it| it.unwrap().file_name().into_string().unwrap());
        let pages = names.filter(|it| it.ends_with(".md")).map(|it| format!("{folder}/{it}"));
        paths.extend(pages);
    }
    paths.sort();
    let page = |path: String| Page::read(&root, path);
    paths.into_iter().map(page).filter(|it| !it.blocks.is_empty()).collect()
}

/// A block that is marked as not run has to be entered here, so that none is left out unnoticed.
#[test]
fn the_blocks_that_are_not_run_are_these() {
    let mut list = String::new();
    let mut n_run = 0;
    for page in pages() {
        for block in &page.blocks {
            match &block.not_run {
                Some(why) => writeln!(list, "{}: {why}", page.path).unwrap(),
                None => n_run += usize::from(!block.commands.is_empty()),
            }
        }
    }
    writeln!(list, "run: {n_run} blocks").unwrap();
    expect![[r#"
        README.md: it builds and installs the program; `baton demo` has tests of its own
        README.md: these are the commands of the repository
        docs/benchmarks.md: these are the commands of the repository
        docs/benchmarks.md: this takes several minutes on a quiet machine
        docs/how-to/checks.md: it needs work that waits for it
        docs/how-to/database.md: it needs a PostgreSQL
        docs/how-to/database.md: it needs a PostgreSQL
        docs/how-to/database.md: it needs a PostgreSQL
        docs/how-to/decide-and-share.md: it follows the run until its end
        docs/how-to/demo.md: the tests in `demo.rs` play it
        docs/how-to/do.md: it starts real agents
        docs/how-to/recover.md: it needs a damaged database; the tests in `recover.rs` damage one
        docs/how-to/runner.md: they do not end by themselves
        docs/how-to/runner.md: it needs a second machine
        docs/how-to/runner.md: it needs a run that an agent has worked on
        docs/how-to/runner.md: it needs a run that an agent has worked on
        run: 74 blocks
    "#]]
    .assert_eq(&list);
}

#[test]
fn every_block_does_what_it_prints() {
    let pages = pages();
    let checked: Vec<Vec<String>> = std::thread::scope(|scope| {
        let runs: Vec<_> = pages.iter().map(|page| scope.spawn(|| check(page))).collect();
        runs.into_iter().map(|it| it.join().unwrap()).collect()
    });
    let failures = checked.concat();
    assert!(
        failures.is_empty(),
        "{} commands do not do what their page prints; `UPDATE_EXPECT=1` writes what they print \
         into the pages\n\n{}",
        failures.len(),
        failures.join("\n")
    );
}

/// What the page says otherwise than the program.
fn check(page: &Page) -> Vec<String> {
    let mut printed = Vec::new();
    let mut blocks: &[Block] = &page.blocks;
    while let Some((first, rest)) = blocks.split_first() {
        let n_more = rest.iter().take_while(|it| !it.is_new_project).count();
        let (more, others) = rest.split_at(n_more);
        let session: Vec<&Block> = std::iter::once(first).chain(more).collect();
        printed.extend(Session::new(&page.path, session).run());
        blocks = others;
    }
    let wrong: Vec<_> = printed.into_iter().filter(|it| it.why_wrong().is_some()).collect();
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        page.write_again(&wrong);
    }
    let describe = |it: &session::Printed<'_>| {
        let why = it.why_wrong().unwrap_or_default();
        format!("{}:{}: {why}\n$ {}\n{}\n", page.path, it.command.line, it.command.text, it.actual)
    };
    wrong.iter().map(describe).collect()
}

#[test]
fn a_wildcard_stands_for_lines_or_characters() {
    let is_same = |expected: &[&str], actual: &str| session::matches(expected, actual);
    assert!(is_same(&["a", "b"], "a\nb\n"));
    assert!(!is_same(&["a"], "a\nb\n"));
    assert!(!is_same(&["a", "b", "c"], "a\nb\n"));
    assert!(is_same(&["a", "..."], "a\nb\nc\n"));
    assert!(is_same(&["a", "...", "c"], "a\nc\n"));
    assert!(!is_same(&["a", "...", "d"], "a\nb\nc\n"));
    assert!(is_same(&["from … to d"], "from b and c to d\n"));
    assert!(is_same(&["from ..."], "from b\n"));
    assert!(!is_same(&["from …d"], "from b\n"));
    assert!(is_same(
        &["12:03:04 run `2b0a1c4e-0000-7000-8000-000000000000`"],
        "23:59:59 run `01a1e7f0-886f-76a1-a17b-f429ca3cd052`\n"
    ));
    assert!(is_same(&["1  a  9 s ago   b"], "1  a  10 min ago  b\n"));
    assert!(!is_same(&["handoff 1"], "handoff 2\n"));
}
