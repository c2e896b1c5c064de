//! What is unfinished, switched off or silenced does not go in.

use anyhow::Result;

use super::project::{self, File};

/// Each with what to do instead. They are put together from pieces, so that this file has none.
const MARKS: &[(&str, &str)] = &[
    (concat!("to", "do!("), "write it, or leave it out"),
    (concat!("unimple", "mented!("), "write it, or leave it out"),
    (concat!("#[", "ignore"), "a test that does not run is not a test"),
    (concat!("#[", "allow("), "write `#[expect(lint, reason = \"...\")]`"),
    (concat!("#![", "allow("), "write `#![expect(lint, reason = \"...\")]`"),
    (concat!("FIX", "ME"), "fix it, or open an issue"),
    (concat!("db", "g!("), "take it out"),
];

pub(super) fn check() -> Result<Vec<String>> {
    Ok(project::rust_files()?.iter().flat_map(problems).collect())
}

fn problems(file: &File) -> Vec<String> {
    let mut problems = Vec::new();
    for (number, line) in file.numbered_lines() {
        for (mark, instead) in MARKS.iter().filter(|(mark, _)| line.contains(mark)) {
            problems.push(format!("{}:{number}: `{mark}`: {instead}", file.path));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::project::file;

    #[test]
    fn no_file_has_a_forbidden_mark() {
        crate::tidy::assert_holds(check);
    }

    #[test]
    fn every_mark_is_found_wherever_it_stands() {
        for (mark, instead) in MARKS {
            let text = format!("fn a() {{\n    b(); // {mark}\n}}\n");
            let expected = format!("a.rs:2: `{mark}`: {instead}");
            assert_eq!(problems(&file("a.rs", &text)), [expected]);
        }
    }

    #[test]
    fn an_expectation_with_a_reason_is_welcome() {
        let text = "#[expect(unused, reason = \"shown in the docs\")]\nfn a() {}\n";
        assert_eq!(problems(&file("a.rs", text)), [""; 0]);
    }
}
