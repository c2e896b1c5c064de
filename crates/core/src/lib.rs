//! What a handoff is and how it may move. No I/O, no clock, no async.
//!
//! Read [`run`] for the state of a run, [`command`] for the requests, [`event`] for the facts, and
//! [`decide`] for the rules that turn a command into events.

pub mod acknowledgement;
pub mod agent;
pub mod approval;
pub mod budget;
pub mod canonical;
pub mod checked_work;
pub mod claims;
pub mod collaboration;
pub mod command;
pub mod content;
pub mod contract;
pub mod decide;
pub mod detour;
pub mod document;
pub mod event;
pub mod evidence;
pub mod gate;
pub mod hash;
pub mod invisible;
pub mod lint;
pub mod look_alike;
mod named;
pub mod names;
pub mod order;
pub mod outcome;
pub mod package;
pub mod person;
pub mod plural;
pub mod problem;
pub mod quoted;
pub mod refusal;
pub mod registry;
pub mod run;
pub mod sent_file;
pub mod shell;
pub mod simulate;
pub mod skeleton;
pub mod story;
pub mod view;
pub mod workflow;
