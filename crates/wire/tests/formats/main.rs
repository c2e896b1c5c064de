//! The formats as a user of the crate meets them: the examples, chains, hostile texts.
#![expect(clippy::unwrap_used, reason = "these are tests")]
#![expect(clippy::disallowed_methods, reason = "tests make and read files of their own")]

mod chains;
mod docs;
mod fixtures;
mod fuzz;
mod hostile;
