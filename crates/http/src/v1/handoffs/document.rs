//! A handoff as the native API represents it.

use baton_api::{HandoffDocument, HandoffSummary};
use baton_core::content::ContentId;
use baton_engine::{EngineError, Texts};
use baton_store::HandoffRow;

use crate::pipeline::rows::{ReasonLength, raw_json};
use crate::problem::{self, ApiProblem};
use crate::scope::RequestScope;

fn handoff_summary(row: &HandoffRow, texts: &Texts, shown: ReasonLength) -> HandoffSummary {
    let words = |id: ContentId| texts.get(id).whole().map(str::to_owned);
    let (reason, reason_truncated) = shown.of(texts.get(row.reason).whole());
    let ended = row.ended_reason.and_then(|it| texts.get(it).whole());
    let (ended_reason, ended_reason_truncated) = shown.of(ended);
    HandoffSummary {
        number: row.number,
        id: row.id.0,
        label: row.no.label(),
        run_id: row.run.0,
        run: row.run.0,
        story: row.story.to_string(),
        kind: row.kind.into(),
        from_agent: row.from.agent.to_string(),
        from_step: row.from.place.as_step().map(ToString::to_string),
        to_agent: row.to.agent.to_string(),
        to_step: row.to.place.as_step().map(ToString::to_string),
        state: row.state.into(),
        outcome: row.outcome.map(Into::into),
        is_stale: row.is_stale,
        attempt: row.attempt,
        follows: row.follows.map(|it| it.label()),
        reason,
        reason_truncated,
        ended_reason,
        ended_reason_truncated,
        acknowledgement: row.acknowledgement.and_then(words),
        approved_by: row.approved_by.as_ref().map(ToString::to_string),
        warnings: row.warnings.clone(),
        score: row.score,
        damaged: damaged(row, texts).map(str::to_owned).collect(),
        created_at: row.created_at,
        accepted_at: row.accepted_at,
        ended_at: row.ended_at,
    }
}

pub(in crate::v1) async fn handoff_document(
    app: &RequestScope,
    row: &HandoffRow,
) -> Result<HandoffDocument, EngineError> {
    let texts = app.read().texts_of(std::slice::from_ref(row)).await?;
    Ok(with_package(row, &texts))
}

pub(in crate::v1) fn with_package(row: &HandoffRow, texts: &Texts) -> HandoffDocument {
    let package = row.package.and_then(|it| texts.get(it).whole()).and_then(raw_json);
    HandoffDocument { row: handoff_summary(row, texts, ReasonLength::Whole), package }
}

pub(in crate::v1) async fn rows(
    app: &RequestScope,
    handoffs: &[HandoffRow],
) -> Result<Vec<HandoffSummary>, EngineError> {
    let texts = app.read().words_of(handoffs).await?;
    Ok(handoffs.iter().map(|it| handoff_summary(it, &texts, ReasonLength::Excerpt)).collect())
}

/// The members of a handoff whose texts are damaged.
fn damaged<'a>(row: &'a HandoffRow, texts: &'a Texts) -> impl Iterator<Item = &'static str> + 'a {
    let members = [
        ("reason", Some(row.reason)),
        ("endedReason", row.ended_reason),
        ("acknowledgement", row.acknowledgement),
        ("package", row.package),
    ];
    let is_damaged = |id: Option<ContentId>| id.is_some_and(|it| texts.get(it).is_damaged());
    members.into_iter().filter(move |(_, id)| is_damaged(*id)).map(|(name, _)| name)
}

/// An error response, with the handoff in question as this API represents it.
pub(in crate::v1) async fn refused(app: &RequestScope, error: EngineError) -> ApiProblem {
    let show = async |row: &HandoffRow| {
        let texts = app.read().words_of(std::slice::from_ref(row)).await?;
        Ok(handoff_summary(row, &texts, ReasonLength::Excerpt))
    };
    problem::refused(error, show).await
}
