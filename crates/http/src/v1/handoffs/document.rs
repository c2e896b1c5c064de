//! A handoff as this API shows it.

use baton_core::content::ContentId;
use baton_core::workflow::Place;
use baton_engine::{EngineError, Texts};
use baton_store::HandoffRow;
use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::App;
use crate::pipeline::rows::raw_json;
use crate::problem::ApiProblem;
use crate::v1::enums::{KindWord, OutcomeWord, StateWord};
use crate::v1::flat::{part, whole};

/// A handoff without what is handed over.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = HandoffRow)]
pub struct HandoffSummary {
    /// Counted over all runs.
    pub number: u64,
    pub id: Uuid,
    /// Counted within its run.
    #[schema(example = "HO-001")]
    pub label: String,
    pub run: Uuid,
    /// The key of the story.
    pub story: String,
    pub kind: KindWord,
    pub from_agent: String,
    /// Null where the sender is at no step: the orchestrator, a person or a delegate.
    pub from_step: Option<String>,
    pub to_agent: String,
    /// Null where the receiver is at no step: the orchestrator, a person or a delegate.
    pub to_step: Option<String>,
    pub state: StateWord,
    pub outcome: Option<OutcomeWord>,
    /// Nobody has moved it for too long; it may still be answered.
    pub is_stale: bool,
    /// 1, and one more for each retry of the same work.
    pub attempt: u32,
    /// The label of the handoff that it goes on from.
    pub follows: Option<String>,
    /// Null where it was lost in a recovery or is damaged.
    pub reason: Option<String>,
    /// Why it was rejected, cancelled, superseded or timed out; what was answered, where it is a
    /// question.
    pub ended_reason: Option<String>,
    /// The receiver's word when it took the handoff.
    pub acknowledgement: Option<String>,
    pub approved_by: Option<String>,
    /// What the contract would like to see in the package.
    pub warnings: Vec<String>,
    /// Which members are null because what is stored there is damaged; left out where none is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(example = json!(["reason"]))]
    pub damaged: Vec<String>,
    pub created_at: Timestamp,
    pub accepted_at: Option<Timestamp>,
    pub ended_at: Option<Timestamp>,
}

/// A handoff with what is handed over.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = Handoff)]
pub struct HandoffDocument {
    #[serde(flatten)]
    pub row: HandoffSummary,
    /// What is handed over: JSON as the sender wrote it, or the text of another format. Null where
    /// there is nothing, or where it was lost in a recovery or is damaged.
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
    pub(in crate::v1) async fn of(app: &App, row: &HandoffRow) -> Result<Self, EngineError> {
        let texts = app.engine.texts_of(std::slice::from_ref(row)).await?;
        Ok(Self::new(row, &texts))
    }

    pub(in crate::v1) fn new(row: &HandoffRow, texts: &Texts) -> Self {
        let package = row.package.and_then(|it| texts.get(it).whole()).and_then(raw_json);
        Self { row: HandoffSummary::new(row, texts), package }
    }
}

pub(in crate::v1) async fn rows(
    app: &App,
    handoffs: &[HandoffRow],
) -> Result<Vec<HandoffSummary>, EngineError> {
    let texts = app.engine.words_of(handoffs).await?;
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

/// A no, with the handoff in question as this API shows it.
pub(in crate::v1) async fn refused(app: &App, error: EngineError) -> ApiProblem {
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
