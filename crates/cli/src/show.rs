//! Output: tables for people, JSON for programs.

mod approvals;
mod audit;
mod conversation;
mod events;
mod graph;
mod handoffs;
mod messages;
mod output;
mod pasted;
mod runs;
mod stories;
mod style;
mod table;
mod text;
mod time;
mod usage;
mod workflow_graph;
mod workflows;

pub(crate) use approvals::{approvals, given_approvals};
pub(crate) use audit::audit_table;
pub(crate) use baton_core::plural::{counted, counted_as};
pub(crate) use conversation::{conversation_item, decision, decision_line};
pub(crate) use events::Telling;
pub(crate) use graph::{mermaid, picture};
pub(crate) use handoffs::{handoff_page, handoffs_table, n_offered_again, unverified};
pub(crate) use messages::messages;
pub(crate) use output::{
    answer, answer_as, answer_bytes, answer_document, answer_json, answer_json_line, answer_lines,
    answer_text, confirmed, error_line, hint_line, note, note_json, note_text, pretty,
    problem_lines, typed_line,
};
pub(crate) use pasted::{as_caller, pasted, remember_place};
pub(crate) use runs::{passed_gates_table, runs_table, whereabouts};
pub(crate) use stories::{stories_table, story_page};
pub(crate) use style::{bad, bold, dim, good, mark, warn};
pub(crate) use table::{cell, commands, fields, list, list_cutting, list_or_two, table};
pub(crate) use text::{block, one_line, shortened, shortened_line, visible};
pub(crate) use time::{TimeFormat, ago};
pub(crate) use usage::{budget, usage_table, usage_total};
pub(crate) use workflow_graph::{graph_json, graph_page, refused_rejects};
pub(crate) use workflows::{asks, workflow_page};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutputFormat {
    Table,
    Json,
}
