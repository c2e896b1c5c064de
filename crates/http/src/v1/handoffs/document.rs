//! A handoff as the native API represents it.

use baton_core::content::ContentId;
use baton_core::workflow::Place;
use baton_engine::{EngineError, Texts};
use baton_store::HandoffRow;
use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::pipeline::rows::raw_json;
use crate::problem::ApiProblem;
use crate::scope::RequestScope;
use crate::v1::enums::{KindWord, OutcomeWord, StateWord};
use crate::v1::flat::{part, whole};

/// A handoff without its package.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = HandoffRow)]
pub struct HandoffSummary {
    /// Numbered over all runs.
    pub number: u64,
    pub id: Uuid,
    /// Numbered within its run.
    #[schema(example = "HO-001")]
    pub label: String,
    pub run: Uuid,
    /// The key of the story.
    pub story: String,
    pub kind: KindWord,
    pub from_agent: String,
    /// Null if the sender is at no step: the orchestrator, a person or a delegate.
    pub from_step: Option<String>,
    pub to_agent: String,
    /// Null if the receiver is at no step: the orchestrator, a person or a delegate.
    pub to_step: Option<String>,
    pub state: StateWord,
    pub outcome: Option<OutcomeWord>,
    /// It has waited for too long; the receiver may still answer it.
    pub is_stale: bool,
    /// 1, plus one for each retry of the same work.
    pub attempt: u32,
    /// The label of the handoff that it continues.
    pub follows: Option<String>,
    /// Null if it was lost in a recovery or is damaged.
    pub reason: Option<String>,
    /// Why it was rejected, cancelled, superseded or timed out; for a question, the answer.
    pub ended_reason: Option<String>,
    /// The receiver's acknowledgement when it accepted the handoff.
    pub acknowledgement: Option<String>,
    pub approved_by: Option<String>,
    /// What the contract recommends and the package lacks.
    pub warnings: Vec<String>,
    /// Members that are null because the stored text is damaged; omitted if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(example = json!(["reason"]))]
    pub damaged: Vec<String>,
    pub created_at: Timestamp,
    pub accepted_at: Option<Timestamp>,
    pub ended_at: Option<Timestamp>,
}

/// A handoff with its package.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = Handoff)]
pub struct HandoffDocument {
    #[serde(flatten)]
    pub row: HandoffSummary,
    /// The package: JSON as the sender wrote it, or the text of another format. Null if there is
    /// none, or if it was lost in a recovery or is damaged.
    #[schema(value_type = serde_json::Value)]
    pub package: Option<Box<RawValue>>,
}

impl<'de> Deserialize<'de> for HandoffDocument {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Rest {
            package: Option<Box<RawValue>>,
        }
        let raw = whole(deserializer)?;
        let Rest { package } = part(&raw)?;
        Ok(Self { row: part(&raw)?, package })
    }
}

impl HandoffSummary {
    pub(in crate::v1) fn new(row: &HandoffRow, texts: &Texts) -> Self {
        let words = |id: ContentId| texts.get(id).whole().map(str::to_owned);
        Self {
            number: row.number,
            id: row.id.0,
            label: row.no.label(),
            run: row.run.0,
            story: row.story.to_string(),
            kind: row.kind.into(),
            from_agent: row.from.agent.to_string(),
            from_step: step(&row.from.place),
            to_agent: row.to.agent.to_string(),
            to_step: step(&row.to.place),
            state: row.state.into(),
            outcome: row.outcome.map(Into::into),
            is_stale: row.is_stale,
            attempt: row.attempt,
            follows: row.follows.map(|it| it.label()),
            reason: words(row.reason),
            ended_reason: row.ended_reason.and_then(words),
            acknowledgement: row.acknowledgement.and_then(words),
            approved_by: row.approved_by.as_ref().map(ToString::to_string),
            warnings: row.warnings.clone(),
            damaged: damaged(row, texts).map(str::to_owned).collect(),
            created_at: row.created_at,
            accepted_at: row.accepted_at,
            ended_at: row.ended_at,
        }
    }
}

impl HandoffDocument {
    pub(in crate::v1) async fn of(
        app: &RequestScope,
        row: &HandoffRow,
    ) -> Result<Self, EngineError> {
        let texts = app.read().texts_of(std::slice::from_ref(row)).await?;
        Ok(Self::new(row, &texts))
    }

    pub(in crate::v1) fn new(row: &HandoffRow, texts: &Texts) -> Self {
        let package = row.package.and_then(|it| texts.get(it).whole()).and_then(raw_json);
        Self { row: HandoffSummary::new(row, texts), package }
    }
}

pub(in crate::v1) async fn rows(
    app: &RequestScope,
    handoffs: &[HandoffRow],
) -> Result<Vec<HandoffSummary>, EngineError> {
    let texts = app.read().words_of(handoffs).await?;
    Ok(handoffs.iter().map(|it| HandoffSummary::new(it, &texts)).collect())
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
    let row = error.handoff().cloned();
    let problem = ApiProblem::from(error);
    let Some(row) = row else { return problem };
    match rows(app, std::slice::from_ref(&row)).await {
        Ok(shown) => {
            let shown = shown.first().and_then(|it| serde_json::value::to_raw_value(it).ok());
            problem.about(shown)
        }
        Err(_) => problem,
    }
}

fn step(place: &Place) -> Option<String> {
    match place {
        Place::Step(step) => Some(step.to_string()),
        Place::Orchestrator | Place::Human | Place::Delegate(_) => None,
    }
}
