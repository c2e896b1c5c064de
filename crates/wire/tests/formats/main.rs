//! The formats as a user of the crate meets them: the seeds' examples, chains, hostile texts.

mod chains;
mod fixtures;
