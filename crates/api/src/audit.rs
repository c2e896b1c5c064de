//! The audit log: one line for each handoff, of every run, as a document and as a row of CSV.

use baton_wire::csv;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::word::{KindWord, OutcomeWord, StateWord};

/// One handoff in the audit log: who handed what to whom, when, why, and how it ended.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditEntry {
    /// Consecutive over all runs.
    pub number: u64,
    pub id: Uuid,
    /// Counted in its run.
    pub label: String,
    /// The number of its run.
    pub run: u64,
    pub run_id: Uuid,
    pub story: String,
    pub workflow: String,
    pub kind: KindWord,
    /// The sender's id.
    pub from_agent: String,
    /// The sender as it was called then.
    pub from_agent_name: String,
    /// The receiver's id.
    pub to_agent: String,
    /// The receiver as it was called then.
    pub to_agent_name: String,
    /// When it was created.
    pub timestamp: Timestamp,
    /// The id of the step that it went to; null if it went to none.
    pub workflow_step: Option<String>,
    /// That step's title.
    pub step_name: Option<String>,
    /// At most 1,000 characters. Null if it was lost in a recovery or is damaged.
    pub reason: Option<String>,
    /// Only present if true.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reason_truncated: bool,
    pub state: StateWord,
    pub outcome: Option<OutcomeWord>,
    pub attempt: u32,
    pub accepted_at: Option<Timestamp>,
    pub ended_at: Option<Timestamp>,
    /// As `reason`: why it ended.
    pub ended_reason: Option<String>,
    /// Only present if true.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ended_reason_truncated: bool,
    /// The people that approved it, separated by commas, as stated: nothing proves the names.
    pub approved_by: Option<String>,
    /// What a person answered, such as `approve` or `reject`, where it is a gate; else null.
    pub answer: Option<String>,
    /// Who gave that answer: of several approvals all, separated by commas.
    pub answered_by: Option<String>,
    /// The person whose words `reason` is, where they are not the sender's; else null.
    pub reason_by: Option<String>,
    /// Members that are null because the stored text is damaged; omitted if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub damaged: Vec<String>,
}

impl AuditEntry {
    /// The names of the columns, in order.
    pub const COLUMNS: [&'static str; 26] = [
        "number",
        "id",
        "label",
        "run",
        "runId",
        "story",
        "workflow",
        "kind",
        "fromAgent",
        "fromAgentName",
        "toAgent",
        "toAgentName",
        "timestamp",
        "workflowStep",
        "stepName",
        "reason",
        "state",
        "outcome",
        "attempt",
        "acceptedAt",
        "endedAt",
        "endedReason",
        "approvedBy",
        "answer",
        "answeredBy",
        "reasonBy",
    ];

    /// The record above all others.
    pub fn csv_header() -> String {
        csv::record(Self::COLUMNS)
    }

    /// Absent values are empty cells.
    pub fn csv_record(&self) -> String {
        let time = |it: Option<Timestamp>| it.map(|it| it.to_string()).unwrap_or_default();
        let text = |it: &Option<String>| it.clone().unwrap_or_default();
        let cells: [String; 26] = [
            self.number.to_string(),
            self.id.to_string(),
            self.label.clone(),
            self.run.to_string(),
            self.run_id.to_string(),
            self.story.clone(),
            self.workflow.clone(),
            self.kind.0.name().to_owned(),
            self.from_agent.clone(),
            self.from_agent_name.clone(),
            self.to_agent.clone(),
            self.to_agent_name.clone(),
            self.timestamp.to_string(),
            text(&self.workflow_step),
            text(&self.step_name),
            text(&self.reason),
            self.state.0.name().to_owned(),
            self.outcome.map(|it| it.0.name().to_owned()).unwrap_or_default(),
            self.attempt.to_string(),
            time(self.accepted_at),
            time(self.ended_at),
            text(&self.ended_reason),
            text(&self.approved_by),
            text(&self.answer),
            text(&self.answered_by),
            text(&self.reason_by),
        ];
        csv::record(cells.iter().map(String::as_str))
    }
}

/// The form of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ExportFormat {
    Csv,
    /// One array.
    Json,
    /// One document per line.
    Jsonl,
}

impl ExportFormat {
    pub const ALL: [Self; 3] = [Self::Csv, Self::Json, Self::Jsonl];

    pub fn name(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Json => "json",
            Self::Jsonl => "jsonl",
        }
    }

    pub fn media_type(self) -> &'static str {
        match self {
            Self::Csv => "text/csv; charset=utf-8",
            Self::Json => "application/json",
            Self::Jsonl => "application/jsonl",
        }
    }
}

/// Writes an export part by part: what precedes the rows, each page of rows, what follows them.
#[derive(Debug)]
pub struct ExportWriter {
    format: ExportFormat,
    n_rows: u64,
}

impl ExportWriter {
    pub fn new(format: ExportFormat) -> Self {
        Self { format, n_rows: 0 }
    }

    pub fn begin(&self) -> String {
        match self.format {
            ExportFormat::Csv => AuditEntry::csv_header(),
            ExportFormat::Json => "[".to_owned(),
            ExportFormat::Jsonl => String::new(),
        }
    }

    pub fn rows(&mut self, entries: &[AuditEntry]) -> String {
        let mut text = String::new();
        for entry in entries {
            match self.format {
                ExportFormat::Csv => text += &entry.csv_record(),
                ExportFormat::Json => {
                    text.push_str(if self.n_rows == 0 { "\n" } else { ",\n" });
                    text += &encoded(entry);
                }
                ExportFormat::Jsonl => {
                    text += &encoded(entry);
                    text.push('\n');
                }
            }
            self.n_rows += 1;
        }
        text
    }

    pub fn end(&self) -> &'static str {
        match self.format {
            ExportFormat::Csv | ExportFormat::Jsonl => "",
            ExportFormat::Json => "\n]\n",
        }
    }
}

fn encoded(entry: &AuditEntry) -> String {
    match serde_json::to_string(entry) {
        Ok(text) => text,
        Err(error) => unreachable!("our own types always encode: {error}"),
    }
}
