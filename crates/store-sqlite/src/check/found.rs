//! The problems that a check has found: the first few in words, the others counted.

use baton_core::plural::counted;
use baton_store::StoreCheck;

/// Enough to see what happened; a broken table would repeat the same sentence for pages.
const MOST_IN_WORDS: usize = 10;

/// The problems of one table.
#[derive(Debug)]
pub(super) struct FoundProblems {
    table: &'static str,
    lines: Vec<String>,
    n_more: u64,
}

impl FoundProblems {
    pub(super) fn of(table: &'static str) -> Self {
        Self { table, lines: Vec::new(), n_more: 0 }
    }

    pub(super) fn add(&mut self, problem: impl Into<String>) {
        if self.lines.len() < MOST_IN_WORDS {
            self.lines.push(problem.into());
        } else {
            self.n_more += 1;
        }
    }

    /// Adds a problem with its row.
    pub(super) fn in_row(&mut self, number: i64, what: &str) {
        self.add(format!("row {number} of `{}`: {what}", self.table));
    }

    pub(super) fn into_check(mut self) -> StoreCheck {
        let n_problems = self.lines.len() as u64 + self.n_more;
        match self.n_more {
            0 => {}
            n => self.lines.push(format!("`{}`: {}", self.table, counted(n, "more problem"))),
        }
        StoreCheck { problems: self.lines, n_problems }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_table_does_not_fill_pages() {
        let mut found = FoundProblems::of("events");
        for number in 1..=1000 {
            found.in_row(number, "it is gone");
        }
        let StoreCheck { problems: lines, n_problems } = found.into_check();
        assert_eq!((lines.len(), n_problems), (11, 1000));
        assert_eq!(lines[0], "row 1 of `events`: it is gone");
        assert_eq!(lines[10], "`events`: 990 more problems");
    }
}
