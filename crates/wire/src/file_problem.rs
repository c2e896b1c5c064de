//! A problem in a file, with its position.

use std::fmt;

use baton_core::problem::Problem;

use crate::position::TextPosition;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileProblem {
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    pub problem: Problem,
}

impl fmt::Display for FileProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: ", self.line, self.column)?;
        // A text that is not even YAML has a position but no path.
        if !self.problem.path.is_empty() {
            write!(f, "{}: ", self.problem.path)?;
        }
        write!(f, "{} [{}]", self.problem.message, self.problem.rule)
    }
}

/// More than a person fixes in one go, and a hostile file could have millions.
const MOST_PROBLEMS: usize = 100;

/// The problems found so far. Readers continue after one, so that a person sees all of them.
#[derive(Debug, Default)]
pub(crate) struct Problems(Vec<FileProblem>);

impl Problems {
    pub(crate) fn add(
        &mut self,
        at: TextPosition,
        path: impl Into<String>,
        rule: &str,
        message: impl Into<String>,
    ) {
        self.push(at, Problem::new(path, rule, message));
    }

    pub(crate) fn push(&mut self, at: TextPosition, problem: Problem) {
        if !self.is_full() {
            self.0.push(FileProblem { line: at.line, column: at.column, problem });
        }
    }

    /// True where a problem at this path was added already.
    pub(crate) fn is_about(&self, path: &str) -> bool {
        self.0.iter().any(|it| it.problem.path == path)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// True where looking for more is pointless.
    pub(crate) fn is_full(&self) -> bool {
        self.0.len() >= MOST_PROBLEMS
    }

    /// The value that is read, if there is no problem; else every problem in file order.
    pub(crate) fn collect<T>(
        read: impl FnOnce(&mut Self) -> Option<T>,
    ) -> Result<T, Vec<FileProblem>> {
        let mut problems = Self::default();
        match read(&mut problems) {
            Some(value) if problems.0.is_empty() => Ok(value),
            Some(_) | None => {
                if problems.0.is_empty() {
                    problems.add(TextPosition::START, "", "unreadable", "cannot be read");
                }
                problems.0.sort_by_key(|it| (it.line, it.column));
                Err(problems.0)
            }
        }
    }
}
