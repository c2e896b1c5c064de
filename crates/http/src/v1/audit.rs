//! The audit log over all runs: page by page, and as one export.

pub(super) mod checkpoints;
pub(super) mod redactions;
pub(super) mod retention;

use std::collections::HashMap;
use std::sync::Arc;

use axum::body::Body;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse as _, Response};
use baton_api::{AuditEntry, ExportFormat, ExportWriter, OrderWord, Page};
use baton_core::content::ContentId;
use baton_core::gate::Answer;
use baton_core::names::AgentId;
use baton_core::workflow::Workflow;
use baton_engine::{EngineError, Texts};
use baton_store::{HandoffFilter, HandoffRow, RunRef};
use baton_views::{Cast, GateRecord};
use futures_util::stream::unfold;
use serde::Deserialize;
use utoipa::IntoParams;

use super::agents::step_title;
use super::answer::{ApiResponse, after, limit};
use super::approvals::names_of;
use super::dates::{first_instant, instant_after};
use super::window;
use crate::lookup::run_id;
use crate::openapi::ReadProblems;
use crate::params::Params;
use crate::pipeline::rows::ReasonLength;
use crate::problem::ApiProblem;
use crate::scope::RequestScope;

/// How many rows of an export are in memory at once.
const EXPORT_ROWS: u32 = 500;

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct AuditQuery {
    /// Only this run: its id, its number or its story's key.
    #[param(min_length = 1, max_length = 200)]
    run: Option<String>,
    /// The first day in UTC, or the first instant as RFC 3339 has it.
    #[param(pattern = r"^\d{4}-\d{2}-\d{2}([Tt].+)?$")]
    from_date: Option<String>,
    /// The last day in UTC, or the last instant. Both ends are included.
    #[param(pattern = r"^\d{4}-\d{2}-\d{2}([Tt].+)?$")]
    to_date: Option<String>,
    /// The sender or the receiver.
    #[param(pattern = "^[a-z0-9]+(-[a-z0-9]+)*$", max_length = 64)]
    agent: Option<String>,
    #[serde(default)]
    #[param(inline)]
    order: OrderWord,
    /// Only what comes after this cursor: `next` of the previous page.
    #[param(minimum = 0)]
    after: Option<i64>,
    /// The page size at most.
    #[param(minimum = 1, maximum = 500, default = 50)]
    limit: Option<u32>,
}

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ExportQuery {
    /// It has to be there.
    #[param(inline, required = true)]
    format: Option<ExportFormat>,
    /// Only this run: its id, its number or its story's key.
    #[param(min_length = 1, max_length = 200)]
    run: Option<String>,
    /// The first day in UTC, or the first instant as RFC 3339 has it.
    #[param(pattern = r"^\d{4}-\d{2}-\d{2}([Tt].+)?$")]
    from_date: Option<String>,
    /// The last day in UTC, or the last instant. Both ends are included.
    #[param(pattern = r"^\d{4}-\d{2}-\d{2}([Tt].+)?$")]
    to_date: Option<String>,
    /// The sender or the receiver.
    #[param(pattern = "^[a-z0-9]+(-[a-z0-9]+)*$", max_length = 64)]
    agent: Option<String>,
}

/// Lists the handoffs of all runs.
///
/// Who handed what to whom, in the order in which they were recorded. If few match the filter, a
/// page may be short and still have a `next`.
#[utoipa::path(get, path = "/api/v1/audit", operation_id = "listAudit", tag = "audit",
    params(AuditQuery),
    responses(
        (status = 200, description = "One page of the audit log", body = Page<AuditEntry>),
        ReadProblems))]
pub(super) async fn list(
    app: RequestScope,
    Params(query): Params<AuditQuery>,
) -> Result<ApiResponse<Page<AuditEntry>>, ApiProblem> {
    let limit = limit(query.limit)?;
    let filter = HandoffFilter {
        order: query.order.0,
        after: after(query.after)?,
        limit: limit + 1,
        ..range(&app, query.run, query.from_date, query.to_date, query.agent).await?
    };
    let found = window::handoffs(*app.read(), &filter).await?;
    let entries = entries(&app, &found.rows).await?;
    let numbered = entries.into_iter().map(|it| (it.number, it)).collect();
    Ok(ApiResponse::new(window::page(numbered, found.given_up_at(), limit)))
}

/// Exports the handoffs of all runs.
///
/// One row for each handoff, oldest first, sent as it is read. In CSV, a cell that a spreadsheet
/// would take for a formula begins with an apostrophe.
#[utoipa::path(get, path = "/api/v1/audit/export", operation_id = "exportAudit", tag = "audit",
    params(ExportQuery),
    responses(
        (status = 200, description = "The rows", content(
            (String = "text/csv"),
            (Vec<AuditEntry> = "application/json"),
            (String = "application/jsonl"))),
        ReadProblems))]
pub(super) async fn export(
    app: RequestScope,
    Params(query): Params<ExportQuery>,
) -> Result<Response, ApiProblem> {
    let Some(format) = query.format else {
        let message = "`format` is missing: it is `csv`, `json` or `jsonl`";
        return Err(ApiProblem::malformed("missing_field", message));
    };
    let filter = HandoffFilter {
        limit: EXPORT_ROWS,
        ..range(&app, query.run, query.from_date, query.to_date, query.agent).await?
    };
    let writer = ExportWriter::new(format);
    let export = Export { app, filter, writer, part: ExportPart::Begin };
    let bytes = unfold(export, async |mut export| {
        let text = export.next().await?;
        Some((text, export))
    });
    let name = format!("attachment; filename=\"handoffs.{}\"", format.name());
    let headers = [(CONTENT_TYPE, format.media_type().to_owned()), (CONTENT_DISPOSITION, name)];
    Ok((headers, Body::from_stream(bytes)).into_response())
}

async fn range(
    app: &RequestScope,
    run: Option<String>,
    from_date: Option<String>,
    to_date: Option<String>,
    agent: Option<String>,
) -> Result<HandoffFilter, ApiProblem> {
    Ok(HandoffFilter {
        run: run_id(app, run.as_deref()).await?,
        // Unknown ids are allowed: an agent that is in no file any more may have sent handoffs.
        with: agent.as_deref().map(AgentId::parse).transpose()?,
        created_from: first_instant(from_date.as_deref(), "fromDate")?,
        created_before: instant_after(to_date.as_deref(), "toDate")?,
        // A question does not move responsibility.
        only_moves: true,
        ..HandoffFilter::default()
    })
}

/// An export under way.
struct Export {
    app: RequestScope,
    filter: HandoffFilter,
    writer: ExportWriter,
    part: ExportPart,
}

#[derive(Clone, Copy)]
enum ExportPart {
    Begin,
    Rows,
    End,
}

impl Export {
    /// The next part. A failure breaks the body off, so that a part is not taken for the whole.
    async fn next(&mut self) -> Option<Result<String, EngineError>> {
        match self.part {
            ExportPart::Begin => {
                self.part = ExportPart::Rows;
                Some(Ok(self.writer.begin()))
            }
            ExportPart::Rows => match self.rows().await {
                Ok(text) => Some(Ok(text)),
                Err(error) => {
                    tracing::error!(
                        error = &error as &dyn std::error::Error,
                        "an export broke off"
                    );
                    self.part = ExportPart::End;
                    Some(Err(error))
                }
            },
            ExportPart::End => None,
        }
    }

    async fn rows(&mut self) -> Result<String, EngineError> {
        let found = window::handoffs(*self.app.read(), &self.filter).await?;
        let text = self.writer.rows(&entries(&self.app, &found.rows).await?);
        let is_full = found.rows.len() >= EXPORT_ROWS as usize;
        let last = found.rows.last().filter(|_| is_full).map(|it| it.number);
        match last.or(found.given_up_at()) {
            Some(after) => {
                self.filter.after = after;
                Ok(text)
            }
            None => {
                self.part = ExportPart::End;
                Ok(text + self.writer.end())
            }
        }
    }
}

/// A run as its handoffs need it.
struct Background {
    number: u64,
    workflow: Arc<Workflow>,
    cast: Cast,
    gates: GateRecord,
}

async fn entries(app: &RequestScope, rows: &[HandoffRow]) -> Result<Vec<AuditEntry>, EngineError> {
    let texts = app.read().words_of(rows).await?;
    let mut runs = HashMap::new();
    for row in rows {
        if runs.contains_key(&row.run) {
            continue;
        }
        let run = app.read().run(&RunRef::Id(row.run)).await?;
        let workflow = app.read().workflow_of(&run).await?;
        let cast = app.read().cast(&run.run).await?;
        let gates = app.read().gate_record(row.run).await?;
        runs.insert(row.run, Background { number: run.number, workflow, cast, gates });
    }
    let entry = |row: &HandoffRow| Some(entry(row, runs.get(&row.run)?, &texts));
    Ok(rows.iter().filter_map(entry).collect())
}

fn entry(row: &HandoffRow, run: &Background, texts: &Texts) -> AuditEntry {
    let (reason, reason_truncated) = ReasonLength::Excerpt.of(texts.get(row.reason).whole());
    let ended = row.ended_reason.and_then(|it| texts.get(it).whole());
    let (ended_reason, ended_reason_truncated) = ReasonLength::Excerpt.of(ended);
    let is_damaged = |id: Option<ContentId>| id.is_some_and(|it| texts.get(it).is_damaged());
    let damaged = [
        ("fromAgentName", run.cast.is_damaged(&row.from.agent, row.no)),
        ("toAgentName", run.cast.is_damaged(&row.to.agent, row.no)),
        ("reason", is_damaged(Some(row.reason))),
        ("endedReason", is_damaged(row.ended_reason)),
    ];
    let damaged = damaged.into_iter().filter(|it| it.1);
    let answer = run.gates.answer_to(row.no);
    // A reject is no success.
    let is_reject = answer.is_some_and(|it| it.answer == Answer::Reject);
    AuditEntry {
        number: row.number,
        id: row.id.0,
        label: row.no.label(),
        run: run.number,
        run_id: row.run.0,
        story: row.story.to_string(),
        workflow: run.workflow.name.to_string(),
        kind: row.kind.into(),
        from_agent: row.from.agent.to_string(),
        from_agent_name: run.cast.at(&row.from.agent, row.no).name,
        to_agent: row.to.agent.to_string(),
        to_agent_name: run.cast.at(&row.to.agent, row.no).name,
        timestamp: row.created_at,
        workflow_step: row.to.place.as_step().map(ToString::to_string),
        step_name: step_title(&run.workflow, &row.to.place),
        reason,
        reason_truncated,
        state: row.state.into(),
        outcome: row.outcome.filter(|_| !is_reject).map(Into::into),
        attempt: row.attempt,
        accepted_at: row.accepted_at,
        ended_at: row.ended_at,
        ended_reason,
        ended_reason_truncated,
        approved_by: names_of(&run.gates.approved_by(row)),
        answer: answer.map(|it| it.answer.name().to_owned()),
        answered_by: names_of(&run.gates.answered_by(row.no)),
        reason_by: run.gates.author_of_reason(row).map(|it| it.by.to_string()),
        damaged: damaged.map(|(name, _)| name.to_owned()).collect(),
    }
}
