//! A file that is too long holds two ideas.

use anyhow::Result;

use super::project::{self, File};

/// Lines of code in one file, unit tests left out.
const MOST_LINES: usize = 500;

pub(super) fn check() -> Result<Vec<String>> {
    Ok(project::rust_files()?.iter().filter_map(problem).collect())
}

fn problem(file: &File) -> Option<String> {
    let n_lines = file.n_lines_before_tests();
    (n_lines > MOST_LINES)
        .then(|| format!("{} has {n_lines} lines, of at most {MOST_LINES}; split it", file.path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::project::file;

    #[test]
    fn files_are_short() {
        crate::tidy::assert_holds(check);
    }

    #[test]
    fn the_line_after_the_last_allowed_one_is_too_much() {
        assert_eq!(problem(&file("a.rs", &"//\n".repeat(500))), None);
        let expected = "a.rs has 501 lines, of at most 500; split it";
        assert_eq!(problem(&file("a.rs", &"//\n".repeat(501))).as_deref(), Some(expected));
    }

    #[test]
    fn unit_tests_may_be_long() {
        let text = format!("//\n#[cfg(test)]\nmod tests {{\n{}}}\n", "//\n".repeat(900));
        assert_eq!(problem(&file("a.rs", &text)), None);
    }
}
