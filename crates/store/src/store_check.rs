//! The result of a check of the store itself.

/// The problems of a store: the first ones of each table in words, all of them counted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StoreCheck {
    /// By table and row. For a table with many problems, the last line counts the remaining ones.
    pub problems: Vec<String>,
    /// The number of problems, including those that a line of `problems` only counts.
    pub n_problems: u64,
}

impl StoreCheck {
    /// Adds the result of another check.
    pub fn extend(&mut self, other: StoreCheck) {
        self.problems.extend(other.problems);
        self.n_problems += other.n_problems;
    }
}

impl From<Vec<String>> for StoreCheck {
    /// Each line is a problem.
    fn from(problems: Vec<String>) -> Self {
        let n_problems = problems.len() as u64;
        Self { problems, n_problems }
    }
}
