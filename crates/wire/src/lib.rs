//! The formats Baton reads and prints: documents in JSON, XML, YAML and Markdown; workflow, agent,
//! project and story files.
//!
//! Everything that a person or an agent wrote comes in here and leaves as checked values of
//! `baton-core`, or as a list of problems, each with its position. Nothing here touches a disk or a
//! network.

pub mod checkpoint;
pub mod csv;
pub mod event;
pub mod extract;
pub mod file_record;
pub mod formats;
pub mod json;

pub mod agent_file;
pub mod project_file;
pub mod script_file;
pub mod simulation_script;
pub mod story_file;
pub mod workflow_file;

pub mod builtin;
pub mod database_url;
pub mod requirements;
pub mod run_log;
pub mod schema;

pub mod file_problem;
pub mod located;
pub mod position;
pub mod suggest;

mod duplicates;
mod fields;
mod shown;
