//! What a handoff is and how it may move. No I/O, no clock, no async.
//!
//! Read [`run`] for what a run knows, [`command`] for what may be asked, [`event`] for what may
//! happen, and [`decide`] for what leads from one to the other.

pub mod acknowledgement;
pub mod agent;
pub mod canonical;
pub mod command;
pub mod content;
pub mod contract;
pub mod decide;
pub mod document;
pub mod event;
pub mod evidence;
pub mod gate;
pub mod hash;
pub mod lint;
pub mod names;
pub mod outcome;
pub mod package;
pub mod problem;
pub mod quoted;
pub mod refusal;
pub mod registry;
pub mod run;
pub mod shell;
pub mod story;
pub mod view;
pub mod workflow;
