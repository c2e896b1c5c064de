//! Decisions: what was decided in a run, by whom, when and why.

use baton_api::{
    CommandAnswer, DecisionDocument, DecisionRecordDocument, DryRun, NewDecision, Page, Why,
};
use baton_core::collaboration::{Collaboration, DecisionText, RecordDecision};
use baton_core::command::Command;
use baton_core::names::{FreeText, Reason};
use baton_store::RunRow;
use baton_views::{Decided, DecisionRecord};
use serde::Deserialize;
use utoipa::IntoParams;

use super::agents::profile_of;
use super::answer::{ApiResponse, after, cut, limit};
use super::command_result::{WriteAnswer, command_on_run, made_in_run};
use super::write::{CommandDone, RunCommandParams, RunPath, WriteRequest};
use crate::lookup::{by_in, find_run, not_found};
use crate::openapi::{ReadProblems, WriteProblems};
use crate::params::{Named, NumberedIn, Params};
use crate::problem::ApiProblem;
use crate::scope::RequestScope;

/// The query of a list of decisions.
#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct DecisionsQuery {
    /// Only what comes after this cursor: `next` of the previous page.
    #[param(minimum = 0)]
    after: Option<i64>,
    /// The page size at most.
    #[param(minimum = 1, maximum = 500, default = 50)]
    limit: Option<u32>,
    /// Also what is open, what an answer has closed, and what rejected packages had decided.
    #[serde(default)]
    #[param(default = false)]
    all: bool,
}

/// Lists the decisions of a run.
///
/// Oldest first: those of packages that count, those recorded on their own, and what people answered
/// at gates. `after` counts decisions.
#[utoipa::path(get, path = "/api/v1/runs/{run}/decisions", operation_id = "listDecisions",
    tag = "decisions",
    params(RunPath, DecisionsQuery),
    responses(
        (status = 200, description = "One page of decisions",
            body = Page<DecisionDocument>),
        ReadProblems))]
pub(super) async fn list(
    app: RequestScope,
    Named(name): Named,
    Params(query): Params<DecisionsQuery>,
) -> Result<ApiResponse<Page<DecisionDocument>>, ApiProblem> {
    let limit = limit(query.limit)?;
    let run = find_run(&app, &name).await?;
    let decided = match query.all {
        true => app.read().all_decisions(&run).await?,
        false => app.read().decisions(&run).await?,
    };
    let after = usize::try_from(after(query.after)?).unwrap_or(usize::MAX);
    let numbered: Vec<_> = (1..).zip(decided).skip(after).take(limit as usize + 1).collect();
    let number = |(number, _): &(u64, Decided)| number.to_string();
    Ok(ApiResponse::new(cut(numbered, limit, number, |(_, it)| decision(it))))
}

/// Gets a decision by its number.
///
/// With its reasoning, what it replaced, what rests on it, and what contradicts it.
#[utoipa::path(get, path = "/api/v1/runs/{run}/decisions/{number}", operation_id = "getDecision",
    tag = "decisions",
    params(RunPath, ("number" = u32, Path, description = "Counted in the run, from 1")),
    responses((status = 200, description = "The decision", body = DecisionDocument), ReadProblems))]
pub(super) async fn get(
    app: RequestScope,
    NumberedIn(name, number): NumberedIn,
) -> Result<ApiResponse<DecisionDocument>, ApiProblem> {
    let run = find_run(&app, &name).await?;
    Ok(ApiResponse::new(numbered(&app, &run, number).await?).at(run.version))
}

/// Records a decision.
///
/// Nothing moves. What packages decide is recorded when they are handed over, and need not be sent
/// here.
#[utoipa::path(post, path = "/api/v1/runs/{run}/decisions", operation_id = "recordDecision",
    tag = "decisions",
    params(RunCommandParams),
    request_body = NewDecision,
    responses(
        (status = 200, description = "What would happen (`dryRun`)", body = DryRun),
        (status = 201, description = "The decision", body = DecisionDocument),
        WriteProblems))]
pub(super) async fn record(
    app: RequestScope,
    Named(name): Named,
    write: WriteRequest<NewDecision>,
) -> Result<ApiResponse<WriteAnswer<DecisionDocument>>, ApiProblem> {
    decide(&app, &name, &write, None).await
}

/// Replaces a decision by another.
///
/// The old one stays as it was, marked as superseded. A locked one is replaced only by a person. An
/// open one is closed by this.
#[utoipa::path(post, path = "/api/v1/runs/{run}/decisions/{number}/supersede",
    operation_id = "supersedeDecision", tag = "decisions",
    params(RunCommandParams, ("number" = u32, Path, description = "Counted in the run, from 1")),
    request_body = NewDecision,
    responses(
        (status = 200, description = "What would happen (`dryRun`)", body = DryRun),
        (status = 201, description = "The new decision", body = DecisionDocument),
        WriteProblems))]
pub(super) async fn supersede(
    app: RequestScope,
    NumberedIn(name, number): NumberedIn,
    write: WriteRequest<NewDecision>,
) -> Result<ApiResponse<WriteAnswer<DecisionDocument>>, ApiProblem> {
    decide(&app, &name, &write, Some(number)).await
}

/// Locks a decision.
///
/// From then on only a person supersedes it. Only a person locks one.
#[utoipa::path(post, path = "/api/v1/runs/{run}/decisions/{number}/lock",
    operation_id = "lockDecision", tag = "decisions",
    params(RunCommandParams, ("number" = u32, Path, description = "Counted in the run, from 1")),
    request_body = Why,
    responses(CommandDone, WriteProblems))]
pub(super) async fn lock(
    app: RequestScope,
    NumberedIn(name, decision): NumberedIn,
    write: WriteRequest<Why>,
) -> Result<ApiResponse<CommandAnswer>, ApiProblem> {
    let run = find_run(&app, &name).await?.run.id;
    let by = write.caller.principal().clone();
    let reason = write.asked.reason.as_deref().map(Reason::parse).transpose()?;
    let command = Collaboration::LockDecision { decision, by, reason };
    command_on_run(&app, &write.caller, run, Command::Collaborate(command)).await
}

async fn decide(
    app: &RequestScope,
    name: &str,
    write: &WriteRequest<NewDecision>,
    supersedes: Option<u32>,
) -> Result<ApiResponse<WriteAnswer<DecisionDocument>>, ApiProblem> {
    let row = find_run(app, name).await?;
    let run = row.run.id;
    let asked = &write.asked;
    let words = |text: &str| FreeText::parse(text).map(|it| it.as_str().to_owned());
    let subject = match (asked.subject.as_deref(), supersedes) {
        (Some(subject), _) => Some(words(subject)?),
        // What replaces a decision is about the same, so that another one on it still contradicts.
        (None, Some(before)) => subject_of(app, &row, before).await?,
        (None, None) => None,
    };
    let text = DecisionText {
        decision: words(&asked.decision)?,
        rationale: asked.rationale.as_deref().map(words).transpose()?,
        subject,
        alternatives: asked.alternatives.iter().map(|it| words(it)).collect::<Result<_, _>>()?,
    };
    let command = Collaboration::Decide(RecordDecision {
        by: by_in(app, &row.run, asked.agent.as_deref())?,
        principal: write.caller.principal().clone(),
        text,
        supersedes,
        depends_on: asked.depends_on.clone(),
    });
    made_in_run(app, &write.caller, run, Command::Collaborate(command), async |row| {
        let number = u32::try_from(row.run.decisions.len()).unwrap_or(u32::MAX);
        Ok((numbered(app, row, number).await?, format!("decisions/{number}")))
    })
    .await
}

async fn subject_of(
    app: &RequestScope,
    run: &RunRow,
    number: u32,
) -> Result<Option<String>, ApiProblem> {
    let decided = app.read().all_decisions(run).await?;
    let is_it = |it: &Decided| it.record.as_ref().is_some_and(|it| it.no == number);
    let found = decided.into_iter().find(is_it);
    // The id of a decision in its package is its subject, but for that of an open one.
    let id = |it: &Decided| it.decision.id.clone().filter(|_| !it.decision.is_open());
    Ok(found.and_then(|it| it.record.as_ref().and_then(|it| it.subject.clone()).or(id(&it))))
}

async fn numbered(
    app: &RequestScope,
    run: &RunRow,
    number: u32,
) -> Result<DecisionDocument, ApiProblem> {
    let decided = app.read().all_decisions(run).await?;
    let is_it = |it: &Decided| it.record.as_ref().is_some_and(|it| it.no == number);
    let found = decided.into_iter().find(is_it).map(decision);
    let message = || format!("there is no decision {number} in this run");
    found.ok_or_else(|| not_found("no_such_decision", message()))
}

fn decision(it: Decided) -> DecisionDocument {
    DecisionDocument {
        attribution: it.attribution(),
        id: it.decision.id,
        decision: it.decision.decision,
        rationale: it.decision.rationale,
        asked_by: it.asked_by.map(profile_of),
        recorded_by: it.recorded_by.map(|it| it.to_string()),
        decided_by: profile_of(it.shown),
        person: it.person.map(|it| it.to_string()),
        answer: it.answer.map(|it| it.name().to_owned()),
        decided_at: it.at,
        handoff: it.row.as_ref().map(|it| it.no.label()),
        handoff_id: it.row.map(|it| it.id.0),
        record: it.record.map(record_document),
    }
}

fn record_document(it: DecisionRecord) -> DecisionRecordDocument {
    DecisionRecordDocument {
        number: it.no,
        status: it.status.name().to_owned(),
        subject: it.subject,
        alternatives: it.alternatives,
        locked_by: it.locked_by.map(|it| it.to_string()),
        lock_reason: it.lock_reason,
        supersedes: it.supersedes,
        superseded_by: it.superseded_by,
        depends_on: it.depends_on,
        dependents: it.dependents,
        conflicts_with: it.conflicts_with,
    }
}
