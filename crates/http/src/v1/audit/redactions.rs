//! Redaction: drops texts of a run, and records that.

use axum::http::StatusCode;
use baton_api::{DroppedBefore, HandoffPart, RedactedText, RedactionRequest, RedactionResult};
use baton_core::content::ContentId;
use baton_core::hash::Hash;
use baton_core::names::FreeText;
use baton_engine::{CommandMode, KeptFile};
use baton_store::{HandoffRow, RunRow};

use super::super::answer::ApiResponse;
use super::super::files::parse_hash;
use super::super::handoffs::document::refused;
use super::super::write::{RunCommandParams, WriteRequest};
use crate::lookup::{find_handoff, find_run, not_found};
use crate::openapi::WriteProblems;
use crate::params::Named;
use crate::problem::ApiProblem;
use crate::scope::RequestScope;

/// Drops texts of a run for good.
///
/// The texts and their nonces are deleted and overwritten; readers show `[redacted]`. The log still
/// verifies, and an event says who did it and why. Copies that were made before (backups, exports)
/// are not changed.
#[utoipa::path(post, path = "/api/v1/runs/{run}/redactions", operation_id = "redactTexts",
    tag = "audit",
    params(RunCommandParams),
    request_body = RedactionRequest,
    responses(
        (status = 200, description = "What was dropped, or would be", body = RedactionResult),
        WriteProblems))]
pub(in crate::v1) async fn redact(
    app: RequestScope,
    Named(name): Named,
    write: WriteRequest<RedactionRequest>,
) -> Result<ApiResponse<RedactionResult>, ApiProblem> {
    write.caller.check_no_attempt("redact")?;
    let run = find_run(&app, &name).await?;
    let reason = FreeText::parse(&write.asked.reason)?;
    let wanted = wanted(&app, &run, &name, &write.asked).await?;
    let ids: Vec<ContentId> = wanted.iter().map(|(id, _)| *id).collect();
    let there = write.caller.redactable(run.run.id, &ids).await?;
    for id in &asked_by_hash(&write.asked) {
        if !there.contains(id) {
            check_known(&app, &write, &run, *id).await?;
        }
    }
    let done = write.caller.redact(run.run.id, &there, &reason).await;
    if let Err(error) = done {
        return Err(refused(&app, error).await);
    }
    let before = write.caller.dropped_texts(run.run.id).await?;
    let is_recorded = write.caller.mode() != CommandMode::DryRun && !there.is_empty();
    let show = |id: ContentId, what: String| RedactedText { text: id.0.to_string(), what };
    let (mut redacted, mut already_redacted) = (Vec::new(), Vec::new());
    for (id, what) in wanted {
        if there.contains(&id) {
            redacted.push(show(id, what));
        } else if let Some(it) = before.iter().find(|it| it.id == id) {
            let (text, by) = (show(id, what), it.by.to_string());
            already_redacted.push(DroppedBefore { text, at: it.at, by });
        }
    }
    Ok(ApiResponse::new(RedactionResult {
        run: run.number,
        run_id: run.run.id.0,
        is_recorded,
        redacted,
        already_redacted,
    }))
}

fn asked_by_hash(asked: &RedactionRequest) -> Vec<ContentId> {
    asked.texts.iter().filter_map(|it| Hash::parse(it)).map(ContentId).collect()
}

/// Refuses a hash that no text of the run ever had: whoever mistypes one must not believe that the text
/// is gone. What all runs share is there, and stays.
async fn check_known(
    app: &RequestScope,
    write: &WriteRequest<RedactionRequest>,
    run: &RunRow,
    id: ContentId,
) -> Result<(), ApiProblem> {
    let before = write.caller.dropped_texts(run.run.id).await?;
    // Lost texts are recorded, and so known; one that is not there at all is told as a damaged one.
    let is_known = !app.read().texts(run.run.id, [id]).await?.get(id).is_damaged();
    if is_known || before.iter().any(|it| it.id == id) {
        return Ok(());
    }
    let message = format!(
        "run {} has no text with the hash {}; the body of an event names its texts: \
         `baton audit export --format jsonl --events`",
        run.number, id.0
    );
    Err(not_found("no_such_text", message))
}

/// The texts that the request names, and what each is.
async fn wanted(
    app: &RequestScope,
    run: &RunRow,
    name: &str,
    asked: &RedactionRequest,
) -> Result<Vec<(ContentId, String)>, ApiProblem> {
    let mut wanted = Vec::new();
    if let Some(handoff) = &asked.handoff {
        let row = find_handoff(app, handoff, Some(name)).await?;
        if row.run != run.run.id {
            let message = format!("run {} has no handoff `{handoff}`", run.number);
            return Err(not_found("no_such_handoff", message));
        }
        let all = HandoffPart::ALL.into_iter();
        let parts = all.filter(|it| asked.parts.is_empty() || asked.parts.contains(it));
        for part in parts {
            let Some(id) = text_of(&row, part) else { continue };
            if part == HandoffPart::Package && !run.run.is_finished() {
                let message = format!(
                    "run {} is under way and may need the package of {} again; finish or cancel it, \
                     or redact other parts",
                    run.number, row.no
                );
                return Err(ApiProblem::new(StatusCode::CONFLICT, "wrong_state", message));
            }
            wanted.push((id, format!("{} {}", row.no, part.name())));
        }
    }
    for hash in &asked.texts {
        let id = Hash::parse(hash).map(ContentId).ok_or_else(|| {
            let message = format!("`{hash}` is no hash of a text: it has 64 hexadecimal digits");
            ApiProblem::malformed("wrong_type", message)
        })?;
        let is_package = app.read().texts(run.run.id, [id]).await?.is_package(id);
        if is_package && !run.run.is_finished() {
            let message =
                format!("run {} is under way and may need that package again", run.number);
            return Err(ApiProblem::new(StatusCode::CONFLICT, "wrong_state", message));
        }
        wanted.push((id, "text".to_owned()));
    }
    wanted.extend(wanted_files(app, run, &asked.files).await?);
    if wanted.is_empty() {
        let message = "`handoff`, `texts` or `files` says which texts to drop; these name none";
        return Err(ApiProblem::malformed("missing_field", message));
    }
    Ok(wanted)
}

/// The bytes and the records of files; those of equal files together.
async fn wanted_files(
    app: &RequestScope,
    run: &RunRow,
    asked: &[String],
) -> Result<Vec<(ContentId, String)>, ApiProblem> {
    let mut wanted: Vec<(ContentId, String)> = Vec::new();
    for sha256 in asked {
        let hash = parse_hash(sha256)?;
        let files = app.read().files(run.run.id).await?;
        let same = |it: &&KeptFile| it.record().is_some_and(|it| it.sha256 == Some(hash));
        let mut same = files.iter().filter(same).peekable();
        if same.peek().is_none() {
            let message = format!("run {} has no file with the hash {hash}", run.number);
            return Err(not_found("no_such_file", message));
        }
        for file in same {
            let what = format!("{} {}", file.handoff, file.kind.name());
            for id in file.texts() {
                if wanted.iter().all(|it| it.0 != id) {
                    wanted.push((id, what.clone()));
                }
            }
        }
    }
    Ok(wanted)
}

fn text_of(row: &HandoffRow, part: HandoffPart) -> Option<ContentId> {
    match part {
        HandoffPart::Package => row.package,
        HandoffPart::Reason => Some(row.reason),
        HandoffPart::EndedReason => row.ended_reason,
        HandoffPart::Acknowledgement => row.acknowledgement,
    }
}
