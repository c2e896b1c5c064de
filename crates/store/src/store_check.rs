//! What a check of the store itself has found.

/// What is wrong with a store: the first problems of each table in words, all of them counted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StoreCheck {
    /// By table and row. Of a table with many problems the last line says how many more it has.
    pub problems: Vec<String>,
    /// How many there are, with those that a line of `problems` only counts.
    pub n_problems: u64,
}

impl StoreCheck {
    /// Adds what was found elsewhere.
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
