//! What a handoff is and how it may move. No I/O, no clock, no async.

pub mod agent;
pub mod canonical;
pub mod contract;
pub mod document;
pub mod hash;
pub mod names;
pub mod outcome;
pub mod problem;
pub mod story;
pub mod workflow;
